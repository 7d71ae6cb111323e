"""The simulator: regret, pull counts and releases of a declared algorithm in an environment.

Three ways to run the same declaration, the fastest that fits: compiled kernels (`compiled`),
episodes in lockstep (`lockstep`), the reference interpreter (`sampled`). Runs are cut into blocks
of a fixed size, each with its own child of the seed, so the result does not depend on `jobs`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import compiled, lockstep, sampled
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import Environment
from dpaudit.core.outcome import Outcome, RunBlock, checkpoints
from dpaudit.errors import InvalidArgument, require_integer

LOCKSTEP_BLOCK = 250
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class SimulationResult:
    """All runs of one simulation; summaries are properties."""

    algorithm: str
    parameters: dict[str, Any]
    means: tuple[float, ...]
    horizon: int
    runs: int
    seed: int
    times: NDArray[np.int64]
    pulls_per_run: NDArray[np.int64]
    curves: NDArray[np.float64]
    releases_per_run: NDArray[np.int64]

    @cached_property
    def regrets(self) -> NDArray[np.float64]:
        """The pseudo-regret of every run at the horizon."""
        means = np.array(self.means)
        return np.asarray(self.pulls_per_run @ (means.max() - means))

    @property
    def pulls(self) -> NDArray[np.float64]:
        """The mean pull count of every arm."""
        return np.asarray(self.pulls_per_run.mean(axis=0))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean regret; infinite after a single run."""
        return float(_std(self.regrets) / np.sqrt(self.runs)) if self.runs > 1 else float("inf")

    def summary(self) -> dict[str, Any]:
        """Return the numbers that people and programs read, as plain data."""
        levels = np.quantile(self.regrets, QUANTILES)
        return {
            "algorithm": self.algorithm,
            "parameters": self.parameters,
            "means": list(self.means),
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "regret": {
                "mean": float(self.regrets.mean()),
                "std": float(_std(self.regrets)),
                "standard_error": self.standard_error,
                "quantiles": {str(q): float(v) for q, v in zip(QUANTILES, levels, strict=True)},
            },
            "pulls": self.pulls.tolist(),
            "releases": float(self.releases_per_run.mean()),
            "curve": {
                "time": self.times.tolist(),
                "mean": self.curves.mean(axis=0).tolist(),
                "std": _std(self.curves).tolist(),
            },
        }


def _std(values: NDArray[np.float64]) -> Any:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])


def simulate(
    algorithm: Algorithm,
    environment: Environment,
    horizon: int,
    runs: int,
    seed: int = 0,
    jobs: int = 1,
    advance: Callable[[int], None] = lambda runs: None,
) -> SimulationResult:
    """Run an algorithm `runs` times for `horizon` rounds; same seed, same result for any `jobs`.

    `advance` is told the number of runs of every finished block.
    """
    found: list[Outcome] = []
    for block in blocks(algorithm, environment, horizon, runs, seed, jobs):
        found.append(block)
        advance(len(block.pulls))
    head = algorithm.name, asdict(algorithm), environment.means, horizon, seed
    return gathered(*head, found)


def blocks(
    algorithm: Algorithm, environment: Environment, horizon: int, runs: int, seed: int, jobs: int
) -> Iterator[Outcome]:
    """Yield the runs block by block, as they are finished."""
    _validate(algorithm, environment, horizon, runs, seed, jobs)
    fast = not compiled.supports(algorithm) and lockstep.decisions(algorithm, horizon) is not None
    size = LOCKSTEP_BLOCK if fast else 1
    sizes = [min(size, runs - start) for start in range(0, runs, size)]
    times = checkpoints(horizon)
    work = [(algorithm, environment, times, count, seed, i) for i, count in enumerate(sizes)]
    return _parallel(work, jobs)


def gathered(
    name: str,
    parameters: dict[str, Any],
    means: Sequence[float],
    horizon: int,
    seed: int,
    found: Sequence[Outcome],
) -> SimulationResult:
    """Return the result of the blocks that are finished."""
    return SimulationResult(
        algorithm=name,
        parameters=parameters,
        means=tuple(means),
        horizon=horizon,
        runs=sum(len(block.pulls) for block in found),
        seed=seed,
        times=checkpoints(horizon),
        pulls_per_run=np.concatenate([block.pulls for block in found]),
        curves=np.concatenate([block.curve for block in found]),
        releases_per_run=np.concatenate([block.releases for block in found]),
    )


def expected_seconds(
    build: Callable[[int], Algorithm], environment: Environment, horizon: int, runs: int, jobs: int
) -> float:
    """Return about how long a simulation would take, measured on a small part of it; 0 if short."""
    algorithm = build(horizon)
    _validate(algorithm, environment, horizon, runs, 0, jobs)
    if not compiled.supports(algorithm) and lockstep.decisions(algorithm, horizon) is not None:
        if runs <= 100 * LOCKSTEP_BLOCK:
            return 0.0
        part, rounds = LOCKSTEP_BLOCK, horizon
    else:
        part, rounds = 1, min(horizon, 10_000)
        if horizon * runs <= (10**9 if compiled.supports(algorithm) else 10**7):
            return 0.0
    simulate(build(rounds), environment, rounds, part)  # what is compiled is compiled now
    start = time.process_time()  # what a busy machine adds is no reason to refuse
    simulate(build(rounds), environment, rounds, part, seed=1)
    spent = time.process_time() - start
    return spent * (horizon / rounds) * (runs / part) / jobs


def _validate(
    algorithm: Algorithm, environment: Environment, horizon: int, runs: int, seed: int, jobs: int
) -> None:
    require_integer("runs", runs, 1)
    require_integer("seed", seed, 0)
    require_integer("jobs", jobs, 1)
    require_integer("horizon", horizon, 1)
    if algorithm.arms != environment.arms:
        rule = f"must be {environment.arms}, the arms of the environment."
        raise InvalidArgument("arms", algorithm.arms, rule)
    if horizon < algorithm.arms:
        rule = f"must be at least {algorithm.arms}: one round per arm."
        raise InvalidArgument("horizon", horizon, rule)
    if horizon > 2**53:
        raise InvalidArgument("horizon", horizon, "must be at most 2^53.")
    declared = getattr(algorithm, "horizon", horizon)
    if declared != horizon:
        rule = f"must be {declared}, the horizon that {algorithm.name} was built for."
        raise InvalidArgument("horizon", horizon, rule)


def _parallel(work: list[tuple[Any, ...]], jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or len(work) == 1:
        yield from (_block(*item) for item in work)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, return_as="generator", batch_size="auto")
    yield from pool(delayed(_block)(*item) for item in work)


def _block(
    algorithm: Algorithm,
    environment: Environment,
    times: NDArray[np.int64],
    runs: int,
    seed: int,
    number: int,
) -> Outcome:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    block = RunBlock(environment, times, runs, rng)
    if compiled.supports(algorithm):
        return compiled.run(algorithm, block)
    decisions = lockstep.decisions(algorithm, int(times[-1]))
    return sampled.run(algorithm, block) if decisions is None else lockstep.run(decisions, block)

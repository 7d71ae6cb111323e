"""Simulations of whatever TARGET names: foreign code runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.core.environments import of_means
from dpaudit.core.simulate import SimulationResult, expected_seconds, simulate
from dpaudit.errors import InvalidArgument
from dpaudit.process import answer
from dpaudit.target import foreign, resolve

COUNTS = ("times", "pulls_per_run", "releases_per_run")


@dataclass(frozen=True)
class Simulation:
    """A target with its parameters (arms and horizon aside), and the laws of the rewards."""

    target: str
    given: Mapping[str, Any]
    means: tuple[float, ...]
    rewards: str = "bernoulli"
    offered: Mapping[str, Any] = field(default_factory=dict)  # parameters for those that take them

    def run(
        self,
        horizon: int,
        runs: int,
        seed: int,
        jobs: int = 1,
        advance: Callable[[int], None] = lambda runs: None,
        kept: Callable[[SimulationResult], None] = lambda result: None,
        longest: float | None = None,
    ) -> SimulationResult:
        """Run it; same seed, same result for any `jobs`, in this process and in its own.

        `kept` is told on Ctrl-C what is finished. What would take more than `longest` seconds is
        refused with an estimate.
        """
        asked: dict[str, Any] = {"target": self.target, "given": dict(self.given)}
        asked |= {"offered": dict(self.offered), "means": self.means, "rewards": self.rewards}
        asked |= {"horizon": horizon, "runs": runs, "seed": seed, "jobs": jobs, "longest": longest}

        def hear(kind: str, data: Any) -> None:
            if kind == "kept":
                kept(_result(data))
            else:
                advance(data)

        return _result(answer(self.target, simulated, asked, hear=hear))


def _result(data: dict[str, Any]) -> SimulationResult:
    """Return a result from its fields as plain data."""
    data["means"] = tuple(data["means"])
    for name in (*COUNTS, "curves"):
        data[name] = np.array(data[name], np.int64 if name in COUNTS else np.float64)
    return SimulationResult(**data)


def simulated(
    tell: Callable[[str, Any], None],
    target: str,
    given: Mapping[str, Any],
    offered: Mapping[str, Any],
    means: Sequence[float],
    rewards: str,
    horizon: int,
    runs: int,
    seed: int,
    jobs: int,
    longest: float | None = None,
) -> dict[str, Any]:
    """Simulate where the target belongs and return the fields of the result."""
    environment = of_means(tuple(means), rewards)
    found = resolve(target)
    taken = {name: value for name, value in offered.items() if name in found.accepts}
    values = {**given, **taken, "arms": environment.arms}
    if longest is not None:
        build = lambda rounds: found.build(rounds, values)  # noqa: E731
        require_soon(expected_seconds(build, environment, horizon, runs, jobs), longest)

    def fields(result: SimulationResult) -> dict[str, Any]:
        # a file may be called like an algorithm of dpaudit, and is not known by that name
        return {**vars(result), "algorithm": target if foreign(target) else result.algorithm}

    algorithm = found.build(horizon, values)
    return fields(
        simulate(
            algorithm,
            environment,
            horizon,
            runs,
            seed,
            jobs,
            lambda count: tell("runs", count),
            lambda result: tell("kept", fields(result)),
        )
    )


def require_soon(seconds: float, longest: float) -> None:
    """Raise with an estimate where work would take longer than anybody waits unasked."""
    if seconds > longest:
        shown = next(
            f"{seconds / size:,.0f} {name}"
            for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))
            if seconds >= 2 * size or name == "minutes"
        )
        raise InvalidArgument("time", f"about {shown}", "is long; add --yes to do it all the same.")

"""Simulations of whatever TARGET names: foreign code runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import Environment, of_means
from dpaudit.core.outcome import Outcome
from dpaudit.core.simulate import SimulationResult, blocks, expected_seconds, gathered
from dpaudit.process import answer
from dpaudit.target import MUTANTS, foreign, resolve

if TYPE_CHECKING:
    from rich.console import Console

LONG = 60  # characters of a parameter: many features are not printed


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
    ) -> SimulationResult:
        """Run it; same seed, same result for any `jobs`, in this process and in its own.

        `kept` is told on Ctrl-C what is finished.
        """
        asked = {"work": vars(self), "horizon": horizon, "runs": runs, "jobs": jobs, "seed": seed}
        head: dict[str, Any] = {}
        found: list[Outcome] = []

        def hear(kind: str, data: dict[str, Any]) -> None:
            if kind == "head":
                head.update(data)
                return
            curve = np.array(data["curve"], np.float64)
            pulls, releases = (np.array(data[name], np.int64) for name in ("pulls", "releases"))
            found.append(Outcome(pulls, curve, releases))
            advance(len(curve))

        def result() -> SimulationResult:
            return gathered(**head, means=self.means, horizon=horizon, seed=seed, found=found)

        try:
            answer(self.target, simulated, asked, hear=hear)
        except KeyboardInterrupt:
            if found:
                kept(result())
            raise
        return result()

    def seconds(self, horizon: int, runs: int, jobs: int = 1) -> float:
        """Return about how long it would run, measured on a small part; 0 for what is short."""
        asked = {"work": vars(self), "horizon": horizon, "runs": runs, "jobs": jobs}
        return answer(self.target, estimated, asked)

    def build(self, horizon: int) -> Algorithm:
        """Return the algorithm for a horizon, where the target belongs."""
        found = resolve(self.target)
        taken = {name: value for name, value in self.offered.items() if name in found.accepts}
        return found.build(horizon, {**self.given, **taken, "arms": len(self.means)})

    @property
    def environment(self) -> Environment:
        """The arms."""
        return of_means(tuple(self.means), self.rewards)


def simulated(
    tell: Callable[[str, Any], None],
    work: dict[str, Any],
    horizon: int,
    runs: int,
    jobs: int,
    seed: int,
) -> None:
    """Simulate where the target belongs and tell every block of runs as soon as it is there."""
    asked = Simulation(**work)
    algorithm = asked.build(horizon)
    # a file may be called like an algorithm of dpaudit, and is not known by that name
    other = foreign(asked.target) or asked.target.startswith(MUTANTS)
    name = asked.target if other else algorithm.name
    tell("head", {"name": name, "parameters": asdict(algorithm)})
    for block in blocks(algorithm, asked.environment, horizon, runs, seed, jobs):
        tell("block", vars(block))


def estimated(tell: Any, work: dict[str, Any], horizon: int, runs: int, jobs: int) -> float:
    """Return about how many seconds a simulation would take, where the target belongs."""
    asked = Simulation(**work)
    return expected_seconds(asked.build, asked.environment, horizon, runs, jobs)


def _number(value: float, digits: int) -> str:
    """Return a number of so many digits, with separators of thousands."""
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def show(console: Console, result: SimulationResult) -> None:
    """Print regret and pulls of a simulation."""
    from rich.markup import escape
    from rich.table import Table

    from dpaudit.parsing import written

    summary = result.summary()
    given = {key: value for key, value in result.parameters.items() if value is not None}
    stated = {key: written(value) for key, value in given.items()}
    settings = ", ".join(f"{key}={text}" for key, text in stated.items() if len(text) <= LONG)
    console.print(f"[bold]{escape(result.algorithm)}[/bold]  {escape(settings)}")
    console.print(f"horizon {result.horizon:,}, runs {result.runs:,}, seed {result.seed}")
    regret = summary["regret"]
    console.print(
        f"regret  mean {_number(regret['mean'], 6)} ± {_number(regret['standard_error'], 2)} "
        f"(standard error), std {_number(regret['std'], 4)}"
    )
    shares = [f"{float(q):.0%} {_number(v, 5)}" for q, v in regret["quantiles"].items()]
    console.print(f"        quantiles {'; '.join(shares)}")
    console.print(f"releases per run {_number(summary['releases'], 6)}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("arm", "mean", "gap", "pulls (mean)"):
        table.add_column(heading, justify="right")
    best = max(result.means)
    for arm, (mean, pulls) in enumerate(zip(result.means, result.pulls, strict=True)):
        table.add_row(str(arm), f"{mean:g}", f"{best - mean:g}", f"{pulls:,.1f}")
    console.print(table)

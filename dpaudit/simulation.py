"""Simulations of whatever TARGET names: foreign code runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import Environment, of_means
from dpaudit.core.outcome import Outcome
from dpaudit.core.simulate import SimulationResult, blocks, expected_seconds, gathered
from dpaudit.process import answer
from dpaudit.target import foreign, resolve


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
    name = asked.target if foreign(asked.target) else algorithm.name
    tell("head", {"name": name, "parameters": asdict(algorithm)})
    for block in blocks(algorithm, asked.environment, horizon, runs, seed, jobs):
        tell("block", vars(block))


def estimated(tell: Any, work: dict[str, Any], horizon: int, runs: int, jobs: int) -> float:
    """Return about how many seconds a simulation would take, where the target belongs."""
    asked = Simulation(**work)
    return expected_seconds(asked.build, asked.environment, horizon, runs, jobs)

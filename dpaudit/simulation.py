"""Simulations of whatever TARGET names: foreign code runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import Environment, of_means
from dpaudit.core.simulate import SimulationResult, expected_seconds, simulate
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
    ) -> SimulationResult:
        """Run it; same seed, same result for any `jobs`, in this process and in its own.

        `kept` is told on Ctrl-C what is finished.
        """
        asked = {"work": vars(self), "horizon": horizon, "runs": runs, "jobs": jobs, "seed": seed}

        def hear(kind: str, data: Any) -> None:
            if kind == "kept":
                kept(_result(data))
            else:
                advance(data)

        return _result(answer(self.target, simulated, asked, hear=hear))

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


def _result(data: dict[str, Any]) -> SimulationResult:
    """Return a result from its fields as plain data."""
    data["means"] = tuple(data["means"])
    for name in (*COUNTS, "curves"):
        data[name] = np.array(data[name], np.int64 if name in COUNTS else np.float64)
    return SimulationResult(**data)


def simulated(
    tell: Callable[[str, Any], None],
    work: dict[str, Any],
    horizon: int,
    runs: int,
    jobs: int,
    seed: int,
) -> dict[str, Any]:
    """Simulate where the target belongs and return the fields of the result."""
    asked = Simulation(**work)

    def fields(result: SimulationResult) -> dict[str, Any]:
        # a file may be called like an algorithm of dpaudit, and is not known by that name
        name = asked.target if foreign(asked.target) else result.algorithm
        return {**vars(result), "algorithm": name}

    return fields(
        simulate(
            asked.build(horizon),
            asked.environment,
            horizon,
            runs,
            seed,
            jobs,
            lambda count: tell("runs", count),
            lambda result: tell("kept", fields(result)),
        )
    )


def estimated(tell: Any, work: dict[str, Any], horizon: int, runs: int, jobs: int) -> float:
    """Return about how many seconds a simulation would take, where the target belongs."""
    asked = Simulation(**work)
    return expected_seconds(asked.build, asked.environment, horizon, runs, jobs)

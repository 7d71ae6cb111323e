"""Simulations of whatever TARGET names: foreign code runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.core.environments import of_means
from dpaudit.core.simulate import SimulationResult, simulate
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
    ) -> SimulationResult:
        """Run it; same seed, same result for any `jobs`, in this process and in its own."""
        asked: dict[str, Any] = {"target": self.target, "given": dict(self.given)}
        asked |= {"offered": dict(self.offered), "means": self.means, "rewards": self.rewards}
        asked |= {"horizon": horizon, "runs": runs, "seed": seed, "jobs": jobs}
        data = answer(self.target, simulated, asked, hear=lambda kind, count: advance(count))
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
) -> dict[str, Any]:
    """Simulate where the target belongs and return the fields of the result."""
    environment = of_means(tuple(means), rewards)
    found = resolve(target)
    taken = {name: value for name, value in offered.items() if name in found.accepts}
    algorithm = found.build(horizon, {**given, **taken, "arms": environment.arms})
    result = simulate(
        algorithm, environment, horizon, runs, seed, jobs, lambda count: tell("runs", count)
    )
    # a file may be called like an algorithm of dpaudit, and is not known by that name
    return {**vars(result), "algorithm": target if foreign(target) else result.algorithm}

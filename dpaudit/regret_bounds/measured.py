"""Simulated regret beside the bounds, and which comparison with them is meaningful.

At one finite T a simulated mean may be held against two numbers: the algorithm's own upper bound,
and the finite-T lower bound that follows from its upper bounds (`transport`). The asymptotic lower
bound is a statement about liminf regret / log T: `per_log` and `coefficient` are shown side by side
as a trend and judged by nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import NAMED, Environment, named
from dpaudit.core.simulate import SimulationResult
from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds.bound import Instance
from dpaudit.regret_bounds.lower import coefficients
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, sharpest
from dpaudit.regret_bounds.transport import finite_lower
from dpaudit.simulation import Simulation
from dpaudit.target import foreign, resolve

DEVIATIONS = 4.0


@dataclass(frozen=True)
class Measured:
    """One algorithm on one instance: regret and the bounds it may be held against."""

    algorithm: str
    epsilon: float
    horizon: int
    runs: int
    regret: float
    standard_error: float
    per_log: float
    coefficient: float
    finite_lower: float | None
    upper: float | None

    @property
    def verdict(self) -> str:
        """Say where the mean lies, with four standard errors of slack."""
        slack = DEVIATIONS * self.standard_error if self.runs > 1 else math.inf
        if self.upper is not None and self.regret > self.upper + slack:
            return "above its upper bound"
        if self.finite_lower is not None and self.regret < self.finite_lower - slack:
            return "below its lower bound"
        return "within its bounds" if self.upper is not None else "no upper bound"


def require_target(name: str, setting: Setting) -> None:
    """Raise unless a name stands for a private algorithm, with the setting's parameters."""
    if name in NAMED:
        raise InvalidArgument("TARGET", name, f"is an environment: --env {name}.")
    if foreign(name):
        expected(name, named("C2"), setting, 1)  # built in a process of its own
    else:
        build(name, 2, setting)


def build(name: str, arms: int, setting: Setting) -> Algorithm:
    """Return a private algorithm with the setting's parameters."""
    target = resolve(name)
    known = target.accepts
    if not getattr(target.source, "private", True):
        raise InvalidArgument("TARGET", name, "claims no privacy; the bounds are not about it.")
    values: dict[str, Any] = {"arms": arms, "epsilon": setting.epsilon}
    if "alpha" in known:
        values["alpha"] = setting.alpha
    if "horizon" in known:
        values["horizon"] = setting.horizon
    return target.make({**values, **setting.given})


def _simulation(name: str, environment: Environment, setting: Setting) -> Simulation:
    offered = {"epsilon": setting.epsilon, "alpha": setting.alpha}
    return Simulation(name, setting.given, environment.means, offered=offered)


def expected(
    name: str, environment: Environment, setting: Setting, runs: int, jobs: int = 1
) -> float:
    """Return about how many seconds such simulations take; 0 for short ones."""
    return _simulation(name, environment, setting).seconds(setting.horizon, runs, jobs)


def run(
    name: str,
    environment: Environment,
    setting: Setting,
    runs: int,
    seed: int,
    jobs: int = 1,
    advance: Callable[[int], None] = lambda runs: None,
) -> SimulationResult:
    """Simulate what a name, a module or a file gives."""
    work = _simulation(name, environment, setting)
    return work.run(setting.horizon, runs, seed, jobs, advance)


def measure(instance: Instance, setting: Setting, result: SimulationResult) -> Measured:
    """Put a simulation beside the bounds of its algorithm."""
    below = above = None
    if result.algorithm in ALGORITHMS:
        bound = sharpest(result.algorithm, setting)
        above = bound(instance.means)
        below = finite_lower(instance, setting.epsilon, setting.horizon, bound)
    limit = coefficients(instance, setting.epsilon).sharp
    return beside(result.algorithm, setting, result.regrets, limit, below, above)


def beside(
    name: str,
    setting: Setting,
    regrets: NDArray[np.float64],
    coefficient: float,
    lower: float | None,
    upper: float | None,
) -> Measured:
    """Put the regrets of runs beside bounds."""
    runs, mean = len(regrets), float(regrets.mean())
    error = float(regrets.std(ddof=1) / math.sqrt(runs)) if runs > 1 else math.inf
    about = name, setting.epsilon, setting.horizon, runs, mean, error
    return Measured(*about, mean / math.log(setting.horizon), coefficient, lower, upper)

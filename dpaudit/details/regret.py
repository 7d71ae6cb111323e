"""Regret over time in a small environment, beside the bounds that are known for it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dpaudit.core import algorithms
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.environments import of_means
from dpaudit.core.simulate import SimulationResult, simulate
from dpaudit.errors import DpauditError
from dpaudit.particulars import Regret
from dpaudit.regret_bounds.bound import bernoulli
from dpaudit.regret_bounds.lower import coefficients
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, sharpest
from dpaudit.regret_bounds.transport import finite_lower

RUNS = 40
HORIZONS = (1_000, 10_000, 100_000, 1_000_000)
POINTS = 24
BEST, OTHERS = 0.75, (0.25, 0.375, 0.5, 0.625)


def environment_of(arms: int) -> tuple[float, ...]:
    """Return the means of the arms: one at 0.75, the others in turn among four lower ones."""
    return (BEST, *(OTHERS[arm % len(OTHERS)] for arm in range(arms - 1)))


def regret(
    build: Callable[[int], Algorithm], epsilon: float, seed: int, deadline: float
) -> tuple[Regret | None, str]:
    """Return the regret at the largest of some horizons that the deadline allows, or the reason."""
    found: SimulationResult | None = None
    spent = 0.0
    for horizon in HORIZONS:
        if found is not None and deadline - time.monotonic() < 12 * spent:
            break
        start = time.monotonic()
        try:
            algorithm = build(horizon)
            environment = of_means(environment_of(algorithm.arms))
            found = simulate(algorithm, environment, horizon, RUNS, seed)
        except DpauditError as error:
            if found is None:
                return None, str(error)
            break
        spent = time.monotonic() - start
    if found is None:
        return None, "No horizon within the budget."
    return _beside_bounds(found, build(found.horizon), epsilon), ""


def _beside_bounds(result: SimulationResult, algorithm: Algorithm, epsilon: float) -> Regret:
    kept = sorted({round(k) for k in np.linspace(0, len(result.times) - 1, POINTS)})
    times = tuple(int(result.times[k]) for k in kept)
    mean, deviation = result.curves.mean(axis=0), result.curves.std(axis=0, ddof=1)
    instance = bernoulli(result.means)
    upper_times: tuple[int, ...] = ()
    upper: tuple[float, ...] = ()
    below: float | None = None
    if _has_bounds(algorithm):
        alpha = float(getattr(algorithm, "alpha", 3.1))
        asked = times[-1:] if algorithm.told() else times
        upper_times = tuple(t for t in asked if t > algorithm.arms)
        upper = tuple(
            sharpest(algorithm.name, Setting(epsilon, t, alpha))(result.means) for t in upper_times
        )
        bound = sharpest(algorithm.name, Setting(epsilon, result.horizon, alpha))
        below = finite_lower(instance, epsilon, result.horizon, bound)
    return Regret(
        means=result.means,
        horizon=result.horizon,
        runs=result.runs,
        seed=result.seed,
        times=times,
        mean=tuple(float(mean[k]) for k in kept),
        deviation=tuple(float(deviation[k]) for k in kept),
        standard_error=result.standard_error,
        upper_times=upper_times,
        upper=upper,
        finite_lower=below,
        coefficient=coefficients(instance, epsilon).sharp,
    )


def _has_bounds(algorithm: Algorithm) -> bool:
    """Tell whether this very class has established bounds: a namesake or an heir has none."""
    name = algorithm.name
    return name in ALGORITHMS and type(algorithm) is algorithms.find(name)

"""Phased elimination for linear bandits, written once: a G-optimal design, one release per arm.

The mean reward of arm a is <a, theta> for public features a and an unknown theta. Phase l = 1, 2,
... has k arms left, a design pi of them with g = max ||b||^2 in the norm of V(pi)^-1 and m arms in
its support, tau = 2^-(l+1) and L = ln(2 k T l (l + 1)). Each arm of the support is pulled
n(a) = ceil(pi(a) n) times; then the sum of these rewards alone is released, once, with `law()`.
With V = sum n(a) a a^T and w_ba = b^T V^-1 a the estimate of b is sum_a w_ba S_a, and b goes when
its band of half-width W_b lies below another's.

    W_b = sqrt(2 (sum n(a) w_ba^2 / 4 + v sum w_ba^2) L) + `tail`,   v = `variance()` of `law()`:

rewards in [0, 1] are sub-Gaussian with variance 1/4, and sum n(a) w_ba^2 = ||b||^2 in the norm of
V^-1. n is 2 g L / tau^2, or what `rounds` asks for if that is more, which makes W_b <= tau. With
probability at least 1 - 1/T the best arm stays and every gap above 4 tau goes. A phase that the
horizon cuts is not released. The last arm is played to the end.

Weights are computed in doubles and are public, as they are; the width counts what their rounding
costs. Were sum_a w_ba n(a) a = b + r, the estimate would be off by <r, theta>. With |<a, theta>| <=
1 on the support and N = sum n(a), |<r, theta>| <= sum n(a) |a^T V^-1 r| <= sqrt(N) ||r||_{V^-1}
<= |r| sqrt(N / lambda), lambda the least eigenvalue of V.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Rows, State, Step
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.design import Features, checked_features, optimal_design
from dpaudit.core.noise import Noise
from dpaudit.core.unchanged import unchanged
from dpaudit.errors import InvalidArgument

ROUNDING = 2.0**-40  # of an eigenvalue and of a residual, relative: far more than doubles lose


class Sampling(NamedTuple):
    """The arms left in a phase, and the rows of those of its support that have been played."""

    number: int
    survivors: tuple[int, ...]
    played: tuple[Rows, ...] = ()


class ReleasingSums(NamedTuple):
    """A phase whose support has been played, and how many of its sums have been released."""

    phase: Sampling
    released: int = 0


@dataclass(frozen=True, eq=False)
class PhasePlan:
    """What a phase does: rounds of the arms of its support, weights of their sums on each arm."""

    support: tuple[int, ...]
    rounds: tuple[int, ...]
    weights: tuple[tuple[float, ...], ...]
    drift: tuple[float, ...]
    """How far rounded weights may be off in the mean, for each arm."""


@dataclass(frozen=True, kw_only=True)
class LinearPhases(Algorithm):
    """Play a design, release its sums, drop what is clearly worse, repeat.

    Without features the arms are points x = 0 ... 1 of a quadratic: (1, x, x^2).
    """

    horizon: int
    features: Features | None = None
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features is not None:
            object.__setattr__(self, "features", checked_features(self.features, self.arms))
        self.plan(1, tuple(range(self.arms)))

    @abstractmethod
    def law(self) -> Noise:
        """Return the noise on every released sum of rewards."""

    @abstractmethod
    def variance(self) -> Fraction:
        """Return the variance of `law()`."""

    @abstractmethod
    def rounds(self, g: float, support: int, level: float, width: float) -> float:
        """Return the rounds of a phase that the noise asks for."""

    @abstractmethod
    def tail(self, largest: Any, level: Any, m: Arithmetic) -> Any:
        """Return what the noise adds to a width beyond its variance, by the largest weight."""

    @cached_property
    def points(self) -> Features:
        """The features of every arm."""
        if self.features is not None:
            return self.features
        places = (arm / (self.arms - 1) for arm in range(self.arms))
        return tuple((1.0, x, x * x)[: self.arms] for x in places)

    def level(self, number: int, survivors: int) -> int:
        """Return e^L: 2 k T l (l + 1)."""
        return 2 * survivors * self.horizon * number * (number + 1)

    def plan(self, number: int, survivors: tuple[int, ...]) -> PhasePlan:
        """Return the plan of a phase, a function of public numbers alone."""
        return _planned(self, number, survivors)

    def width(self, number: int, survivors: tuple[int, ...], m: Arithmetic) -> Any:
        """Return twice W_b for every arm: it goes when another's band lies above its own."""
        plan = self.plan(number, survivors)
        level = m.log(m.number(self.level(number, len(survivors))))
        weights = abs(m.number(np.array(plan.weights)))
        own = (weights * weights * np.array(plan.rounds)).sum(axis=1) / 4
        noise = m.number(self.variance()) * (weights * weights).sum(axis=1)
        largest = m.number(np.abs(plan.weights).max(axis=1))
        half = m.sqrt(2 * (own + noise) * level) + self.tail(largest, level, m)
        return 2 * (half + m.number(np.array(plan.drift)))

    def start(self) -> State:
        """Return the first phase with every arm."""
        return Sampling(1, tuple(range(self.arms)))

    def step(self, state: State) -> Step:
        """Play the support, release its sums, then keep the arms that nothing is clearly above."""
        match state:
            case ReleasingSums(phase, told) if told < len(phase.played):
                rows = phase.played[told]
                asked = Release(rows.arm, rows, self.law())
                return Step(asked, lambda _: ReleasingSums(phase, told + 1))
            case ReleasingSums(Sampling(number, survivors, played)):
                shown = (tuple(rows.arm for rows in played),) * len(survivors)
                weights = self.plan(number, survivors).weights
                keep = Keep(survivors, shown, lambda m: self.width(number, survivors, m), weights)
                return Step(keep, lambda kept: Sampling(number + 1, kept))
            case Sampling(_, (only,)):
                return Step(Play(only, self.horizon), lambda _: state)
            case Sampling(number, survivors, played):
                plan, done = self.plan(number, survivors), len(played)
                play = Play(plan.support[done], plan.rounds[done])
                last = done + 1 == len(plan.support)

                def after(rows: Rows) -> State:
                    reached = Sampling(number, survivors, (*played, rows))
                    return ReleasingSums(reached) if last else reached

                return Step(play, after)
        raise TypeError(f"not a state of {self.name}: {state!r}")


FRAME = ("start", "step")


def in_linear_phases(algorithm: Algorithm) -> TypeGuard[LinearPhases]:
    """Tell whether an algorithm runs in the frame of `LinearPhases`, unchanged."""
    return isinstance(algorithm, LinearPhases) and unchanged(algorithm, LinearPhases, FRAME)


@lru_cache(maxsize=4096)
def _planned(algorithm: LinearPhases, number: int, survivors: tuple[int, ...]) -> PhasePlan:
    design = optimal_design(tuple(algorithm.points[arm] for arm in survivors), algorithm.tolerance)
    level = math.log(algorithm.level(number, len(survivors)))
    width, size = 2.0 ** -(number + 1), len(design.support)
    total = max(2 * design.g * level / width**2, algorithm.rounds(design.g, size, level, width))
    rounds = [math.ceil(weight * total) for weight in design.weights]
    arms = design.coordinates
    chosen = arms[list(design.support)]
    counts = np.array(rounds, dtype=float)
    information = (chosen * counts[:, None]).T @ chosen
    weights = np.linalg.solve(information, chosen.T).T @ arms.T
    least = np.linalg.eigvalsh(information)[0] * (1 - ROUNDING)
    if not least > 0:
        raise InvalidArgument("features", f"({len(arms)} arms)", "are too close to a subspace.")
    product = np.abs(weights * counts[:, None]).T @ np.abs(chosen)
    missed = np.linalg.norm((weights * counts[:, None]).T @ chosen - arms, axis=1)
    missed += 2.0**-45 * np.linalg.norm(product + np.abs(arms), axis=1)
    drift = missed * math.sqrt(counts.sum() / least) * (1 + ROUNDING)
    return PhasePlan(
        tuple(survivors[place] for place in design.support),
        tuple(rounds),
        tuple(tuple(row) for row in weights.T.tolist()),
        tuple(drift.tolist()),
    )

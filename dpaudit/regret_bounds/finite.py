"""Gaps in the class of every law on a finite support, by one-dimensional concave duals.

With B the largest support point and m the mean to beat, for m < B,

    d_epsilon gap = max over 0 <= u <= 1/(B - m) of E min(g(X), g(B) + epsilon),
                    g(x) = log(1 - u (x - m)),

and the KL gap is the case epsilon = infinity (Honda and Takemura's dual). Proof: inf over P' of
KL(Q, P') is max over u of E_Q g; exchange; moving a unit of mass costs epsilon and pays best at B.
The maximiser gives back a primal pair: Q moves the mass of the points with g > g(B) + epsilon to B,
P' = Q / (1 - u (x - m)) with what is missing put on B. The enclosure is [dual, primal].

The TV gap is a fractional knapsack: move mass from the lowest points to B until the mean is m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, require_positive
from dpaudit.regret_bounds.laws import RewardLaw, point
from dpaudit.verdict import Enclosure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Finite(RewardLaw):
    """A law on finitely many points, in the class of all laws on the same points."""

    support: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.support) != len(self.probabilities) or not self.support:
            rule = f"must give one probability to each of the {len(self.support)} support points."
            raise InvalidArgument("probabilities", self.probabilities, rule)
        values = (*self.support, *self.probabilities)
        if not all(math.isfinite(value) for value in values):
            raise InvalidArgument("support", self.support, "must be finite, and so its weights.")
        if len(set(self.support)) < len(self.support):
            raise InvalidArgument("support", self.support, "must not repeat a point.")
        if min(self.probabilities) < 0 or abs(sum(self.probabilities) - 1) > 1e-9:
            raise InvalidArgument("probabilities", self.probabilities, "must be a distribution.")

    @cached_property
    def _sorted(self) -> tuple[Array, Array]:
        order = np.argsort(self.support)
        weights = np.asarray(self.probabilities, dtype=float)[order]
        return np.asarray(self.support, dtype=float)[order], weights / weights.sum()

    @property
    def mean(self) -> float:  # type: ignore[override]
        """The expectation."""
        points, weights = self._sorted
        return float(points @ weights)

    def kl_gap(self, best: float) -> Enclosure:
        """Return d_inf from its dual and a feasible law."""
        return self._gap(best, math.inf)

    def private_gap(self, best: float, epsilon: float) -> Enclosure:
        """Return the d_epsilon gap from its dual and a feasible pair."""
        require_positive("epsilon", epsilon)
        return self._gap(best, epsilon)

    def _gap(self, best: float, epsilon: float) -> Enclosure:
        points, weights = self._sorted
        if best >= points[-1]:
            return point(math.inf)
        if best <= self.mean:
            return point(0.0)
        dual = Dual(points - best, weights, epsilon)
        w = dual.maximiser()
        values = sorted((float(dual.value(w)), float(dual.primal(w))))
        return Enclosure(max(values[0], 0.0), max(values[1], 0.0), certified=False)

    def tv_gap(self, best: float) -> Enclosure:
        """Return t_inf by the knapsack, with the value of the linear programme's dual below."""
        points, weights = self._sorted
        if best >= points[-1]:
            return point(math.inf)
        missing = best - self.mean
        if missing <= 0:
            return point(0.0)
        moved, need = 0.0, missing
        rise = points[-1] - points
        price = 1.0 / rise[-2]
        for mass, gain in zip(weights[:-1], rise[:-1], strict=True):
            if mass * gain >= need:
                moved, price = moved + need / gain, 1.0 / gain
                break
            moved, need = moved + mass, need - mass * gain
        dual = price * missing - float(weights @ np.maximum(price * rise - 1.0, 0.0))
        values = sorted((float(dual), float(moved)))
        return Enclosure(values[0], values[1], certified=False)

    def free_epsilon(self, best: float) -> float:
        """Return the range of g on the law's own points and B at the KL gap's maximiser."""
        points, weights = self._sorted
        if best >= points[-1]:
            return math.inf
        if best <= self.mean:
            return 0.0
        dual = Dual(points - best, weights, math.inf)
        w = dual.maximiser()
        return float(math.log(dual.factors(w)[weights > 0].max()) - w)


@dataclass(frozen=True)
class Dual:
    """The concave dual: `excess` is the sorted support minus the mean to beat.

    Its variable is w = log(1 - u (B - m)) <= 0, not u: the factor 1 - u (x - m) at x = B is then
    e^w exactly, however small. w = -infinity is the end of the interval of u.
    """

    excess: Array
    weights: Array
    epsilon: float

    def factors(self, w: float) -> Array:
        """Return 1 - u (x - m) at every point."""
        share = self.excess / self.excess[-1]
        return np.asarray((1 - share) + math.exp(w) * share)

    def _limit(self, w: float) -> float:
        """Return g(B) + epsilon as a factor; infinite where nothing can exceed it."""
        return math.exp(w + self.epsilon) if w + self.epsilon < 700 else math.inf

    def _slope(self, w: float) -> float:
        """Return e^w times the derivative in u: positive left of the maximum."""
        factors, inner = self.factors(w), self.weights > 0
        each = np.full_like(factors, -self.excess[-1])
        kept = inner & (factors <= self._limit(w))
        each[kept] = -self.excess[kept] * (math.exp(w) / factors[kept])
        return float(self.weights[inner] @ each[inner])

    def maximiser(self) -> float:
        """Return w by bisection on the sign of the derivative, to the last bit."""
        if self.weights[-1] == 0 and math.isinf(self.epsilon):
            # the dual is finite at the end of its interval, which may be where it peaks
            inner = self.weights > 0
            if self.weights[inner] @ (self.excess[inner] / self.factors(-math.inf)[inner]) <= 0:
                return -math.inf
        low, high = -700.0, 0.0
        while True:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                return high
            low, high = (low, middle) if self._slope(middle) > 0 else (middle, high)

    def value(self, w: float) -> float:
        """Return E min(g(X), g(B) + epsilon)."""
        inner = self.weights > 0
        # log1p near w = 0 keeps the digits of a tiny gap; e^w keeps those of a tiny factor
        share = (self.excess / self.excess[-1])[inner]
        g = np.log1p(math.expm1(w) * share) if w > -1 else np.log(self.factors(w)[inner])
        ceiling = math.inf if math.isinf(self.epsilon) else w + self.epsilon
        return float(self.weights[inner] @ np.minimum(g, ceiling))

    def primal(self, w: float) -> float:
        """Return epsilon TV(P, Q) + KL(Q, P') for the pair that w gives back, made feasible."""
        factors, law, cost = self.factors(w), self.weights.copy(), 0.0
        limit = self._limit(w)
        if math.isfinite(limit):
            edge = (law > 0) & (np.abs(factors - limit) <= 1e-9 * limit)
            gone = (law > 0) & (factors > limit) & ~edge
            moved = float(law[gone].sum())
            law[gone] = 0.0
            if edge.any():
                # at a kink part of the edge's mass moves: the part that makes the slope vanish
                inner = law > 0
                stays = float(law[inner] @ (self.excess[inner] / factors[inner]))
                stays += moved * self.excess[-1] / factors[-1]
                gain = self.excess[-1] / factors[-1] - self.excess[edge] / factors[edge]
                share = min(max(-stays / float(law[edge] @ gain), 0.0), 1.0)
                moved += share * float(law[edge].sum())
                law[edge] *= 1 - share
            law[-1] += moved
            cost = self.epsilon * moved
        inner = law > 0
        other = np.zeros_like(law)
        other[inner] = law[inner] / factors[inner]
        other[-1] += max(1.0 - other.sum(), 0.0)
        other = self._feasible(other / other.sum())
        return cost + float(law[inner] @ np.log(law[inner] / other[inner]))

    def _feasible(self, law: Array) -> Array:
        """Mix in the largest point until the mean is large enough: rounding errors only."""
        short = -float(law @ self.excess)
        if short <= 0:
            return law
        share = short / (short + self.excess[-1])
        law = law * (1 - share)
        law[-1] += share
        return law


def finite(support: Sequence[float], probabilities: Sequence[float]) -> Finite:
    """Return the law on `support` with these probabilities."""
    return Finite(tuple(map(float, support)), tuple(map(float, probabilities)))

"""Positive functions of one register on a grid, enclosed to second order, and their Laplace masses.

A `Weight` knows enclosures of its values at the nodes, of its range on every cell, and bounds of
its first two derivatives there (infinite where there is none). On a cell of length h it is within
min(h^2 |w''| / 8, range) of its chord; beyond the outer nodes it is constant.

The mean of a chord under a Laplace density that has no kink inside the cell is its value at the
centroid, which is within rate h^2 / 12 of the middle: for a truncated exponential the distance is
(z coth z - 1) / rate with z = rate h / 2, and z coth z - 1 <= z^2 / 3.
Sums of n positive doubles are off by at most n ulps, in whatever order they are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.interval import Array, Interval, down, up
from dpaudit.exact.balls.roots import Theta

Indices = NDArray[np.intp]
_SLIVER = Interval(np.float64(0.0), np.float64(0.0100001))
_ONE = Interval(np.float64(1.0), np.float64(1.0))
ROUND = 1e-14  # covers the few roundings of one formula on non-negative doubles


@dataclass(frozen=True)
class Weight:
    """A positive function: nodes, and on each cell its range and bounds of two derivatives."""

    at: Interval
    range: Interval
    first: Array
    second: Array

    def __mul__(self, other: Weight) -> Weight:
        a, b = self.range.hi, other.range.hi
        cross = times(self.first, other.first)
        first = times(self.first, b) + times(a, other.first)
        second = times(self.second, b) + 2 * cross + times(a, other.second)
        return Weight(
            self.at.times(other.at),
            self.range.times(other.range),
            first * (1 + ROUND),
            second * (1 + ROUND),
        )


def times(a: Array, b: Array) -> Array:
    """Return a b, with 0 times infinity 0: a function that is constant has no derivative."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((a == 0) | (b == 0), 0.0, a * b)


def from_monotone(at: Interval, rising: bool, first: Array, second: Array) -> Weight:
    """Return the weight of a monotone function from its nodes."""
    low, high = (at.lo[:-1], at.hi[1:]) if rising else (at.lo[1:], at.hi[:-1])
    return Weight(at, Interval(low, np.maximum(low, high)), first, second)


@dataclass(frozen=True)
class Grid:
    """Increasing doubles; cells between them, and a tail on either side."""

    x: Array

    @cached_property
    def length(self) -> Interval:
        """Cell lengths."""
        return Interval.of(self.x[1:]) - Interval.of(self.x[:-1])

    def one(self) -> Weight:
        """Return the constant 1."""
        cells = len(self.x) - 1
        node, cell, zero = np.ones(cells + 1), np.ones(cells), np.zeros(cells)
        return Weight(Interval(node, node), Interval(cell, cell), zero, zero)

    def slack(self, weight: Weight) -> Array:
        """Bound the distance of a weight from its chord, cell by cell."""
        bent = times(self.length.hi**2 / 8, weight.second) * (1 + ROUND)
        return np.asarray(np.minimum(bent, up(weight.range.hi - weight.range.lo)))

    def means(self, weight: Weight, rate: float) -> Interval:
        """Enclose the mean of a weight on every cell under any Laplace law of at most this rate."""
        lean = np.minimum(rate * self.length.hi / 12 * (1 + ROUND), 0.5)
        slack = self.slack(weight)
        low, high = weight.at.lo, weight.at.hi
        least = 0.5 * (low[:-1] + low[1:]) - np.abs(np.diff(low)) * lean - slack
        most = 0.5 * (high[:-1] + high[1:]) + np.abs(np.diff(high)) * lean + slack
        least = np.maximum(least - ROUND * np.abs(least) - ROUND * weight.range.hi, weight.range.lo)
        most = np.minimum(most * (1 + ROUND), weight.range.hi)
        return Interval(np.minimum(least, weight.range.hi), np.maximum(most, weight.range.lo))


def outward(value: arb) -> Interval:
    """Return the doubles around a ball."""
    return Interval(np.float64(down(float(value.lower()))), np.float64(up(float(value.upper()))))


def piece(a: Array, b: Array, centre: float, rate: Interval) -> Interval:
    """Enclose the Laplace mass of [a, b], the centre not inside, for doubles a <= b."""
    near = np.maximum(np.maximum(down(a - centre), down(centre - b)), 0.0)
    far = np.maximum(np.maximum(up(a - centre), up(centre - b)), 0.0)
    z = rate * (Interval.of(b) - Interval.of(a)).clip(0.0, np.inf)
    half = 0.5 * z
    # sinh(u) / u lies between 1 + u^2 / 6 and that plus u^4 / 100 for u <= 1/2
    square = half * half
    bulge = 1.0 + (square * Interval(down(1 / 6), up(1 / 6)) + square * square * _SLIVER)
    short = z * (-half).exp() * bulge
    long = 1.0 - (-z).exp()
    small = z.hi < 0.03
    share = Interval(np.where(small, short.lo, long.lo), np.where(small, short.hi, long.hi))
    return 0.5 * ((-(rate * Interval(near, far))).exp()).times(share.clip(0.0, np.inf))


def cumulative(z: Interval) -> Interval:
    """Enclose the Laplace distribution function at scaled distances from the centre."""

    def ends(x: Array) -> Interval:
        tail = 0.5 * Interval.of(-np.abs(np.where(np.isinf(x), 0.0, x))).exp()
        other = 1.0 - tail
        low = np.where(x < 0, tail.lo, other.lo)
        high = np.where(x < 0, tail.hi, other.hi)
        edge = np.where(x < 0, 0.0, 1.0)
        return Interval(np.where(np.isinf(x), edge, low), np.where(np.isinf(x), edge, high))

    return Interval(ends(z.lo).lo, ends(z.hi).hi).clip(0.0, 1.0)


class Masses:
    """A Laplace law on a grid: masses of cells and tails, and of everything beyond a threshold."""

    def __init__(self, grid: Grid, rate: Fraction, centre: Fraction) -> None:
        self.grid, self.centre = grid, float(centre)
        if not np.any(grid.x == self.centre):
            raise ValueError(f"the centre {centre} is not a node")
        self.rate = outward(ball(rate))
        # moving a Laplace law by delta changes densities and tails by at most exp(rate delta)
        moved = outward(ball(rate * abs(Fraction(self.centre) - centre)))
        self.spread = Interval(-moved.hi, moved.hi).exp() if moved.hi > 1e-300 else _ONE
        x = grid.x
        self.cells = piece(x[:-1], x[1:], self.centre, self.rate).times(self.spread)
        ends = self.rate * (Interval.of(x[[0, -1]]) - self.centre)
        self.left = cumulative(ends[0]).times(self.spread)
        self.right = cumulative(-ends[1]).times(self.spread)
        near = np.maximum(np.maximum(down(x[:-1] - self.centre), down(self.centre - x[1:])), 0.0)
        density = (-(self.rate.lo * Interval.of(near))).exp().times(self.spread)
        self.peak = up(0.5 * self.rate.hi) * density.hi

    def running(self, weight: Weight, below: bool, means: Interval | None = None) -> Interval:
        """Enclose the mass of a weight left of each node, or right of it.

        `means` are its cell means at this rate, where they are known.
        """
        if means is None:
            means = self.grid.means(weight, float(self.rate.hi))
        mass = self.cells.times(means)
        end = (self.left if below else self.right).times(weight.at[0 if below else -1])
        error = (len(mass.lo) + 8) * 2.0**-52
        order = slice(None) if below else slice(None, None, -1)
        low, high = (
            np.cumsum(np.concatenate([[edge], part[order]]))[order]
            for edge, part in ((end.lo, mass.lo), (end.hi, mass.hi))
        )
        return Interval(low * (1 - error), high * (1 + error))

    def total(self, weight: Weight) -> Interval:
        """Enclose the integral of a weight."""
        return self.weighed(weight, self.grid.means(weight, float(self.rate.hi)))

    def weighed(self, weight: Weight, means: Interval) -> Interval:
        """Enclose the integral of a weight whose cell means (at this rate) are known."""
        error = (len(means.lo) + 8) * 2.0**-52
        ends = self.left.times(weight.at[0]) + self.right.times(weight.at[-1])
        low = np.dot(self.cells.lo, means.lo) * (1 - error)
        high = np.dot(self.cells.hi, means.hi) * (1 + error)
        return (Interval(low, high) + ends.clip(0.0, np.inf)).clear_of_underflow()


class Beyond:
    """The mass of a weight on one side of a threshold, as a weight of the other register.

    Positions among the cells and masses of parts of cells do not depend on the weight.
    """

    def __init__(self, law: Masses, theta: Theta, below: bool) -> None:
        self.law, self.theta, self.below = law, theta, below
        x = law.grid.x
        # at theta.lo the mass below is least, the mass above is largest
        self._ends = [self._end(s) for s in (theta.at.lo, theta.at.hi)]
        start = np.clip(np.searchsorted(x, theta.at.lo[:-1], "right") - 1, 0, len(x) - 2)
        stop = np.clip(np.searchsorted(x, theta.at.hi[1:], "right"), start + 1, len(x) - 1)
        self._spans = np.stack([start, stop], axis=1).ravel()

    def _end(self, s: Array) -> tuple[Indices, Interval, Array, Array, Array]:
        x, law = self.law.grid.x, self.law
        inside = np.clip(s, x[0], x[-1])
        index = np.clip(np.searchsorted(x, inside, "right") - 1, 0, len(x) - 2)
        low, high = x[index], x[index + 1]
        a, b = (low, inside) if self.below else (inside, high)
        mass = piece(a, b, law.centre, law.rate).times(law.spread)
        part, cell = b - a, high - low
        lean = np.minimum(law.rate.hi * part / 12, 0.5) * 1.000001
        middle = (a - low) / cell
        least = np.clip(middle + part / cell * (0.5 - lean), 0.0, 1.0)
        most = np.clip(middle + part / cell * (0.5 + lean), 0.0, 1.0)
        return index, mass, least, most, s

    def __call__(self, weight: Weight) -> Weight:
        """Return the mass beyond the threshold at every node of the other register."""
        law, order = self.law, (0, 1) if self.below else (1, 0)
        means, slack = law.grid.means(weight, float(law.rate.hi)), law.grid.slack(weight)
        sums, total = law.running(weight, self.below, means), law.weighed(weight, means)
        given = (weight, sums, slack, total)
        low = self._bound(*given, self._ends[order[0]], upper=False)
        high = self._bound(*given, self._ends[order[1]], upper=True)
        at = Interval(np.minimum(low, high), high)
        reach = np.append(times(self.law.peak, weight.range.hi), 0.0)
        steep = weight.range.hi * self.law.rate.hi + weight.first
        change = np.append(times(self.law.peak, steep), 0.0)
        reach = np.maximum.reduceat(reach, self._spans)[::2] * (1 + ROUND)
        change = np.maximum.reduceat(change, self._spans)[::2] * (1 + ROUND)
        slope = self.theta.slope
        first = times(reach, slope)
        second = times(times(change, slope), slope) + times(reach, self.theta.bend)
        return from_monotone(at, self.below, first * (1 + ROUND), second * (1 + ROUND))

    def _bound(
        self,
        weight: Weight,
        running: Interval,
        slack: Array,
        total: Interval,
        end: tuple[Indices, Interval, Array, Array, Array],
        upper: bool,
    ) -> Array:
        index, mass, least, most, s = end
        node, sums = (weight.at.hi, running.hi) if upper else (weight.at.lo, running.lo)
        left, step = node[index], node[index + 1] - node[index]
        one, two = left + step * least, left + step * most
        x = self.law.grid.x
        base = sums[index] if self.below else sums[index + 1]
        nothing = np.isneginf(s) if self.below else np.isposinf(s)
        everything = np.isposinf(s) if self.below else np.isneginf(s)
        if upper:
            mean = np.maximum(one, two) + slack[index] + ROUND * weight.range.hi[index]
            mean = np.minimum(mean * (1 + ROUND), weight.range.hi[index])
            value = (base + mass.hi * mean) * (1 + ROUND)
        else:
            mean = np.minimum(one, two) - slack[index] - ROUND * weight.range.hi[index]
            mean = np.maximum(mean, weight.range.lo[index])
            value = (base + mass.lo * mean) * (1 - ROUND)
        whole = total.hi if upper else total.lo
        value = np.where(everything, whole, np.where(nothing, 0.0, value))
        # a finite threshold beyond the grid: the tail there is undivided, so take all or none of it
        past = (s < x[0]) | (s > x[-1])
        outside = past & ~nothing & ~everything
        if outside.any():
            value = np.where(outside, self._undivided(value, sums, s, whole, upper), value)
        return value

    def _undivided(self, value: Array, sums: Array, s: Array, whole: float, upper: bool) -> Array:
        x = self.law.grid.x
        first = s < x[0] if self.below else s > x[-1]
        edge = sums[0] if self.below else sums[-1]
        near, rest = (edge, whole) if upper else (0.0, sums[-1] if self.below else sums[0])
        return np.where(first, near, rest)


def tail(theta: Theta, law: Masses, below: bool) -> Weight:
    """Return P(value < theta(x)), or P(value > theta(x)), of a Laplace law as a weight of x."""
    rate, centre = law.rate, law.centre
    z = Interval(
        np.where(np.isinf(theta.at.lo), theta.at.lo, down(theta.at.lo - centre)),
        np.where(np.isinf(theta.at.hi), theta.at.hi, up(theta.at.hi - centre)),
    )
    scaled = rate * z
    near = np.maximum(np.maximum(z.lo[:-1], -z.hi[1:]), 0.0)
    far = np.where(np.isinf(near), 1e6, near)
    density = (-(rate.lo * Interval.of(far))).exp().times(law.spread)
    peak = up(0.5 * rate.hi) * density.hi
    first = times(peak, theta.slope) * (1 + ROUND)
    second = times(times(rate.hi * peak, theta.slope), theta.slope)
    second = (second + times(peak, theta.bend)) * (1 + ROUND)
    values = (cumulative(scaled) if below else cumulative(-scaled)).times(law.spread)
    return from_monotone(values.clip(0.0, 1.0), below, first, second)

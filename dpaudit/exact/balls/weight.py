"""Positive functions of one register on a grid, enclosed to third order, and their Laplace masses.

A grid is increasing doubles, with cells between them and a tail on either side. A `Weight` knows
enclosures of its values at the nodes, of its range on every cell, and of its first two derivatives
there (everything where there may be none). On a cell [a, b] of length h a function is its chord
less w''(.) (x - a) (b - x) / 2, within its range; beyond the outer nodes it is constant.

Means over a cell, or a part of one, are taken under a Laplace density that has no kink inside.
That of a chord is its value at the centroid, which leaves the middle towards the centre of the law
by (z coth z - 1) / rate with z = rate h / 2, and z^2 / 3 - z^4 / 45 <= z coth z - 1 <= z^2 / 3.
That of (x - a) (b - x) / 2 over the whole cell is h^2 / 12 times a number between 1 - z^2 / 6 and
1: the even part of the density is at least z / sinh z of the uniform one, and grows outwards. Over
a part of length p it is within h / 2, which bounds the slope, times the way of the centroid, at
most rate p^2 / 12, of its mean under the uniform law.
Sums of n positive doubles are off by at most n ulps, in whatever order they are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.interval import Array, Interval, down, outward, up, where

Indices = NDArray[np.intp]
_ONE = Interval(np.float64(1.0), np.float64(1.0))
ROUND = 1e-14  # covers the few roundings of one formula on non-negative doubles


@dataclass(frozen=True)
class Weight:
    """A positive function: nodes, and on each cell its range and bounds of two derivatives.

    The last axis is the register's; many functions of one register may be stacked before it.
    """

    at: Interval
    range: Interval
    first: Interval
    second: Interval

    def __mul__(self, other: Weight) -> Weight:
        first = scaled(self.range, other.first) + scaled(other.range, self.first)
        second = scaled(self.range, other.second) + scaled(other.range, self.second)
        cross = signed(self.first, other.first)
        return Weight(
            self.at.times(other.at),
            self.range.times(other.range),
            first,
            second + Interval(2 * cross.lo, 2 * cross.hi),
        )

    def __add__(self, other: Weight) -> Weight:
        return self.each(Interval.__add__, other)

    def __neg__(self) -> Weight:
        return self.each(Interval.__neg__)

    def each(self, change: Callable[..., Interval], *others: Weight) -> Weight:
        """Return what an operation makes of values, ranges and derivatives alike."""
        given = ((w.at, w.range, w.first, w.second) for w in (self, *others))
        return Weight(*(change(*parts) for parts in zip(*given, strict=True)))

    def on(self, kept: NDArray[np.bool_]) -> Weight:
        """Return the function on some cells in a row, 0 on the others, where it jumps."""
        beside = np.concatenate([kept, [False]]) | np.concatenate([[False], kept])
        next_to = ~kept & (beside[1:] | beside[:-1])
        jump = np.where(next_to, np.inf, 0.0)

        def cut(part: Interval, where: NDArray[np.bool_]) -> Interval:
            return Interval(np.where(where, part.lo, 0.0), np.where(where, part.hi, 0.0))

        first = cut(self.first, kept)
        first = Interval(first.lo - jump, first.hi + jump)
        return Weight(cut(self.at, beside), cut(self.range, kept), first, cut(self.second, kept))

    @staticmethod
    def stacked(weights: Sequence[Weight]) -> Weight:
        """Return functions of one register as one."""

        def stack(*parts: Interval) -> Interval:
            return Interval(np.stack([it.lo for it in parts]), np.stack([it.hi for it in parts]))

        return weights[0].each(stack, *weights[1:])

    def split(self) -> list[Weight]:
        """Return the functions that were stacked."""
        return [self.each(itemgetter(row)) for row in range(len(self.at.lo))]


def times(a: Array, b: Array) -> Array:
    """Return a b, with 0 times infinity 0: a function that is constant has no derivative."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((a == 0) | (b == 0), 0.0, a * b)


def _widened(low: Array, high: Array) -> Interval:
    return Interval(low - ROUND * np.abs(low), high + ROUND * np.abs(high))


def scaled(by: Interval, x: Interval) -> Interval:
    """Return the product with non-negative numbers; 0 times what has no bound is 0."""
    low, high = np.asarray(x.lo), np.asarray(x.hi)
    low = times(low, np.asarray(np.where(low < 0, by.hi, by.lo)))
    return _widened(low, times(high, np.asarray(np.where(high < 0, by.lo, by.hi))))


def signed(a: Interval, b: Interval) -> Interval:
    """Return the product of numbers of any sign; 0 times what has no bound is 0."""
    products = [times(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return _widened(np.minimum.reduce(products), np.maximum.reduce(products))


def from_monotone(at: Interval, rising: bool, first: Interval, second: Interval) -> Weight:
    """Return the weight of a monotone function from its nodes.

    The derivatives are given as if it rose.
    """
    left, right = (..., slice(None, -1)), (..., slice(1, None))
    low, high = (at.lo[left], at.hi[right]) if rising else (at.lo[right], at.hi[left])
    turned = (first, second) if rising else (-first, -second)
    return Weight(at, Interval(low, np.maximum(low, high)), *turned)


def away(centres: Iterable[Fraction]) -> float:
    """Bound how far centres are from their doubles."""
    off = max(abs(Fraction(float(centre)) - centre) for centre in centres)
    return float(outward(ball(off)).hi) if off else 0.0


def moved(rate: Interval, off: float) -> Interval:
    """Enclose what moving a Laplace law by up to `off` does to densities and tails."""
    most = up(rate.hi * off)
    return Interval(-most, most).exp() if off else _ONE


def fall(z: Interval) -> Interval:
    """Enclose 1 - e^-z for z >= 0, tight also near zero."""
    half = 0.5 * z
    square = half * half
    # sinh(u) / u is 1 + u^2 / 6 + u^4 / 120 and less than u^6 / 5000 for u <= 1/2
    bulge = Interval(np.float64(0.0), np.float64(1 / 5000))
    for number in (120.0, 6.0, 1.0):
        bulge = Interval(down(1 / number), up(1 / number)) + square * bulge
    return where(z.hi < 0.03, z * (-half).exp() * bulge, 1.0 - (-z).exp()).clip(0.0, np.inf)


def piece(a: Array, b: Array, centre: float, rate: Interval) -> Interval:
    """Enclose the Laplace mass of [a, b], the centre not inside, for doubles a <= b."""
    near = np.maximum(np.maximum(down(a - centre), down(centre - b)), 0.0)
    far = np.maximum(np.maximum(up(a - centre), up(centre - b)), 0.0)
    z = rate * (Interval.of(b) - Interval.of(a)).clip(0.0, np.inf)
    return 0.5 * ((-(rate * Interval(near, far))).exp()).times(fall(z))


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


@dataclass(frozen=True)
class Part:
    """What a mean over a part of a cell needs, whatever the weight.

    `place` encloses the centroid's place between the ends of the cell, `sag` the mean of
    (x - a) (b - x) / 2.
    """

    place: Interval
    sag: Interval

    def mean(self, ends: tuple[Interval, Interval], cell: Interval, second: Interval) -> Interval:
        """Enclose the mean of a weight by its values at a cell's ends, its range and its bend."""
        a, b = ends
        low = np.minimum(*(a.lo + (b.lo - a.lo) * at for at in (self.place.lo, self.place.hi)))
        high = np.maximum(*(a.hi + (b.hi - a.hi) * at for at in (self.place.lo, self.place.hi)))
        sunk = scaled(self.sag, second)
        low = np.maximum(low - sunk.hi - ROUND * (cell.hi + np.abs(sunk.hi)), cell.lo)
        high = np.minimum(high - sunk.lo + ROUND * (cell.hi + np.abs(sunk.lo)), cell.hi)
        return Interval(np.minimum(low, cell.hi), np.maximum(high, cell.lo))


def part_of(cell: Interval, a: Array, b: Array, lean: Array, rate: float) -> Part:
    """Return the part [a, b] of cells, in a density that rises (lean 1) or falls (-1)."""
    whole, before = cell.hi - cell.lo, a - cell.lo
    length = b - a
    way = rate * length / 12 * (1 + ROUND)
    least = np.maximum(way * (1 - (rate * length) ** 2 / 60) * (1 - 4 * ROUND), 0.0)
    moved = lean * np.minimum(way, 0.5), lean * np.minimum(least, 0.5)
    places = [np.clip((before + length * (0.5 + move)) / whole, 0.0, 1.0) for move in moved]
    ends = before, before + length
    even = whole * (ends[0] + ends[1]) / 4
    even = even - (ends[0] ** 2 + ends[0] * ends[1] + ends[1] ** 2) / 6
    # of a whole cell the mean is known better
    uneven = np.where(length == whole, 0.0, whole * rate * length**2 / 24)
    shrunk = np.where(length == whole, np.maximum(1 - (rate * whole) ** 2 / 24, 0.0), 1.0)
    margin = uneven + 4 * ROUND * whole**2
    sag = Interval(even * shrunk - margin, even + margin).clip(0.0, np.inf)
    sag = Interval(sag.lo, np.minimum(sag.hi, whole**2 / 8 * (1 + ROUND)))
    return Part(Interval(np.minimum(*places), np.maximum(*places)), sag)


class Lebesgue:
    """Lebesgue's measure on a grid but for some cells: masses of cells and their running sums.

    Nothing lies beyond the grid, nor in a hole, a cell that is left out.
    """

    rate = Interval.of(np.float64(0.0))

    def __init__(self, grid: Array, holes: Sequence[int] = ()) -> None:
        x = self.grid = grid
        self._solid = np.ones(len(x) - 1)
        self._solid[list(holes)] = 0.0
        self.cells = self.between(x[:-1], x[1:], np.arange(len(x) - 1))
        self.left = self.right = Interval.of(np.float64(0.0))
        self.lean = np.zeros(len(x) - 1)
        self.whole = part_of(Interval(x[:-1], x[1:]), x[:-1], x[1:], self.lean, 0.0)

    def between(self, a: Array, b: Array, index: Indices) -> Interval:
        """Enclose the mass of [a, b] inside of cells, for doubles a <= b."""
        found = (Interval.of(b) - Interval.of(a)).clip(0.0, np.inf)
        return Interval(found.lo * self._solid[index], found.hi * self._solid[index])

    def slopes(self, weight: Weight) -> tuple[Interval, Interval]:
        """Enclose the density of a weighted measure and its derivative, cell by cell.

        It has no derivative at the ends of the grid and of holes.
        """
        jumps = np.where(self._solid > 0, 0.0, np.inf)
        jumps[[0, -1]] = np.inf
        solid, low = Interval.of(self._solid), weight.range.lo.copy()
        low[..., [0, -1]] = 0.0
        change = scaled(solid, weight.first)
        mass = Interval(low, weight.range.hi).times(solid)
        return mass, Interval(change.lo - jumps, change.hi + jumps)

    def means(self, weight: Weight) -> Interval:
        """Enclose the mean of a weight on every cell."""
        ends = weight.at[..., :-1], weight.at[..., 1:]
        return self.whole.mean(ends, weight.range, weight.second)

    def running(self, weight: Weight, below: bool, means: Interval | None = None) -> Interval:
        """Enclose the mass of a weight left of each node, or right of it.

        `means` are its cell means, where they are known.
        """
        mass = self.cells.times(self.means(weight) if means is None else means)
        last = slice(0, 1) if below else slice(-1, None)
        end = (self.left if below else self.right).times(weight.at[..., last])
        error = (mass.lo.shape[-1] + 8) * 2.0**-52
        order = (..., slice(None) if below else slice(None, None, -1))
        low, high = (
            np.cumsum(np.concatenate([edge, part[order]], axis=-1), axis=-1)[order]
            for edge, part in ((end.lo, mass.lo), (end.hi, mass.hi))
        )
        return Interval(low * (1 - error), high * (1 + error))

    def total(self, weight: Weight, means: Interval | None = None) -> Interval:
        """Enclose the integral of a weight, whose cell means may be known."""
        means = self.means(weight) if means is None else means
        error = (means.lo.shape[-1] + 8) * 2.0**-52
        ends = self.left.times(weight.at[..., 0]) + self.right.times(weight.at[..., -1])
        low = np.dot(means.lo, self.cells.lo) * (1 - error)
        high = np.dot(means.hi, self.cells.hi) * (1 + error)
        return (Interval(low, high) + ends.clip(0.0, np.inf)).clear_of_underflow()


class Masses(Lebesgue):
    """A Laplace law on a grid: masses of cells and tails, and of everything beyond a threshold."""

    def __init__(self, grid: Array, rate: Fraction, centre: Fraction) -> None:
        x = self.grid = grid
        self.centre = float(centre)
        if not np.any(grid == self.centre):
            raise ValueError(f"the centre {centre} is not a node")
        self.rate = outward(ball(rate))
        self.off = away([centre])
        self.spread = moved(self.rate, self.off)
        self.cells = piece(x[:-1], x[1:], self.centre, self.rate).times(self.spread)
        ends = self.rate * (Interval.of(x[[0, -1]]) - self.centre)
        self.left = cumulative(ends[0]).times(self.spread)
        self.right = cumulative(-ends[1]).times(self.spread)
        self.lean = np.where(x[1:] <= self.centre, 1.0, -1.0)
        ends_of = Interval(x[:-1], x[1:])
        self.whole = part_of(ends_of, x[:-1], x[1:], self.lean, float(self.rate.hi))

    def between(self, a: Array, b: Array, index: Indices) -> Interval:
        """Enclose the mass of [a, b], the centre not inside, for doubles a <= b."""
        return piece(a, b, self.centre, self.rate).times(self.spread)

    def density(self, z: Interval) -> tuple[Interval, Interval]:
        """Enclose f and f' / f for points within these distances from the rounded centre."""
        near = np.maximum(np.maximum(z.lo, -z.hi), 0.0)
        far = np.maximum(np.abs(z.lo), np.abs(z.hi))
        ends = Interval(np.where(np.isinf(near), 1e6, near), np.where(np.isinf(far), 1e6, far))
        found = (0.5 * self.rate).times((-(self.rate * ends)).exp()).times(self.spread)
        found = Interval(np.where(np.isinf(far), 0.0, found.lo), found.hi)
        r, left = self.rate, z.hi <= -self.off
        right = (z.lo >= self.off) & ~left
        return found, Interval(np.where(left, r.lo, -r.hi), np.where(right, -r.lo, r.hi))

    def slopes(self, weight: Weight) -> tuple[Interval, Interval]:
        """Enclose the density of a weighted law and its derivative, cell by cell.

        The outer cells include all beyond them, where weights do not move.
        """
        density, rise = self._slopes
        mass = density.times(weight.range)
        return mass, scaled(density, _still_outside(weight.first)) + signed(mass, rise)

    @cached_property
    def _slopes(self) -> tuple[Interval, Interval]:
        """Enclose f and f' / f on every cell; on the outer ones, all beyond them included."""
        x = self.grid
        ends = Interval(down(x[:-1] - self.centre), up(x[1:] - self.centre))
        # differences of neighbours of the centre are exact, and keep their side
        low = np.asarray(np.where(x[:-1] >= self.centre, np.maximum(ends.lo, 0.0), ends.lo))
        high = np.asarray(np.where(x[1:] <= self.centre, np.minimum(ends.hi, 0.0), ends.hi))
        low[0], high[-1] = -np.inf, np.inf
        return self.density(Interval(low, high))


def _still_outside(first: Interval) -> Interval:
    """Return a derivative that may also be 0 on the outer cells: beyond them nothing moves."""
    low, high = first.lo.copy(), first.hi.copy()
    for edge in (0, -1):
        low[..., edge] = np.minimum(low[..., edge], 0.0)
        high[..., edge] = np.maximum(high[..., edge], 0.0)
    return Interval(low, high)

"""The joint density of two registers on a grid of nodes, enclosed to second order.

A `Sheet` knows enclosures of the density at the nodes; on every cell its supremum and bounds of two
derivatives along either axis (infinite where there are none). On a cell of length h a function is
within the least of h^2 |W''| / 8, h |W'| / 2 and sup W of its chord. Outside the window the density
is taken as zero: the sheet follows the event that no register ever leaves it. Doubles are rounded
outward: sums and products of non-negative ones by a relative margin and a least double.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.interval import Array, Interval, down, up
from dpaudit.exact.balls.weight import outward

ROUND = 1e-14  # covers the roundings of one formula on non-negative doubles
LEAST = 1e-300  # covers underflow


@dataclass(frozen=True)
class Axis:
    """Increasing nodes of a register, 0 among them."""

    x: Array

    @property
    def length(self) -> Array:
        """Cell lengths, rounded up."""
        return np.asarray(up(np.diff(self.x)))


@dataclass(frozen=True)
class Sheet:
    """Densities at nodes; on cells the supremum and bounds of two derivatives along each axis."""

    axes: tuple[Axis, Axis]
    at: Interval
    top: Array
    first: tuple[Array, Array]
    second: tuple[Array, Array]

    @property
    def turned(self) -> Sheet:
        """The same with the registers exchanged."""
        return Sheet(
            (self.axes[1], self.axes[0]),
            Interval(self.at.lo.T, self.at.hi.T),
            self.top.T,
            (self.first[1].T, self.first[0].T),
            (self.second[1].T, self.second[0].T),
        )


@dataclass(frozen=True)
class Line:
    """A function of one register: values at nodes, and on cells its supremum and derivatives."""

    at: Interval
    top: Array
    first: Array
    second: Array

    def integral(self, axis: Axis) -> Interval:
        """Enclose the integral over the window."""
        slack = gap(axis.length, self.first, self.second, self.top)
        short = np.maximum(down(np.diff(axis.x)), 0.0)
        least = 0.5 * (self.at.lo[:-1] + self.at.lo[1:]) * (1 - ROUND) - slack
        low = np.sum(short * np.maximum(least, 0.0)) * (1 - 1e-10)
        most = np.minimum(0.5 * (self.at.hi[:-1] + self.at.hi[1:]) + slack, self.top)
        return Interval(low, np.sum(axis.length * most) * (1 + 1e-10) + LEAST)


def times(a: Array, b: Array) -> Array:
    """Return a b with 0 times infinity 0."""
    with np.errstate(invalid="ignore"):
        return np.where((a == 0) | (b == 0), 0.0, a * b)


def gap(length: Array, first: Array, second: Array, top: Array) -> Array:
    """Bound the distance of a function from its chord, cell by cell."""
    bent = np.minimum(times(length**2 / 8, second), times(length / 2, first))
    return np.asarray(np.minimum(bent, top) * (1 + ROUND))


def laplace(axis: Axis, rate: Fraction) -> Line:
    """Return the Laplace density of a rate, centred at 0."""
    r = outward(ball(rate))
    at = (0.5 * r).times((-(r * Interval.of(np.abs(axis.x)))).exp())
    top = np.maximum(at.hi[:-1], at.hi[1:])
    return Line(at, top, top * r.hi * (1 + ROUND), top * r.hi**2 * (1 + ROUND))


def product(axes: tuple[Axis, Axis], a: Line, b: Line) -> Sheet:
    """Return the joint density of two independent registers."""

    def outer(p: Array, q: Array) -> Array:
        return times(p[:, None], q[None, :]) * (1 + ROUND)

    low = np.outer(a.at.lo, b.at.lo) * (1 - ROUND)
    at = Interval(np.where(low < LEAST, 0.0, low), outer(a.at.hi, b.at.hi) + LEAST)
    return Sheet(
        axes,
        at,
        outer(a.top, b.top) + LEAST,
        (outer(a.first, b.top), outer(a.top, b.first)),
        (outer(a.second, b.top), outer(a.top, b.second)),
    )

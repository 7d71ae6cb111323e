"""A formula on intervals, with two derivatives: what certifies a score of one's own.

A `Jet` encloses the value, the first and the second derivative of an expression for every x of an
interval. The four operations, sqrt, log, exp and maximum enclose theirs; where one has no
derivative (a root of 0, a quotient by 0, the corner of a maximum) the ends are infinite or no
numbers, which nothing accepts as a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.interval import Interval, down, outward, up, where


@dataclass(frozen=True)
class Jet:
    """Enclosures of an expression and of its first two derivatives."""

    value: Interval
    first: Interval
    second: Interval

    def __add__(self, other: Any) -> Jet:
        other = JETS.number(other)
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.first, -self.second)

    def __sub__(self, other: Any) -> Jet:
        return self + (-JETS.number(other))

    def __rsub__(self, other: Any) -> Jet:
        return JETS.number(other) - self

    def __mul__(self, other: Any) -> Jet:
        other = JETS.number(other)
        cross = 2.0 * (self.first * other.first)
        return Jet(
            self.value * other.value,
            self.first * other.value + self.value * other.first,
            self.second * other.value + cross + self.value * other.second,
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        return self * JETS.number(other).inverse()

    def __rtruediv__(self, other: Any) -> Jet:
        return JETS.number(other) * self.inverse()

    def inverse(self) -> Jet:
        """Return 1 / this; not a number where this may be 0."""
        x = self.value
        away = (x.lo > 0) | (x.hi < 0)
        nothing = np.full(np.shape(x.lo), np.nan)
        safe = where(away, x, Interval(np.ones_like(nothing), np.ones_like(nothing)))
        ends = Interval(down(1 / safe.hi), up(1 / safe.lo))
        found = where(away, ends, Interval(nothing, nothing))
        square = found * found
        return self.through(found, -square, 2.0 * (square * found))

    def through(self, value: Interval, first: Interval, second: Interval) -> Jet:
        """Return a function of this, by its own value and derivatives here."""
        return Jet(
            value,
            first * self.first,
            second * (self.first * self.first) + first * self.second,
        )


class JetArithmetic:
    """The functions of formulas, on jets."""

    def number(self, value: Any) -> Jet:
        """Return a constant."""
        if isinstance(value, Jet):
            return value
        found = value if isinstance(value, Interval) else outward(ball(value))
        zero = Interval.of(np.float64(0.0))
        return Jet(found, zero, zero)

    def variable(self, x: Interval) -> Jet:
        """Return x itself."""
        zero = np.zeros(np.shape(x.lo))
        return Jet(x, Interval.of(zero + 1.0), Interval.of(zero))

    def log(self, x: Any) -> Jet:
        given = self.number(x)
        rate = given.inverse().value
        return given.through(given.value.log(), rate, -(rate * rate))

    def sqrt(self, x: Any) -> Jet:
        """Square root, which IEEE 754 rounds to nearest."""
        given = self.number(x)
        root = Interval(down(np.sqrt(given.value.lo)), up(np.sqrt(given.value.hi)))
        rate = self.number(2.0 * root).inverse().value
        return given.through(root, rate, -2.0 * (rate * rate * rate))

    def exp(self, x: Any) -> Jet:
        given = self.number(x)
        found = given.value.exp()
        return given.through(found, found, found)

    def maximum(self, x: Any, y: Any) -> Jet:
        """The larger of two, without derivatives where it may be either."""
        x, y = self.number(x), self.number(y)
        first, second = x.value.lo > y.value.hi, y.value.lo > x.value.hi
        value = Interval(np.maximum(x.value.lo, y.value.lo), np.maximum(x.value.hi, y.value.hi))
        nothing = Interval.of(np.full(np.shape(value.lo), np.nan))
        rest = [where(second, b, nothing) for b in (y.first, y.second)]
        parts = [where(first, a, b) for a, b in zip((x.first, x.second), rest, strict=True)]
        return Jet(value, *parts)


JETS = JetArithmetic()

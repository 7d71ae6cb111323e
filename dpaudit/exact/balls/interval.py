"""Intervals of doubles with outward rounding, on arrays: the ball engine's bulk arithmetic.

Sums, differences, products and quotients of doubles are off by less than one ulp, so one step
outward encloses them. NumPy promises nothing about its exp and log, so these are written out here
on the four operations, with an error bound derived below and tested against Arb.

exp: x = k log 2 + r, |r| <= 0.35, with log 2 split in two so that the reduction is off by at most
2^-53; the Taylor polynomial of degree 13 leaves 5e-18, its Horner scheme at most 7 units of 2^-53
on a value of 0.7 or more. In total less than 2^-49 of the value. log: x = 2^k m, m in [0.7, 1.42),
log m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| < 0.173, the odd series to s^25 leaves 1e-22;
with k log 2 added less than 2^-48 of the value. Below e^-700 exp is enclosed in [0, 2 e^-700].

All this takes IEEE 754 doubles rounded to nearest with gradual underflow, which a test asks for.
Numbers of 80 bits (`WIDE`), where the machine has them, are rounded 2^11 times more finely, so that
every bound holds for them, too; what they are for is their range, down to e^-11000.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.verdict import Enclosure

Array = NDArray[np.float64]
Numbers = Any  # an array or a scalar of doubles

_LOG2_HIGH = 6.93147180369123816490e-01
_LOG2_LOW = 1.90821492927058770002e-10
_EXP_ERROR = 2.0**-49
_LOG_ERROR = 2.0**-48
_TAYLOR = [1 / math.factorial(j) for j in range(13, -1, -1)]
_ODD = [1 / j for j in range(25, 0, -2)]


@dataclass(frozen=True)
class Range:
    """What numbers of a kind reach: the last exponential, twice it, the smallest number.

    `lost` is far above what products that underflow can lose.
    """

    last: float
    tiny: Any
    least: Any
    lost: Any


_DOUBLE = Range(700.0, 2e-304, 2.0**-1074, 1e-280)
_wide = np.finfo(np.longdouble)
WIDE = np.longdouble if _wide.minexp == -16382 and _wide.nmant == 63 else None
_WIDE = Range(11000.0, *(np.ldexp(np.longdouble(1), k) for k in (-15_860, -16_440, -15_780)))


def range_of(x: Any) -> Range:
    """Return the range of some numbers."""
    return _WIDE if WIDE is not None and getattr(x, "dtype", None) == WIDE else _DOUBLE


def _numbers(x: Any) -> Any:
    """Return an array of doubles, or of the numbers of a wider range that it holds."""
    return np.asarray(x, dtype=WIDE if range_of(x) is _WIDE else float)


def down(x: Any) -> Any:
    """Return doubles below, the next ones or the next but one."""
    return x - _ulps(x) if np.isfinite(x).all() else np.nextafter(x, -np.inf)


def up(x: Any) -> Any:
    """Return doubles above, the next ones or the next but one."""
    return x + _ulps(x) if np.isfinite(x).all() else np.nextafter(x, np.inf)


def _ulps(x: Any) -> Any:
    """Return one to two ulps of finite numbers; much faster than a call of nextafter."""
    size = np.abs(x) * 2.0**-52
    size += range_of(x).least
    return size


@dataclass(frozen=True)
class Interval:
    """Arrays of lower and upper ends; operations enclose the exact ones."""

    lo: Numbers
    hi: Numbers

    @staticmethod
    def of(x: Any) -> Interval:
        """Return the intervals that hold the doubles x alone."""
        exact = _numbers(x)
        return Interval(exact, exact)

    @property
    def _ends(self) -> list[Numbers]:
        return [self.lo] if self.lo is self.hi else [self.lo, self.hi]

    def __add__(self, other: Any) -> Interval:
        other = _lift(other)
        return Interval(down(self.lo + other.lo), up(self.hi + other.hi))

    __radd__ = __add__

    def __neg__(self) -> Interval:
        low = -self.hi
        return Interval(low, low if self.lo is self.hi else -self.lo)

    def __sub__(self, other: Any) -> Interval:
        return self + (-_lift(other))

    def __rsub__(self, other: Any) -> Interval:
        return _lift(other) - self

    def __mul__(self, other: Any) -> Interval:
        other = _lift(other)
        first, *rest = [a * b for a in self._ends for b in other._ends]
        low = high = first
        for product in rest:
            low, high = np.minimum(low, product), np.maximum(high, product)
        return Interval(down(low), up(high))

    __rmul__ = __mul__

    def times(self, other: Interval) -> Interval:
        """Return the product of intervals of non-negative numbers."""
        # an ulp of p is at most 2^-52 p, and rounding to nearest does not cross a double
        low, high = self.lo * other.lo * (1 - 2.0**-52), self.hi * other.hi * (1 + 2.0**-52)
        least = range_of(low).least
        return Interval(np.maximum(low - least, 0.0), high + least)

    def over(self, other: Interval) -> Interval:
        """Return the quotient by positive numbers."""
        return self * Interval(down(1 / other.hi), up(1 / other.lo))

    def __getitem__(self, key: Any) -> Interval:
        low = self.lo[key]
        return Interval(low, low if self.lo is self.hi else self.hi[key])

    def clip(self, low: float, high: float) -> Interval:
        """Return the part within [low, high], for numbers known to lie there."""
        return Interval(np.clip(self.lo, low, high), np.clip(self.hi, low, high))

    def clear_of_underflow(self) -> Interval:
        """Return enclosures of non-negative numbers that hold whatever underflow has lost."""
        lost = range_of(self.lo).lost
        return Interval(np.where(self.lo < lost, 0.0, self.lo), np.maximum(self.hi, lost))

    def exp(self) -> Interval:
        """Return the exponential."""
        return _both(_exp, self)

    def log(self) -> Interval:
        """Return the logarithm of positive numbers (an end at 0 gives -inf)."""
        return _both(_log, self)


def _lift(x: Any) -> Interval:
    return x if isinstance(x, Interval) else Interval.of(x)


def _both(function: Callable[[Array], tuple[Array, Array]], x: Interval) -> Interval:
    """Apply an increasing function to both ends, once where they are the same."""
    low, high = function(x.lo)
    return Interval(low, high if x.hi is x.lo else function(x.hi)[1])


def where(condition: Any, a: Interval, b: Interval) -> Interval:
    """Return a where the condition holds and b elsewhere."""
    return Interval(np.where(condition, a.lo, b.lo), np.where(condition, a.hi, b.hi))


def _exp(x: Array) -> tuple[Array, Array]:
    x = _numbers(x)
    reach = range_of(x)
    if np.any(x > reach.last):
        raise Unsupported(f"A likelihood ratio beyond exp({reach.last:g}) leaves their range.")
    small = x < -reach.last
    some = bool(small.any())
    safe = np.where(small, 0.0, x) if some else x
    k = np.rint(safe / math.log(2))
    r = (safe - k * _LOG2_HIGH) - k * _LOG2_LOW
    value = np.full_like(r, _TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        value *= r
        value += coefficient
    value = np.ldexp(value, k.astype(np.int64))
    low, high = value * (1 - _EXP_ERROR), value * (1 + _EXP_ERROR)
    if some:
        low, high = np.where(small, 0.0, low), np.where(small, reach.tiny, high)
    return np.asarray(low), np.asarray(high)


def _log(x: Array) -> tuple[Array, Array]:
    """Enclose logarithms, in doubles."""
    x = _numbers(x)
    zero, endless = x <= 0, np.isinf(x)
    special = zero | endless
    some = bool(special.any())
    mantissa, k = np.frexp(np.where(special, 1.0, x) if some else x)
    half = mantissa < math.sqrt(0.5)
    mantissa, k = np.where(half, 2 * mantissa, mantissa), k - half
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    series = np.full_like(s, _ODD[0])
    for coefficient in _ODD[1:]:
        series *= square
        series += coefficient
    value = k * _LOG2_HIGH + (2 * s * series + k * _LOG2_LOW)
    slack = _LOG_ERROR * np.abs(value)
    low, high = value - slack, value + slack
    if some:
        low = np.where(zero, -np.inf, np.where(endless, np.inf, low))
        high = np.where(zero, -np.inf, np.where(endless, np.inf, high))
    if x.dtype == WIDE:
        return down(low.astype(float)), up(high.astype(float))
    return np.asarray(low), np.asarray(high)


def outward(value: arb) -> Interval:
    """Return the interval of doubles around a ball."""
    return Interval(np.float64(below(value)), np.float64(above(value)))


def enclose(value: arb) -> Enclosure:
    """Return the doubles around a ball, rounded outward."""
    return Enclosure(below(value), above(value), certified=True)


def below(value: arb) -> float:
    """Return a double that is at most every number in the ball."""
    near = float(value.lower())
    return near if arb(near) <= value else math.nextafter(near, -math.inf)


def above(value: arb) -> float:
    """Return a double that is at least every number in the ball."""
    near = float(value.upper())
    return near if arb(near) >= value else math.nextafter(near, math.inf)

"""One formula, two arithmetics: doubles for speed, Arb balls for certainty.

An index formula is written once against an `Arithmetic`. `FLOAT` evaluates it on doubles and
NumPy arrays; `BALL` evaluates the same text on `flint.arb` balls (scalars or object arrays), whose
results enclose the real number with outward rounding. `number` turns a parameter into the
arithmetic's own number: the ball of 0.1 is one tenth, not the nearest double.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from flint import arb

FLOATS = (float, np.floating)


class Arithmetic(Protocol):
    """The few functions that index formulas need; each works on scalars and on arrays."""

    def number(self, value: Any) -> Any:
        """Return a parameter as a number of this arithmetic."""

    def log(self, x: Any) -> Any:
        """Natural logarithm."""

    def sqrt(self, x: Any) -> Any:
        """Square root."""

    def exp(self, x: Any) -> Any:
        """Exponential."""

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of two numbers."""


class FloatArithmetic:
    """IEEE doubles through NumPy."""

    def number(self, value: Any) -> Any:
        """Return the nearest double (or array of doubles)."""
        return np.asarray(value, dtype=float)[()]

    def log(self, x: Any) -> Any:
        """Natural logarithm."""
        return np.log(x)

    def sqrt(self, x: Any) -> Any:
        """Square root."""
        return np.sqrt(x)

    def exp(self, x: Any) -> Any:
        """Exponential."""
        return np.exp(x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of two numbers."""
        return np.maximum(x, y)


class BallArithmetic:
    """Arb balls at the current `flint.ctx` precision; every operation rounds outward."""

    @cached_property
    def _functions(self) -> dict[str, Any]:
        from flint import arb

        def lift(function: Any, inputs: int) -> Any:
            return np.frompyfunc(function, inputs, 1)

        return {
            "number": lift(ball, 1),
            "log": lift(lambda x: ball(x).log(), 1),
            "sqrt": lift(lambda x: ball(x).sqrt(), 1),
            "exp": lift(lambda x: ball(x).exp(), 1),
            "maximum": lift(lambda x, y: arb.max(ball(x), ball(y)), 2),
        }

    def number(self, value: Any) -> Any:
        """Return the ball of the decimal that a person wrote (or an object array of balls)."""
        return self._functions["number"](value)

    def log(self, x: Any) -> Any:
        """Natural logarithm."""
        return self._functions["log"](x)

    def sqrt(self, x: Any) -> Any:
        """Square root."""
        return self._functions["sqrt"](x)

    def exp(self, x: Any) -> Any:
        """Exponential."""
        return self._functions["exp"](x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of two numbers."""
        return self._functions["maximum"](x, y)


def exact(value: Any) -> Fraction:
    """Return the rational that a parameter stands for: 0.1 is one tenth."""
    if isinstance(value, FLOATS):
        return Fraction(*_written(float(value)))
    if isinstance(value, Fraction):
        return Fraction(value)
    whole = int(value)
    if whole != value:
        raise InvalidArgument("parameter", value, "must be an int, a float or a Fraction.")
    return Fraction(whole)


@lru_cache(maxsize=1 << 12)
def _written(value: float) -> tuple[int, int]:
    """Return a double as it is written; integers, as whoever is given a Fraction can change it."""
    return Fraction(repr(value)).as_integer_ratio()


def in_digits(value: float) -> str:
    """Return a double in few digits where they are all of it, else in as many as it takes."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def at_least(value: float, digits: int = 12) -> str:
    """Return a decimal of a few digits that is at most `value`: a lower end that stays one."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 12) -> str:
    """Return a decimal of a few digits that is at least `value`: an upper end that stays one."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    if not math.isfinite(value):
        return str(value)
    short = Decimal(repr(value)).normalize(Context(prec=digits, rounding=direction))
    return f"{short:f}" if -7 < short.adjusted() < 13 else f"{short:e}"


def ball(value: Any) -> arb:
    """Return the Arb ball of an integer, a fraction, a decimal written as a float, or a ball."""
    from flint import arb, fmpq

    if isinstance(value, arb):
        return value
    rational = exact(value)
    return arb(fmpq(rational.numerator, rational.denominator))


FLOAT = FloatArithmetic()
BALL = BallArithmetic()

"""A domain: one interval per symbol, plus expressions that must be non-negative on it.

Ends are exact (integers, rationals or infinities): a float end would move the claim by a rounding
error, so it is refused. Whatever sympy believes of a symbol (that it is positive, say, so that it
may be cancelled) must follow from its interval, and no two symbols may share a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import oo

from dpaudit.errors import InvalidArgument

Expression = Any  # sympy has no usable static types


def exact(value: object) -> Expression:
    """Return `value` as an exact sympy number; floats are refused."""
    number = sympy.sympify(value)
    if number in (oo, -oo) or number.is_Rational:
        return number
    raise InvalidArgument("end", value, "must be an integer, a rational or an infinity.")


@dataclass(frozen=True)
class RealInterval:
    """All reals between `low` and `high`, each end in or out."""

    low: Expression
    high: Expression
    low_open: bool = False
    high_open: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", exact(self.low))
        object.__setattr__(self, "high", exact(self.high))
        if self.low > self.high:
            raise InvalidArgument("low", self.low, f"must not exceed high={self.high}.")
        object.__setattr__(self, "low_open", self.low_open or self.low == -oo)
        object.__setattr__(self, "high_open", self.high_open or self.high == oo)

    @property
    def compact(self) -> bool:
        """True when both ends are finite."""
        return bool(self.low != -oo and self.high != oo)

    @property
    def closure(self) -> RealInterval:
        """The interval with its finite ends included."""
        return RealInterval(self.low, self.high)

    def contains(self, value: Any) -> bool:
        """True when the exact number `value` lies inside."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return bool(above) and bool(below)

    def describe(self, name: str) -> str:
        """Return `0 < x <= 1` for the symbol called `name`."""
        left = "" if self.low == -oo else f"{self.low} {'<' if self.low_open else '<='} "
        right = "" if self.high == oo else f" {'<' if self.high_open else '<='} {self.high}"
        return f"{left}{name}{right}" if left or right else f"{name} real"


def closed(low: object, high: object) -> RealInterval:
    """[low, high]."""
    return RealInterval(low, high)


def between(low: object, high: object) -> RealInterval:
    """(low, high)."""
    return RealInterval(low, high, low_open=True, high_open=True)


def above(low: object) -> RealInterval:
    """(low, infinity)."""
    return RealInterval(low, oo, low_open=True)


def at_least(low: object) -> RealInterval:
    """[low, infinity)."""
    return RealInterval(low, oo)


_BELIEFS = ({"real": True}, {"positive": True}, {"nonnegative": True})
REALS = RealInterval(-oo, oo)
POSITIVE = above(0)
UNIT = closed(0, 1)


@dataclass(frozen=True)
class Domain:
    """A box with optional constraints `g >= 0`."""

    box: dict[Expression, RealInterval] = field(default_factory=dict)
    constraints: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(map(sympy.sympify, self.constraints)))
        for symbol, interval in self.box.items():
            believed = symbol._assumptions_orig
            if believed == {"positive": True} and (interval.low < 0 or interval.contains(0)):
                raise InvalidArgument(str(symbol), interval, "is assumed positive; exclude 0.")
            if believed == {"nonnegative": True} and interval.low < 0:
                raise InvalidArgument(str(symbol), interval, "is assumed non-negative.")
            if believed not in _BELIEFS:
                rule = "must be declared real, positive or nonnegative and nothing else."
                raise InvalidArgument(str(symbol), believed, rule)
        self.admit(*self.constraints)
        if len({symbol.name for symbol in self.box}) < len(self.box):
            raise InvalidArgument("box", [*self.box], "holds two symbols of one name; rename one.")

    def admit(self, *expressions: Expression) -> None:
        """Raise unless every symbol of the expressions has its interval here."""
        for symbol in set().union(*(e.free_symbols for e in expressions)) - set(self.box):
            raise InvalidArgument("symbol", symbol, "has no interval in the domain; state one.")

    @property
    def compact(self) -> bool:
        """True when every interval is bounded."""
        return all(interval.compact for interval in self.box.values())

    def without(self, symbol: Expression) -> Domain:
        """The projection that forgets `symbol`; constraints that name it are dropped."""
        box = {name: side for name, side in self.box.items() if name != symbol}
        kept = tuple(g for g in self.constraints if symbol not in g.free_symbols)
        return Domain(box, kept)

    def having(self, symbol: Expression, interval: RealInterval) -> Domain:
        """The same domain with another interval for `symbol`."""
        return Domain({**self.box, symbol: interval}, self.constraints)

    def describe(self) -> str:
        """Return the domain in words."""
        parts = [side.describe(str(symbol)) for symbol, side in self.box.items()]
        parts += [f"{g} >= 0" for g in self.constraints]
        return ", ".join(parts) or "no variables"

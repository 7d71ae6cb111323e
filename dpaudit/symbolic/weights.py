"""Exact numbers, and linear combinations of symbols with exact coefficients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.symbolic.run import current

Weights = dict[int, Any]
HUGE = 10**100  # sums and products of larger numbers, twice, may be infinite in doubles
WIDE = (np.float64, np.int64)  # others round, overflow or wrap around sooner
NUMBERS = (int, float, Fraction, np.number, np.bool_)


def exact(value: Any) -> Any:
    """Return a finite number as the integer or fraction that it is."""
    if type(value) is int or type(value) is Fraction:
        return value
    if isinstance(value, np.number) and type(value) not in WIDE:
        kind = type(value).__name__
        raise current().escape(f"a number of type {kind} beside rewards or noise", "use float64")
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    number = float(value)
    if not abs(number) < HUGE:
        raise current().escape(f"arithmetic of {number} with rewards or noise")
    return int(number) if number.is_integer() else Fraction(number)


def is_number(value: Any) -> bool:
    """Tell whether a value is a public number."""
    return isinstance(value, NUMBERS)


def sign_of(number: Any) -> int:
    """Return -1, 0 or 1."""
    return int(number > 0) - int(number < 0)


def combined(a: Weights, b: Weights, factor: Any) -> Weights:
    """Return a + factor b."""
    total = dict(a)
    if not factor:
        return total
    for name, weight in scaled(b, factor).items():
        known = total.get(name)
        if known is None:
            total[name] = weight
        elif found := known + weight:
            total[name] = found
        else:
            del total[name]
    return total


def scaled(weights: Weights, factor: Any) -> Weights:
    """Return factor times weights; neighbours that share a weight share the product."""
    if factor == 1:
        return weights
    found: Weights = {}
    last = product = None
    for name, weight in weights.items():
        if weight is not last:
            last, product = weight, weight * factor
        found[name] = product
    return found

"""Which score is the largest on exact registers: decided in balls, or by formulas.

Registers hold rationals; logarithms and roots are Arb balls of rising precision. Where two balls
still overlap, two scores are equal if their formulas on the exact registers are the same tree, and
then the earlier arm wins; otherwise the comparison is undecided and `Unsupported` says so. Nothing
is decided by rounding.

Balls that overlap never prove equality. A formula written once against an `Arithmetic` can also be
evaluated on expression trees; two equal trees are the same real number. Unequal trees say nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Choose, Keep
from dpaudit.core.arithmetic import BALL, ball, exact
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported

RATIONAL = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _operator(operation: str, swapped: bool = False) -> Any:
    """Return the method that writes an operation down, or carries it out on rationals."""

    def method(self: Expression, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy goes through the elements
        pair = (_leaf(other), self) if swapped else (self, _leaf(other))
        one, two = map(rational, pair)
        if operation not in RATIONAL or one is None or two is None or operation == "/" and not two:
            return Expression(operation, pair)
        return _leaf(RATIONAL[operation](one, two))

    return method


@dataclass(frozen=True, eq=True)
class Expression:
    """An expression: an operation and its operands, down to rationals.

    What the four operations make of rationals is one.
    """

    operation: str
    operands: tuple[Any, ...]

    __add__, __radd__ = _operator("+"), _operator("+", swapped=True)
    __sub__, __rsub__ = _operator("-"), _operator("-", swapped=True)
    __mul__, __rmul__ = _operator("*"), _operator("*", swapped=True)
    __truediv__, __rtruediv__ = _operator("/"), _operator("/", swapped=True)
    __pow__ = _operator("**")

    def __neg__(self) -> Any:
        return 0 - self


def _leaf(value: Any) -> Expression:
    if isinstance(value, Expression):
        return value
    if not isinstance(value, int | float | Fraction | np.integer):
        raise TypeError(f"not a rational: {value!r}")
    return Expression("number", (exact(value),))


def _function(name: str, operands: int = 1) -> Any:
    """Return the method that writes a function down, element by element."""
    write = np.frompyfunc(lambda *given: Expression(name, given), operands, 1)
    return lambda _, *given: write(*given)


class TreeArithmetic:
    """Builds the expression of a formula instead of its value."""

    def number(self, value: Any) -> Any:
        return np.frompyfunc(_leaf, 1, 1)(value)

    log, sqrt, exp = _function("log"), _function("sqrt"), _function("exp")
    maximum = _function("maximum", 2)


TREE = TreeArithmetic()


def rational(value: Any) -> Fraction | None:
    """Return the rational that an expression of the four operations is, or None."""
    tree = _leaf(value)
    number: Fraction = tree.operands[0]
    return number if tree.operation == "number" else None


PRECISIONS = (64, 256, 1024, 4096)


def winner(request: Choose | Keep, values: Sequence[Fraction]) -> int:
    """Return the arm that a choice between these register values plays."""
    if not isinstance(request, Choose):
        raise Unsupported("Elimination without noise is not supported by the exact engine.")
    best = 0
    for position in range(1, len(values)):
        if _beats(request, values, position, best):
            best = position
    return request.arms[best]


def _beats(request: Choose, values: Sequence[Fraction], challenger: int, holder: int) -> bool:
    """Is a later arm's score certainly larger? Equal scores keep the earlier arm."""
    formulas = [_formula(request, values[position], position) for position in (challenger, holder)]
    if formulas[0] is not None and formulas[0] == formulas[1]:
        return False
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            one, two = (_score(request, values[p], p) for p in (challenger, holder))
            if one > two:
                return True
            if one < two:
                return False
    raise Unsupported(
        f"Two scores agree to {PRECISIONS[-1]} bits and no formula proves them equal."
    )


def _formula(request: Choose, value: Fraction, position: int) -> tuple[Any, ...] | None:
    """Return what a score depends on, None where its formula is not an expression tree.

    For a KL bound the clipped mean decides, and 1 is a plateau.
    """
    rule = _tree(request, position)
    if rule is None:
        return None
    line = _line(rule, value)
    if isinstance(rule, Affine) and line is not None:
        return (line,)
    mean = _mean(rule, value)
    if mean is None:
        return (value, rule)
    return ("top",) if mean == 1 else (mean, rule.level)


def _tree(request: Choose, position: int) -> Any:
    """Return a score in trees; None where it goes beyond the four operations and functions."""
    try:
        return request.rule(TREE).at(position)
    except TypeError:
        return None


def _line(rule: Any, value: Fraction) -> Fraction | None:
    """Return scale x + shift of a score in trees; None where it is no rational."""
    if not isinstance(rule, Affine | KLBound):
        return None
    scale, shift = rational(rule.scale), rational(rule.shift)
    return None if scale is None or shift is None else scale * value + shift


def _mean(rule: Any, value: Fraction) -> Fraction | None:
    """Return the clipped mean of a KL score in trees; None where it is no rational, or no KL."""
    line = _line(rule, value) if isinstance(rule, KLBound) else None
    return None if line is None else min(max(line, Fraction(0)), Fraction(1))


def _score(request: Choose, value: Fraction, position: int) -> arb:
    """Enclose a score; KL bounds as v = -log(1 - q), undecided balls as nan."""
    rule = request.rule(BALL).at(position)
    if isinstance(rule, Affine):
        return ball(rule.scale) * ball(value) + ball(rule.shift)
    if not isinstance(rule, KLBound):
        kind = type(rule).__name__
        raise Unsupported(f"The exact engine cannot compare {kind} without noise.")
    known = _mean(_tree(request, position), value)
    mean = ball(rule.scale) * ball(value) + ball(rule.shift) if known is None else known
    if mean >= 1:
        return arb("inf")
    level = ball(rule.level)
    if mean <= 0:
        return level
    return upper_bound(mean, level) if 0 < mean < 1 else arb("nan")


def upper_bound(mean: Fraction | arb, level: arb) -> arb:
    """Enclose v = -log(1 - q) for the largest q with d(mean, q) <= level, by bisection in balls.

    The mean must lie inside (0, 1).
    """
    p, rest = ball(mean), ball(1 - mean)
    constant = p * p.log() + rest * rest.log() - level

    def excess(v: arb) -> arb:
        return constant - p * (1 - (-v).exp()).log() + rest * v

    low, high = (-rest.log()).lower(), arb(1)
    while not excess(high) > 0 or not high > low:
        high *= 2
    for _ in range(ctx.prec):
        middle = ((low + high) / 2).mid()
        value = excess(middle)
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:
            break
    return low.union(high)

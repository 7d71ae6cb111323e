"""Rigorous enclosures: a sympy expression evaluated in Arb balls.

`compile_ball(expression, symbols)` returns a function from balls to a ball that contains every
value of the expression on those balls. Exact numbers become balls through integers, never through
floats. An expression outside its natural domain (log of a ball that meets zero, a quotient by such
a ball) gives a ball that is not finite, so that no comparison with it can succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import flint
import sympy
from flint import arb

from dpaudit.claims.domain import Expression
from dpaudit.errors import Unsupported

Ball = Any
Evaluate = Callable[[Sequence[Ball]], Ball]

PRECISION = 128


def ball(value: object) -> Ball:
    """Return the ball of an exact number (int, Fraction or sympy rational)."""
    flint.ctx.prec = PRECISION
    if isinstance(value, int):
        return arb(value)
    if isinstance(value, Fraction):
        return arb(value.numerator) / arb(value.denominator)
    number = sympy.sympify(value)
    if number.is_Rational:
        return arb(int(number.p)) / arb(int(number.q))
    raise Unsupported(f"value={value} has no exact ball.")


def hull(low: object, high: object) -> Ball:
    """Return a ball that contains every number between two exact ones."""
    return ball(low).union(ball(high))


_FUNCTIONS: dict[Any, Callable[[Ball], Ball]] = {
    sympy.exp: lambda x: x.exp(),
    sympy.log: lambda x: x.log(),
    sympy.sinh: lambda x: x.sinh(),
    sympy.cosh: lambda x: x.cosh(),
    sympy.tanh: lambda x: x.tanh(),
    sympy.erf: lambda x: x.erf(),
    sympy.Abs: lambda x: abs(x),
    sympy.sign: lambda x: x.sgn(),
}


def _power(base: Expression, exponent: Expression, inner: Evaluate, outer: Evaluate) -> Evaluate:
    if exponent.is_Integer:
        n = int(exponent)
        if n >= 0:
            return lambda point: inner(point) ** n
        return lambda point: arb(1) / inner(point) ** (-n)
    if exponent == sympy.Rational(1, 2):
        return lambda point: inner(point).sqrt()
    if exponent == sympy.Rational(-1, 2):
        return lambda point: arb(1) / inner(point).sqrt()
    return lambda point: (inner(point).log() * outer(point)).exp()


def compile_ball(expression: Expression, symbols: Sequence[Expression]) -> Evaluate:
    """Return the evaluator of `expression` on balls given in the order of `symbols`."""
    flint.ctx.prec = PRECISION
    if expression.is_Rational:
        constant = ball(expression)
        return lambda point: constant
    if expression is sympy.pi:
        return lambda point: arb.pi()
    if expression is sympy.E:
        return lambda point: arb(1).exp()
    if expression.is_Symbol:
        place = list(symbols).index(expression)
        return lambda point: point[place]
    children = [compile_ball(child, symbols) for child in expression.args]
    if expression.is_Add:
        return lambda point: reduce(lambda u, v: u + v, [child(point) for child in children])
    if expression.is_Mul:
        return lambda point: reduce(lambda u, v: u * v, [child(point) for child in children])
    if expression.func is sympy.exp:
        return lambda point: children[0](point).exp()
    if expression.is_Pow:
        return _power(*expression.args, *children)
    if expression.func is sympy.Max:
        return lambda point: reduce(lambda u, v: u.max(v), [child(point) for child in children])
    if expression.func is sympy.Min:
        return lambda point: reduce(lambda u, v: u.min(v), [child(point) for child in children])
    if expression.func in _FUNCTIONS:
        function = _FUNCTIONS[expression.func]
        return lambda point: function(children[0](point))
    raise Unsupported(f"expression={expression.func.__name__} has no ball evaluation.")


def evaluate(expression: Expression, point: dict[Expression, object]) -> Ball:
    """Return the ball of `expression` at an exact point."""
    symbols = list(point)
    return compile_ball(expression, symbols)([ball(value) for value in point.values()])

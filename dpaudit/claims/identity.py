"""Identities: accepted when sympy reduces them to 0 and no ball at exact points excludes 0."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import sympy
from sympy import oo

from dpaudit.claims.balls import evaluate
from dpaudit.claims.domain import Domain, Expression
from dpaudit.errors import Contradiction, DpauditError


def sample(domain: Domain, source: random.Random) -> dict[Expression, Any]:
    """Return one exact random point of the box (constraints ignored)."""
    point = {}
    for symbol, side in domain.box.items():
        share = sympy.Rational(source.randint(1, 9999), 10000)
        if side.compact:
            point[symbol] = side.low + (side.high - side.low) * share
        elif side.low != -oo:
            point[symbol] = side.low + share / (1 - share)
        elif side.high != oo:
            point[symbol] = side.high - share / (1 - share)
        else:
            point[symbol] = (2 * share - 1) / (share * (1 - share))
    return point


def _split_logarithms(expression: Expression) -> Expression:
    """Write every log of a product as a sum of logs of its factors, each up to its sign.

    The real part of the result is the expression itself (log|ab| = log|a| + log|b|), so a result
    of 0 shows that a real expression is 0.
    """

    def split(argument: Expression) -> Expression:
        total = sympy.Integer(0)
        for factor in sympy.Mul.make_args(sympy.factor(sympy.together(argument))):
            base, exponent = factor.as_base_exp()
            if base is sympy.E:
                total += exponent
                continue
            base = -base if base.could_extract_minus_sign() else base
            total += exponent * sympy.log(base)
        return total

    return expression.replace(sympy.log, split)


def is_zero(expression: Expression, domain: Domain) -> bool:
    """True when sympy reduces `expression` to 0 and no random exact point contradicts it."""
    expression = sympy.sympify(expression)
    if expression == 0:
        return True
    source = random.Random(20220914)
    if not _looks_zero(expression, domain, source, 5):
        return False
    attempts: tuple[Callable[[Expression], Expression], ...] = (
        lambda e: sympy.expand(e),
        lambda e: sympy.expand(sympy.together(sympy.expand(e.rewrite(sympy.exp)))),
        lambda e: sympy.expand(sympy.together(sympy.expand(_split_logarithms(e)))),
        lambda e: sympy.simplify(e.rewrite(sympy.exp)),
        lambda e: sympy.simplify(sympy.expand_log(e, force=False)),
        lambda e: sympy.simplify(e),
    )
    reduced = any(attempt(expression) == 0 for attempt in attempts)
    if reduced and not _looks_zero(expression, domain, source, 20):
        raise Contradiction(f"{expression} reduces to 0 but a ball excludes 0.")
    return reduced


def _looks_zero(expression: Expression, domain: Domain, source: random.Random, points: int) -> bool:
    """False when a ball at some exact point excludes 0, or when no ball can be computed."""
    for _ in range(points):
        try:
            value = evaluate(expression, sample(domain, source))
        except (DpauditError, ValueError):
            return False
        if value > 0 or value < 0:
            return False
    return True

"""Signs that can be read off an expression.

`sign_of` is a small calculus of honest rules (sums of terms of one sign, products, even powers,
exp(u) - 1 has the sign of u, a polynomial with one sign of coefficients after shifting each symbol
to its end, a multi-affine polynomial on a box attains its extremes at the vertices). It answers
`positive`, `nonnegative`, `zero`, `nonpositive`, `negative` or None, and None means only that no
rule applies. A sum is asked for again wherever it is a part, at an end or a factor of another, so
what was found of an expression on the intervals of its own symbols is kept.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import sympy
from sympy import oo

from dpaudit.claims.balls import evaluate
from dpaudit.claims.domain import Domain, Expression, RealInterval
from dpaudit.errors import DpauditError

POSITIVE, NONNEGATIVE, ZERO, NONPOSITIVE, NEGATIVE = (
    "positive",
    "nonnegative",
    "zero",
    "nonpositive",
    "negative",
)
_FLIP = {
    POSITIVE: NEGATIVE,
    NONNEGATIVE: NONPOSITIVE,
    ZERO: ZERO,
    NONPOSITIVE: NONNEGATIVE,
    NEGATIVE: POSITIVE,
}
_ODD = (sympy.sinh, sympy.tanh, sympy.erf)
Box = tuple[tuple[Expression, RealInterval], ...]


def opposite(sign: str | None) -> str | None:
    """Return the sign of minus the expression."""
    return None if sign is None else _FLIP[sign]


def at_least_zero(sign: str | None) -> bool:
    """True when the sign says >= 0."""
    return sign in (POSITIVE, NONNEGATIVE, ZERO)


def _of_number(number: Expression) -> str | None:
    if number.is_Rational:
        return POSITIVE if number > 0 else NEGATIVE if number < 0 else ZERO
    try:
        enclosure = evaluate(number, {})
    except DpauditError:
        return None
    return POSITIVE if enclosure > 0 else NEGATIVE if enclosure < 0 else None


def _of_side(side: RealInterval) -> str | None:
    if side.low > 0 or (side.low == 0 and side.low_open):
        return POSITIVE
    if side.low == 0:
        return ZERO if side.high == 0 else NONNEGATIVE
    if side.high < 0 or (side.high == 0 and side.high_open):
        return NEGATIVE
    return NONPOSITIVE if side.high == 0 else None


def _of_sum(signs: list[str | None]) -> str | None:
    if all(at_least_zero(sign) for sign in signs):
        if POSITIVE in signs:
            return POSITIVE
        return ZERO if all(sign == ZERO for sign in signs) else NONNEGATIVE
    if all(at_least_zero(opposite(sign)) for sign in signs):
        return NEGATIVE if NEGATIVE in signs else NONPOSITIVE
    return None


def _of_product(signs: list[str | None]) -> str | None:
    if ZERO in signs:
        return ZERO
    if None in signs:
        return None
    negative = sum(sign in (NEGATIVE, NONPOSITIVE) for sign in signs) % 2
    strict = all(sign in (POSITIVE, NEGATIVE) for sign in signs)
    result = POSITIVE if strict else NONNEGATIVE
    return _FLIP[result] if negative else result


def _of_exponential_gap(expression: Expression, box: Box) -> str | None:
    """c (exp(u) - exp(v)) with c > 0, where exp(0) = 1 counts, has the sign of u - v."""
    if len(expression.args) != 2:
        return None
    exponents: dict[int, Expression] = {}
    sizes = set()
    for term in expression.args:
        scale, rest = term.as_coeff_Mul()
        if not scale.is_Rational or not (rest == 1 or rest.func is sympy.exp):
            return None
        sizes.add(abs(scale))
        way = 1 if scale > 0 else -1
        exponents[way] = rest.args[0] if rest.func is sympy.exp else sympy.Integer(0)
    if set(exponents) != {1, -1} or len(sizes) != 1:
        return None
    return _sign(exponents[1] - exponents[-1], box, depth=1)


def _of_line(line: Any, side: RealInterval) -> str | None:
    """A line on an interval: an end where it vanishes does not count when that end is left out."""
    low = line.eval(side.low)
    high = line.LC() * oo if side.high == oo else line.eval(side.high)
    if low > high:
        return opposite(_of_line(-line, side))
    if low > 0 or (low == 0 and side.low_open):
        return POSITIVE
    if high < 0 or (high == 0 and side.high_open):
        return NEGATIVE
    return NONNEGATIVE if low == 0 else NONPOSITIVE if high == 0 else None


def _of_polynomial(expression: Expression, box: Box) -> str | None:
    symbols = [symbol for symbol, _ in box]
    if not symbols or not expression.is_polynomial(*symbols):
        return None
    polynomial = sympy.Poly(expression, *symbols)
    if not all(c.is_Rational for c in polynomial.coeffs()):
        return None
    sides = [side for _, side in box]
    if len(symbols) == 1 and polynomial.degree() == 1 and sides[0].low != -oo:
        return _of_line(polynomial, sides[0])
    if all(side.compact for side in sides) and all(d <= 1 for m in polynomial.monoms() for d in m):
        corners = itertools.product(*[(side.low, side.high) for side in sides])
        values = [polynomial.eval(dict(zip(symbols, corner, strict=True))) for corner in corners]
        if all(value > 0 for value in values):
            return POSITIVE
        if all(value >= 0 for value in values):
            return NONNEGATIVE
        if all(value < 0 for value in values):
            return NEGATIVE
        return NONPOSITIVE if all(value <= 0 for value in values) else None
    if any(side.low == -oo for side in sides):
        return None
    shift = {s: s + side.low for s, side in zip(symbols, sides, strict=True)}
    moved = sympy.Poly(expression.subs(shift, simultaneous=True), *symbols)
    coefficients = moved.coeffs()
    strict = moved.eval(dict.fromkeys(symbols, 0)) != 0
    if all(c >= 0 for c in coefficients):
        return POSITIVE if strict else NONNEGATIVE
    if all(c <= 0 for c in coefficients):
        return NEGATIVE if strict else NONPOSITIVE
    return None


def _of_affine(expression: Expression, box: Box, depth: int) -> str | None:
    """An expression that is affine in one symbol is between its values at the two ends."""
    if depth > 3:
        return None
    for symbol, side in box:
        if side.low == -oo:
            continue
        slope = sympy.diff(expression, symbol)
        if symbol in slope.free_symbols:
            continue
        low = _sign(expression.subs(symbol, side.low), box, depth + 1)
        far = slope if side.high == oo else expression.subs(symbol, side.high)
        high = _sign(far, box, depth + 1)
        for sign, weak in ((POSITIVE, NONNEGATIVE), (NEGATIVE, NONPOSITIVE)):
            loose = (sign, weak, ZERO)
            if low == sign and (high == sign or (side.high == oo and high in loose)):
                return sign
            if low in loose and high in loose:
                return weak
    return None


def _of_power(expression: Expression, box: Box) -> str | None:
    base, exponent = expression.args
    if base is sympy.E:
        return POSITIVE
    sign = _sign(base, box)
    if sign == POSITIVE:
        return POSITIVE
    if exponent.is_Integer and exponent % 2 == 0:
        if sign == NEGATIVE:
            return POSITIVE
        return NONNEGATIVE if exponent > 0 else None
    if exponent.is_Rational and exponent > 0 and sign in (NONNEGATIVE, ZERO):
        return sign
    if exponent.is_Integer and sign is not None and (exponent > 0 or sign == NEGATIVE):
        return sign
    return None


def sign_of(expression: Expression, domain: Domain) -> str | None:
    """Return the sign of `expression` on all of `domain`, or None when no rule decides it."""
    return _sign(sympy.sympify(expression), tuple(domain.box.items()))


def _sign(expression: Expression, box: Box, depth: int = 0) -> str | None:
    free = expression.free_symbols
    own = tuple(item for item in box if item[0] in free)
    return _ruled(expression, own, depth) if free else _of_number(expression)


@lru_cache(maxsize=2**14)
def _ruled(expression: Expression, box: Box, depth: int) -> str | None:
    """Return the sign of an expression by the intervals of its symbols, as far as they have one."""
    if expression.is_Symbol:
        return _of_side(box[0][1]) if box else None
    sign: str | None = None
    if expression.is_Add:
        fixed, moving = expression.as_independent(*expression.free_symbols, as_Add=True)
        terms = [term for term in (fixed, *sympy.Add.make_args(moving)) if term != 0]
        sign = _of_sum([_sign(term, box) for term in terms])
        sign = sign or _of_exponential_gap(expression, box)
        sign = sign or _of_polynomial(expression, box)
        if sign in (None, NONNEGATIVE, NONPOSITIVE):
            sign = _of_affine(expression, box, depth) or sign
    elif expression.is_Mul:
        sign = _of_product([_sign(factor, box) for factor in expression.args])
    elif expression.func is sympy.exp or expression.func is sympy.cosh:
        return POSITIVE
    elif expression.is_Pow:
        sign = _of_power(expression, box)
    elif expression.func is sympy.log:
        if _sign(expression.args[0], box) == POSITIVE:
            sign = _sign(sympy.expand(expression.args[0] - 1), box)
    elif expression.func in _ODD:
        sign = _sign(expression.args[0], box)
    elif expression.func is sympy.Abs:
        sign = NONNEGATIVE
    elif expression.func in (sympy.Max, sympy.Min):
        signs = [_sign(child, box) for child in expression.args]
        if all(s == POSITIVE for s in signs):
            sign = POSITIVE
        elif all(at_least_zero(s) for s in signs):
            sign = NONNEGATIVE
    if sign in (None, NONNEGATIVE, NONPOSITIVE) and depth == 0 and expression.is_Add:
        factored = sympy.factor(expression)
        if factored != expression:
            sign = _sign(factored, box, depth=1) or sign
    return sign

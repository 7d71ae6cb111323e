"""No false, meaningless or empty statement is ever proved, certified or called an identity.

Each attack is a statement that is false at a point, or says nothing because a side is no real
number somewhere on the domain or because the domain is empty or mislabelled. Where it is false at
a point, that is checked first without the checker.
"""

from __future__ import annotations

import pytest
import sympy
from sympy import (
    Abs,
    Integer,
    Max,
    Min,
    Piecewise,
    Rational,
    Symbol,
    acos,
    acot,
    asin,
    atan,
    cbrt,
    ceiling,
    cos,
    cosh,
    cot,
    erf,
    exp,
    floor,
    gamma,
    log,
    oo,
    pi,
    root,
    sec,
    sign,
    sin,
    sinh,
    sqrt,
    symbols,
    tan,
    tanh,
)

from dpaudit.claims.boundary import Boundary
from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.check import check
from dpaudit.claims.claim import CERTIFIED, IDENTITY, PROVED, RESTRICTED, Claim
from dpaudit.claims.domain import POSITIVE, REALS, UNIT, Domain, RealInterval, at_least, closed
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Concave, Monotone, Rewrite, Split
from dpaudit.errors import DpauditError

x, y, z = symbols("x y z", real=True)
p = Symbol("p", positive=True)
K = Symbol("K", nonnegative=True)
HALF = Rational(1, 2)
GRID = (BranchAndBound(),)
STEP = Piecewise((1, x < 1), (-1, x < 2), (1, True))


def claim(left, relation, right, box, *by, constraints=(), **more):
    """Build the attack late, so that a refusal of the domain counts as well."""
    return lambda: Claim(
        "attack", "", "", left, relation, right, Domain(box, constraints), by=by, **more
    )


# A side is not a real number somewhere on the domain.
MEANINGLESS = {
    "cosh of a root of the negative": claim(0, "<", cosh(sqrt(x)), {x: closed(-10, 0)}),
    "square of tanh of an imaginary root": claim(0, "<=", tanh(sqrt(x)) ** 2, {x: closed(-1, 0)}),
    "exp of an undefined root": claim(0, "<", exp(sqrt(x)), {x: closed(-1, 1)}),
    "modulus of an undefined log": claim(0, "<=", Abs(log(x)), {x: closed(-1, 1)}),
    "both sides undefined": claim(sqrt(1 - x), "<=", sqrt(1 - x), {x: closed(0, 5)}),
    "pole on both sides": claim(1 / x, "<=", 1 / x + 1, {x: closed(-1, 1)}),
    "pole that cancels": claim(1 / x, "==", 1 / x, {x: closed(-1, 1)}),
    "even pole": claim(0, "<", 1 / x**2, {x: closed(-1, 1)}),
    "log of zero": claim(log(x), "<=", log(x) + 1, {x: UNIT}),
    "power of a negative base": claim(0, "<=", Abs(x) ** HALF * x ** Rational(2, 3), {x: REALS}),
    "cube root of the negative": claim(0, "<=", cbrt(x) ** 2, {x: closed(-8, 0)}),
    "sixth root": claim(0, "<=", root(x, 6), {x: closed(-1, 1)}),
    "negative root power": claim(0, "<", x ** Rational(-1, 2), {x: UNIT}),
    "symbolic power of zero": claim(0, "<", x**y, {x: UNIT, y: closed(-1, 1)}),
    "undefined factor times zero": claim(0, "<=", 0 * y + (y - y) + log(x), {x: UNIT, y: UNIT}),
    "zero numerator over a pole": claim(0, "<=", Abs(x * y) / y, {x: UNIT, y: UNIT}),
    "imaginary exponent": claim(0, "<", cosh(sympy.I * x), {x: closed(0, 3)}),
    "imaginary constant": claim(0, "<", exp(sympy.I * x), {x: closed(0, 3)}),
    "infinite side": claim(x, "<", oo, {x: UNIT}),
    "not a number": claim(x, "<=", sympy.nan, {x: UNIT}),
    "a float": claim(x * 0.1 * 3, "<=", x * Rational(3, 10), {x: UNIT}),
    "log of a log": claim(0, "<=", log(log(x)) ** 2, {x: closed(HALF, 2)}),
    "difference of undefined logs": claim(
        log(x) - log(y), "<=", log(x) - log(y), {x: UNIT, y: UNIT}
    ),
    "undefined in a maximum": claim(0, "<=", Max(0, sqrt(x)), {x: closed(-1, 1)}),
    "undefined in a minimum": claim(Min(0, log(x)), "<=", 0, {x: closed(-1, 1)}),
    "erf of a pole": claim(-2, "<", erf(1 / x), {x: closed(-1, 1)}),
}
# Functions whose real domain or continuity the rules do not know.
FOREIGN = {
    "tangent through its pole": claim(0, "<=", tan(x), {x: closed(0, 3)}, Monotone(x)),
    "cotangent": claim(0, "<=", cot(x), {x: closed(1, 4)}, Monotone(x, "high")),
    "secant": claim(0, "<=", sec(x), {x: closed(0, 2)}, Monotone(x)),
    "arc cotangent jumps": claim(acot(x), "<=", pi / 2, {x: closed(-1, 1)}, Monotone(x, "high")),
    "arc cotangent decreases": claim(0, "<=", acot(x), {x: closed(-1, 1)}, Monotone(x, "high")),
    "arc sine beyond one": claim(0, "<=", asin(x), {x: closed(0, 2)}, Monotone(x)),
    "arc cosine beyond one": claim(0, "<=", acos(x) ** 2, {x: closed(0, 2)}),
    "arc tangent": claim(atan(x), "<=", 1, {x: REALS}),
    "floor is flat": claim(floor(x), "<=", 0, {x: closed(0, 3)}, Monotone(x, "high")),
    "ceiling is flat": claim(ceiling(x), "<=", 0, {x: closed(0, 3)}, Monotone(x)),
    "sign is flat": claim(0, "<=", sign(x), {x: closed(-1, 1)}, Monotone(x, "high")),
    "steps of a piecewise": claim(0, "<=", STEP, {x: closed(0, 3)}, Monotone(x)),
    "steps of a piecewise, twice": claim(0, "<=", STEP, {x: closed(0, 3)}, Concave(x)),
    "gamma between its poles": claim(0, "<=", gamma(x), {x: closed(-HALF, 1)}),
    "sine": claim(0, "<=", sin(x), {x: closed(0, 4)}, Monotone(x)),
    "cosine": claim(0, "<=", cos(x), {x: closed(0, 2)}, Concave(x)),
}
n = Symbol("n", negative=True)
i = Symbol("i", integer=True)
c = Symbol("c")
twin = Symbol("x", positive=True)
# What sympy believes is not what the interval says, or the domain is empty.
MISLABELLED = {
    "declared negative, taken positive": claim(Abs(n), "<=", -n, {n: UNIT}),
    "declared positive, taken through zero": claim(0, "<", p, {p: closed(-1, 1)}),
    "declared nonnegative, taken negative": claim(0, "<=", K, {K: closed(-1, 0)}),
    "declared integer": claim(Abs(sin(pi * i)), "<=", 0, {i: UNIT}),
    "declared complex": claim(0, "<=", c * sympy.conjugate(c), {c: UNIT}),
    "declared zero": claim(Symbol("o", zero=True), "<=", 0, {Symbol("o", zero=True): UNIT}),
    "declared even": claim(1, "<=", (-1) ** Symbol("e", even=True), {Symbol("e", even=True): UNIT}),
    "two symbols of one name": claim(
        x, "<=", twin, {x: UNIT, twin: RealInterval(0, 1, True, False)}
    ),
    "a symbol with no interval": claim(0, "<=", y**2 + p, {y: UNIT}),
    "a constraint on a stranger": claim(0, "<=", y, {y: UNIT}, constraints=(x,)),
    "no point: contradiction": claim(
        1,
        "<=",
        0,
        {x: UNIT},
        Rewrite(-1 + 0 * K, {K: x - 2}),
        PiecewiseLinear(),
        constraints=(x - 2,),
    ),
    "no point: two constraints": claim(
        y, "<=", x, {x: REALS, y: REALS}, PiecewiseLinear(), constraints=(x - y - 1, y - x)
    ),
    "no point: open and empty": claim(1, "<=", 0 * x, {x: RealInterval(1, 1, True, True)}),
    "no point: a square": claim(1, "<=", 0 * x, {x: UNIT}, constraints=(-1 - x**2,)),
}
# False at the stated point, offered to methods that might be talked into it.
FALSE = {
    "rewritten with the wrong form": (
        claim(0, "<=", x, {x: closed(-1, 1)}, Rewrite(x**2)),
        {x: -1},
    ),
    "rewritten with a modulus": (claim(0, "<=", x, {x: closed(-1, 1)}, Rewrite(Abs(x))), {x: -1}),
    "slack that is no constraint": (
        claim(0, "<=", x, {x: closed(-1, 1)}, Rewrite(K, {K: x})),
        {x: -1},
    ),
    "slack of a variable's name": (
        claim(0, "<=", K - 1, {K: at_least(0)}, Rewrite(K, {K: K - 1}), constraints=(K,)),
        {K: 0},
    ),
    "convex taken for concave": (
        claim(0, "<=", x**2 - HALF, {x: closed(-1, 1)}, Concave(x)),
        {x: 0},
    ),
    "kink taken for concave": (claim(1, "<=", Abs(x), {x: closed(-1, 1)}, Concave(x)), {x: 0}),
    "kink taken for monotone": (
        claim(1, "<=", Abs(x) + x, {x: closed(-1, 1)}, Monotone(x)),
        {x: 0},
    ),
    "from the wrong end": (claim(0, "<=", x, {x: closed(-1, 1)}, Monotone(x, "high")), {x: -1}),
    "across a pole": (claim(0, "<=", -1 / x, {x: closed(-1, 1)}, Monotone(x)), {x: 1}),
    "monotone across a constraint": (
        claim(0, "<=", x - HALF, {x: UNIT, y: UNIT}, Monotone(x), constraints=(x - y,)),
        {x: 0, y: 0},
    ),
    "strict at a closed end": (claim(0, "<", x, {x: UNIT}, Monotone(x)), {x: 0}),
    "split that leaves a hole": (
        claim(0, "<=", (x - 1) * (x - 2), {x: closed(0, 3)}, Split(x, 1, GRID, GRID)),
        {x: Rational(3, 2)},
    ),
    "vertices of a square that is not multi-affine": (
        claim(0, "<=", x**2 - x, {x: UNIT}),
        {x: HALF},
    ),
    "saddle": (claim(0, "<=", x * y, {x: closed(-1, 1), y: closed(-1, 1)}), {x: 1, y: -1}),
    "dip between grid points": (
        claim(0, "<=", (x - Rational(1, 3)) ** 2 - Rational(1, 10**20), {x: UNIT}),
        {x: Rational(1, 3)},
    ),
    "narrow dip, strict": (
        claim(0, "<", (x - Rational(1, 7)) ** 2 * exp(x), {x: UNIT}),
        {x: Rational(1, 7)},
    ),
    "constant equal to its bound": (claim(sqrt(2) ** 2, "<", 2 + 0 * x, {x: UNIT}), {x: 0}),
    "constants that agree in twenty digits": (
        claim(pi, "<", Rational(31415926535897932384, 10**19) + 0 * x, {x: UNIT}),
        {x: 0},
    ),
    "Farkas by a thousandth": (
        claim(
            Abs(x + y),
            "<=",
            Rational(999, 1000) * (Abs(x) + Abs(y)),
            {x: REALS, y: REALS},
            PiecewiseLinear(),
        ),
        {x: 1, y: 1},
    ),
    "maximum for minimum": (
        claim(Max(x, y), "<=", Min(x, y), {x: UNIT, y: UNIT}, PiecewiseLinear()),
        {x: 0, y: 1},
    ),
    "exponentials of different size": (
        claim(exp(x), "<=", 2 * exp(y), {x: UNIT, y: UNIT}),
        {x: 1, y: 0},
    ),
    "log below its tangent elsewhere": (
        claim(log(p), "<=", p - Rational(101, 100), {p: POSITIVE}),
        {p: 1},
    ),
    "tanh above its slope": (claim(x, "<=", tanh(x), {x: at_least(0)}, Monotone(x)), {x: 1}),
    "erf beyond one": (claim(1, "<", erf(x), {x: at_least(0)}), {x: 1}),
    "sinh below x": (claim(sinh(x), "<=", x, {x: closed(-1, 1)}), {x: 1}),
    "modulus squared off": (claim(Abs(x), "==", x, {x: closed(-1, 1)}), {x: -1}),
    "root of a square": (claim(sqrt(x**2), "==", x, {x: closed(-1, 1)}), {x: -1}),
    "log of a square": (claim(log(x**2), "<=", 2 * log(Abs(x)) - 1, {x: closed(1, 2)}), {x: 1}),
    "close to an identity": (
        claim(exp(x), "==", 1 + x + x**2 / 2 + Rational(1, 10**9) * x**3, {x: UNIT}),
        {x: 1},
    ),
    "strict at a contact": (claim(1, "<", cosh(x), {x: closed(-1, 1)}, Concave(x)), {x: 0}),
    "odd contact inside": (claim(0, "<=", x**3, {x: closed(-1, 1)}, Monotone(x)), {x: -1}),
    "below zero at infinity": (claim(0, "<=", 1 - x, {x: at_least(0)}, Monotone(x)), {x: 2}),
}


def refused(attack):
    """Return the outcome's kind, or None when the statement was refused outright."""
    try:
        return check(attack()).kind
    except DpauditError:
        return None


def test_there_are_enough_attacks():
    assert len(MEANINGLESS) + len(FOREIGN) + len(MISLABELLED) + len(FALSE) >= 85


@pytest.mark.parametrize(
    "attack", {**MEANINGLESS, **FOREIGN, **MISLABELLED}.items(), ids=lambda a: a[0]
)
def test_a_statement_that_says_nothing_is_not_proved(attack):
    assert refused(attack[1]) not in (PROVED, CERTIFIED, IDENTITY, RESTRICTED)


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_not_proved(name):
    attack, point = FALSE[name]
    stated = attack()
    left, right = (sympy.sympify(side).subs(point) for side in (stated.left, stated.right))
    true = {"<=": left <= right, "<": left < right, "==": sympy.Eq(left, right)}[stated.relation]
    assert not bool(true), "the attack must be false at its point"
    assert refused(attack) not in (PROVED, CERTIFIED, IDENTITY, RESTRICTED)


BOUNDARIES = {
    "no failure beyond": Boundary(x, 1 - x, (0, 2), "decreasing"),
    "failure far beyond": Boundary(x, 2 - x, (1, Rational(5, 2)), "decreasing"),
    "failure one part in a million beyond": Boundary(
        x, 3 - x - Rational(1, 10**6), (2, Rational(7, 2)), "decreasing"
    ),
    "wrong inside": Boundary(x, Rational(7, 2) - x, (2, 4), "decreasing"),
    "two roots": Boundary(x, (1 - x) * (2 - x) * (3 - x), (HALF, Rational(3, 2))),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_a_boundary_is_where_it_is_said_to_be(name):
    """x <= 3 holds up to x = 3 and nowhere beyond."""
    stated = Claim(
        "attack",
        "",
        "",
        x,
        "<=",
        Integer(3),
        Domain({x: closed(0, 4)}),
        by=(PiecewiseLinear(),),
        boundary=BOUNDARIES[name],
        hints=({x: sympy.Rational(7, 2)},),
        expect=RESTRICTED,
        correction="none",
    )
    assert check(stated).kind not in (PROVED, CERTIFIED, RESTRICTED)


def test_the_right_boundary_is_found():
    stated = Claim(
        "truth",
        "",
        "",
        x,
        "<=",
        Integer(3),
        Domain({x: closed(0, 4)}),
        by=(PiecewiseLinear(),),
        boundary=Boundary(x, 3 - x, (2, Rational(15, 4)), "decreasing"),
        hints=({x: sympy.Rational(7, 2)},),
        expect=RESTRICTED,
        correction="none",
    )
    assert check(stated).kind == RESTRICTED

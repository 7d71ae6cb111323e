"""A claim that holds with equality somewhere is neither refuted nor certified by rounding luck."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Abs, Integer, Max, Rational, cosh, exp, log, sqrt, symbols

from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.check import check
from dpaudit.claims.claim import CERTIFIED, PROVED, REFUTED, UNRESOLVED, Claim
from dpaudit.claims.domain import Domain, closed
from dpaudit.claims.goal import Goal
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Monotone, Rewrite, Split

x, y = symbols("x y", real=True)
HALF = Rational(1, 2)

TOUCHING = [
    ("dyadic point", 2 * x - x**2, Integer(1), {x: closed(0, 3)}),
    ("corner", Integer(0), x * exp(x), {x: closed(0, 1)}),
    ("exponential", x * exp(1 - x), Integer(1), {x: closed(0, 3)}),
    ("tangent of the logarithm", log(x), x - 1, {x: closed(HALF, 2)}),
    ("tangent of exp", 1 + x, exp(x), {x: closed(-1, 1)}),
    ("cosh", Integer(1), cosh(x), {x: closed(-1, 1)}),
    ("irrational point", 2 * sqrt(2) * x, x**2 + 2, {x: closed(0, 2)}),
    ("diagonal", 2 * x * y, x**2 + y**2, {x: closed(0, 1), y: closed(0, 1)}),
    ("means", sqrt(x * y), (x + y) / 2, {x: closed(HALF, 1), y: closed(HALF, 1)}),
    ("equal everywhere", (1 + x) ** 2 * exp(-x), (1 + 2 * x + x**2) * exp(-x), {x: closed(0, 1)}),
    ("triangle", Abs(x + y), Abs(x) + Abs(y), {x: closed(-1, 1), y: closed(-1, 1)}),
    ("maximum", x, Max(x, y), {x: closed(-1, 1), y: closed(-1, 1)}),
    (
        "third",
        (x - Rational(1, 3)) * exp(-x) * 2 - (x - Rational(1, 3)) ** 2,
        (x - Rational(1, 3)) * exp(-x) * 2,
        {x: closed(0, 1)},
    ),
]


@pytest.mark.parametrize(("name", "left", "right", "box"), TOUCHING, ids=[t[0] for t in TOUCHING])
def test_touching_claims_are_proved_by_algebra_or_left_open(name, left, right, box):
    outcome = check(Claim("touch", "", name, left, "<=", right, Domain(box)))
    assert outcome.kind in (PROVED, UNRESOLVED), outcome


def test_the_right_method_proves_a_touching_claim():
    below = Monotone(x, "high", (Rewrite((1 - x) / x),))
    beyond = Monotone(x, "low", (Rewrite((x - 1) / x),))
    domain = Domain({x: closed(HALF, 2)})
    by = (Split(x, 1, (below,), (beyond,)),)
    claim = Claim("log", "", "", log(x), "<=", x - 1, domain, by=by)
    assert check(claim).kind == PROVED
    wrong = Claim("log", "", "", log(x), "<", x - 1, domain, by=claim.by)
    assert check(wrong).kind == REFUTED


def test_a_strict_claim_that_touches_is_refuted_or_open():
    claim = Claim("t", "", "", 2 * x - x**2, "<", Integer(1), Domain({x: closed(0, 2)}))
    assert check(claim).kind in (REFUTED, UNRESOLVED)


@settings(max_examples=25, deadline=None)
@given(st.fractions(min_value="1/50", max_value="49/50", max_denominator=60))
def test_branch_and_bound_never_certifies_a_square(place):
    centre = Rational(place.numerator, place.denominator)
    goal = Goal((x - centre) ** 2 * exp(x), Domain({x: closed(0, 1)}))
    assert BranchAndBound(boxes=300).prove(goal) is None


@settings(max_examples=25, deadline=None)
@given(st.fractions(min_value="1/50", max_value="49/50", max_denominator=60))
def test_branch_and_bound_certifies_the_same_square_lifted(place):
    centre = Rational(place.numerator, place.denominator)
    goal = Goal((x - centre) ** 2 * exp(x) + Rational(1, 100), Domain({x: closed(0, 1)}))
    proof = BranchAndBound(boxes=300).prove(goal)
    assert proof is not None and proof.certified


def test_certified_needs_a_gap():
    domain = Domain({x: closed(0, 3)})
    lifted = Claim("t", "", "", x * exp(1 - x), "<=", Rational(1001, 1000), domain)
    assert check(lifted).kind == CERTIFIED


def test_piecewise_linear_needs_exact_equality():
    domain = Domain({x: closed(-1, 1), y: closed(-1, 1)})
    method = PiecewiseLinear()
    assert method.prove(Goal(Abs(x) + Abs(y) - Abs(x + y), domain)) is not None
    shaved = Rational(999999, 1000000) * (Abs(x) + Abs(y)) - Abs(x + y)
    assert method.prove(Goal(sympy.expand(shaved), domain)) is None

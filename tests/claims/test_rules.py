"""Sign rules, balls, boundaries and methods say nothing that sampling can contradict."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Integer, Rational, Symbol, erf, exp, log, sinh, sqrt, symbols, tanh

from dpaudit.claims.balls import ball, compile_ball, evaluate, hull
from dpaudit.claims.boundary import Boundary
from dpaudit.claims.check import check
from dpaudit.claims.claim import REFUTED, UNRESOLVED, Claim, Tally
from dpaudit.claims.domain import POSITIVE, UNIT, Domain, RealInterval, above, between, closed
from dpaudit.claims.goal import Goal
from dpaudit.claims.identity import is_zero, sample
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Concave, Monotone, Rewrite, meaning
from dpaudit.claims.sign import sign_of
from dpaudit.errors import Contradiction, InvalidArgument

x, y = symbols("x y", real=True)
e = Symbol("epsilon", positive=True)
BOX = Domain({x: closed(-1, 2), y: RealInterval(0, 1, True, False)})

leaves = st.sampled_from(
    [x, y, 1 - y, x + 1, 2 - x, Integer(1), Integer(-2), Rational(1, 3), x - 1, 1 - x * y]
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.sampled_from([2, 3])).map(lambda pair: pair[0] ** pair[1]),
        inner.map(exp),
        inner.map(sinh),
        inner.map(tanh),
        inner.map(lambda part: exp(part) - 1),
    ),
    max_leaves=5,
)
HOLDS = {
    "positive": lambda value: not value <= 0,
    "nonnegative": lambda value: not value < 0,
    "zero": lambda value: not (value > 0 or value < 0),
    "nonpositive": lambda value: not value > 0,
    "negative": lambda value: not value >= 0,
}


@settings(max_examples=250, deadline=None)
@given(expressions, st.integers(0, 10**6))
def test_signs_survive_sampling(expression, seed):
    expression = sympy.sympify(expression)
    sign = sign_of(expression, BOX)
    if sign is None:
        return
    source = random.Random(seed)
    for _ in range(15):
        point = sample(BOX, source)
        assert HOLDS[sign](evaluate(expression, point)), (expression, sign, point)


@settings(max_examples=150, deadline=None)
@given(expressions, st.integers(0, 10**6))
def test_balls_contain_the_value(expression, seed):
    expression = sympy.sympify(expression)
    source = random.Random(seed)
    sides = [hull(Fraction(-1), Fraction(2)), hull(0, 1)]
    wide = compile_ball(expression, [x, y])(sides)
    narrow = evaluate(expression, sample(BOX, source))
    assert wide.overlaps(narrow)


def test_balls_refuse_what_they_cannot_enclose():
    zero_inside = hull(-1, 1)
    for expression in (1 / x, log(x), sqrt(x)):
        value = compile_ball(expression, [x])([zero_inside])
        assert not value > 0 and not value < 0 and not value.is_finite()
    assert not ball(Fraction(1, 10)) == 0.1  # noqa: SIM201 - a float is not one tenth


def test_open_ends_count():
    assert sign_of(1 - y, Domain({y: between(0, 1)})) == "positive"
    assert sign_of(1 - y, Domain({y: UNIT})) == "nonnegative"
    assert sign_of(y - 3, Domain({y: above(3)})) == "positive"
    assert sign_of(log(y), Domain({y: UNIT})) is None


def test_domains_are_exact_and_consistent():
    with pytest.raises(InvalidArgument, match="rational"):
        RealInterval(0.1, 1)
    with pytest.raises(InvalidArgument, match="exclude 0"):
        Domain({e: UNIT})
    with pytest.raises(InvalidArgument, match="exceed"):
        RealInterval(2, 1)


def test_identities_need_sympy_and_no_contradiction():
    assert is_zero(tanh(e / 2) - (exp(e) - 1) / (exp(e) + 1), Domain({e: POSITIVE}))
    assert not is_zero(erf(x) - x, BOX)
    assert not is_zero(exp(x) - 1 - x - x**2 / 2, BOX)


def test_a_method_checks_its_premises():
    broken = Goal(1 / x, Domain({x: closed(-1, 1)}))
    assert meaning(broken.gap, broken.domain) is None
    assert Monotone(x, "low", (Rewrite(-1 / x**2),)).prove(broken) is None
    jump = Goal(log(x**2), Domain({x: closed(-2, -1)}))
    assert Monotone(x, "low").prove(jump) is None
    convex = Goal(x**2 - 1, Domain({x: closed(-1, 1)}))
    assert Concave(x).prove(convex) is None
    unknown = Symbol("K", nonnegative=True)
    assert Rewrite(unknown, {unknown: x}).prove(Goal(x, Domain({x: closed(-1, 1)}))) is None


def test_a_boundary_is_enclosed_and_unique():
    boundary = Boundary(e, 3 * e - sinh(e), (1, 4))
    low, high = boundary.root()
    assert high - low <= Fraction(1, 10**14)
    assert evaluate(3 * e - sinh(e), {e: low}) > 0 > evaluate(3 * e - sinh(e), {e: high})
    assert boundary.digits((low, high)).startswith("2.838446380")
    assert boundary.unique(Domain({e: POSITIVE}))
    wavy = Boundary(x, (1 - x) * (2 - x) * (3 - x), (Fraction(1, 2), Fraction(3, 2)))
    assert not wavy.unique(Domain({x: closed(0, 4)}))


def test_a_boundary_with_a_true_claim_is_not_restricted():
    claim = Claim(
        "b",
        "",
        "",
        x,
        "<=",
        2 * x,
        Domain({x: closed(0, 4)}),
        expect="restricted",
        boundary=Boundary(x, 1 - x, (0, 2), "decreasing"),
        correction="none",
    )
    assert check(claim).kind == UNRESOLVED


def test_models_must_look_at_something():
    with pytest.raises(Contradiction):
        check(Claim("m", "", "", models=lambda rng: Tally(0), expect="sampled"))
    outcome = check(
        Claim("m", "", "", models=lambda rng: Tally(3, "here"), expect=REFUTED, correction="none")
    )
    assert outcome.kind == REFUTED and outcome.counterexample == "here"


def test_a_claim_that_should_fail_needs_a_correction():
    with pytest.raises(InvalidArgument, match="correction"):
        Claim("c", "", "", x, "<=", x, expect=REFUTED)
    with pytest.raises(InvalidArgument, match="either two sides"):
        Claim("c", "", "")


@settings(max_examples=10, deadline=None)
@given(expressions, st.integers(0, 10**6))
def test_a_claim_that_fails_at_a_sampled_point_is_never_proved(expression, seed):
    """Lower the bound to just above the smallest sampled value: false there by 1/1000."""
    source = random.Random(seed)
    points = [sample(BOX, source) for _ in range(12)]
    values = [evaluate(sympy.sympify(expression), point) for point in points]
    smallest = min(float(value.mid()) for value in values)
    if abs(smallest) > 1e6:
        return
    bound = Rational(str(round(smallest + 0.001 * (1 + abs(smallest)), 9)))
    by = (Monotone(x, "low"), Monotone(y, "high"), Concave(x), Concave(y))
    outcome = check(Claim("fuzz", "", "", bound, "<=", sympy.sympify(expression), BOX, by=by))
    assert outcome.kind in (REFUTED, UNRESOLVED), (expression, bound, outcome)


coefficients = st.integers(-3, 3)
kinks = st.sampled_from([sympy.Abs, lambda v: sympy.Max(v, 0), lambda v: sympy.Min(v, 1)])
terms = st.tuples(coefficients, kinks, coefficients, coefficients, coefficients)


@settings(max_examples=10, deadline=None)
@given(st.lists(terms, min_size=1, max_size=3), coefficients)
def test_piecewise_linear_proofs_survive_a_grid(parts, constant):
    gap = constant + sum(k * kink(a * x + b * y + c) for k, kink, a, b, c in parts)
    domain = Domain({x: closed(-2, 2), y: closed(-2, 2)})
    claim = Claim("pl", "", "", 0, "<=", gap, domain, by=(PiecewiseLinear(),))
    outcome = check(claim)
    grid = [Rational(i, 2) for i in range(-4, 5)]
    low = min(sympy.sympify(gap).subs({x: i, y: j}) for i in grid for j in grid)
    if low < 0:
        assert outcome.kind in (REFUTED, UNRESOLVED)

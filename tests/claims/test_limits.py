"""Series at a point of contact and compactification of an unbounded direction."""

from __future__ import annotations

from sympy import Integer, Rational, cosh, exp, log, symbols

from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.check import check
from dpaudit.claims.claim import CERTIFIED, PROVED, REFUTED, UNRESOLVED, Claim
from dpaudit.claims.domain import Domain, at_least, closed
from dpaudit.claims.goal import Goal
from dpaudit.claims.limits import Compactify, Series
from dpaudit.claims.methods import Split

x, y = symbols("x y", real=True)
GRID = (BranchAndBound(),)


def test_series_settles_a_touching_point_and_balls_the_rest():
    near = Series(x, 1, 2, GRID)
    by = (Split(x, Rational(3, 2), (near,), GRID),)
    claim = Claim("s", "", "", x * exp(1 - x), "<=", Integer(1), Domain({x: closed(0, 3)}), by=by)
    assert check(claim).kind == CERTIFIED
    lowered = Claim(
        "s", "", "", x * exp(1 - x), "<=", Rational(99, 100), Domain({x: closed(0, 3)}), by=by
    )
    assert check(lowered).kind == REFUTED


def test_series_reads_the_sign_of_an_even_contact():
    claim = Claim(
        "c", "", "", Integer(1), "<=", cosh(x), Domain({x: closed(-1, 1)}), by=(Series(x, 0, 2),)
    )
    assert check(claim).kind == PROVED


def test_series_refuses_what_taylor_does_not_give():
    box = Domain({x: closed(-1, 1)})
    assert Series(x, 0, 3, GRID).prove(Goal(x**3, box)) is None
    assert Series(x, 0, 2, GRID).prove(Goal(x**2 + Rational(1, 10**9), box)) is None
    assert Series(x, 0, 2, GRID).prove(Goal(cosh(x) - 1, box, strict=True)) is None
    assert Series(x, 2, 2, GRID).prove(Goal((x - 2) ** 2, box)) is None
    assert Series(x, 0, 2, GRID).prove(Goal(x**2 - x**4, Domain({x: closed(-2, 2)}))) is None


def test_series_at_the_high_end_turns_odd_orders():
    domain = Domain({x: closed(Rational(1, 2), 1)})
    assert Series(x, 1, 1).prove(Goal((1 - x) * exp(x), domain)) is not None
    assert Series(x, 1, 1).prove(Goal((x - 1) * exp(x), domain)) is None
    assert Series(x, 1, 1, GRID).prove(Goal(-log(x), domain)) is not None
    assert Series(x, 1, 1, GRID).prove(Goal(log(x), domain)) is None


def test_compactify_covers_infinity():
    gap = (x**2 - x + 1) / (x**2 + 1) - Rational(1, 3)
    proof = Compactify(x, 0, GRID).prove(Goal(gap, Domain({x: at_least(0)})))
    assert proof is not None and proof.certified
    too_much = (x**2 - x + 1) / (x**2 + 1) - Rational(505, 1000)
    assert Compactify(x, 0, GRID).prove(Goal(too_much, Domain({x: at_least(0)}))) is None


def test_compactify_refuses_a_gap_that_closes_at_infinity():
    goal = Goal((x**2 - x + 1) / ((x**2 + 1) * (x + 1)), Domain({x: at_least(0)}))
    assert Compactify(x, 0, GRID).prove(goal) is None
    lifted = Compactify(x, -1, GRID).prove(goal)
    assert lifted is not None


def test_a_claim_on_a_half_line_may_name_compactify():
    domain = Domain({x: at_least(1), y: closed(0, 1)})
    claim = Claim(
        "c", "", "", y / (x + 1), "<", (x + 2) / (x + 1), domain, by=(Compactify(x, 0, GRID),)
    )
    assert check(claim).kind in (PROVED, CERTIFIED)
    false = Claim(
        "c",
        "",
        "",
        1 + y / (x + 1),
        "<",
        (x + 2) / (x + 1) - Rational(1, 100),
        domain,
        by=(Compactify(x, 0, GRID),),
    )
    assert check(false).kind in (REFUTED, UNRESOLVED)

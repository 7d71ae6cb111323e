"""Mutants of a claim: what must stop being proved if the claim says anything.

*tightened*: the constant of a bound moved by 1% in the false direction (for an identity, one side
scaled by 1%); a loose bound may survive that. *negated*: the strict opposite. *dropped*: one of its
hypotheses left out. A claim whose mutants are all proved cannot fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy

from dpaudit.claims.check import check
from dpaudit.claims.claim import CERTIFIED, IDENTITY, PROVED, REFUTED, Claim
from dpaudit.claims.domain import Domain
from dpaudit.claims.sign import at_least_zero, opposite, sign_of

GOOD = (PROVED, CERTIFIED, IDENTITY)
TIGHTENED, NEGATED, DROPPED = "tightened", "negated", "dropped"
KINDS = (TIGHTENED, NEGATED, DROPPED)


@dataclass(frozen=True)
class Fate:
    """What became of one mutant."""

    label: str
    kind: str
    outcome: str

    @property
    def survived(self) -> bool:
        """True when the mutant is still proved."""
        return self.outcome in GOOD

    @property
    def refuted(self) -> bool:
        """True when the mutant is shown to be false, which is more than not proved."""
        return self.outcome == REFUTED


def mutants(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """Yield the mutants of a claim that has two sides, each with its kind."""
    left, right = sympy.sympify(claim.left), sympy.sympify(claim.right)
    claim = replace(claim, expect="", correction="", survives="", boundary=None)
    tight = _tightened(left, right, claim)
    if tight is not None:
        yield TIGHTENED, replace(claim, left=tight[0], right=tight[1])
    if claim.relation != "==":
        yield NEGATED, replace(claim, left=right, right=left, relation="<")
    for g in claim.domain.constraints:
        rest = tuple(other for other in claim.domain.constraints if other != g)
        yield DROPPED, replace(claim, domain=Domain(claim.domain.box, rest))


def _tightened(
    left: sympy.Expr, right: sympy.Expr, claim: Claim
) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Move the side whose sign is known by 1%; None when no sign is known."""
    less, more = sympy.Rational(99, 100), sympy.Rational(101, 100)
    if claim.relation == "==":
        return (left, right * more) if right != 0 else (left + sympy.Rational(1, 100), right)
    for side, sign in ((right, sign_of(right, claim.domain)), (left, sign_of(left, claim.domain))):
        if side == 0 or sign is None:
            continue
        up = at_least_zero(sign) if side is left else at_least_zero(opposite(sign))
        moved = side * (more if up else less)
        return (moved, right) if side is left else (left, moved)
    return None


def fates(claim: Claim) -> Iterator[Fate]:
    """Check every mutant of a claim."""
    for kind, mutant in mutants(claim):
        yield Fate(claim.label, kind, check(mutant).kind)

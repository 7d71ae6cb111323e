"""The checker: symbolic proof, then ball arithmetic, then a counterexample, else unresolved."""

from __future__ import annotations

import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy

from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.claim import (
    CERTIFIED,
    HELD,
    PROVED,
    REFUTED,
    RESTRICTED,
    UNRESOLVED,
    Claim,
    Outcome,
)
from dpaudit.claims.domain import Domain, Interval
from dpaudit.claims.goal import Goal, Proof
from dpaudit.claims.identity import is_zero
from dpaudit.claims.methods import first_proof
from dpaudit.claims.search import Counterexample, search
from dpaudit.errors import Contradiction


def check(claim: Claim) -> Outcome:
    """Return the strongest outcome that a method justifies; never more than that."""
    if claim.models is not None:
        return _on_models(claim)
    claim = replace(claim, left=sympy.sympify(claim.left), right=sympy.sympify(claim.right))
    if claim.boundary is not None:
        return _restricted(claim)
    proof = _prove(claim, claim.domain)
    if proof is not None:
        return Outcome(CERTIFIED if proof.certified else PROVED, proof.how)
    found = _counterexample(claim, claim.domain)
    if found is not None:
        return Outcome(REFUTED, "counterexample confirmed in ball arithmetic", found.describe())
    tried = ["sign rules", *(type(method).__name__ for method in claim.by)]
    tried.append("branch and bound" if claim.domain.compact else "no compact box to divide")
    return Outcome(UNRESOLVED, f"tried {', '.join(tried)} and a counterexample search")


def _prove(claim: Claim, domain: Domain) -> Proof | None:
    gap = claim.right - claim.left
    if claim.relation == "==":
        return Proof("identity") if is_zero(gap, domain) else None
    goal = Goal(gap, domain, strict=claim.relation == "<")
    return first_proof(goal, (*claim.by, BranchAndBound(boxes=2000)))


def _counterexample(claim: Claim, domain: Domain) -> Counterexample | None:
    hints = [{s: Fraction(v) for s, v in hint.items()} for hint in claim.hints]
    return search(claim.left, claim.right, claim.relation, domain, hints)


def _restricted(claim: Claim) -> Outcome:
    """Prove the inside, enclose the boundary, and find a failure within 1% beyond it."""
    boundary = claim.boundary
    assert boundary is not None
    root = boundary.root()
    if root is None or not boundary.unique(claim.domain):
        return Outcome(UNRESOLVED, "the boundary could not be enclosed or shown to be unique")
    inside = Domain(claim.domain.box, (*claim.domain.constraints, boundary.inside))
    proof = _prove(claim, inside)
    side = claim.domain.box[boundary.symbol]
    edge = sympy.Rational(root[1])
    beyond = Interval(edge, min(edge * sympy.Rational(101, 100), side.high), True, False)
    found = _counterexample(claim, claim.domain.having(boundary.symbol, beyond))
    digits = boundary.digits(root)
    if proof is None or found is None:
        missing = "no proof inside" if proof is None else "no counterexample just outside"
        return Outcome(UNRESOLVED, f"{missing} the boundary {boundary.symbol} = {digits}")
    return Outcome(
        RESTRICTED,
        f"{proof.how}; boundary {boundary.inside} = 0",
        found.describe(),
        f"holds for {boundary.symbol} <= {digits}... and fails just beyond",
    )


def _on_models(claim: Claim) -> Outcome:
    assert claim.models is not None
    rng = np.random.default_rng(zlib.crc32(claim.label.encode()))
    tally = claim.models(rng)
    if tally.models < 1:
        raise Contradiction(f"{claim.label}: the model check looked at no model.")
    if tally.counterexample:
        return Outcome(REFUTED, f"model {tally.models}, exact arithmetic", tally.counterexample)
    return Outcome(HELD, f"held on {tally.models} small models, exact arithmetic")

"""The checker: symbolic proof, then ball arithmetic, then a counterexample, else unresolved.

A proof counts only when both sides make sense on the whole domain, the domain holds a point, and a
search for a counterexample that knows nothing of the proof finds none.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy

from dpaudit.claims.branch import BranchAndBound
from dpaudit.claims.claim import (
    CERTIFIED,
    ENUMERATED,
    GRANTED,
    IDENTITY,
    PROVED,
    REFUTED,
    RESTRICTED,
    SAMPLED,
    UNRESOLVED,
    Claim,
    ClaimOutcome,
)
from dpaudit.claims.domain import Domain
from dpaudit.claims.goal import Goal, Proof
from dpaudit.claims.identity import is_zero
from dpaudit.claims.methods import first_proof, meaning
from dpaudit.claims.search import Counterexample, Point, confirm, inhabitant, search
from dpaudit.errors import Contradiction


def check(claim: Claim) -> ClaimOutcome:
    """Return the strongest outcome that a method justifies; never more than that."""
    if claim.granted:
        return ClaimOutcome(GRANTED, claim.granted)
    if claim.models is not None:
        return _on_models(claim)
    claim = replace(claim, left=sympy.sympify(claim.left), right=sympy.sympify(claim.right))
    claim.domain.admit(claim.left, claim.right)
    if claim.boundary is not None:
        return _restricted(claim)
    proof = _prove(claim, claim.domain)
    found = _counterexample(claim, claim.domain)
    if proof is not None and found is not None:
        raise Contradiction(f"{claim.label}: proved ({proof.how}) and false: {found.describe()}")
    if found is not None:
        return ClaimOutcome(
            REFUTED, "counterexample confirmed in ball arithmetic", found.describe()
        )
    if proof is None:
        tried = ["sign rules", *(type(method).__name__ for method in claim.by)]
        tried.append("branch and bound" if claim.domain.compact else "no compact box to divide")
        return ClaimOutcome(UNRESOLVED, f"tried {', '.join(tried)} and a counterexample search")
    if inhabitant(claim.domain, _hints(claim)) is None:
        return ClaimOutcome(UNRESOLVED, "no point of the domain was found, so it may be empty")
    if proof.how == "identity":
        return ClaimOutcome(IDENTITY, proof.how)
    return ClaimOutcome(CERTIFIED if proof.certified else PROVED, proof.how)


def _prove(claim: Claim, domain: Domain) -> Proof | None:
    if any(meaning(side, domain) is None for side in (claim.left, claim.right)):
        return None
    gap = claim.right - claim.left
    if claim.relation == "==":
        return Proof("identity") if is_zero(gap, domain) else None
    goal = Goal(gap, domain, strict=claim.relation == "<")
    return first_proof(goal, claim.by) or BranchAndBound(boxes=2000).prove(goal)


def _hints(claim: Claim) -> list[Point]:
    return [{s: Fraction(v) for s, v in hint.items()} for hint in claim.hints]


def _counterexample(claim: Claim, domain: Domain) -> Counterexample | None:
    return search(claim.left, claim.right, claim.relation, domain, _hints(claim))


def _restricted(claim: Claim) -> ClaimOutcome:
    """Prove the inside, enclose the boundary, and find a failure within 1e-9 beyond it."""
    boundary = claim.boundary
    assert boundary is not None
    root = boundary.root()
    if root is None or not boundary.unique(claim.domain):
        return ClaimOutcome(UNRESOLVED, "the boundary could not be enclosed or shown to be unique")
    inside = Domain(claim.domain.box, (*claim.domain.constraints, boundary.inside))
    proof = _prove(claim, inside)
    found = _just_beyond(claim, boundary.symbol, root[1])
    digits = boundary.digits(root)
    if proof is None or found is None:
        missing = "no proof inside" if proof is None else "no counterexample just outside"
        return ClaimOutcome(UNRESOLVED, f"{missing} the boundary {boundary.symbol} = {digits}")
    return ClaimOutcome(
        RESTRICTED,
        f"{proof.how}; boundary {boundary.inside} = 0",
        found.describe(),
        f"holds for {boundary.symbol} <= {digits}... and fails within 1e-9 beyond",
    )


def _just_beyond(claim: Claim, symbol: object, edge: Fraction) -> Counterexample | None:
    """Look at the first ten-digit number beyond the edge, the other coordinates from the hints.

    A claim that touches at the low end of a side fails first there, so the other coordinates are
    drawn towards the low ends of their intervals by powers of ten.
    """
    unit = 10**10
    place = Fraction(int(edge * unit) + 1, unit)
    for hint in _hints(claim):
        for power in range(16):
            point = {symbol: place}
            for other, side in claim.domain.box.items():
                if other != symbol:
                    low = Fraction(int(side.low.p), int(side.low.q)) if side.low.is_finite else 0
                    point[other] = low + (hint[other] - low) / 10**power
            found = confirm(claim.left, claim.right, claim.relation, claim.domain, point)
            if found is not None:
                return found
    return None


def _on_models(claim: Claim) -> ClaimOutcome:
    assert claim.models is not None
    rng = np.random.default_rng(zlib.crc32(claim.label.encode()))
    tally = claim.models(rng)
    if tally.models < 1:
        raise Contradiction(f"{claim.label}: the model check looked at no model.")
    if tally.counterexample:
        return ClaimOutcome(REFUTED, f"broken by model {tally.models:,}", tally.counterexample)
    every = f"; theorem: {claim.theorem}" if claim.theorem else ""
    if tally.family:
        return ClaimOutcome(ENUMERATED, f"all {tally.models:,} of {tally.family}{every}")
    return ClaimOutcome(SAMPLED, f"held on {tally.models:,} models drawn at random{every}")

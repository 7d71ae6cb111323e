"""Charges against a claim of any notion: the best of several accountings is taken and named.

| claim        | accountings                                                                      |
|--------------|----------------------------------------------------------------------------------|
| pure, local  | the largest sum of epsilon charges on one person                                 |
| zCDP         | the largest sum of rho charges                                                   |
| Gaussian DP  | the largest sum of mu^2 charges                                                  |
| (eps, delta) | one release per reward: the exact delta of its law; else the sum of mu^2, of rho |
|              | or of epsilon charges, each converted; for groups also from the delta of one     |

Each sum is over every transcript (the filter theorem, docs/notions.md). Charges and conversions are
rationals that are at least the truth, and they are compared with the claim exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core import conversions
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import exact, in_digits
from dpaudit.core.canonical import Distrust
from dpaudit.core.conversions import Rate
from dpaudit.core.notions import Kind, Notion, Tariff, rewards, tariff_of
from dpaudit.structure.ledger import show
from dpaudit.structure.program import on_lattice
from dpaudit.structure.prove import STREAMS, Bound, bound
from dpaudit.verdict import Bracket, Finding, Status


@dataclass(frozen=True)
class Accounting:
    """One way to a guarantee: how releases are charged, and what the sum of charges is worth."""

    said: str
    tariff: Tariff
    worth: Callable[[Rate], Rate]


def accountings(notion: Notion) -> list[Accounting]:
    """Return every valid way to the number that a notion bounds (for mu, its square)."""
    own, unit = tariff_of(notion), notion.unit
    if notion.kind is not Kind.APPROXIMATE:
        said = {
            Kind.ZCDP: "Renyi divergences added up",
            Kind.GDP: "squares of mu added up",
        }.get(notion.kind, "losses added up")
        return [Accounting(said, own, lambda charge: charge)]
    at = exact(notion.level)
    ways = [
        Accounting(
            "squares of mu added up, then the Gaussian formula",
            Tariff(Kind.GDP, unit),
            lambda charge: conversions.gdp_to_delta(charge, at),
        ),
        Accounting(
            "Renyi divergences added up, then converted",
            Tariff(Kind.ZCDP, unit),
            lambda charge: conversions.zcdp_to_delta(charge, at),
        ),
        Accounting(
            "losses added up, then converted",
            Tariff(Kind.PURE, unit),
            lambda charge: conversions.pure_to_delta(charge, at),
        ),
    ]
    each = at / unit

    def once(charge: Rate) -> Rate:
        return conversions.group_delta(Fraction(charge) - 1, each, unit) if charge < 2 else 1

    of_group = f", and {unit} times over for a group" if unit > 1 else ""
    said = f"every reward enters one release: the exact delta of its law{of_group}"
    return [Accounting(said, Tariff(Kind.APPROXIMATE, 1, each), once), *ways]


def judge(algorithm: Algorithm, horizon: int, notion: Notion, budget: float = math.inf) -> Finding:
    """Prove that every transcript of `horizon` rounds respects a notion, or stay silent."""
    start = time.monotonic()
    deadline = start + budget
    ways, reason = accountings(notion), ""
    found: list[tuple[Accounting, Bound, Rate]] = []
    claimed = _claimed(notion)
    for number, way in enumerate(ways):
        share = max(deadline - time.monotonic(), 0.0) / (len(ways) - number)
        try:
            bounded = bound(algorithm, horizon, share, tariff=way.tariff)
        except Distrust as distrust:
            reason = f"Not covered by the proof: {distrust}."
            break
        if bounded.covered and (bounded.complete or not found):
            found.append((way, bounded, way.worth(bounded.charge)))
        elif not reason:
            reason = f"{bounded.row} ({bounded.how})."
            reason = reason[0].upper() + reason[1:]
        if notion.kind is Kind.APPROXIMATE and notion.unit == 1 and found and found[0][2] < 1:
            break  # one release per reward: its own delta is the least that can be shown
    status, upper, covered, endless = Status.SILENT, math.inf, horizon, False
    if found and not reason.startswith("Not covered"):
        way, bounded, value = min(found, key=lambda it: (it[2] > claimed, -it[1].covered, it[2]))
        proved = value <= claimed
        status = Status.PROVED if proved else Status.SILENT
        if proved or bounded.complete:
            upper, covered = _level(notion, value), bounded.covered
        reason = _reason(notion, way, bounded, value, proved)
        endless = bounded.always is not None and way.worth(bounded.always) <= claimed
        others = [it for it in found if it[0] is not way]
        if others and value > 0:
            reason += " " + _compared(others)
    return Finding(
        check="structure",
        status=status,
        reason=reason,
        certified=upper < math.inf,
        arms=algorithm.arms,
        horizon=covered if status is Status.PROVED else horizon,
        streams=STREAMS,
        seconds=time.monotonic() - start,
        always=endless and status is Status.PROVED,
        bracket=Bracket(notion.measure, 0.0, upper, certified=upper < math.inf),
        program=on_lattice(algorithm) if status is Status.PROVED else None,
    )


def _claimed(notion: Notion) -> Fraction:
    """Return what the accountings are compared with."""
    if notion.kind is Kind.APPROXIMATE:
        return exact(notion.delta)
    level = exact(notion.level)
    return level**2 if notion.kind is Kind.GDP else level


def _level(notion: Notion, value: Rate) -> float:
    """Return a double that is at least the number that was bounded."""
    above = conversions.root_above if notion.kind is Kind.GDP else conversions.double_above
    return above(value)


def _reason(notion: Notion, way: Accounting, found: Bound, value: Rate, proved: bool) -> str:
    who = "No reward is" if notion.unit == 1 else f"No {rewards(notion.unit)} together are"
    if notion.kind is Kind.APPROXIMATE:
        said = f"At epsilon = {in_digits(notion.level)}, {way.said}"
    elif proved:
        said = f"{who} charged more than {_shown(notion, value)}"
    else:
        whose = f"Reward {found.row.number + 1} of arm {found.row.arm} is"
        whose = whose if notion.unit == 1 else f"{rewards(notion.unit)} together are"
        over = f"charged {_shown(notion, value)}, more than {notion}"
        said = f"{whose} {over}; that is no violation by itself"
    if notion.kind is Kind.APPROXIMATE and not proved:
        said += "; that is no violation by itself"
    return f"{said} ({found.how})."


def _shown(notion: Notion, value: Rate) -> str:
    text = show(value)
    return f"mu^2 = {text}" if notion.kind is Kind.GDP else text


def _compared(others: list[tuple[Accounting, Bound, Rate]]) -> str:
    way, _, value = min(others, key=lambda it: it[2])
    return f"Next best, {way.said}: {float(value):.3g}."

"""Every lower bound of a linear instance, with duality gaps."""

from __future__ import annotations

import math

from dpaudit.regret_bounds import linear, linear_unit
from dpaudit.regret_bounds.bound import (
    PAPER,
    SHARP,
    BoundForm,
    BoundStanding,
    RegretBound,
    Scope,
    lower_bound,
)
from dpaudit.regret_bounds.linear import LinearInstance, Structural
from dpaudit.regret_bounds.lower import LIMIT_NOTE
from dpaudit.regret_bounds.structural import Certificate
from dpaudit.regret_bounds.table import Setting

BOX = "minimax on the box"
HERE = "at the alternatives that carry the certificate above: a bound, not the optimum"


def linear_bounds(
    instance: LinearInstance, setting: Setting
) -> tuple[list[RegretBound], Structural]:
    """Return the bounds at log T and on the box, and what they were computed from."""
    found = linear.structural(instance, setting.epsilon)

    def row(
        name: str,
        form: BoundForm,
        certificate: Certificate,
        claims: str,
        standing: BoundStanding = BoundStanding.ESTABLISHED,
        note: str = LIMIT_NOTE,
    ) -> RegretBound:
        details = {"coefficient": certificate.lower}
        if math.isfinite(certificate.upper):
            details |= {"upper": certificate.upper, "duality_gap": certificate.gap}
        about = Scope.ASYMPTOTIC, certificate.lower * math.log(setting.horizon), claims, note
        return lower_bound(name, form, *about, standing=standing, details=details)

    refined, both = (
        Certificate(found.refined, math.inf, (), (), ()),
        "private divergence",
    )
    rows = [
        row("without privacy (Graves-Lai)", PAPER, found.without_privacy, "book.25.1"),
        row("c_epsilon with the paper's rho", PAPER, found.paper, *_standing(instance, found)),
        row(
            "c_epsilon with rho over bases", SHARP, found.corrected, "thm:linnogap_reg as repaired"
        ),
        row("c_epsilon, direct programme", SHARP, found.sharp, "lem:kl as repaired, sharper.huber"),
        row("the same with d_epsilon", SHARP, refined, f"sharper.huber, {both}", note=HERE),
    ]
    rows += _unit(instance, setting) + _minimax(len(instance.theta), setting)
    return rows, found


def _standing(instance: LinearInstance, found: Structural) -> tuple[str, BoundStanding, str]:
    if instance.orthogonal:
        return "thm:linnogap_reg as repaired", BoundStanding.ESTABLISHED, LIMIT_NOTE
    reason = "Fact 2 may fail where arms are not orthogonal (lpd.fact-2)"
    if found.paper_implied:
        note = f"{reason}; here the number is implied by the row below"
        return "thm:linnogap_reg as repaired", BoundStanding.ESTABLISHED, note
    return "lpd.fact-2", BoundStanding.NOT_ESTABLISHED, f"{reason}; use the rows below"


def _unit(instance: LinearInstance, setting: Setting) -> list[RegretBound]:
    """Return the bound for Bernoulli rewards of the same means, where there are such rewards."""
    found = linear_unit.coefficient(instance, setting.epsilon)
    if found is None:
        return []
    note = "Bernoulli rewards; the rows for N(., 1) do not compare with rewards in [0, 1]"
    return [
        lower_bound(
            "rewards in [0, 1], d_epsilon",
            SHARP,
            Scope.ASYMPTOTIC,
            found.value * math.log(setting.horizon),
            "private divergence",
            f"{note}; {LIMIT_NOTE}",
            details={"coefficient": found.value, "alternatives": found.alternatives},
        )
    ]


def _minimax(dimension: int, setting: Setting) -> list[RegretBound]:
    note = "on the box [-1, 1]^d, for some theta: not about this instance"
    values = (dimension, setting.epsilon, setting.horizon)
    paper, sharp = linear.minimax_paper(*values), linear.minimax_sharp(*values)
    unit, bounded = linear_unit.minimax(*values), f"{BOX}, rewards in [0, 1]"
    return [
        lower_bound(name, form, Scope.MINIMAX, value, claims, note)
        for name, form, value, claims in (
            (BOX, PAPER, paper, "thm:linminmax as printed"),
            (BOX, SHARP, sharp, "thm:linminmax as repaired, sharper.minimax-public"),
            (bounded, SHARP, unit, "lin.unit-kl, lin.unit-public, lin.unit-private"),
        )
    ]

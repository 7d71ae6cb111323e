"""Every lower bound of a linear instance, with duality gaps."""

from __future__ import annotations

import math

from dpaudit.regret_bounds import linear, linear_unit
from dpaudit.regret_bounds.bound import Bound, Form, Scope, Side, Standing
from dpaudit.regret_bounds.linear import LinearInstance, Structural
from dpaudit.regret_bounds.lower import LIMIT_NOTE
from dpaudit.regret_bounds.structural import Certificate
from dpaudit.regret_bounds.table import Setting

BOX = "minimax on the box"


def linear_bounds(instance: LinearInstance, setting: Setting) -> tuple[list[Bound], Structural]:
    """Return the bounds at log T and on the box, and what they were computed from."""
    found = linear.structural(instance, setting.epsilon)
    log_horizon = math.log(setting.horizon)

    def row(
        name: str,
        form: Form,
        certificate: Certificate,
        claims: tuple[str, ...],
        standing: Standing = Standing.ESTABLISHED,
        note: str = "",
    ) -> Bound:
        details = {"coefficient": certificate.lower}
        if math.isfinite(certificate.upper):
            details |= {"upper": certificate.upper, "duality_gap": certificate.gap}
        return Bound(
            name,
            Side.LOWER,
            form,
            Scope.ASYMPTOTIC,
            certificate.lower * log_horizon,
            claims,
            standing,
            note or LIMIT_NOTE,
            details=details,
        )

    refined = Certificate(found.refined, math.inf, (), (), ())
    rows = [
        row("without privacy (Graves-Lai)", Form.PAPER, found.without_privacy, ("lpd.constraint",)),
        row(
            "c_epsilon with the paper's rho",
            Form.PAPER,
            found.paper,
            *_standing(instance, found),
        ),
        row(
            "c_epsilon with rho over bases",
            Form.SHARP,
            found.corrected,
            ("lpd.rho-bar", "lpd.sharper"),
        ),
        row("c_epsilon, direct programme", Form.SHARP, found.sharp, ("sharper.huber",)),
        row(
            "the same with d_epsilon",
            Form.SHARP,
            refined,
            ("sharper.huber", "sharper.private-divergence"),
            note="at the alternatives that carry the certificate above: a bound, not the optimum",
        ),
    ]
    rows += _unit(instance, setting) + _minimax(len(instance.theta), setting)
    return rows, found


def _standing(instance: LinearInstance, found: Structural) -> tuple[tuple[str, ...], Standing, str]:
    if instance.orthogonal:
        return ("lpd.orthogonal", "lpd.rho-bar"), Standing.ESTABLISHED, ""
    reason = "Fact 2 is false for arms that are not orthogonal (lpd.fact-2)"
    if found.paper_implied:
        note = f"{reason}; here the number is implied by the row below"
        return ("lpd.rho-bar",), Standing.ESTABLISHED, note
    return ("lpd.fact-2",), Standing.NOT_ESTABLISHED, f"{reason}; use the rows below"


def _unit(instance: LinearInstance, setting: Setting) -> list[Bound]:
    """Return the bound for Bernoulli rewards of the same means, where there are such rewards."""
    found = linear_unit.coefficient(instance, setting.epsilon)
    if found is None:
        return []
    note = "Bernoulli rewards; the rows for N(., 1) do not compare with rewards in [0, 1]"
    return [
        Bound(
            "rewards in [0, 1], d_epsilon",
            Side.LOWER,
            Form.SHARP,
            Scope.ASYMPTOTIC,
            found.value * math.log(setting.horizon),
            ("sharper.private-divergence", "sharper.tilt"),
            note=f"{note}; {LIMIT_NOTE}",
            details={"coefficient": found.value, "alternatives": found.alternatives},
        )
    ]


def _minimax(dimension: int, setting: Setting) -> list[Bound]:
    note = "on the box [-1, 1]^d, for some theta: not about this instance"
    values = (dimension, setting.epsilon, setting.horizon)
    return [
        Bound(
            name,
            Side.LOWER,
            form,
            Scope.MINIMAX,
            value,
            claims,
            note=note,
        )
        for name, form, value, claims in (
            (BOX, Form.PAPER, linear.minimax_paper(*values), ("lin.sharper-constant",)),
            (
                BOX,
                Form.SHARP,
                linear.minimax_sharp(*values),
                ("lin.sharper-value", "sharper.minimax-public"),
            ),
            (
                f"{BOX}, rewards in [0, 1]",
                Form.SHARP,
                linear_unit.minimax(*values),
                ("lin.unit-kl", "lin.unit-public", "lin.unit-private"),
            ),
        )
    ]

"""All details of a judged claim, each within its share of a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dpaudit.check import OFFERED, Claim
from dpaudit.core.algorithm import Algorithm
from dpaudit.details import losses, pair, regret
from dpaudit.details.parts import Details
from dpaudit.target import resolve
from dpaudit.verdict import Finding, Witness

SHARES = {"losses": 0.35, "profile": 0.2, "positions": 0.25, "regret": 0.2}


def builder(claim: Claim) -> Callable[[int], Algorithm]:
    """Return how to build the judged algorithm for another horizon."""
    target = resolve(claim.target)
    accepts = target.accepts
    given = {
        name: value
        for name, value in claim.parameters.items()
        if name in accepts and name != "horizon"
    }
    return lambda horizon: target.build(horizon, given, OFFERED)


def details(
    claim: Claim,
    findings: Sequence[Finding],
    budget: float,
    seed: int,
    command: str,
    flaw: str = "",
) -> Details:
    """Return what a page shows beside the verdict; what is missing says why."""
    build, start = builder(claim), time.monotonic()
    missing: dict[str, str] = {}

    def until(*parts: str) -> float:
        return start + budget * sum(SHARES[name] for name in parts)

    ladder, ended = losses.by_horizon(build, claim.arms, claim.horizon, until("losses"))
    if ended:
        missing["losses"] = ended
    refuting = [f.witness for f in findings if f.witness is not None]
    known = [one.witness for one in ladder if one.witness is not None]
    candidates: list[Witness] = [*known, *refuting]
    profile, reason = pair.of_worst_pair(
        [(build(len(one.stream)), one) for one in candidates],
        claim.epsilon,
        until("losses", "profile"),
    )
    if profile is None:
        missing["profile"] = reason
    worst = max(candidates, key=lambda one: one.loss.lower, default=None)
    positions, reason = losses.by_position(
        build,
        [one.horizon for one in ladder],
        refuting[0] if refuting else worst,
        until("losses", "profile", "positions"),
    )
    if positions is None:
        missing["positions"] = reason
    measured, reason = regret.regret(build, claim.epsilon, seed, until(*SHARES))
    if measured is None:
        missing["regret"] = reason
    shown = losses.points(ladder, claim.anytime)
    return Details(command, flaw, shown, profile, positions, measured, missing)

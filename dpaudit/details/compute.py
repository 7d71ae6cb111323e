"""All details of a judged claim, each within its share of a budget."""

from __future__ import annotations

import hashlib
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from dpaudit import __version__
from dpaudit.core.mutants import find as find_mutant
from dpaudit.details import losses, pair, regret
from dpaudit.exact import WorstLoss
from dpaudit.exact.horizons import Search, violates
from dpaudit.judging import Case, Listener, PrivacyClaim, Report, verdict
from dpaudit.particulars import Details, PairProfile
from dpaudit.sources import digests
from dpaudit.target import MUTANTS, OFFERED, resolve
from dpaudit.verdict import UNDECIDED, Finding, Status, exit_code

Part = TypeVar("Part")
CODE = "it is code and not a declaration: see the checks above."
OTHER = "these figures are of the pure loss, and the claim is about another notion."
SHARES = {"losses": 0.35, "profile": 0.2, "positions": 0.25, "regret": 0.2}


@dataclass(frozen=True)
class DrawnLosses:
    """The largest loss at growing horizons, of the instances that a case builds."""

    case: Case
    rungs: Sequence[WorstLoss]
    ended: str


def case_of(claim: PrivacyClaim, seed: int) -> Case:
    """Return how the judged algorithm is built, for this horizon and for others."""
    target = resolve(claim.target)
    accepts = target.accepts
    given = {
        name: value
        for name, value in claim.parameters.items()
        if name in accepts and name != "horizon"
    }
    algorithm = target.build(claim.horizon, given, OFFERED)
    return Case(target, given, claim, algorithm, None, seed)


def ladder(claim: PrivacyClaim, budget: float, seed: int) -> DrawnLosses:
    """Return the losses that a page draws, within their share of a budget."""
    case, end = case_of(claim, seed), time.monotonic() + budget * SHARES["losses"]
    none: list[WorstLoss] = []
    found, why = guarded(
        lambda: losses.by_horizon(case.instance, claim.arms, claim.horizon, end), none
    )
    return DrawnLosses(case, found, why)


def settled(report: Report, found: DrawnLosses) -> tuple[Report, Finding | None]:
    """Return the report that a loss above the claim leaves, and the finding that refutes it.

    What a page draws is of the same truth as the verdict: a drawn loss above the claim refutes it,
    with a witness computed from scratch, or contradicts a proof.
    """
    case = found.case
    worst = next((it for it in found.rungs if violates(it, case.claim.epsilon)), None)
    if worst is None or report.verdict is Status.REFUTED:
        return report, None
    search = Search(case.instance, case.algorithm, case.claim.epsilon, [worst.horizon], best=worst)
    (finding,) = case.named([search.finding()])
    if finding.status is not Status.REFUTED:
        return report, None
    others = [it for it in report.findings if it.check != "exact"]
    place = next((k for k, it in enumerate(report.findings) if it.check == "exact"), len(others))
    findings = (*others[:place], finding, *others[place:])
    status, covered = verdict(findings, case)
    return replace(report, verdict=status, covered=covered, findings=findings), finding


def undecided(
    report: Report, budget: float, seed: int, to: Listener
) -> tuple[Report, DrawnLosses | None]:
    """Return the report, and the losses that a page draws where they may yet decide the claim."""
    claim = report.claim
    code = exit_code(report.verdict, report.covered, claim.horizon)
    if code != UNDECIDED or report.interrupted or report.broken or claim.notion is not None:
        return report, None
    try:
        drawn = ladder(claim, budget, seed)
        report, finding = settled(report, drawn)
    except KeyboardInterrupt:
        return replace(report, interrupted=True), None
    if finding is not None:
        to.heard(finding)
    return report, drawn


def guarded(compute: Callable[[], tuple[Part, str]], nothing: Part) -> tuple[Part, str]:
    """Return what is computed: a page without one figure is better than a verdict without one."""
    try:
        return compute()
    except Exception as error:
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        return nothing, f"a bug in dpaudit ended it ({said})."


def details(
    found: DrawnLosses,
    findings: Sequence[Finding],
    budget: float,
    seed: int,
    command: str,
) -> Details:
    """Return what a page shows beside the verdict; what is missing says why."""
    case, claim, start = found.case, found.case.claim, time.monotonic()
    build = case.instance
    missing = {"losses": found.ended} if found.ended else {}

    def until(*parts: str) -> float:
        return start + budget * sum(SHARES[name] for name in parts)

    def part(name: str, compute: Callable[[], tuple[Part, str]], nothing: Part) -> Part:
        shown, why = guarded(compute, nothing)
        if why:
            missing[name] = why
        return shown

    refuting = [f.witness for f in findings if f.witness is not None]
    candidates = [*(one.witness for one in found.rungs if one.witness is not None), *refuting]

    def profiled() -> tuple[PairProfile | None, str]:
        end = until("profile")
        if refuting:
            first = refuting[0]
            return pair.of_witness(build(len(first.stream)), first, claim.epsilon, end)
        pairs = [(build(len(one.stream)), one) for one in candidates]
        return pair.of_worst_pair(pairs, claim.epsilon, end)

    profile = part("profile", profiled, None)
    worst = max(candidates, key=lambda one: one.loss.lower, default=None)
    positions = part(
        "positions",
        lambda: losses.by_position(
            build,
            [one.horizon for one in found.rungs],
            refuting[0] if refuting else worst,
            until("profile", "positions"),
        ),
        None,
    )
    measured = part(
        "regret",
        lambda: regret.regret(build, claim.epsilon, seed, until("profile", "positions", "regret")),
        None,
    )
    shown = losses.points(found.rungs, claim.anytime)
    return Details(command, flaw_of(claim.target), shown, profile, positions, measured, missing)


def without(claim: PrivacyClaim, command: str, why: str) -> Details:
    """Return what a page shows beside the verdict where the figures do not apply."""
    missing = dict.fromkeys(("losses", "profile", "positions"), why)
    return Details(command, flaw_of(claim.target), missing=missing)


def identified(found: Details, text: str, source: Any, seed: int) -> Details:
    """Return details that also say what was judged: in a sentence, by digest, version and date."""
    texts = sorted(digests(text, source, Path.cwd()).items())
    return replace(
        found,
        about=sentence(source),
        seed=seed,
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        digest=hashlib.sha256(repr(texts).encode()).hexdigest(),
    )


def sentence(source: Any) -> str:
    """Return what an algorithm says of itself: the first line of its module, or of its own text."""
    thing = source if inspect.isclass(source) or inspect.isfunction(source) else type(source)
    module = sys.modules.get(thing.__module__)
    said = (module.__doc__ if module else None) or inspect.getdoc(thing) or ""
    if said.startswith(f"{thing.__name__}("):
        return ""  # a dataclass without a text has its signature for one
    return " ".join(said.strip().partition("\n\n")[0].split())


def flaw_of(target: str) -> str:
    """Return what a mutant says is wrong with it; nothing for any other target."""
    name = target.removeprefix(MUTANTS)
    return "" if name == target else find_mutant(name).flaw

"""All details of a judged claim, each within its share of a budget."""

from __future__ import annotations

import hashlib
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from dpaudit import __version__
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.mutants import find as find_mutant
from dpaudit.details import losses, pair, regret
from dpaudit.exact import WorstLoss
from dpaudit.judging import OFFERED, PrivacyClaim
from dpaudit.particulars import Details, PairProfile
from dpaudit.sources import digests
from dpaudit.target import MUTANTS, resolve
from dpaudit.verdict import Finding

Part = TypeVar("Part")
CODE = "it is code and not a declaration: see the checks above."
OTHER = "these figures are of the pure loss, and the claim is about another notion."
SHARES = {"losses": 0.35, "profile": 0.2, "positions": 0.25, "regret": 0.2}


def builder(claim: PrivacyClaim) -> Callable[[int], Algorithm]:
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
    claim: PrivacyClaim,
    findings: Sequence[Finding],
    budget: float,
    seed: int,
    command: str,
) -> Details:
    """Return what a page shows beside the verdict; what is missing says why."""
    build, start = builder(claim), time.monotonic()
    missing: dict[str, str] = {}

    def until(*parts: str) -> float:
        return start + budget * sum(SHARES[name] for name in parts)

    def part(name: str, compute: Callable[[], tuple[Part, str]], nothing: Part) -> Part:
        try:
            found, why = compute()
        except Exception as error:
            # A page without one figure is better than a verdict without a page.
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            found, why = nothing, f"a bug in dpaudit ended it ({said})."
        if why:
            missing[name] = why
        return found

    none: list[WorstLoss] = []
    ladder = part(
        "losses",
        lambda: losses.by_horizon(build, claim.arms, claim.horizon, until("losses")),
        none,
    )
    refuting = [f.witness for f in findings if f.witness is not None]
    candidates = [*(one.witness for one in ladder if one.witness is not None), *refuting]

    def profiled() -> tuple[PairProfile | None, str]:
        end = until("losses", "profile")
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
            [one.horizon for one in ladder],
            refuting[0] if refuting else worst,
            until("losses", "profile", "positions"),
        ),
        None,
    )
    measured = part(
        "regret", lambda: regret.regret(build, claim.epsilon, seed, until(*SHARES)), None
    )
    shown = losses.points(ladder, claim.anytime)
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
    return " ".join(said.strip().partition("\n\n")[0].split())


def flaw_of(target: str) -> str:
    """Return what a mutant says is wrong with it; nothing for any other target."""
    name = target.removeprefix(MUTANTS)
    return "" if name == target else find_mutant(name).flaw

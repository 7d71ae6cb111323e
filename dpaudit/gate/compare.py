"""What got weaker: a fresh judgement against a locked one.

The order of verdicts is PROVED, HOLDS, SILENT, REFUTED; one that covers fewer rounds is weaker.
Bounds of the structure check are rational
and compared as they are. Enclosures of the exact check may differ in their last digits between
builds of the arithmetic libraries, so an upper end counts as grown beyond one part in 10^9: no
change of noise is that small, and the verdict itself has no such slack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from dpaudit.core.arithmetic import at_least, at_most, exact
from dpaudit.core.notions import Kind, Notion, read_notion
from dpaudit.formats.result import Problem, ProblemRule
from dpaudit.gate.lock import LockedClaim, Sizes
from dpaudit.judging import Report
from dpaudit.verdict import Status

STRENGTH = {Status.REFUTED: 0, Status.SILENT: 1, Status.HOLDS: 2, Status.PROVED: 3}
CONCLUDED = (Status.PROVED, Status.HOLDS)
ENCLOSURE_SLACK = Fraction(1, 10**9)


def problems(entry: LockedClaim, report: Report, sources: Mapping[str, str]) -> list[Problem]:
    """Return everything that the gate has against a claim, the gravest first."""
    found = _refuted(entry, report) or weakened(entry, report)
    changed = changed_sources(entry.sources, sources)
    if changed:
        message = f"source changed since it was locked: {', '.join(changed)}."
        if not found:
            message += f" Still {report.verdict}: accept it with `dpaudit lock --update`."
        found.append(Problem(ProblemRule.SOURCE, message))
    return found


def _refuted(entry: LockedClaim, report: Report) -> list[Problem]:
    if report.verdict is not Status.REFUTED or entry.verdict is Status.REFUTED:
        return []
    guilty = next(f for f in report.findings if f.status is Status.REFUTED)
    message = f"{report.claim.judged} is refuted (locked: {entry.verdict})"
    if guilty.witness is not None:
        message += f": loss at least {at_least(guilty.witness.loss.lower)}"
    elif guilty.error is not None:
        message += f" by sampling at error {guilty.error:g}"
    return [Problem(ProblemRule.REFUTED, message + ".")]


def weakened(entry: LockedClaim, report: Report) -> list[Problem]:
    """Return what a fresh judgement says less of than the locked one."""
    found: list[Problem] = []
    claim = report.claim
    locked = Notion(Kind.PURE, float(entry.epsilon)) if entry.notion is None else None
    locked = locked or read_notion(entry.notion or {})
    if claim.judged.weaker_than(locked):
        plain = claim.notion is None and entry.notion is None
        was = entry.epsilon if plain else str(locked)
        said = f"epsilon = {claim.epsilon!r}" if plain else str(claim.judged)
        kinds = claim.judged.kind, locked.kind
        if kinds[0] is not kinds[1] and kinds[0].level == kinds[1].level:  # of one name
            said, was = f"{said} ({kinds[0].described})", f"{was} ({kinds[1].described})"
        found.append(Problem(ProblemRule.CLAIM, f"claims {said}, locked was {was}."))
    if entry.anytime and not claim.anytime:
        found.append(Problem(ProblemRule.CLAIM, "is no longer anytime: it must know its horizon."))
    if claim.horizon < entry.options.horizon:
        message = f"is judged for {claim.horizon:,} rounds, locked were {entry.options.horizon:,}."
        found.append(Problem(ProblemRule.CLAIM, message))
    if STRENGTH[report.verdict] < STRENGTH[entry.verdict]:
        message = f"{entry.verdict} became {report.verdict}"
        if report.verdict is Status.SILENT:
            message += f": {_why(report)}"
        found.append(Problem(ProblemRule.VERDICT, message.rstrip(".") + "."))
    elif report.verdict in CONCLUDED and report.covered < min(entry.covered, claim.horizon):
        message = f"{report.verdict} up to {report.covered:,} rounds, locked were {entry.covered:,}"
        if report.verdict is Status.PROVED:
            message += "; `gate --budget SECONDS` gives it more time"
        found.append(Problem(ProblemRule.VERDICT, message + "."))
    inside = report.bracket
    if report.verdict is not Status.REFUTED and _grew(float(entry.upper), report):
        name = inside.measure
        message = f"{name} <= {entry.upper} became {name} <= {at_most(inside.upper)}."
        found.append(Problem(ProblemRule.UPPER, message))
    for before in entry.findings:
        errors = [f.error for f in report.findings if f.check == before.check and f.error]
        if before.error is not None and max(errors, default=0.0) > float(before.error):
            message = f"{before.check} errs with {max(errors):g}, locked was {before.error}."
            found.append(Problem(ProblemRule.VERDICT, message))
    lower = max((f.epsilon_lower for f in report.findings), default=0.0)
    if claim.notion is not None:
        lower = inside.lower
    if lower > claim.judged.bound and entry.verdict is not Status.REFUTED:
        name, bound = claim.judged.measure, claim.judged.bound
        message = f"{name} >= {at_least(lower)} is above the claim, {bound!r}."
        found.append(Problem(ProblemRule.LOWER, message))
    return found


def lowered(locked: Sizes, new: Sizes) -> list[str]:
    """Return in which options a judgement looks less closely; `weakened` says it of the horizon.

    Another seed counts: one that finds nothing can be searched for.
    """
    dropped = [name for name in locked.methods if name not in new.methods]
    found = [f"the {name} check is dropped" for name in dropped]
    amounts = [
        ("rounds of exact", locked.exact_horizon or 0, new.exact_horizon or 0),
        ("runs", locked.runs or 0, new.runs or 0),
        ("seconds a claim", float(locked.budget), float(new.budget)),
    ]
    found += [f"{now:,} {what}, locked were {was:,}" for what, was, now in amounts if now < was]
    if "sample" in locked.methods and locked.seed != new.seed:
        found.append(f"seed {new.seed}, locked was {locked.seed}")
    return found


def _why(report: Report) -> str:
    """Return the reason of the check that could have proved it."""
    silent = [f for f in report.findings if f.status is Status.SILENT]
    return silent[0].reason if silent else "no check was run"


def _grew(locked: float, report: Report) -> bool:
    upper = report.bracket.upper
    if locked == math.inf or upper == locked:
        return False
    if upper == math.inf:
        return True
    by_structure = any(
        f.check in ("structure", "code")
        and (f.bracket.upper if f.bracket else f.epsilon_upper) == upper
        for f in report.findings
    )
    slack = Fraction(0) if by_structure else ENCLOSURE_SLACK
    return exact(upper) > exact(locked) * (1 + slack)


def changed_sources(locked: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the files that differ, are new, or are gone."""
    return sorted(
        f"{name}{' (new)' * (name not in locked)}{' (gone)' * (name not in now)}"
        for name in {*locked, *now}
        if locked.get(name) != now.get(name)
    )

"""A judgement as data: what is known of a claim once the code that it speaks of is gone.

Foreign code is judged in a process of its own, which answers with everything that a gate or a test
asks of the living object: its claim, sizes, digests, the nearest known flaw, where it begins. What
a caller hands over as an object is judged in the caller's process, with the modules loaded there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.gate import message
from dpaudit.judging import Report
from dpaudit.output import plain
from dpaudit.process import Call, call
from dpaudit.sources import Sources, covering, sources_of
from dpaudit.subject.kinds import SEARCH_SECONDS, Foreign, Judged, Options, Subject, searched
from dpaudit.subject.naming import subject_of
from dpaudit.subject.places import Place, at_line, place_of
from dpaudit.target import foreign

GRACE = 3.0  # seconds beyond the budget until the process is stopped


@dataclass(frozen=True)
class Judgement:
    """A report on a claim, and what else is to be known of the code behind it."""

    claim: str
    text: str
    declared: bool
    options: Options
    report: Report
    replay: dict[str, Any] | None
    flaw: str | None
    place: Place | None
    sources: Sources

    def explained(self, folder: Path) -> tuple[str, str | None]:
        """Return the counterexample for people and the line that replays it, saved in a folder."""
        found = message.refutation_of(self.report)
        if found is None:
            return "", None
        judged = Judged(self.report, self.replay)
        saved = message.save(judged, self.claim, folder)
        replay = message.replay_line(judged, self.options, saved)
        return message.details(found, self.flaw, replay), replay


def judge(thing: Any, asked: Options, enough: Collection[str], root: Path) -> Judgement:
    """Judge a target by name, or an object; search on for a counterexample unless it is `enough`.

    `enough` are the verdicts that end it.
    """
    if isinstance(thing, str) and foreign(thing):
        return apart(thing, asked, enough, root)
    return here(subject_of(thing, root), asked, enough, root)


def apart(
    target: str,
    asked: Options,
    enough: Collection[str],
    root: Path,
    declared: bool | None = None,
) -> Judgement:
    """Judge in a process of its own; `declared` is the kind of target that it has to be."""
    import msgspec

    arguments = {"target": target, "asked": plain(asked), "enough": list(enough)}
    arguments |= {"root": str(root), "declared": declared}
    data = call(Call(target, f"{__name__}:inside", arguments))
    return msgspec.convert(data, Judgement, strict=False)


def inside(
    tell: Callable[[str, Any], None],
    target: str,
    asked: dict[str, Any],
    enough: list[str],
    root: str,
    declared: bool | None,
) -> Judgement:
    """Judge in the process of the target; every file that is loaded in the end has its digest."""
    import msgspec

    from dpaudit.inside import imported_files

    options = msgspec.convert(asked, Options)
    tell("limit", options.budget + SEARCH_SECONDS + GRACE)
    subject = subject_of(target, Path(root))
    if declared is not None:
        require_kind(subject, target, declared)
    found = here(subject, options, enough, Path(root))
    return replace(found, sources=covering(found.sources, imported_files(), Path(root)))


def require_kind(subject: Subject, target: str, declared: bool) -> None:
    """Raise if what a locked claim is about has become another kind of thing."""
    if declared and isinstance(subject, Foreign):
        rule = "was declared as an Algorithm when it was locked, and is a black box now."
        raise InvalidArgument("TARGET", target, rule)
    if not declared and not isinstance(subject, Foreign):
        rule = "was a black box when it was locked, and is declared as an Algorithm now."
        raise InvalidArgument("TARGET", target, rule)


def here(subject: Subject, asked: Options, enough: Collection[str], root: Path) -> Judgement:
    """Judge in this process."""
    options = subject.sizes(asked)
    judged = subject.judge(options)
    if str(judged.report.verdict) not in enough:
        judged = searched(subject, options, judged)
    return Judgement(
        claim=subject.claim(asked),
        text=subject.text,
        declared=not isinstance(subject, Foreign),
        options=options,
        report=judged.report,
        replay=judged.replay,
        flaw=message.flaw_of(subject, options, judged.report),
        place=at_line(place_of(subject.text, subject.source), judged.line),
        sources=sources_of(subject.text, subject.source, root),
    )

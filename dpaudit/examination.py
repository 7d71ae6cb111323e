"""The examination of a target: the one way from what a user names to findings and a report.

`check`, `lock`, `gate`, the pages, `dpaudit.check` and `assert_global_dp` all come through here.
dpaudit's own algorithms, and objects that a caller hands over, are examined in this process.
Foreign code is examined in a process of its own, which sends the same events as data; if it dies,
what it had sent is the report, and the check that it died in is silent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit import judging as engine
from dpaudit import message
from dpaudit.deadline import PATIENT
from dpaudit.errors import InvalidArgument
from dpaudit.judging import NOBODY, Listener, PrivacyClaim, Report
from dpaudit.options import METHODS, Options
from dpaudit.output import plain
from dpaudit.process import Call, Died, call
from dpaudit.sources import Sources, covering, source_file, sources_of
from dpaudit.subject.kinds import (
    SEARCH_SECONDS,
    Foreign,
    Subject,
    claim_id,
    searched,
)
from dpaudit.subject.naming import subject_of
from dpaudit.subject.places import at_line, place_of
from dpaudit.symbolic.run import CodeLine
from dpaudit.symbolic.subject import readable
from dpaudit.target import OFFERED, NotDeclared, foreign, resolve
from dpaudit.verdict import Finding, Status

if TYPE_CHECKING:
    from dpaudit.details.compute import DrawnLosses

GRACE = 3.0  # seconds beyond the budget until a process that does not answer is stopped
NO_SOURCES = Sources({}, {})
LONGEST = 30.0  # the longest usual budget


@dataclass(frozen=True)
class Asked:
    """What to examine and how far; `command` asks for the details that a page shows.

    With `fixed`, sizes do not hang on the machine's speed, a larger one is searched unless the
    verdict is `enough`, and nothing counts but a whole answer: what a lock or a test is made of.
    """

    target: str
    options: Options = field(default_factory=Options)
    fixed: bool = False
    enough: tuple[str, ...] = ()
    root: str = ""
    declared: bool | None = None
    """The kind of target that it has to be, as it was locked."""
    command: str = ""
    certified: bool = False

    def limit(self) -> float:
        """Return the seconds after which a process that says nothing is stopped."""
        usual = self.options.spend() + SEARCH_SECONDS if self.fixed else self.options.spend(LONGEST)
        return usual * (PATIENT if readable(self.target) else 1) + GRACE


@dataclass(frozen=True)
class Examined:
    """A report, and what else is to be known of the code behind it once that is gone."""

    claim: str
    text: str
    declared: bool
    options: Options
    report: Report
    flaw: str | None = None
    place: CodeLine | None = None
    sources: Sources = NO_SOURCES
    certificate: dict[str, Any] | None = None
    crashed: bool = False

    @property
    def exit_code(self) -> int:
        """The report's own; 2 after a crash, unless it is refuted all the same."""
        if self.crashed and self.report.verdict is not Status.REFUTED:
            return engine.FAILED
        return self.report.exit_code

    def explained(self, folder: Path) -> tuple[str, str | None]:
        """Return the counterexample for people and the line that replays it, saved in a folder."""
        found = message.refutation_of(self.report)
        if found is None:
            return "", None
        saved = message.save(self.report, self.claim, folder)
        replay = message.replay_line(self.report, self.options, saved)
        return message.details(found, self.flaw, replay), replay


def examine(thing: Any, asked: Asked, to: Listener = NOBODY) -> Examined:
    """Examine a target by name, or an object, where it belongs."""
    if isinstance(thing, str) and foreign(thing):
        return apart(asked, to)
    return _here(thing, asked, to)


def _here(thing: Any, asked: Asked, to: Listener) -> Examined:
    root = Path(asked.root) if asked.root else Path.cwd()
    with chdir("."):  # what is looked at may go elsewhere, and is looked for again
        subject = subject_of(thing, root)
    if isinstance(subject, Foreign) and isinstance(thing, str) and not asked.fixed:
        _require_readable(subject, thing)
    if asked.declared is not None:
        _require_kind(subject, asked.target, asked.declared)
    options = subject.sizes(asked.options) if asked.fixed else subject.reach(asked.options)
    judged = subject.judge(options, to, asked.certified)
    report = judged.report
    if asked.fixed:
        if report.failure and report.verdict is Status.SILENT:
            rule = f"cannot be judged: {report.failure}"
            raise InvalidArgument("TARGET", subject.text, rule)
        if report.interrupted:
            raise KeyboardInterrupt
        if str(report.verdict) not in asked.enough:
            report = searched(subject, options, report)
    drawn = None
    if asked.command and not isinstance(subject, Foreign):
        from dpaudit.details.compute import undecided

        report, drawn = undecided(report, options.spend(engine.BUDGET), options.seed, to)
    to.concluded(report)
    flaw = message.flaw_of(subject, options, report)
    if asked.command and not report.interrupted:
        report = _detailed(report, asked, options, subject, drawn)
    return Examined(
        claim=subject.claim(asked.options),
        text=subject.text,
        declared=not isinstance(subject, Foreign),
        options=options,
        report=report,
        flaw=flaw,
        place=at_line(place_of(subject.text, subject.source), judged.line),
        sources=sources_of(subject.text, subject.source, root) if asked.fixed else NO_SOURCES,
        certificate=judged.certificate,
    )


def _require_readable(subject: Foreign, target: str) -> None:
    """Raise what is wrong with a target that is no algorithm and no code in a file of one's own."""
    if not readable(subject.text):
        with suppress(NotDeclared):
            resolve(target).build(engine.HORIZON, {}, OFFERED)
        rule = f"is installed code, which is for `audit`, as {subject.text}."
        if source_file(subject.source) is None:
            kind = type(subject.source).__name__
            rule = f"is a {kind}, neither an Algorithm nor code in a file of Python."
        raise InvalidArgument("TARGET", target, rule)


def _require_kind(subject: Subject, target: str, declared: bool) -> None:
    """Raise if what a locked claim is about has become another kind of thing."""
    if declared and isinstance(subject, Foreign):
        rule = "was declared as an Algorithm when it was locked, and is a black box now."
        raise InvalidArgument("TARGET", target, rule)
    if not declared and not isinstance(subject, Foreign):
        rule = "was a black box when it was locked, and is declared as an Algorithm now."
        raise InvalidArgument("TARGET", target, rule)


def _detailed(
    report: Report, asked: Asked, options: Options, subject: Subject, drawn: DrawnLosses | None
) -> Report:
    """Return the report with what a page shows beside the verdict."""
    from dpaudit.details.compute import CODE, OTHER, details, identified, ladder, settled, without

    spend = options.spend(engine.BUDGET)
    try:
        if isinstance(subject, Foreign) or report.claim.notion is not None:
            why = CODE if isinstance(subject, Foreign) else OTHER
            parts = without(report.claim, asked.command, why)
        else:
            if drawn is None:
                drawn = ladder(report.claim, spend, options.seed)
                report, _ = settled(report, drawn)  # a proof is contradicted, not drawn over
            parts = details(drawn, report.findings, spend, options.seed, asked.command)
    except KeyboardInterrupt:
        return replace(report, interrupted=True)
    parts = identified(parts, subject.text, subject.source, options.seed)
    return replace(report, details=parts)


@dataclass
class _Heard:
    """What a process has said so far."""

    claim: PrivacyClaim | None = None
    findings: list[Finding] = field(default_factory=list)
    kept: Report | None = None
    concluded: bool = False

    def left(self, why: str) -> Report | None:
        """Return the report of what was heard, or None before there was a claim."""
        if self.claim is None:
            return None
        found = tuple(self.findings)
        if self.kept is not None and len(self.kept.findings) == len(found):
            return replace(self.kept, failure=why)
        return Report(Status.SILENT, self.claim, found, failure=why)


def apart(asked: Asked, to: Listener = NOBODY) -> Examined:
    """Examine in a process of its own."""
    import msgspec

    so_far = _Heard()

    def hear(kind: str, data: Any) -> None:
        if kind == "claim":
            so_far.claim = msgspec.convert(data, PrivacyClaim, strict=False)
            to.begun(so_far.claim)
        elif kind == "finding":
            so_far.findings.append(msgspec.convert(data, Finding, strict=False))
            to.heard(so_far.findings[-1])
        elif kind == "far":
            to.far(data)
        elif kind == "kept":
            so_far.kept = msgspec.convert(data, Report, strict=False)
        elif kind == "concluded":
            so_far.kept, so_far.concluded = msgspec.convert(data, Report, strict=False), True
            to.concluded(so_far.kept)

    def examined(report: Report, crashed: bool = False) -> Examined:
        claim = claim_id(asked.target, asked.options.given, asked.options.epsilon)
        known = not report.code
        return Examined(claim, asked.target, known, asked.options, report, crashed=crashed)

    imports = [engine.ENGINES[it] for it in asked.options.methods if it in engine.ENGINES]
    arguments = {"target": asked.target, "asked": plain(asked)}
    work = Call(asked.target, f"{__name__}:inside", arguments, imports)
    try:
        return msgspec.convert(call(work, hear), Examined, strict=False)
    except Died as death:
        report = so_far.left(str(death))
        if report is None or asked.fixed:
            raise
        if so_far.concluded:
            return examined(report, not death.late)
        done = {finding.check for finding in report.findings}
        wanted = asked.options.methods
        name = next((it for it in METHODS if it in wanted and it not in done), "")
        if name:
            last = Finding(name, Status.SILENT, f"It failed: {death}", arms=report.claim.arms)
            to.heard(last)
            report = replace(report, findings=(*report.findings, last))
        to.concluded(report)
        return examined(report, not death.late)
    except KeyboardInterrupt:
        report = so_far.left("")
        if report is None or so_far.concluded or asked.fixed:
            raise
        report = replace(report, interrupted=True)
        to.concluded(report)
        return examined(report)


def inside(tell: Callable[[str, Any], None], target: str, asked: dict[str, Any]) -> Any:
    """Examine in the process of the target; every event is told as data."""
    import msgspec

    from dpaudit.inside import cancelled, imported_files

    work = msgspec.convert(asked, Asked, strict=False)
    tell("limit", work.limit())

    def concluded(report: Report) -> None:
        tell("concluded", own(report))
        tell("limit", work.limit())

    def own(report: Report) -> Report:
        """Tell Ctrl-C from code that raises what Ctrl-C raises."""
        if report.interrupted and not cancelled():
            why = f"TARGET={target} raised KeyboardInterrupt; nothing more is concluded."
            return replace(report, interrupted=False, failure=why)
        return report

    to = Listener(
        lambda claim: tell("claim", claim),
        lambda finding: tell("finding", finding),
        lambda report: tell("kept", report),
        concluded,
        lambda text: tell("far", text),
    )
    found = _here(target, work, to)
    if work.fixed:
        root = Path(work.root) if work.root else Path.cwd()
        found = replace(found, sources=covering(found.sources, imported_files(), root))
    return replace(found, report=own(found.report))

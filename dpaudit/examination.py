"""The examination of one target by `check`: findings as they come, then the report.

dpaudit's own algorithms are examined here. Foreign code is examined in a process of its own, which
sends the same events as data; if it dies, what it had sent is the report, and the check that it
died in is silent.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit import judging as engine
from dpaudit.errors import require_positive
from dpaudit.judging import Claim, Report
from dpaudit.output import plain
from dpaudit.process import Call, Died, call
from dpaudit.subject.places import Place, place_of
from dpaudit.target import Target, foreign, resolve
from dpaudit.verdict import Finding, Status

if TYPE_CHECKING:
    from dpaudit.structure import Bound
    from dpaudit.subject.kinds import Foreign

CODE_SECONDS = 30.0  # the longest usual budget
GRACE = 3.0  # seconds beyond the budget until a process that does not answer is stopped


@dataclass(frozen=True)
class Asked:
    """What to examine and how far; `command` asks for the details that a page shows."""

    target: str
    given: dict[str, Any]
    methods: tuple[str, ...] = engine.METHODS
    epsilon: float | None = None
    horizon: int | None = None
    exact_horizon: int | None = None
    budget: float | None = None
    seed: int = 0
    command: str = ""
    certified: bool = False

    def __post_init__(self) -> None:
        if self.budget is not None:
            require_positive("budget", self.budget)

    def spend(self, usual: float = engine.BUDGET) -> float:
        """Return the seconds that may be spent; `usual` unless they were given."""
        return usual if self.budget is None else self.budget


@dataclass(frozen=True)
class Examined:
    """A report, the nearest known flaw if it is refuted, and where the code begins."""

    report: Report
    flaw: str | None = None
    place: Place | None = None
    crashed: bool = False
    certificate: dict[str, Any] | None = None

    @property
    def exit_code(self) -> int:
        """The report's own; 2 after a crash, unless it is refuted all the same."""
        if self.crashed and self.report.verdict is not Status.REFUTED:
            return engine.FAILED
        return self.report.exit_code


@dataclass(frozen=True)
class Listener:
    """Who is told the claim, every finding, and the report before its details."""

    begun: Callable[[Claim], Any] = lambda claim: None
    heard: Callable[[Finding], Any] = lambda finding: None
    concluded: Callable[[Report], Any] = lambda report: None


def examine(asked: Asked, listener: Listener) -> Examined:
    """Examine a target where it belongs: foreign code in a process of its own."""
    return _outside(asked, listener) if foreign(asked.target) else _here(asked, listener)


def _here(
    asked: Asked, listener: Listener, kept: Callable[[Report], Any] | None = None
) -> Examined:
    from dpaudit.subject.kinds import Foreign, nearest_flaw
    from dpaudit.subject.naming import subject_of
    from dpaudit.symbolic.subject import readable

    with chdir("."):  # what is looked at may go elsewhere, and is looked for again
        subject = subject_of(asked.target)
    if isinstance(subject, Foreign) and readable(subject.text):
        return _code(subject, asked, listener)
    target = resolve(asked.target)
    bounds: list[Bound] = []
    report = engine.check(
        target,
        asked.given,
        epsilon=asked.epsilon,
        horizon=engine.HORIZON if asked.horizon is None else asked.horizon,
        exact_horizon=asked.exact_horizon,
        methods=asked.methods,
        budget=asked.spend(),
        seed=asked.seed,
        begun=listener.begun,
        heard=listener.heard,
        kept=kept,
        proved=bounds.append,
    )
    listener.concluded(report)
    flaw = None
    if report.verdict is Status.REFUTED:
        given = asked.given
        if asked.epsilon is not None and "epsilon" in target.accepts:
            given = {**given, "epsilon": asked.epsilon}
        algorithm = target.build(report.claim.horizon, given, engine.OFFERED)
        flaw = nearest_flaw(algorithm, report.claim.epsilon)
    if asked.command and not report.interrupted:
        report = detailed(report, asked)
    found = None
    if asked.certified and bounds:
        found = certificate(target, report.claim, bounds[-1])
    return Examined(report, flaw, place_of(target.text, target.source), certificate=found)


def certificate(target: Target, claim: Claim, bound: Bound) -> dict[str, Any] | None:
    """Return what structure has proved of a declaration, for `dpaudit.verify`."""
    import hashlib

    from dpaudit.core.arithmetic import exact
    from dpaudit.sources import digests
    from dpaudit.verify import SCHEMA

    evidence = bound.evidence()
    if evidence is None:
        return None
    texts = sorted(digests(target.text, target.source, Path.cwd()).items())
    return {
        "dpaudit": "certificate",
        "schema": SCHEMA,
        "target": target.text,
        "parameters": {name: repr(value) for name, value in claim.parameters.items()},
        "arms": claim.arms,
        "epsilon": str(exact(claim.epsilon)),
        "sha256": hashlib.sha256(repr(texts).encode()).hexdigest(),
        "charge": str(bound.charge),
        **evidence,
    }


def _code(subject: Foreign, asked: Asked, listener: Listener) -> Examined:
    """Examine a policy's own code."""
    from dpaudit import code
    from dpaudit.subject.kinds import Options
    from dpaudit.subject.places import at_line

    options = Options(
        asked.epsilon,
        asked.given,
        asked.horizon,
        methods=asked.methods,
        seed=asked.seed,
        budget=asked.spend(code.BUDGET),
    )
    wanted = subject.asked(subject.sizes(options))
    wanted = replace(wanted, runs=None, certified=asked.certified)
    found = code.judge(wanted, subject.source, listener.begun, listener.heard)
    listener.concluded(found.report)
    place = place_of(subject.text, subject.source)
    return Examined(found.report, place=at_line(place, found.line), certificate=found.certificate)


def detailed(report: Report, asked: Asked) -> Report:
    """Return the report with what a page shows beside the verdict."""
    from dpaudit.details.compute import details

    try:
        parts = details(report.claim, report.findings, asked.spend(), asked.seed, asked.command)
    except KeyboardInterrupt:
        return replace(report, interrupted=True)
    return replace(report, details=parts)


@dataclass
class _Heard:
    """What a process has said so far."""

    claim: Claim | None = None
    findings: list[Finding] = field(default_factory=list)
    kept: Report | None = None
    concluded: bool = False

    def left(self, why: str) -> Report | None:
        """Return the report of a process that is gone; None if it had not begun."""
        if self.claim is None:
            return None
        found = tuple(self.findings)
        if self.kept is not None and len(self.kept.findings) == len(found):
            return replace(self.kept, failure=why)
        return Report(Status.SILENT, self.claim, found, failure=why)


def _outside(asked: Asked, listener: Listener) -> Examined:
    import msgspec

    so_far = _Heard()

    def hear(kind: str, data: Any) -> None:
        if kind == "claim":
            so_far.claim = msgspec.convert(data, Claim, strict=False)
            listener.begun(so_far.claim)
        elif kind == "finding":
            so_far.findings.append(msgspec.convert(data, Finding, strict=False))
            listener.heard(so_far.findings[-1])
        elif kind == "kept":
            so_far.kept = msgspec.convert(data, Report, strict=False)
        elif kind == "concluded":
            so_far.kept, so_far.concluded = msgspec.convert(data, Report, strict=False), True
            listener.concluded(so_far.kept)

    arguments = {"target": asked.target, "asked": plain(asked)}
    imports = [engine.ENGINES[name] for name in asked.methods if name in engine.ENGINES]
    work = Call(asked.target, f"{__name__}:inside", arguments, imports)
    try:
        return msgspec.convert(call(work, hear), Examined, strict=False)
    except Died as death:
        report = so_far.left(str(death))
        if report is None:
            raise
        if so_far.concluded:
            return Examined(report, crashed=not death.late)
        done = {finding.check for finding in report.findings}
        name = next((it for it in engine.METHODS if it in asked.methods and it not in done), "")
        if name:
            last = Finding(name, Status.SILENT, f"It failed: {death}", arms=report.claim.arms)
            listener.heard(last)
            report = replace(report, findings=(*report.findings, last))
        listener.concluded(report)
        return Examined(report, crashed=not death.late)
    except KeyboardInterrupt:
        report = so_far.left("")
        if report is None or so_far.concluded:
            raise
        report = replace(report, interrupted=True)
        listener.concluded(report)
        return Examined(report)


def inside(tell: Callable[[str, Any], None], target: str, asked: dict[str, Any]) -> Any:
    """Examine in the process of the target; every event is told as data."""
    import msgspec

    from dpaudit.inside import cancelled

    work = msgspec.convert(asked, Asked, strict=False)
    tell("limit", work.spend(CODE_SECONDS) + GRACE)

    def concluded(report: Report) -> None:
        tell("concluded", own(report))
        tell("limit", work.spend(CODE_SECONDS) + GRACE)

    def own(report: Report) -> Report:
        """Tell Ctrl-C from code that raises what Ctrl-C raises."""
        if report.interrupted and not cancelled():
            why = f"TARGET={target} raised KeyboardInterrupt; nothing more is concluded."
            return replace(report, interrupted=False, failure=why)
        return report

    found = _here(
        work,
        Listener(
            lambda claim: tell("claim", claim),
            lambda finding: tell("finding", finding),
            concluded,
        ),
        lambda report: tell("kept", report),
    )
    return replace(found, report=own(found.report))

"""The check of a code target: prove the user's own file, then hunt with real runs where it fails.

`code` proves or says where it stops. Where a charge is too large and every decision is affine, the
declaration that the code is goes to `exact`, which may refute with likelihoods. What the failed
proof points at becomes pairs of streams, and `sample` judges them on runs of the real code under
its own error. A proof that covers the claim ends the check, and so does a refutation.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.checks import Checks
from dpaudit.deadline import Expired, Work
from dpaudit.errors import DpauditError, require_integer
from dpaudit.judging import EPSILON, NOBODY, Listener, PrivacyClaim, Report
from dpaudit.options import Options
from dpaudit.target import MUTANTS
from dpaudit.verdict import Finding, Status, combine

if TYPE_CHECKING:
    from dpaudit.sample.report import AuditConclusion as Audited
    from dpaudit.symbolic.prove import Proved
    from dpaudit.symbolic.subject import CodeTarget

METHODS = ("code", "exact", "sample")
ARMS, HORIZON = 2, 1000
BUDGET = 30.0
ENDING = 1.5  # seconds before the end at which the audit stops, to say what it found
SHARE = 0.75  # of the budget, for the proof
ERROR = 1e-6  # a check that is run every day must not cry wolf once a year
RUNS = 12_000
LONGEST = 100  # rounds of runs that nothing was aimed at
EXACT_SHARE, EXACT_MOST = 0.3, 8.0  # of what is left, and seconds, for likelihoods
SOON = 24  # rounds beyond which enumerating every path rarely reaches
NEIGHBOURS = "one reward of the stream"


@dataclass(frozen=True)
class JudgedTarget:
    """The report, the line of the file that a failed proof names, and a certificate if asked."""

    report: Report
    line: int | None = None
    certificate: dict[str, Any] | None = None


def judge(
    text: str,
    source: Any,
    options: Options,
    to: Listener = NOBODY,
    certified: bool = False,
) -> JudgedTarget:
    """Judge a claim about code; a listener is told the claim and every finding."""
    from dpaudit.sample.boxes import accepted
    from dpaudit.symbolic.subject import CodeTarget

    arms = int(options.given["arms"])
    require_integer("arms", arms, 2)
    horizon = HORIZON if options.horizon is None else options.horizon
    epsilon = EPSILON if options.epsilon is None else options.epsilon
    names = accepted(source)
    claim = PrivacyClaim(
        text,
        text.rpartition(":")[2].removeprefix(MUTANTS),
        {"arms": arms},
        epsilon,
        arms,
        horizon,
        anytime=names is not None and "horizon" not in names.values(),
        neighbours=NEIGHBOURS,
        own=False,
    )
    to.begun(claim)
    case = _Case(
        text,
        arms,
        to.heard,
        options=options,
        read=CodeTarget(text, arms, horizon, epsilon),
        source=source,
        end=time.monotonic() + options.spend(BUDGET),
        certified=certified,
        far=to.far,
    )
    for name in case.chosen:
        case.run(name)
        if case.interrupted or case.covered:
            break
    found = tuple(case.findings)
    status, covered = combine(found, horizon)
    report = Report(
        status,
        claim,
        found,
        case.interrupted,
        covered=covered,
        failure=case.failure,
        replay=case.replay,
        code=True,
    )
    kept = case.proved.certificate if case.proved is not None else None
    return JudgedTarget(report, case.line, kept() if kept is not None else None)


@dataclass(kw_only=True)
class _Case(Checks):
    options: Options
    read: CodeTarget
    source: Any
    end: float
    certified: bool = False
    """Whether to keep what is proved as a certificate."""
    far: Callable[[str], Any] = NOBODY.far
    """Who is told which check is under way, and how far it is."""
    proved: Proved | None = None
    replay: dict[str, Any] | None = None
    line: int | None = None
    slowness: float = 1.0
    """Seconds on the wall per second of work, as the proof has met them: the machine is busy."""

    @property
    def chosen(self) -> list[str]:
        """The checks that were asked for, in their order."""
        return [name for name in METHODS if name in self.options.methods]

    @property
    def covered(self) -> bool:
        """Whether what is proved is all that is claimed, or it is refuted."""
        return any(
            f.status is Status.REFUTED
            or (f.status is Status.PROVED and f.horizon >= self.read.horizon)
            for f in self.findings
        )

    def run(self, name: str) -> None:
        """Run one check; whatever happens in it is a finding."""
        start, self.work = time.monotonic(), Work()
        self.far(name)
        left = max(self.end - start, 0.1)
        if name == "exact" and self.proved is not None and self.proved.lead is None:
            return  # nothing points at a violation
        last = name == self.chosen[-1]
        share = left if last else left * SHARE
        if name == "exact" and not last:
            share = min(left * EXACT_SHARE, EXACT_MOST * self.slowness)
        if name == "code":  # its time is work, so that a busy machine does not change verdicts
            self.take(name, self.code, share, left, self.work)
        else:
            self.take(name, getattr(self, name), share, start + share)

    def reason(self, name: str, error: BaseException) -> str:
        """Return why a check is silent; what `code` cannot read is a failure too."""
        from dpaudit.sample.guard import PolicyError

        if isinstance(error, Expired) and (where := self._inside(error)):
            return f"The budget ended before it had an answer (at {where})."
        if not isinstance(error, DpauditError):
            return super().reason(name, error)
        if name == "code" or type(error) is PolicyError:  # what is only slow has not failed
            self.failure = self.failure or str(error)
        return str(error)

    def _inside(self, error: BaseException) -> str:
        """Return the line of the target's own file that an exception came from, if it did."""
        frames = traceback.extract_tb(error.__traceback__)
        own = str(self.read.path) if self.read.readable else ""
        lines = [it.lineno for it in frames if it.filename == own]
        return f"{Path(own).name}:{lines[-1]}" if lines else ""

    def code(self, budget: float) -> list[Finding]:
        """Prove, or say where it stops."""
        from dpaudit.symbolic.certificate import MoveRecorder
        from dpaudit.symbolic.prove import prove

        far = lambda at: self.far(f"code, round {at:,} of {self.read.horizon:,}")  # noqa: E731
        self.proved = prove(self.read, budget, MoveRecorder() if self.certified else None, far)
        self.line = self.proved.line
        wall, work = self.work.elapsed, self.work()
        self.slowness, now = wall / work, time.monotonic()
        self.end = now + max(self.end - now + wall - work, 0.0) * self.slowness
        return [self.proved.finding]

    def exact(self, budget: float) -> list[Finding]:
        """Compute likelihoods of the declaration that the code is, as far as it can be read off."""
        from dpaudit.affine import judged

        lead = None if self.proved is None else self.proved.lead
        late = lead is not None and len(lead.path) > SOON
        try:
            found = judged(self.read, self.source, budget, late)
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None  # what it brings speaks of the declaration
        if self.proved is None or found.status is not Status.HOLDS:
            return [found]
        # a charge is too large: that a few rounds are private is no verdict on the claim
        reason = f"No violation within {found.horizon:,} rounds. {found.reason}"
        return [replace(found, status=Status.SILENT, reason=reason, epsilon_upper=float("inf"))]

    def sample(self, budget: float) -> list[Finding]:
        """Audit real runs on the pairs that a failed proof points at, and on the usual ones."""
        from dpaudit.output import plain

        start = time.monotonic()
        end = start + max(budget - ENDING, 0.1)
        found = audited(self.read, self.source, self.options, self.proved, end)
        if found.witness is not None:
            self.replay = plain(found)
        # the first rounds of a run are a part of it, whatever horizon it was built for
        said = found.finding(found.horizon, time.monotonic() - start)
        aimed_at = self.proved is not None and self.proved.lead is not None
        if said.status is Status.SILENT and aimed_at and time.monotonic() < end:
            more = f"{10 * found.runs_planned:.0e}".replace("e+0", "e")
            said = replace(said, reason=f"{said.reason} All were made: --runs {more} looks longer.")
        return [said]


def audited(
    target: CodeTarget, source: Any, options: Options, proved: Proved | None, end: float
) -> Audited:
    """Return the audit of real runs."""
    from dpaudit.sample.audit import audit
    from dpaudit.sample.plan import AuditPlan
    from dpaudit.sample.streams import candidates
    from dpaudit.symbolic.leads import aimed, rounds_of

    leads: list[Any] = []
    if proved is not None and proved.lead is not None:
        covered = max(len(proved.lead.path) - 1, 0)
        leads = aimed(target, time.monotonic() + (end - time.monotonic()) / 4, covered)
    # what is decided after a reward shows in the next action
    stops = dict.fromkeys(it for lead in leads for it in (lead.stop, lead.stop + 1))
    rounds = target.horizon
    if not _whole(target, source):
        rounds = min(target.horizon, rounds_of(leads) if leads else LONGEST)
    rounds = max(rounds, 2)
    box = _box(target, source, rounds, max(end - time.monotonic(), 1.0))
    usual = candidates(target.arms, rounds, [options.seed, 2])
    pairs = list(dict.fromkeys(lead.pair(rounds) for lead in leads if lead.position < rounds))
    runs = RUNS if options.runs is None else options.runs
    tried = (*pairs, *usual[: 4 if pairs else len(usual)])[: max(1, runs // 16)]
    plan = AuditPlan(
        box,
        target.epsilon,
        ERROR,
        runs,
        options.seed,
        tried,
        prefixes=tuple(sorted(it for it in list(stops)[:4] if it <= rounds)),
        favoured=min(len(pairs), len(tried)),
    )
    return audit(plan, deadline=end)


def _box(target: CodeTarget, source: Any, rounds: int, limit: float) -> Any:
    """Return the real code as something that can be run for some rounds."""
    from dpaudit.sample.boxes import FileBuilder, PolicyBox

    if not target.readable:
        build = lambda rng: target.builder(source, rng)()  # noqa: E731
        return PolicyBox(target.text, build, target.arms, rounds, limit, source)
    named = FileBuilder(str(target.path), target.name, target.arms, target.horizon, target.epsilon)
    return PolicyBox(target.text, named, target.arms, rounds, limit)


def _whole(target: CodeTarget, source: Any) -> bool:
    """Tell whether the code plays a whole stream at once, so that its runs cannot be cut."""
    import numpy as np

    from dpaudit.sample.guard import judged, lent_randomness
    from dpaudit.symbolic.drivers import driver_of

    with lent_randomness(0), judged(target.text):
        return driver_of(target.builder(source, np.random.default_rng(0))()) is None

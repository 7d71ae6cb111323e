"""The check of a code target: prove the user's own file, then hunt with real runs where it fails.

`code` proves or says where it stops. Where a charge is too large and every decision is affine, the
declaration that the code is goes to `exact`, which may refute with likelihoods. What the failed
proof points at becomes pairs of streams, and `sample` judges them on runs of the real code under
its own error. A proof that covers the claim ends the check, and so does a refutation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpaudit.deadline import Expired, Work, deadline
from dpaudit.errors import (
    Contradiction,
    DpauditError,
    InvalidArgument,
    require_integer,
    require_positive,
)
from dpaudit.judging import EPSILON, PATIENCE, Claim, Report, place_of
from dpaudit.target import MUTANTS, said
from dpaudit.verdict import Finding, Status, combine

if TYPE_CHECKING:
    from dpaudit.sample.report import Report as Audited
    from dpaudit.symbolic.prove import Proved
    from dpaudit.symbolic.subject import Target

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
class Asked:
    """A code target, the claim on it, and how much to spend."""

    target: str
    epsilon: float | None = None
    arms: int = ARMS
    horizon: int = HORIZON
    methods: Sequence[str] = METHODS
    budget: float = BUDGET
    seed: int = 0
    runs: int | None = None
    certified: bool = False
    """Whether to keep what is proved as a certificate."""

    def __post_init__(self) -> None:
        require_integer("arms", self.arms, 2)
        require_integer("horizon", self.horizon, 1)
        require_positive("budget", self.budget)
        if self.epsilon is not None:
            require_positive("epsilon", self.epsilon)
        unknown = [name for name in self.methods if name not in METHODS]
        if unknown and len(unknown) == len(self.methods):
            rule = f"cannot judge {self.target}, which is code; {' and '.join(METHODS)} can."
            raise InvalidArgument("method", ",".join(self.methods), rule)


@dataclass(frozen=True)
class Judged:
    """The report, the line of the file that a failed proof names, and a certificate if asked."""

    report: Report
    line: int | None = None
    certificate: dict[str, Any] | None = None


def judge(
    asked: Asked,
    source: Any,
    begun: Callable[[Claim], Any] = lambda claim: None,
    heard: Callable[[Finding], Any] = lambda finding: None,
) -> Judged:
    """Judge a claim about code; `begun` and `heard` are told the claim and every finding."""
    from dpaudit.sample.boxes import accepted
    from dpaudit.symbolic.subject import Target

    epsilon = EPSILON if asked.epsilon is None else float(asked.epsilon)
    target = Target(asked.target, asked.arms, asked.horizon, epsilon)
    names = accepted(source)
    label = asked.target.rpartition(":")[2].removeprefix(MUTANTS)
    claim = Claim(
        asked.target,
        label,
        {"arms": asked.arms},
        epsilon,
        asked.arms,
        asked.horizon,
        anytime=names is not None and "horizon" not in names.values(),
        neighbours=NEIGHBOURS,
        own=False,
    )
    begun(claim)
    chosen = [name for name in METHODS if name in asked.methods]
    end = time.monotonic() + asked.budget
    case = _Case(asked, target, source, claim, end, [], heard)
    for name in chosen:
        if case.run(name) == "interrupted" or case.covered:
            break
    found = tuple(case.findings)
    status, covered = combine(found, asked.horizon)
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
    certificate = case.proved.certificate if case.proved is not None else None
    return Judged(report, case.line, certificate)


@dataclass
class _Case:
    asked: Asked
    target: Target
    source: Any
    claim: Claim
    end: float
    findings: list[Finding]
    heard: Callable[[Finding], Any]
    proved: Proved | None = None
    replay: dict[str, Any] | None = None
    line: int | None = None
    failure: str = ""
    interrupted: bool = False
    slowness: float = 1.0
    """Seconds on the wall per second of work, as the proof has met them: the machine is busy."""

    @property
    def covered(self) -> bool:
        """Whether what is proved is all that is claimed, or it is refuted."""
        return any(
            f.status is Status.REFUTED
            or (f.status is Status.PROVED and f.horizon >= self.claim.horizon)
            for f in self.findings
        )

    def run(self, name: str) -> str:
        """Run one check; whatever happens in it is a finding."""
        start, work = time.monotonic(), Work()
        left = max(self.end - start, 0.1)
        if name == "exact" and self.proved is not None and self.proved.lead is None:
            return ""  # nothing points at a violation
        last = name == [it for it in METHODS if it in self.asked.methods][-1]
        share = left if last else left * SHARE
        if name == "exact" and not last:
            share = min(left * EXACT_SHARE, EXACT_MOST * self.slowness)
        found: Finding
        try:
            if name == "code":  # its time is work, so that a busy machine does not change verdicts
                with deadline(share + PATIENCE, work):
                    found = self.code(share)
                self.slowness = work.elapsed / work()
                left = max(self.end - start - work(), 0.0)
                self.end = time.monotonic() + left * self.slowness
            else:
                with deadline(start + share + PATIENCE):
                    found = getattr(self, name)(share)
        except KeyboardInterrupt:
            self.interrupted = True
            return "interrupted"
        except Contradiction:
            raise
        except Expired:
            found = self._silent(name, "The budget ended before it had an answer.", start)
        except DpauditError as error:
            if name == "code":
                self.failure = self.failure or str(error)
            found = self._silent(name, str(error), start)
        except BaseException as error:
            why = f"{said(error)}{place_of(error)}"
            self.failure = self.failure or f"TARGET={self.asked.target} failed in {name}: {why}"
            found = self._silent(name, f"It failed: {why}", start)
        self.findings.append(found)
        self.heard(found)
        return ""

    def _silent(self, name: str, reason: str, start: float) -> Finding:
        spent = time.monotonic() - start
        return Finding(name, Status.SILENT, reason, arms=self.asked.arms, seconds=spent)

    def code(self, budget: float) -> Finding:
        """Prove, or say where it stops."""
        from dpaudit.symbolic.certificate import Recorder
        from dpaudit.symbolic.prove import prove

        self.proved = prove(self.target, budget, Recorder() if self.asked.certified else None)
        self.line = self.proved.line
        return self.proved.finding

    def exact(self, budget: float) -> Finding:
        """Compute likelihoods of the declaration that the code is, as far as it can be read off."""
        from dpaudit.affine import judged

        lead = None if self.proved is None else self.proved.lead
        late = lead is not None and len(lead.path) > SOON
        found = judged(self.target, self.source, budget, late)
        if self.proved is None or found.status is not Status.HOLDS:
            return found
        # a charge is too large: that a few rounds are private is no verdict on the claim
        reason = f"No violation within {found.horizon:,} rounds. {found.reason}"
        return replace(found, status=Status.SILENT, reason=reason, epsilon_upper=float("inf"))

    def sample(self, budget: float) -> Finding:
        """Audit real runs on the pairs that a failed proof points at, and on the usual ones."""
        from dpaudit.output import plain

        start = time.monotonic()
        end = start + max(budget - ENDING, 0.1)
        found = audited(self.target, self.source, self.asked, self.proved, end)
        if found.witness is not None:
            self.replay = plain(found)
        # the first rounds of a run are a part of it, whatever horizon it was built for
        return found.finding(found.horizon, time.monotonic() - start)


def audited(
    target: Target, source: Any, asked: Asked, proved: Proved | None, end: float
) -> Audited:
    """Return the audit of real runs."""
    from dpaudit.sample.audit import audit
    from dpaudit.sample.plan import AuditPlan
    from dpaudit.sample.streams import candidates
    from dpaudit.symbolic.leads import aimed, rounds_of

    leads: list[Any] = []
    if proved is not None and proved.lead is not None:
        leads = aimed(target, time.monotonic() + (end - time.monotonic()) / 4)
    stops = {lead.stop for lead in leads}
    rounds = target.horizon
    if not _whole(target, source):
        rounds = min(target.horizon, rounds_of(leads) if leads else LONGEST)
    rounds = max(rounds, 2)
    box = _box(target, source, rounds, max(end - time.monotonic(), 1.0))
    usual = candidates(target.arms, rounds, [asked.seed, 2])
    pairs = list(dict.fromkeys(lead.pair(rounds) for lead in leads if lead.position < rounds))
    runs = RUNS if asked.runs is None else asked.runs
    tried = (*pairs, *usual[: 4 if pairs else len(usual)])[: max(1, runs // 16)]
    plan = AuditPlan(
        box,
        target.epsilon,
        ERROR,
        runs,
        asked.seed,
        tried,
        prefixes=tuple(sorted(stops))[:4],
        favoured=min(len(pairs), len(tried)),
    )
    return audit(plan, deadline=end)


def _box(target: Target, source: Any, rounds: int, limit: float) -> Any:
    """Return the real code as something that can be run for some rounds."""
    from dpaudit.sample.boxes import FileBuilder, PolicyBox

    if not target.readable:
        build = lambda rng: target.builder(source, rng)()  # noqa: E731
        return PolicyBox(target.text, build, target.arms, rounds, limit, source)
    named = FileBuilder(str(target.path), target.name, target.arms, target.horizon, target.epsilon)
    return PolicyBox(target.text, named, target.arms, rounds, limit)


def _whole(target: Target, source: Any) -> bool:
    """Tell whether the code plays a whole stream at once, so that its runs cannot be cut."""
    import numpy as np

    from dpaudit.sample.guard import judged, lent_randomness
    from dpaudit.symbolic.drivers import driver_of

    with lent_randomness(0), judged(target.text):
        return driver_of(target.builder(source, np.random.default_rng(0))()) is None

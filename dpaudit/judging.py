"""One claim, several checks, one verdict: the engine of the `check` command.

`structure` judges the instance at the full horizon, `exact` at the largest horizons that its share
of the budget reaches, `sample` where it is installed. Findings speak of one instance each, and the
verdict is on the claimed one. For an anytime algorithm every horizon is a truncation of it. Where
the horizon is a parameter, an instance of another horizon is another algorithm: what is found of it
is shown, never counts for the claim, and refutes only itself, in so many words.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.checks import Checks
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.notions import Kind, Notion, Stated
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.implied import implied
from dpaudit.options import METHODS, Options
from dpaudit.particulars import Details
from dpaudit.target import OFFERED, Target, parameters
from dpaudit.verdict import UNDECIDED, Bracket, Finding, Status, combine, exit_code

SCHEMA = 1  # of the JSON report; new fields do not raise it, another meaning does
HORIZON = 10_000_000
BUDGET = 15.0
EPSILON = 1.0
# of what is left, where another check comes after; the last one has a limit once a proof stands
SHARES = {"structure": 0.5, "exact": 0.65, "sample": 0.3}
SHORTEST = 0.1
FAILED = 2
ENGINES = {
    "structure": "dpaudit.structure",
    "exact": "dpaudit.exact.horizons",
    "code": "dpaudit.symbolic.prove",
    "sample": "dpaudit.sample.audit",
}
INSTANCE_SECONDS = 5.0


@dataclass(frozen=True)
class PrivacyClaim:
    """What is judged: an algorithm with its parameters, a notion of privacy and a horizon.

    `epsilon` is infinite where the notion is another one than pure epsilon for one reward, so that
    nothing that reads it can take one for the other.
    """

    target: str
    algorithm: str
    parameters: dict[str, Any]
    epsilon: float
    arms: int
    horizon: int
    anytime: bool
    neighbours: str
    own: bool
    """Whether the algorithm makes this claim itself."""
    notion: Notion | None = None
    """The notion and its level; pure `epsilon` for one reward where there is none."""

    @property
    def judged(self) -> Notion:
        """The notion that is judged."""
        return self.notion or Notion(Kind.PURE, self.epsilon)


@dataclass(frozen=True)
class Report:
    """The verdict on a claim and the findings behind it."""

    verdict: Status
    claim: PrivacyClaim
    findings: tuple[Finding, ...]
    interrupted: bool = False
    details: Details | None = None
    covered: int = 0
    """The rounds that a verdict of PROVED or HOLDS speaks of."""
    failure: str = ""
    """The first error that ended a check; its finding is silent."""
    broken: bool = False
    """Whether the declaration breaks its contract: no proof stands on what is no algorithm."""
    replay: dict[str, Any] | None = None
    """What `audit --replay` needs where real runs of code have refuted the claim."""
    code: bool = False
    """Whether the claim is about code that is not declared."""

    @property
    def exit_code(self) -> int:
        """0 iff what is proved or holds covers the claimed instance and horizon, 1 if refuted.

        2 where nothing is concluded because a check failed, or the declaration is broken.
        """
        if self.interrupted:
            return 130
        code = exit_code(self.verdict, self.covered, self.claim.horizon)
        failed = self.broken or (code == UNDECIDED and self.failure)
        return FAILED if failed and code != 1 else code

    @property
    def partial(self) -> bool:
        """Whether it is proved or holds for shorter runs than were claimed."""
        concluded = self.verdict in (Status.PROVED, Status.HOLDS)
        return concluded and self.covered < self.claim.horizon

    @property
    def always(self) -> bool:
        """Whether the claim is proved at every horizon, for which there is one instance."""
        proved = self.verdict is Status.PROVED and self.claim.anytime
        return proved and any(finding.always for finding in self.findings)

    @property
    def lower(self) -> float:
        """The best lower bound on the loss of the claimed instance: certified if there is one.

        Bounds with an error probability do not enter.
        """
        usable = [
            finding
            for finding in self.findings
            if finding.error is None
            and finding.instance is None
            and finding.horizon <= self.claim.horizon
        ]
        return self.certain or max((finding.epsilon_lower for finding in usable), default=0.0)

    @property
    def certain(self) -> float:
        """The best certified lower bound on the loss of the claimed instance, with its details."""
        claim, details = self.claim, self.details or Details()
        known = [
            (f.epsilon_lower, f.horizon)
            for f in self.findings
            if f.certified and f.error is None and f.instance is None
        ]
        if claim.anytime and claim.notion is None:
            known += [(it.lower, it.horizon) for it in details.losses if it.certified]
        return max((lower for lower, size in known if size <= claim.horizon), default=0.0)

    @property
    def upper(self) -> float:
        """The best upper bound on the loss of the claimed instance."""
        horizon = self.claim.horizon
        usable = [f for f in self.findings if f.instance is None and f.horizon >= horizon]
        return min((f.epsilon_upper for f in usable), default=float("inf"))

    @property
    def implies(self) -> tuple[Bracket, ...]:
        """What a proof gives under other notions, for any mechanism of that level."""
        if self.verdict is not Status.PROVED:
            return ()
        sure = replace(self, findings=tuple(it for it in self.findings if it.certified))
        return implied(self.claim.judged, sure.bracket.upper)

    @property
    def bracket(self) -> Bracket:
        """What is known of the number that the claim is about: epsilon, rho, mu or delta."""
        claim = self.claim
        if claim.notion is None:
            return Bracket("epsilon", self.lower, self.upper)
        known = [(f.bracket, f.horizon) for f in self.findings if f.bracket and f.instance is None]
        sure = [it for it in known if it[0].certified and it[0].lower > 0] or known
        lower = max((it.lower for it, size in sure if size <= claim.horizon), default=0.0)
        upper = min((it.upper for it, size in known if size >= claim.horizon), default=math.inf)
        return Bracket(claim.notion.measure, lower, upper)


@dataclass(frozen=True)
class Listener:
    """Who is told the claim, every finding, the report so far, and the report before details.

    `far` is told which check is under way, and how far it is.
    """

    begun: Callable[[PrivacyClaim], Any] = lambda claim: None
    heard: Callable[[Finding], Any] = lambda finding: None
    kept: Callable[[Report], Any] | None = None
    concluded: Callable[[Report], Any] = lambda report: None
    far: Callable[[str], Any] = lambda text: None


NOBODY = Listener()


def claim_of(target: Target, algorithm: Algorithm, horizon: int, stated: Stated) -> PrivacyClaim:
    """Return the claim to judge: what is stated, else the algorithm's own, else epsilon = 1."""
    own = algorithm.claim
    notion = stated.judged(own.notion)
    return PrivacyClaim(
        target=target.text,
        algorithm=target.label,
        parameters=parameters(algorithm),
        epsilon=notion.level if notion.plain else math.inf,
        arms=algorithm.arms,
        horizon=horizon,
        anytime=own.anytime and "horizon" not in target.accepts,
        neighbours=notion.neighbours,
        own=notion == own.notion,
        notion=None if notion.plain else notion,
    )


@dataclass(frozen=True)
class Case:
    """A claim with what it takes to judge it; each method returns its findings within a budget."""

    target: Target
    given: Mapping[str, Any]
    claim: PrivacyClaim
    algorithm: Algorithm
    exact_horizon: int | None
    seed: int
    proved: Callable[[Any], Any] = lambda bound: None
    ceiling: float = math.inf
    """The upper end that is proved already: what is left to find are losses below it."""

    def instance(self, horizon: int) -> Algorithm:
        """Return the algorithm built for a horizon: the claimed one itself where it is anytime."""
        if horizon == self.claim.horizon or not self.told:
            return self.algorithm
        return self.target.build(horizon, self.given, OFFERED)

    @property
    def told(self) -> bool:
        """Whether the target builds another instance for another horizon."""
        return "horizon" in self.target.accepts and "horizon" not in self.given

    def structure(self, budget: float) -> list[Finding]:
        """Add up charges at the full horizon."""
        from dpaudit.structure import accounting, prove

        claim = self.claim
        if claim.notion is not None:
            return [accounting.judge(self.algorithm, claim.horizon, claim.notion, budget)]
        return [prove(self.algorithm, claim.horizon, claim.epsilon, budget, self.proved)]

    def exact(self, budget: float) -> list[Finding]:
        """Compute likelihoods at the asked horizon, or at as large ones as the budget allows."""
        from dpaudit.core.blind import looking
        from dpaudit.exact.horizons import Interrupted, judge, sizes

        if said := looking(type(self.algorithm)):
            raise Unsupported(f"{said[0].upper()}{said[1:]}.")
        claim, only = self.claim, self.exact_horizon
        horizons = list(sizes(claim.arms, claim.horizon)) if only is None else [only]
        if claim.notion is not None:
            from dpaudit.exact import refuting

            return refuting.judge(self.instance, self.algorithm, claim.notion, horizons, budget)
        try:
            return self.named(
                judge(
                    self.instance,
                    self.algorithm,
                    claim.epsilon,
                    horizons,
                    budget,
                    ceiling=self.ceiling if only is None else math.inf,
                )
            )
        except Interrupted as stop:
            raise Interrupted(self.named(stop.findings)) from None

    def sample(self, budget: float) -> list[Finding]:
        """Run the short statistical audit; it knows epsilon, with a delta or not."""
        from dpaudit.sample.audit import short_audit

        claim, notion = self.claim, self.claim.notion
        if notion is not None and (notion.delta is None or notion.unit > 1):
            stated = f"{notion} ({notion.kind.described})"
            reason = f"It judges epsilon for one reward, not {stated}; nothing is converted."
            return [Finding("sample", Status.SILENT, reason, arms=claim.arms)]
        level, delta = claim.judged.level, claim.judged.delta or 0.0
        return [short_audit(self.algorithm, level, claim.horizon, self.seed, budget, delta)]

    def named(self, findings: list[Finding]) -> list[Finding]:
        """Put the target's own name on witnesses, so that `replay` finds it again."""
        return [
            replace(it, witness=replace(it.witness, target=self.target.text)) if it.witness else it
            for it in findings
        ]


def check(
    target: Target,
    options: Options,
    to: Listener = NOBODY,
    proved: Callable[[Any], Any] = lambda bound: None,
) -> Report:
    """Judge a claim with every method and return the report; Ctrl-C keeps what was found.

    What the options do not say of the claim is the algorithm's own, and sizes are as usual.
    A listener is told the claim before the work, every finding as soon as it is there, and the
    report so far after every check; `proved` the bound that structure has proved. A check that
    fails is silent, and the others go on; a check that does not end in its time is stopped.
    Importing the engines is not counted.
    """
    horizon = HORIZON if options.horizon is None else options.horizon
    small = options.exact_horizon
    if small is not None and small > horizon:
        rule = f"must be at most {horizon:,}, the horizon that is claimed."
        raise InvalidArgument("exact_horizon", small, rule)
    given = {**options.claimed.numbers(target.accepts), **options.given}
    algorithm = target.build(horizon, given, OFFERED)
    claim = claim_of(target, algorithm, horizon, options.claimed)
    case = Case(target, given, claim, algorithm, small, options.seed, proved)
    to.begun(claim)
    chosen = [name for name in METHODS if name in options.methods]
    if not chosen:
        rule = f"is for code that is not declared; {target.text} is an Algorithm."
        raise InvalidArgument("method", ",".join(options.methods), rule)
    checks, end = (
        Checks(target.text, claim.arms, to.heard),
        time.monotonic() + options.spend(BUDGET),
    )
    for name in chosen:
        to.far(name)
        end += prepare(name)
        start = time.monotonic()
        left = max(end - start, SHORTEST)
        share = left if name == chosen[-1] else left * SHARES[name]
        if case.ceiling <= claim.epsilon:  # sampling has nothing to decide, so it does not wait
            share = min(share, options.spend(BUDGET) * SHARES[name])
        checks.take(name, getattr(case, name), share, min(start + share, end + SHORTEST))
        uppers = [it.epsilon_upper for it in checks.findings if it.status is Status.PROVED]
        case = replace(case, ceiling=min(uppers, default=math.inf))
        if checks.interrupted or checks.broken:
            break
        if to.kept is not None:
            to.kept(concluded(case, checks))
    return concluded(case, checks)


def prepare(name: str) -> float:
    """Import the engine of a check and return the seconds that it took."""
    start = time.monotonic()
    importlib.import_module(ENGINES[name])
    return time.monotonic() - start


def concluded(case: Case, checks: Checks) -> Report:
    """Return the report on what was found so far."""
    status, covered = verdict(checks.findings, case)
    return Report(
        status,
        case.claim,
        tuple(checks.findings),
        checks.interrupted,
        covered=covered,
        failure=checks.failure,
        broken=checks.broken,
    )


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as the data that `--json` writes."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "verdict": report.verdict,
        "covered": report.covered,
        "claim": report.claim,
        "epsilon_lower": report.lower,
        "epsilon_upper": report.upper,
        "interrupted": report.interrupted,
        "findings": report.findings,
    }
    data |= {"failure": report.failure} if report.failure else {}
    data |= {"bracket": report.bracket} if report.claim.notion is not None else {}
    data |= {"implies": report.implies} if report.implies else {}
    return data if report.details is None else data | {"details": report.details}


def verdict(findings: Sequence[Finding], case: Case) -> tuple[Status, int]:
    """Return the verdict and the rounds it speaks of; raise `Contradiction` where findings clash.

    A refuted instance that is not the claimed one decides only where nothing covers the claim.
    """
    horizon = case.claim.horizon
    status, covered = combine([f for f in findings if f.instance is None], horizon)
    others = [f for f in findings if f.instance is not None and f.status is Status.REFUTED]
    for other in others if case.claim.notion is None else []:
        from dpaudit.structure import prove

        size = other.horizon
        proof = prove(case.instance(size), size, case.claim.epsilon, INSTANCE_SECONDS)
        combine([other, proof], size)
    if others and exit_code(status, covered, horizon) == UNDECIDED:
        return Status.REFUTED, others[0].horizon
    return status, covered

"""One claim, several checks, one verdict: the engine of the `check` command.

`structure` judges the instance at the full horizon, `exact` at the largest horizons that its share
of the budget reaches, `sample` where it is installed. Findings speak of one instance each. For an
anytime algorithm every horizon is a truncation of the same one; otherwise an instance of another
horizon is another algorithm, so findings at different horizons cannot contradict one another.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.target import Target, parameters
from dpaudit.verdict import Finding, Status, combine

METHODS = ("structure", "exact", "sample")
HORIZON = 10_000_000
ARMS = 2
BUDGET = 15.0
EPSILON = 1.0


@dataclass(frozen=True)
class Claim:
    """What is judged: an algorithm with its parameters, an epsilon and a horizon."""

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


@dataclass(frozen=True)
class Report:
    """The verdict on a claim and the findings behind it."""

    verdict: Status
    claim: Claim
    findings: tuple[Finding, ...]
    interrupted: bool = False

    @property
    def lower(self) -> float:
        """The best lower bound on the loss of the claimed instance."""
        usable = [f for f in self.findings if self.claim.anytime or f.horizon == self.claim.horizon]
        return max(
            (f.epsilon_lower for f in usable if f.horizon <= self.claim.horizon), default=0.0
        )

    @property
    def upper(self) -> float:
        """The best upper bound on the loss of the claimed instance."""
        usable = [f for f in self.findings if f.horizon >= self.claim.horizon]
        return min((f.epsilon_upper for f in usable), default=float("inf"))


def claim_of(target: Target, algorithm: Algorithm, horizon: int, epsilon: float | None) -> Claim:
    """Return the claim to judge: the algorithm's own epsilon unless another is given, else 1."""
    try:
        own = algorithm.claim
    except KeyError:
        rule = "claims privacy without a parameter epsilon; add one, or set private = False."
        raise InvalidArgument("TARGET", target.text, rule) from None
    judged = epsilon if epsilon is not None else own.epsilon
    return Claim(
        target=target.text,
        algorithm=target.label,
        parameters=parameters(algorithm),
        epsilon=EPSILON if judged is None else judged,
        arms=algorithm.arms,
        horizon=horizon,
        anytime=own.anytime,
        neighbours=own.neighbours,
        own=own.epsilon is not None and judged == own.epsilon,
    )


def check(
    target: Target,
    given: Mapping[str, Any],
    *,
    epsilon: float | None = None,
    horizon: int = HORIZON,
    exact_horizon: int | None = None,
    methods: Sequence[str] = METHODS,
    budget: float = BUDGET,
    seed: int = 0,
    begun: Callable[[Claim], Any] = lambda claim: None,
    heard: Callable[[Finding], Any] = lambda finding: None,
) -> Report:
    """Judge a claim with every method and return the report; Ctrl-C keeps what was found.

    `begun` is told the claim before the work, `heard` every finding as soon as it is there.
    """
    require_integer("horizon", horizon, 1)
    require_positive("budget", budget)
    if exact_horizon is not None:
        require_integer("exact_horizon", exact_horizon, 1)
    if epsilon is not None:
        require_positive("epsilon", epsilon)
        if "epsilon" in target.accepts:
            given = {**given, "epsilon": epsilon}
    algorithm = target.build(horizon, given, {"arms": ARMS})
    claim = claim_of(target, algorithm, horizon, epsilon)
    begun(claim)
    deadline = time.monotonic() + budget
    findings: list[Finding] = []
    interrupted = False

    def instance(size: int) -> Algorithm:
        return target.build(size, given, {"arms": ARMS})

    try:
        for method in [name for name in METHODS if name in methods]:
            left = max(deadline - time.monotonic(), 0.0)
            if method == "structure":
                from dpaudit.structure import prove

                finding = prove(algorithm, horizon, claim.epsilon, left)
            elif method == "exact":
                finding = Finding("exact", Status.SILENT, "not run (not part of this version).")
            else:
                finding = sampled(algorithm, claim, seed, left)
            findings.append(finding)
            heard(finding)
    except KeyboardInterrupt:
        interrupted = True
    return Report(verdict(findings, claim), claim, tuple(findings), interrupted)


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as the data that `--json` writes."""
    return {
        "verdict": report.verdict,
        "claim": report.claim,
        "epsilon_lower": report.lower,
        "epsilon_upper": report.upper,
        "interrupted": report.interrupted,
        "findings": report.findings,
    }


def sampled(algorithm: Algorithm, claim: Claim, seed: int, budget: float) -> Finding:
    """Return what a short run of the sampler finds, or silence where there is none."""
    try:
        short_audit = importlib.import_module("dpaudit.sample").short_audit
    except (ModuleNotFoundError, AttributeError):
        reason = "not run (not part of this version)."
        return Finding("sample", Status.SILENT, reason, arms=claim.arms)
    start = time.monotonic()
    finding: Finding = short_audit(algorithm, claim.epsilon, claim.horizon, seed, budget)
    return replace(finding, seconds=time.monotonic() - start)


def verdict(findings: Sequence[Finding], claim: Claim) -> Status:
    """Return the verdict; raise `Contradiction` where findings on one instance disagree."""
    if claim.anytime:
        return combine(findings)
    groups = {finding.horizon for finding in findings}
    statuses = {combine([f for f in findings if f.horizon == size]) for size in groups}
    order = (Status.REFUTED, Status.PROVED, Status.HOLDS)
    return next((status for status in order if status in statuses), Status.SILENT)

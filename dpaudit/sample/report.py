"""What an audit concludes, as data: the same bytes for the same plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.codec import event_data, pair_data
from dpaudit.sample.hypothesis import Hypothesis
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.progress import Progress
from dpaudit.verdict import Course, Finding, Status


@dataclass(frozen=True)
class Judged:
    """One hypothesis after its fresh runs."""

    pair: str
    event: str
    direction: str
    hits: int
    hits_other: int
    rounds: int
    lower: float
    evidence: float
    evidence_needed: float
    refuted: str | None
    course: Course


@dataclass(frozen=True)
class Report:
    """What an audit concludes. `lower` holds with probability at least 1 - error."""

    status: Status
    target: str
    words: str
    epsilon: float
    delta: float
    error: float
    seed: int
    arms: int
    horizon: int
    lower: float
    runs: int
    runs_planned: int
    training_runs: int
    pairs_tried: int
    hypotheses: tuple[Judged, ...]
    budget: dict[str, Any]
    witness: dict[str, Any] | None
    independence: str

    def finding(self, horizon: int, seconds: float) -> Finding:
        """Return what the audit says of an instance of `horizon` rounds, beside other checks."""
        words = f"{self.words[0].upper()}{self.words[1:]} "
        words += f"{self.runs:,} runs of {self.horizon:,} steps."
        if self.witness is not None:
            worst = next(judged for judged in self.hypotheses if judged.refuted)
            words += (
                f" Pair: {worst.pair}. Event: {worst.event}, in {worst.hits:,} and "
                f"{worst.hits_other:,} of {worst.rounds:,} runs ({worst.direction})."
            )
        return Finding(
            "sample",
            self.status,
            words,
            epsilon_lower=self.lower,
            arms=self.arms,
            horizon=horizon,
            streams=f"{self.pairs_tried} pairs tried",
            error=self.error,
            seconds=seconds,
            courses=tuple(judged.course for judged in self.hypotheses),
        )


def conclude(plan: AuditPlan, done: Progress, budget: ErrorBudget) -> Report:
    """Return the report of what has been judged."""
    hypotheses = done.hypotheses
    judged = tuple(_judged(hypothesis) for hypothesis in hypotheses)
    found = [h for h in hypotheses if h.refuted]
    guilty = [] if done.doubt else found
    lower = max((h.lower for h in hypotheses), default=0.0)
    status = Status.REFUTED if guilty else Status.SILENT
    claim = f"epsilon = {plan.epsilon:g}" + (f", delta = {plan.delta:g}" if plan.delta else "")
    if guilty:
        lower = max(lower, plan.epsilon)
        words = f"{claim} is violated (probability of a wrong refutation at most {plan.error:g})."
    elif found:
        lower = 0.0
        words = f"evidence against {claim} was found, but its runs may not be independent: "
        words += f"{done.doubt}."
    else:
        words = f"no violation of {claim} found, which is not a proof; epsilon >= {lower:.4g}."
    return Report(
        status,
        done.independence.name,
        words,
        plan.epsilon,
        plan.delta,
        plan.error,
        plan.seed,
        plan.box.arms,
        plan.box.horizon,
        lower,
        done.runs,
        plan.runs,
        sum(act.training_runs for act in plan.acts()),
        len(plan.pairs),
        judged,
        budget.tree(),
        _witness(guilty[0]) if guilty else None,
        done.independence.words,
    )


def _judged(hypothesis: Hypothesis) -> Judged:
    e = hypothesis.evidence
    return Judged(
        hypothesis.pair.name,
        str(hypothesis.candidate.event),
        "neighbour over stream" if hypothesis.candidate.swapped else "stream over neighbour",
        e.hits,
        e.hits_neighbour,
        e.rounds,
        hypothesis.lower,
        e.peak,
        hypothesis.needed,
        hypothesis.refuted,
        hypothesis.course,
    )


def _witness(hypothesis: Hypothesis) -> dict[str, Any]:
    """Return what `audit --replay` needs to judge the violation again on new runs."""
    return {
        "target": hypothesis.plan.box.identity(),
        "epsilon": hypothesis.plan.epsilon,
        "delta": hypothesis.plan.delta,
        "pair": pair_data(hypothesis.pair),
        "event": event_data(hypothesis.candidate.event),
        "swapped": hypothesis.candidate.swapped,
        "rounds": hypothesis.evidence.rounds,
    }

"""What an audit concludes, as data: the same bytes for the same plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import at_least, in_digits
from dpaudit.sample.codec import event_data, pair_data
from dpaudit.sample.events import in_words
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.progress import Progress
from dpaudit.sample.streams import Pair
from dpaudit.sample.suspects import Telling
from dpaudit.verdict import Bracket, Course, Finding, Status

POINTS = 48


@dataclass(frozen=True)
class Judged:
    """The pair and the event that say most, with the counts of runs that did not choose it.

    `lower` and `evidence` are of the whole audit, whose wealth is one.
    """

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
class AuditConclusion:
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
    pairs_tried: int
    hypotheses: tuple[Judged, ...]
    witness: dict[str, Any] | None
    independence: str

    @property
    def measure(self) -> str:
        """The number that `lower` bounds: delta where one is claimed, at the claimed epsilon."""
        return "delta" if self.delta else "epsilon"

    def finding(self, horizon: int, seconds: float) -> Finding:
        """Return what the audit says of an instance of `horizon` rounds, beside other checks."""
        words = f"{self.words[0].upper()}{self.words[1:]} "
        words += f"{self.runs:,} runs of {self.horizon:,} rounds."
        if not self.runs:
            words = no_run(self.horizon)
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
            epsilon_lower=0.0 if self.delta else self.lower,
            bracket=Bracket("delta", self.lower) if self.delta else None,
            arms=self.arms,
            horizon=horizon,
            streams=f"{self.pairs_tried} pairs tried",
            error=self.error if self.runs else None,
            seconds=seconds,
            courses=tuple(judged.course for judged in self.hypotheses),
        )


def no_run(horizon: int) -> str:
    """Return why an audit that had no run in its time is silent."""
    return (
        f"Not one run of {horizon:,} rounds was bet on in its time: a pair was still being "
        "chosen, runs are too slow, or a call never returns."
    )


def conclude(done: Progress) -> AuditConclusion:
    """Return the report of what has been judged."""
    plan, wealth = done.plan, done.wealth
    found = wealth.claim_refuted
    refuted = found and not done.doubt
    judged = _judged(done)
    lower, measure = wealth.lower, "delta" if plan.delta else "epsilon"
    claim = f"epsilon = {in_digits(plan.epsilon)}"
    claim += f", delta = {in_digits(plan.delta)}" if plan.delta else ""
    error = in_digits(plan.error)
    if refuted:
        words = f"{claim} is violated (probability of a wrong refutation at most {error})."
    elif found:
        lower = 0.0
        words = f"evidence against {claim} was found, but its runs may not be independent: "
        words += f"{done.doubt}."
    else:
        words = f"no violation of {claim} found, which is not a proof; {measure} >= "
        words += f"{at_least(lower, 4)}."
        words += "" if lower else _why_nothing(done, measure)
    return AuditConclusion(
        Status.REFUTED if refuted else Status.SILENT,
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
        len(plan.pairs),
        () if judged is None else (judged[0],),
        _witness(plan, *judged[1:]) if judged is not None and refuted else None,
        done.independence.words,
    )


def _why_nothing(done: Progress, measure: str) -> str:
    """Return why no level is excluded: all runs are alike, or the lowest may take too many."""
    most = max(done.suspects, key=lambda it: it.rounds)
    if not most.rounds:
        return ""
    seen = [table for it in done.suspects if it.rounds for table in it.tables.values()]
    if seen and all(len(table.values) == 1 for table in seen):
        steps = most.pair.stream.horizon
        what = f"all played the same actions for {steps:,} rounds"
        return f" Why no more: on every pair that was run, {what}."
    rounds, level = most.outlook(done.wealth), done.wealth.levels[0]
    what = f"what tells most on {most.pair.name!r} is within chance"
    if rounds < math.inf:
        about = float(f"{2 * rounds:.2g}")
        what = f"{most.pair.name!r} may take about {about:,.0f} further runs to exclude {measure} "
        what += f"{level:.2g}, the lowest level"
    return f" Why no more: {what}; it had {2 * most.rounds:,} of {done.runs:,} runs."


def _judged(done: Progress) -> tuple[Judged, Pair, Telling] | None:
    """Return the event that says most, of the pair that earned most."""
    suspects, wealth = done.suspects, done.wealth
    earned = done.gains if wealth.claim_refuted else {}
    order = sorted(suspects, key=lambda it: (-earned.get(it.index, 0.0), -it.rounds, it.index))
    for suspect in order:
        told = suspect.telling(wealth)
        if told is not None:
            break
    else:
        return None
    direction = "neighbour over stream" if told.swapped else "stream over neighbour"
    event = in_words(told.event, done.plan.box.arms)
    judged = Judged(
        suspect.pair.name,
        event,
        direction,
        told.hits,
        told.hits_other,
        told.rounds,
        wealth.lower,
        float(wealth.peak[wealth.claim]),
        wealth.needed,
        "evidence" if wealth.claim_refuted else None,
        _course(done, f"{suspect.pair.name} | {event} | {direction}"),
    )
    return judged, suspect.pair, told


def _witness(plan: AuditPlan, pair: Pair, told: Telling) -> dict[str, Any]:
    """Return what replays a refutation; only here the target's sources are read."""
    return {
        "target": plan.box.identity(),
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "pair": pair_data(pair),
        "event": event_data(told.event),
        "swapped": told.swapped,
        "rounds": told.rounds,
    }


def _course(done: Progress, label: str) -> Course:
    """Return the evidence block by block, thinned to a few dozen points; the last one is kept."""
    last = len(done.course) - 1
    kept = [*range(0, last, last // POINTS + 1), last]
    rounds, values, lowers = zip(*(done.course[k] for k in kept), strict=True)
    return Course(label, done.wealth.needed, rounds, values, lowers)

"""The audit: train, choose, then judge on fresh runs until the evidence suffices or runs are out.

1. Training runs choose the most promising pairs and events (never counted as evidence).
2. Each chosen hypothesis is judged on fresh runs by two tests: an e-process against the claimed
   epsilon, which may stop the audit at any block, and a Clopper-Pearson lower bound on epsilon at
   looks planned in advance.
3. One error budget covers everything: half for the e-processes, half for the bounds, split evenly
   over hypotheses (pair, event, direction); a bound's share is split over its looks, half of it for
   the last. So with probability at least 1 - error a true claim is not refuted and the printed
   lower bound is below the truth.

Blocks are counted in a fixed order and the decision to stop is taken between blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.codec import candidate_data, candidate_of, event_data, pair_data
from dpaudit.sample.events import Candidate
from dpaudit.sample.evidence import Evidence, Null
from dpaudit.sample.log import BlockLog
from dpaudit.sample.lower import epsilon_lower
from dpaudit.sample.plan import FINALISTS, AuditPlan, judge, looks, train
from dpaudit.sample.streams import candidates
from dpaudit.sample.workers import Task, Workers
from dpaudit.verdict import Finding, Status


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


class Hypothesis:
    """A pair, an event and a direction under judgement."""

    def __init__(
        self,
        plan: AuditPlan,
        index: int,
        candidate: Candidate,
        bet: ErrorBudget,
        bound: ErrorBudget,
    ) -> None:
        self.pair = plan.pairs[index]
        self.index = index
        self.candidate = candidate
        self.plan = plan
        belief = (candidate.hits, candidate.hits_other, candidate.rounds)
        self.evidence = Evidence(Null(plan.epsilon, plan.delta), belief)
        self.needed = bet.threshold
        self.shares = dict(zip(self.schedule(plan), self.looks(bound), strict=True))
        self.lower = 0.0
        self.blocks = 0

    def schedule(self, plan: AuditPlan) -> list[int]:
        """Return the planned looks."""
        return looks(len(plan.blocks(plan_finalists(plan))))

    def looks(self, bound: ErrorBudget) -> tuple[ErrorBudget, ...]:
        """Split the bound's share over the looks, half of it for the last."""
        times = self.schedule(self.plan)
        weights = [1] * (len(times) - 1) + [max(len(times) - 1, 1)]
        return bound.split([f"after block {block}" for block in times], weights)

    def update(self, hits: int, hits_neighbour: int, rounds: int) -> None:
        """Count one block of fresh runs."""
        if self.candidate.swapped:
            hits, hits_neighbour = hits_neighbour, hits
        self.evidence.update(hits, hits_neighbour, rounds)
        self.blocks += 1
        share = self.shares.get(self.blocks)
        if share is not None:
            e = self.evidence
            bound = epsilon_lower(e.hits, e.hits_neighbour, e.rounds, float(share), self.plan.delta)
            self.lower = max(self.lower, bound)

    @property
    def refuted(self) -> str | None:
        """How the claim is refuted, if it is."""
        if self.evidence.peak >= self.needed:
            return "evidence"
        return "lower bound" if self.lower > self.plan.epsilon else None


def plan_finalists(plan: AuditPlan) -> int:
    """Return how many pairs reach the judgement."""
    return min(FINALISTS, len(plan.pairs))


def select(plan: AuditPlan, trained: list[list[Candidate]]) -> list[tuple[int, Candidate]]:
    """Return the hypotheses to judge: the best events of the most promising pairs."""
    ranked = sorted(
        (index for index in range(len(trained)) if trained[index]),
        key=lambda index: (-trained[index][0].promise, index),
    )
    chosen = ranked[: plan_finalists(plan)]
    return [(index, candidate) for index in chosen for candidate in trained[index]]


Heard = Callable[[int, float, float], None]


def audit(
    plan: AuditPlan,
    workers: Workers | None = None,
    log: BlockLog | None = None,
    heard: Heard = lambda runs, lower, evidence: None,
    deadline: float | None = None,
) -> Report:
    """Carry out a plan and report.

    `heard(runs, lower, evidence)` is called after every block with the state so far (evidence in
    powers of ten against 1 / its error share). A `deadline` (of `time.monotonic`) ends the audit
    early, at a block; what is concluded then is as valid, but depends on the machine's speed.
    """
    workers = workers or Workers()
    log = log or BlockLog.nowhere()
    budget = ErrorBudget(plan.error)
    with workers.open() as run:
        trained = _train(plan, workers, log, run, heard, deadline)
        chosen = select(plan, trained)
        hypotheses = _hypotheses(plan, chosen, budget)
        runs = plan.training_runs if len(trained) == len(plan.pairs) else 0
        late = deadline is not None and time.monotonic() > deadline
        if hypotheses and not late:
            for index, rounds, counts in _fresh(plan, hypotheses, log, run):
                for hypothesis, (hits, hits_neighbour) in zip(
                    [h for h in hypotheses if h.index == index], counts, strict=True
                ):
                    hypothesis.update(hits, hits_neighbour, rounds)
                runs += 2 * rounds
                heard(runs, *_state(hypotheses))
                if any(hypothesis.refuted for hypothesis in hypotheses):
                    break
                if deadline is not None and time.monotonic() > deadline:
                    break
                workers.check_memory(f"{runs} runs are done")
    return _report(plan, hypotheses, budget, runs)


def _train(
    plan: AuditPlan, workers: Workers, log: BlockLog, run: Any, heard: Heard, deadline: float | None
) -> list[list[Candidate]]:
    names = [f"training {index}" for index in range(len(plan.pairs))]
    missing: list[Task] = [
        (train, (plan, index)) for index, name in enumerate(names) if name not in log.done
    ]
    results = iter(run(missing))
    trained: list[list[Candidate]] = []
    for index, name in enumerate(names):
        if name not in log.done:
            log.record(name, [candidate_data(candidate) for candidate in next(results)])
        pair = plan.pairs[index]
        trained.append([candidate_of(data, plan.box, pair) for data in log.done[name]])
        heard(4 * plan.training_rounds * (index + 1), 0.0, 0.0)
        workers.check_memory(f"training of {index + 1} pairs is done")
        if deadline is not None and time.monotonic() > deadline:
            break
    return trained


def _hypotheses(
    plan: AuditPlan, chosen: list[tuple[int, Candidate]], budget: ErrorBudget
) -> list[Hypothesis]:
    if not chosen:
        return []
    bets, bounds = budget.split(["evidence against the claim", "lower bounds on epsilon"])
    labels = [
        f"{plan.pairs[index].name} | {candidate.event} | "
        f"{'neighbour over stream' if candidate.swapped else 'stream over neighbour'}"
        for index, candidate in chosen
    ]
    shares = zip(chosen, bets.split(labels), bounds.split(labels), strict=True)
    return [
        Hypothesis(plan, index, candidate, bet, bound) for (index, candidate), bet, bound in shares
    ]


def _fresh(
    plan: AuditPlan, hypotheses: list[Hypothesis], log: BlockLog, run: Any
) -> Iterator[tuple[int, int, list[list[int]]]]:
    """Yield the counts of every block of fresh runs, in order."""
    finalists = list(dict.fromkeys(hypothesis.index for hypothesis in hypotheses))
    events = {
        index: tuple(h.candidate.event for h in hypotheses if h.index == index)
        for index in finalists
    }
    order = [
        (number, index, rounds)
        for number, rounds in enumerate(plan.blocks(plan_finalists(plan)))
        for index in finalists
    ]
    names = [f"block {number} of pair {index}" for number, index, _ in order]
    missing = (
        (judge, (plan.box, plan.pairs[index], events[index], rounds, (1, index, number), plan.seed))
        for name, (number, index, rounds) in zip(names, order, strict=True)
        if name not in log.done
    )
    results = iter(run(missing))
    for name, (_, index, rounds) in zip(names, order, strict=True):
        if name not in log.done:
            log.record(name, next(results))
        yield index, rounds, log.done[name]


def _state(hypotheses: list[Hypothesis]) -> tuple[float, float]:
    lower = max(hypothesis.lower for hypothesis in hypotheses)
    part = max(hypothesis.evidence.peak / hypothesis.needed for hypothesis in hypotheses)
    return lower, part


def _report(
    plan: AuditPlan, hypotheses: list[Hypothesis], budget: ErrorBudget, runs: int
) -> Report:
    judged = tuple(_judged(hypothesis) for hypothesis in hypotheses)
    guilty = [h for h in hypotheses if h.refuted]
    lower = max((h.lower for h in hypotheses), default=0.0)
    status = Status.REFUTED if guilty else Status.SILENT
    claim = f"epsilon = {plan.epsilon:g}" + (f", delta = {plan.delta:g}" if plan.delta else "")
    if guilty:
        lower = max(lower, plan.epsilon)
        words = f"{claim} is violated (probability of a wrong refutation at most {plan.error:g})."
    else:
        words = f"no violation of {claim} found, which is not a proof; epsilon >= {lower:.4g}."
    identity = plan.box.identity()
    return Report(
        status,
        str(identity.get("declared", identity.get("policy"))),
        words,
        plan.epsilon,
        plan.delta,
        plan.error,
        plan.seed,
        plan.box.arms,
        plan.box.horizon,
        lower,
        runs,
        plan.runs,
        plan.training_runs,
        len(plan.pairs),
        judged,
        budget.tree(),
        _witness(guilty[0]) if guilty else None,
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


def short_audit(
    algorithm: Algorithm, epsilon: float, horizon: int, seed: int, budget: float
) -> Finding:
    """Return the finding of an audit of a few seconds, ended after `budget` seconds at the latest.

    Its error is 1e-6: a check that is run every day must not cry wolf once a year.
    """
    start = time.monotonic()
    box = DeclaredBox(algorithm, horizon)
    pairs = tuple(candidates(algorithm.arms, horizon, [seed, 2]))
    plan = AuditPlan(box, epsilon, 1e-6, 8_000, seed, pairs)
    report = audit(plan, deadline=start + budget)
    reason = f"{report.words[0].upper()}{report.words[1:]} {report.runs} runs at full size."
    if report.witness is not None:
        guilty = next(judged for judged in report.hypotheses if judged.refuted)
        reason += f" Pair: {guilty.pair}. Event: {guilty.event}."
    return Finding(
        "sample",
        report.status,
        reason,
        epsilon_lower=report.lower,
        arms=algorithm.arms,
        horizon=horizon,
        streams=f"{len(pairs)} pairs tried",
        error=plan.error,
        seconds=time.monotonic() - start,
    )

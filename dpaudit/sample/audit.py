"""The audit: train, choose, then judge on fresh runs until the evidence suffices or runs are out.

1. Training runs choose the most promising pairs and events (never counted as evidence): many pairs
   are screened first, and a shortlist of them, with the favoured ones, is trained on at length.
2. Each chosen hypothesis is judged on fresh runs by two tests: an e-process against the claimed
   epsilon, which may stop the audit at any block, and a Clopper-Pearson lower bound on epsilon at
   looks planned in advance.
3. One error budget covers everything: a quarter for a quick part that finds gross violations within
   few runs, the rest for the long part; in each, half for the e-processes and half for the bounds,
   split evenly over hypotheses (pair, event, direction); a bound's share is split over its looks,
   half of it for the last. So with probability at least 1 - error a true claim is not refuted and
   the printed lower bound is below the truth.

Blocks are counted in a fixed order and the decision to stop is taken between blocks. Whether runs
are independent is checked on the way (`independence`); evidence that is not shown to come from
independent runs refutes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.perstep import PerStep
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.codec import (
    candidate_data,
    candidate_of,
    judgement_data,
    judgement_of,
)
from dpaudit.sample.events import Candidate
from dpaudit.sample.guard import TimeUp, judged, time_limit
from dpaudit.sample.hypothesis import Hypothesis
from dpaudit.sample.independence import PATIENCE, Independence
from dpaudit.sample.judgement import judge
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import SHORTLIST, AuditPlan, in_lockstep, train
from dpaudit.sample.report import Report, conclude
from dpaudit.sample.steer import steered
from dpaudit.sample.streams import candidates
from dpaudit.sample.workers import Task, Workers
from dpaudit.verdict import Finding

Trained = dict[int, list[Candidate]]


def ranked(trained: Trained) -> list[int]:
    """Return the pairs that have an event, the most promising first."""
    found = [index for index in trained if trained[index]]
    return sorted(found, key=lambda index: (-trained[index][0].promise, index))


def select(plan: AuditPlan, trained: Trained) -> list[tuple[int, Candidate]]:
    """Return the hypotheses to judge: the best events of the most promising pairs."""
    chosen = ranked(trained)[: plan.finalists]
    return [(index, candidate) for index in chosen for candidate in trained[index]]


def shortlist(plan: AuditPlan, screened: Trained) -> list[int]:
    """Return the pairs to train on at length: the favoured ones and the best of the others."""
    others = [*ranked(screened), *(index for index in screened if not screened[index])]
    return [*range(plan.favoured), *others][:SHORTLIST]


ACTS = ["quick part", "long part"]
WEIGHTS = [1, 3]
SHORT_STEPS = 2000
SHORT_RUNS, LOCKSTEP_RUNS = 4_000, 16_000
SHORT_PAIRS = 8
SHORT_STEERED = 2
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
    early; a block that is not done by then does not count. What is concluded is as valid, but
    depends on the machine's speed. Whatever the judged code does is a `DpauditError`.
    """
    workers, log = workers or Workers(), log or BlockLog.nowhere()
    budget, acts = ErrorBudget(plan.error), plan.acts()
    # gross violations need little error: most of it is kept for the long part
    shares = budget.split(ACTS[-len(acts) :], WEIGHTS[-len(acts) :])
    independence = Independence(plan.box, plan.seed, deadline)
    course = Course(workers, log, heard, deadline, independence)
    name = independence.name
    try:
        with _ended_at(deadline, name), judged(name):
            independence.begin(plan.pairs[0])
            with workers.open() as run:
                for act, share in zip(acts, shares, strict=True):
                    course.perform(act, share, run)
                    if course.over:
                        break
    except TimeUp:
        if not course.late:
            raise
    finally:
        independence.close()
    return conclude(plan, course, budget)


def _ended_at(deadline: float | None, name: str) -> AbstractContextManager[None]:
    """Raise `TimeUp` in a block that does not look at the clock, a moment after the deadline."""
    if deadline is None:
        return nullcontext()
    return time_limit(max(deadline - time.monotonic(), 0.0) + PATIENCE, name)


class Course:
    """How far an audit has come, over its parts."""

    def __init__(
        self,
        workers: Workers,
        log: BlockLog,
        heard: Heard,
        deadline: float | None,
        independence: Independence,
    ) -> None:
        self.workers = workers
        self.log = log
        self.heard = heard
        self.deadline = deadline
        self.independence = independence
        self.hypotheses: list[Hypothesis] = []
        self.runs = 0
        self.doubt = "its runs were not made again"
        """Why a refutation cannot be trusted to rest on independent runs, if it cannot."""

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def over(self) -> bool:
        """Whether there is nothing more to do."""
        return self.late or any(hypothesis.refuted for hypothesis in self.hypotheses)

    def perform(self, act: AuditPlan, share: ErrorBudget, run: Any) -> None:
        """Train, choose and judge one part of the audit."""
        trained = self._train(act, run)
        if self.late:
            return
        found = _hypotheses(act, select(act, trained), share)
        self.hypotheses += found
        for index, rounds, counts in self._fresh(act, found, run) if found else ():
            for hypothesis, (hits, hits_neighbour) in zip(
                [h for h in found if h.index == index], counts, strict=True
            ):
                hypothesis.update(hits, hits_neighbour, rounds)
            self._tell(2 * rounds)
            if self.over:
                break
        guilty = dict.fromkeys(h.index for h in found if h.refuted)
        if guilty:
            doubts = [self.independence.confirm(act.pairs[index], act.act) for index in guilty]
            self.doubt = next((doubt for doubt in doubts if doubt), "")
        else:
            self.independence.part(act.act)

    def _tell(self, runs: int) -> None:
        self.runs += runs
        lower = max((h.lower for h in self.hypotheses), default=0.0)
        part = max((h.evidence.peak / h.needed for h in self.hypotheses), default=0.0)
        self.heard(self.runs, lower, part)
        self.workers.check_memory(f"{self.runs} runs are done")

    def _train(self, act: AuditPlan, run: Any) -> Trained:
        trained: Trained = {}
        chosen = list(range(len(act.pairs)))
        for stage in range(len(act.stages)):
            if len(act.stages) > 1:
                chosen = shortlist(act, trained) if stage else chosen[act.favoured :]
            trained = self._stage(act, stage, chosen, run)
            if self.late:
                break
        return trained

    def _stage(self, act: AuditPlan, stage: int, chosen: list[int], run: Any) -> Trained:
        names = {index: f"training {act.act} {stage} {index}" for index in chosen}
        missing: list[Task] = [
            (train, (act, index, stage))
            for index, name in names.items()
            if name not in self.log.done
        ]
        results = iter(run(missing))
        trained: Trained = {}
        for index, name in names.items():
            if name not in self.log.done:
                self.log.record(name, [candidate_data(found) for found in next(results)])
            trained[index] = [candidate_of(data) for data in self.log.done[name]]
            scoring = act.scoring_runs if stage == len(act.stages) - 1 else 0
            self._tell(4 * act.stages[stage][1] + scoring)
            if self.late:
                break
        return trained

    def _fresh(
        self, act: AuditPlan, found: list[Hypothesis], run: Any
    ) -> Iterator[tuple[int, int, list[list[int]]]]:
        """Yield the counts of every block of fresh runs, in order."""
        finalists = list(dict.fromkeys(hypothesis.index for hypothesis in found))
        events = {
            index: tuple(h.candidate.event for h in found if h.index == index)
            for index in finalists
        }
        order = [
            (f"block {act.act} {index} {number}", (1, act.act, index, number), rounds)
            for number, rounds in enumerate(act.blocks(act.finalists))
            for index in finalists
        ]
        missing = (
            (judge, (act.box, act.pairs[key[2]], events[key[2]], rounds, key, act.seed))
            for name, key, rounds in order
            if name not in self.log.done
        )
        results = iter(run(missing))
        for name, key, rounds in order:
            if name in self.log.done:
                found_again = judgement_of(self.log.done[name], len(events[key[2]]), rounds)
            else:
                found_again = next(results)
                self.log.record(name, judgement_data(found_again))
            self.independence.keep(act.pairs[key[2]], key, rounds, found_again)
            yield key[2], rounds, found_again.counts


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


def short_audit(
    algorithm: Algorithm, epsilon: float, horizon: int, seed: int, budget: float
) -> Finding:
    """Return the finding of an audit of a few seconds, ended after `budget` seconds at the latest.

    Its error is 1e-6: a check that is run every day must not cry wolf once a year. Of an algorithm
    that decides at every step only the first steps are run: they are post-processing of the whole
    run, so a violation in them is one of the whole. Steering may take a third of the time.
    Whatever the algorithm's own code does is a `DpauditError`.
    """
    start = time.monotonic()
    steps = min(horizon, SHORT_STEPS) if isinstance(algorithm, PerStep) else horizon
    box = DeclaredBox(algorithm, steps)
    runs = LOCKSTEP_RUNS if in_lockstep(box) else SHORT_RUNS
    deadline = start + budget / 3
    with _ended_at(start + budget, box.name), judged(box.name):
        aimed = steered(algorithm, steps, [seed, 5], runs // 5, SHORT_STEERED, deadline=deadline)
    pairs = (*aimed, *candidates(algorithm.arms, steps, [seed, 2])[:SHORT_PAIRS])
    plan = AuditPlan(box, epsilon, 1e-6, runs, seed, pairs, favoured=len(aimed))
    report = audit(plan, deadline=start + budget)
    reason = f"{report.words[0].upper()}{report.words[1:]} {report.runs} runs of {steps} steps."
    if report.witness is not None:
        guilty = next(judged for judged in report.hypotheses if judged.refuted)
        reason += f" Pair: {guilty.pair}. Event: {guilty.event}."
    return Finding(
        "sample",
        report.status,
        reason,
        epsilon_lower=report.lower,
        arms=algorithm.arms,
        horizon=horizon if algorithm.told() else steps,
        streams=f"{len(pairs)} pairs tried",
        error=plan.error,
        seconds=time.monotonic() - start,
        courses=tuple(judged.course for judged in report.hypotheses),
    )

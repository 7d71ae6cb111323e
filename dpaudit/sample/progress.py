"""How far an audit has come: which pairs and events were chosen, and what fresh runs say of them.

Blocks are counted in a fixed order and the decision to stop is taken between blocks. What a log
says against a claim is judged again, the most telling blocks of it, before it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.sample.block import Block, judge
from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.codec import block_data, block_of, candidate_data, candidate_of
from dpaudit.sample.events import Candidate
from dpaudit.sample.hypothesis import Hypothesis
from dpaudit.sample.independence import Independence
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import SHORTLIST, AuditPlan, train
from dpaudit.sample.workers import Task, Workers

RECALLED = 8  # blocks of a log that are judged again before they refute
Heard = Callable[[int, float, float], None]
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


class Progress:
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
        self.logged: list[tuple[str, Task, Block]] = []
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
            self._recall(list(guilty), run)
            doubts = [self.independence.confirm(act.pairs[index], act.act) for index in guilty]
            self.doubt = next((doubt for doubt in doubts if doubt), "")
        else:
            self.independence.part(act.act)

    def _recall(self, guilty: list[int], run: Any) -> None:
        """Judge again what a log says against a claim: the most telling blocks of it."""
        logged = [it for it in self.logged if it[1][1][4][2] in guilty]
        logged.sort(key=lambda it: -max(abs(a - b) for a, b in it[2].counts))
        chosen = logged[:RECALLED]
        for (name, _, before), after in zip(chosen, run([it[1] for it in chosen]), strict=True):
            if (after.counts, after.marks) != (before.counts, before.marks):
                rule = "did not come out again as it was logged; start anew with --log."
                raise InvalidArgument("block", f"'{name}'", rule)

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
        tasks: dict[str, Task] = {
            name: (judge, (act.box, act.pairs[key[2]], events[key[2]], rounds, key, act.seed))
            for name, key, rounds in order
        }
        missing = (task for name, task in tasks.items() if name not in self.log.done)
        results = iter(run(missing))
        for name, key, rounds in order:
            if name in self.log.done:
                block = block_of(self.log.done[name], len(events[key[2]]), rounds)
                self.logged.append((name, tasks[name], block))
            else:
                block = next(results)
                self.log.record(name, block_data(block))
            self.independence.keep(act.pairs[key[2]], key, rounds, block)
            yield key[2], rounds, block.counts


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

"""How far an audit has come: which pair the next runs go to, and what all runs have earned.

Pairs are sought by successive halving: every stage gives its pairs a few rounds, learns, and keeps
the half of which most is to be expected. The rest of the runs goes, block by block, to the
finalist that promises most. Every block is bet on, by bets that earlier blocks fixed, and all of
them share one wealth. Blocks are counted in a fixed order and the decision to stop is taken
between blocks. What a log says against a claim is judged again, the most telling blocks of it,
before it counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.sample.bets import ASIDE, Wealth
from dpaudit.sample.block import PIECES, judge
from dpaudit.sample.codec import block_data, block_of, score_data, score_of
from dpaudit.sample.independence import Independence
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import (
    FINALISTS,
    SHORTLIST,
    AuditPlan,
    foreseeable,
    foreseen_statistics,
    learned_statistic,
    tried_statistics,
)
from dpaudit.sample.suspects import CAUTIOUS, Suspect, promises
from dpaudit.sample.workers import Task, Workers

RECALLED = 8  # blocks of a log that are judged again before they refute
Heard = Callable[[int, float, float], None]


class Progress:
    """How far an audit has come."""

    def __init__(
        self,
        plan: AuditPlan,
        workers: Workers,
        log: BlockLog,
        heard: Heard,
        deadline: float | None,
        independence: Independence,
    ) -> None:
        self.plan, self.workers, self.log = plan, workers, log
        self.heard, self.deadline, self.independence = heard, deadline, independence
        self.wealth = Wealth(plan.epsilon, plan.error, plan.delta)
        self.suspects = [
            Suspect(index, pair, tried_statistics(plan, pair), len(plan.pairs))
            for index, pair in enumerate(plan.pairs)
        ]
        self.runs = 0
        self.logged: list[tuple[float, str, Task, Any]] = []
        self.course: list[tuple[int, float, float]] = [(0, 0.0, 0.0)]
        self.gains: dict[int, float] = {}
        self.doubt = (
            "the audit ended before they were made again, which more time (--budget) allows"
        )
        """Why a refutation cannot be trusted to rest on independent runs, if it cannot."""

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def over(self) -> bool:
        """Whether there is nothing more to do."""
        return self.late or self.wealth.claim_refuted

    @property
    def left(self) -> int:
        """The rounds that are left."""
        return max(0, (self.plan.runs - self.runs) // 2)

    def perform(self, run: Any) -> None:
        """Seek a pair, bet until the claim is refuted or runs are out, and confirm."""
        chosen = self._sought(run)
        while self.left and not self.over:
            # they differ in rounds by now: caution would keep to the pair that has most
            best = self._ranked(chosen, caution=0.0)[0]
            self._wave([(best, self.plan.next_rounds(best.rounds, self.left))], run)
        if not self.wealth.claim_refuted:
            self.independence.end()
            return
        # the money came from these pairs, from the first one most
        guilty = sorted(self.gains, key=lambda it: -self.gains[it])
        self._recall(run)
        self.doubt = self.independence.confirm([self.plan.pairs[index] for index in guilty])

    def _sought(self, run: Any) -> list[Suspect]:
        """Return the finalists; one of them is a favoured pair, if there are any."""
        if foreseeable(self.plan):
            return self._foreseen(run)
        favoured, chosen = self.suspects[: self.plan.favoured], self.suspects[self.plan.favoured :]
        stages, prepared = self.plan.stages, False
        for number, (size, rounds) in enumerate(stages, start=2):
            if self.over or not self.left:
                break
            ranked = self._ranked(chosen)
            if number == len(stages) or len(stages) == 1:
                ranked = [*favoured[: max(SHORTLIST, size - len(ranked))], *ranked]
            elif favoured and number > len(stages):
                best = next(it for it in ranked if it in favoured)
                ranked = [best, *(it for it in ranked if it is not best)]
            chosen = ranked[:size]
            if size <= FINALISTS:
                self._prepare(chosen, run)
                prepared = True
            self.wealth.put_aside(ASIDE)
            self._wave([(suspect, rounds) for suspect in chosen], run)
            self.wealth.put_aside(0.0)
        finalists = self._ranked(chosen or favoured)[:FINALISTS]
        if not prepared and not self.over:
            self._prepare(finalists, run)
        return finalists

    def _foreseen(self, run: Any) -> list[Suspect]:
        """Return the pairs of which most is foreseen, without a run."""
        chosen = self.suspects
        for count, size in self.plan.looks:
            for suspect in chosen:
                suspect.look_at(foreseen_statistics(self.plan, suspect.index, count))
                suspect.learn(self.wealth, self.left)
                self._hear()
            chosen = self._ranked(chosen)[:size]
        self._prepare(chosen, run)
        return chosen

    def _prepare(self, chosen: list[Suspect], run: Any) -> None:
        """Give the finalists the statistics that cost more: scores of sequences, a classifier."""
        if not self.plan.learning_rounds:
            return
        names = {suspect.index: f"learned {suspect.index}" for suspect in chosen}
        missing = [index for index, name in names.items() if name not in self.log.done]
        results = iter(run([(learned_statistic, (self.plan, index)) for index in missing]))
        for suspect in chosen:
            name = names[suspect.index]
            if name in self.log.done:
                score = score_of(self.log.done[name])
            else:
                score = next(results)
                self.log.record(name, score_data(score))
            suspect.look_at([] if score is None else [score])
            self._tell(2 * self.plan.learning_rounds)

    def _ranked(self, some: list[Suspect], caution: float = CAUTIOUS) -> list[Suspect]:
        if len(some) < 2:
            return list(some)
        levels = promises(some, self.wealth, self.left, caution)
        expected = {it.index: level for it, level in zip(some, levels, strict=True)}
        return sorted(some, key=lambda it: (-expected[it.index], it.index))

    def _wave(self, asked: list[tuple[Suspect, int]], run: Any) -> None:
        """Run blocks for some pairs, bet on each, and learn from them."""
        plan, order = self.plan, []
        for suspect, rounds in asked:
            prospect = suspect.prospect(self.wealth, self.left)
            for number, part in enumerate(plan.parts(rounds), suspect.blocks):
                key = (1, suspect.index, number)
                parted, taught = suspect.bettors, suspect.taught
                given = (plan.box, suspect.pair, parted, part, key, plan.seed, taught, PIECES)
                task: Task = (judge, given)
                name = f"block {suspect.index} {number}"
                order.append((name, suspect, prospect, part, key, task))
        results = iter(run(it[-1] for it in order if it[0] not in self.log.done))
        for name, suspect, prospect, rounds, key, task in order:
            if logged := name in self.log.done:
                data = self.log.done[name]
                block = block_of(data, suspect.bettors, suspect.taught, rounds)
            else:
                block = next(results)
                self.log.record(name, block_data(block))
            before = float(self.wealth.log[self.wealth.claim])
            self.wealth.update(prospect, suspect.count(block, rounds), self.left)
            gain = float(self.wealth.log[self.wealth.claim]) - before
            if gain:
                self.gains[suspect.index] = self.gains.get(suspect.index, 0.0) + gain
            if logged:
                self.logged.append((gain, name, task, (block.counts, block.marks)))
            self.independence.keep(suspect.pair, key, rounds, block)
            self._tell(2 * rounds)
            if self.over:
                return
        for suspect, _ in asked:
            suspect.learn(self.wealth, self.left)

    def _recall(self, run: Any) -> None:
        """Judge again what a log says against a claim: the most telling blocks of it."""
        chosen = sorted(self.logged, key=lambda it: -it[0])[:RECALLED]
        again = run([task for _, _, task, _ in chosen])
        for (_, name, _, before), after in zip(chosen, again, strict=True):
            if (after.counts, after.marks) != before:
                rule = "did not come out again as it was logged; start anew with --log."
                raise InvalidArgument("block", f"'{name}'", rule)

    def _tell(self, runs: int) -> None:
        self.runs += runs
        wealth = self.wealth
        self.course.append((self.runs // 2, float(wealth.log[wealth.claim]), wealth.lower))
        self._hear()
        self.workers.check_memory(f"{self.runs} runs are done")

    def _hear(self) -> None:
        wealth = self.wealth
        self.heard(self.runs, wealth.lower, float(wealth.peak[wealth.claim]) / wealth.needed)

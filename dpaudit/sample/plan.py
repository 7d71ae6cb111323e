"""The plan of an audit: everything that fixes its result, decided before the first run.

Two audits with equal plans give equal bytes, whatever the number of jobs, the backend, or how often
they were killed. Runs are cut into blocks of a size that depends on the target alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import __version__
from dpaudit.core import compiled
from dpaudit.documents import SCHEMAS
from dpaudit.errors import InvalidArgument, UnknownName, require_integer, require_positive
from dpaudit.sample.bets import LARGEST, require_error
from dpaudit.sample.boxes import Box, DeclaredBox
from dpaudit.sample.codec import pair_data
from dpaudit.sample.conditional import foreseen, scorable
from dpaudit.sample.events import statistics
from dpaudit.sample.learned import Classifier, LearnedScore
from dpaudit.sample.rounds import run_rounds
from dpaudit.sample.runs import History
from dpaudit.sample.streams import Pair
from dpaudit.sources import engine_digest

EVENTS = ("tables", "learned")
MOST_TRAINING = 25_000  # rounds that teach a classifier
SEEKING = 3  # one run in so many seeks the pair, where there are several
SHORTLIST = 6  # pairs among which favoured ones must be
FINALISTS = 3  # pairs that the rest of the runs is for
SCREENING_ROUNDS = 32  # of a pair: fewer do not tell pairs apart
LEAST_ROUNDS = 4  # of a pair if there are fewer
GROWTH = 10  # a block has a tenth of the rounds of its pair so far
LARGEST_BLOCK = 1000
ENDING = 12  # and at most a twelfth of what is left: bets change fastest towards the end
FIRST_LOCKSTEP = 250  # rounds from which on runs in lockstep pay off
LEAST_BLOCK = 8
WAVE = 8  # largest blocks whose bets are alike
LEAST_RUNS = 16  # for every pair
FIRST_LOOK = (100, 400)  # runs with registers that foresee the law of a pair: least and most
LAST_LOOK = (200, 2000)  # and of a pair on the shortlist
SHORT, SURE = 1000, (200, 8000)  # rounds of runs that take little: as many as choose surely
BLOCK_CELLS = 2**23  # steps held in memory at once


@dataclass(frozen=True)
class AuditPlan:
    """A target, a claim, the pairs to try, the runs to spend and the error to spend them at.

    A pair may have the first steps of runs only, of a declaration: what they show, whole runs show.
    `prefixes` are numbers of first actions that events should also look at; the first `favoured`
    pairs skip the first stages of the search for a pair; `events` are "tables", or "learned" for a
    classifier beside them.
    """

    box: Box
    epsilon: float
    error: float
    runs: int
    seed: int
    pairs: tuple[Pair, ...]
    delta: float = 0.0
    prefixes: tuple[int, ...] = ()
    favoured: int = 0
    events: str = "tables"

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        if self.epsilon > LARGEST:
            rule = f"must be at most {LARGEST:g}: no number of runs refutes more."
            raise InvalidArgument("epsilon", self.epsilon, rule)
        require_integer("seed", self.seed, 0)
        require_error(self.error)
        if not 0 <= self.delta < 1:
            raise InvalidArgument("delta", self.delta, "must lie in [0, 1).")
        if self.events not in EVENTS:
            raise UnknownName("events", self.events, EVENTS)
        if not self.pairs:
            raise InvalidArgument("pairs", 0, "must be at least 1.")
        for pair in self.pairs:
            cut = isinstance(self.box, DeclaredBox) and pair.stream.horizon < self.box.horizon
            if pair.stream.horizon != self.box.horizon and not cut:
                rule = f"must be the horizon, {self.box.horizon}."
                raise InvalidArgument(f"stream length of {pair.name!r}", pair.stream.horizon, rule)
        require_integer("runs", self.runs, LEAST_RUNS * len(self.pairs))

    def identity(self) -> dict[str, Any]:
        """Return what names this audit in its log."""
        return {
            "dpaudit": "log",
            "schema": SCHEMAS["log"],
            "version": __version__,
            "engine": engine_digest()[:16],
            "target": self.box.identity(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "error": self.error,
            "runs": self.runs,
            "seed": self.seed,
            "pairs": [pair_data(pair) for pair in self.pairs],
            "prefixes": list(self.prefixes),
            "favoured": self.favoured,
            "events": self.events,
        }

    @property
    def stages(self) -> list[tuple[int, int]]:
        """Pairs, and rounds for each, of the stages that seek the pair: fewer and fewer.

        Favoured pairs join the last stage but one, beside the best of the others: leads may be
        wrong. Where rounds are few there is one stage for all.
        """
        size, sizes = len(self.pairs) - self.favoured, []
        while size > SHORTLIST:
            sizes.append(size)
            size = min((size + 1) // 2, SHORTLIST)
        joining = min(self.favoured, SHORTLIST)
        size = max(min(size + joining, SHORTLIST), joining + min(size, FINALISTS))
        if size > FINALISTS:
            sizes.append(size)
        if size > 1:
            sizes.append(min(size, FINALISTS))
        whole = self.runs // (2 * SEEKING)
        if sizes and whole // len(sizes) // sizes[0] < SCREENING_ROUNDS:
            return [(len(self.pairs), max(whole // len(self.pairs), LEAST_ROUNDS))]
        return [(size, whole // len(sizes) // size) for size in sizes]

    @property
    def looks(self) -> list[tuple[int, int]]:
        """Runs with registers that foresee the law of a pair, and the pairs that are kept."""
        first, last = np.clip(self.runs // 50, *FIRST_LOOK), np.clip(self.runs // 10, *LAST_LOOK)
        if self.box.horizon <= SHORT:
            last = np.clip(self.runs // 4, *SURE)
        return [(int(first), SHORTLIST), (int(last), FINALISTS)]

    @property
    def learning_rounds(self) -> int:
        """Rounds that teach the classifier of a finalist, if there is one: half of all runs."""
        if self.events != "learned":
            return 0
        return min(self.runs // (4 * min(FINALISTS, len(self.pairs))), MOST_TRAINING)

    @property
    def largest_block(self) -> int:
        """Rounds whose runs fit into the memory of a block."""
        cells = 64 * self.box.arms if in_lockstep(self.box) else self.box.horizon
        return max(1, min(LARGEST_BLOCK, BLOCK_CELLS // cells))

    def next_rounds(self, done: int, left: int) -> int:
        """Rounds of the next block of a pair: as many as do not pay to be split by new bets.

        At the end what is bet depends on wealth alone, and on every round: blocks become small, in
        lockstep too, where the first ones are not cut below what pays off.
        """
        first = FIRST_LOCKSTEP if foreseeable(self) else LEAST_BLOCK
        most = min(max(first, done // GROWTH), left // ENDING, WAVE * self.largest_block)
        return min(left, max(LEAST_BLOCK, most))

    def parts(self, rounds: int) -> list[int]:
        """Return the rounds of the blocks that are made for so many."""
        full, rest = divmod(rounds, self.largest_block)
        return [self.largest_block] * full + ([rest] if rest else [])


def in_lockstep(box: Box) -> bool:
    """Return whether the runs of a block advance together: it costs little more than one run."""
    return isinstance(box, DeclaredBox) and not compiled.supports(box.algorithm)


def tried_statistics(plan: AuditPlan, pair: Pair) -> list[Any]:
    """Return the statistics that any pair is looked at with; foresight brings its own."""
    known = foreseeable(plan)
    steps = pair.stream.horizon
    tried = [] if known else list(statistics(plan.box.arms, steps, pair.position))
    tried += [History(0, min(stop, steps)) for stop in plan.prefixes]
    return list(dict.fromkeys(tried))


def foreseeable(plan: AuditPlan) -> bool:
    """Tell whether the law of every pair can be foreseen."""
    box = plan.box
    return isinstance(box, DeclaredBox) and scorable(box.algorithm, box.horizon)


def foreseen_statistics(plan: AuditPlan, index: int, count: int) -> list[Any]:
    """Return statistics of a pair of which the law is foreseen, from so many runs of their own."""
    assert isinstance(plan.box, DeclaredBox)
    found = foreseen(plan.box.algorithm, plan.pairs[index], count, [plan.seed, 7, index, count])
    # a part of a sequence is also worth a table of its frequencies
    return [*found, *(each.history for each in found)]


def learned_statistic(plan: AuditPlan, index: int) -> LearnedScore | None:
    """Return the score that runs of their own teach a classifier."""
    pair, size, rounds = plan.pairs[index], plan.largest_block, plan.learning_rounds
    classifier = Classifier(plan.box.arms, pair.stream.horizon, pair.position)
    for number, begun in enumerate(range(0, rounds, size)):
        count = min(size, rounds - begun)
        classifier.watch(*run_rounds(plan.box, pair, count, plan.seed, (0, index, number)))
    return classifier.score()

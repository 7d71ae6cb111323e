"""The plan of an audit: everything that fixes its result, decided before the first run.

Two audits with equal plans give equal bytes, whatever the number of jobs, the backend, or how often
they were killed. Runs are cut into blocks of a size that depends on the target alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dpaudit import __version__
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.episodes import Episodes
from dpaudit.core.perstep import PerStep
from dpaudit.documents import SCHEMAS
from dpaudit.errors import InvalidArgument, UnknownName, require_integer, require_positive
from dpaudit.sample.boxes import Box, DeclaredBox
from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.codec import pair_data
from dpaudit.sample.conditional import SAMPLE, scorable
from dpaudit.sample.events import Candidate, choose, statistics
from dpaudit.sample.events import Plan as Aim
from dpaudit.sample.learned import Classifier
from dpaudit.sample.rounds import run_rounds
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.scores import exact_prefixes, sequence_scores
from dpaudit.sample.streams import Pair
from dpaudit.sources import engine_digest

TRAINING_SHARE = {"tables": 4, "learned": 2}  # one run in so many trains
MOST_TRAINING = 25_000  # rounds; keeps the memory of training flat in the number of runs
FINALISTS = 2  # pairs that are judged, and events judged for each
SHORTLIST = 6  # pairs that are trained on at length
SCREENING_ROUNDS = 16  # fewer do not tell pairs apart
LARGEST_BLOCK = 1000
LARGEST_EPSILON = 600.0
SCORED_RUNS = 20_000  # from here on scores are worth their time
EXACT_SEQUENCES = 3  # whole sequences of a favoured pair that the exact engine scores
BLOCK_CELLS = 2**23  # steps held in memory at once


@dataclass(frozen=True)
class AuditPlan:
    """A target, a claim, the pairs to try, the runs to spend and the error to spend them at.

    `prefixes` are numbers of first actions that events should also look at; the first `favoured`
    pairs are trained on at length without screening; `act` numbers the part; `events` are
    "tables", or "learned" for a classifier beside them.
    """

    box: Box
    epsilon: float
    error: float
    runs: int
    seed: int
    pairs: tuple[Pair, ...]
    delta: float = 0.0
    act: int = 0
    prefixes: tuple[int, ...] = ()
    favoured: int = 0
    events: str = "tables"

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        if self.epsilon > LARGEST_EPSILON:
            rule = f"must be at most {LARGEST_EPSILON:g}: no number of runs refutes more."
            raise InvalidArgument("epsilon", self.epsilon, rule)
        require_integer("seed", self.seed, 0)
        ErrorBudget(self.error)
        if not 0 <= self.delta < 1:
            raise InvalidArgument("delta", self.delta, "must lie in [0, 1).")
        if self.events not in TRAINING_SHARE:
            raise UnknownName("events", self.events, TRAINING_SHARE)
        if not self.pairs:
            raise InvalidArgument("pairs", 0, "must be at least 1.")
        for pair in self.pairs:
            if pair.stream.horizon != self.box.horizon:
                rule = f"must be the horizon, {self.box.horizon}."
                raise InvalidArgument(f"stream length of {pair.name!r}", pair.stream.horizon, rule)
        require_integer("runs", self.runs, 16 * len(self.pairs))

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

    def acts(self) -> list[AuditPlan]:
        """Return the parts of the audit: a quick one that finds gross violations, then the rest.

        Each trains and judges on runs of its own, under its own share of the error.
        """
        quick = self.runs // 16
        if quick < 16 * len(self.pairs):
            return [self]
        return [replace(self, runs=quick), replace(self, runs=self.runs - quick, act=1)]

    @property
    def stages(self) -> list[tuple[int, int]]:
        """Pairs and rounds (one run on each stream, per half) of each stage of the training.

        A third of it screens the pairs where they are many, the rest is for the shortlist.
        """
        budget, pairs = self.runs // TRAINING_SHARE[self.events], len(self.pairs)
        screened = pairs - self.favoured
        rounds = budget // 3 // (4 * max(screened, 1))
        if pairs <= SHORTLIST or rounds < SCREENING_ROUNDS:
            return [(pairs, max(2, min(budget // (4 * pairs), MOST_TRAINING)))]
        rest = budget - budget // 3
        return [
            (screened, min(rounds, MOST_TRAINING)),
            (SHORTLIST, min(rest // (4 * SHORTLIST), MOST_TRAINING)),
        ]

    @property
    def training_runs(self) -> int:
        """Runs that choose pairs and events and are never counted as evidence."""
        return sum(4 * pairs * rounds for pairs, rounds in self.stages) + (
            self.scoring_runs * self.stages[-1][0]
        )

    @property
    def scoring_runs(self) -> int:
        """Training runs per pair that teach the scores of whole sequences."""
        box = self.box
        if self.runs < SCORED_RUNS or not isinstance(box, DeclaredBox):
            return 0
        return 2 * SAMPLE if scorable(box.algorithm, box.horizon) else 0

    @property
    def finalists(self) -> int:
        """Pairs that reach the judgement."""
        return min(FINALISTS, len(self.pairs))

    def test_rounds(self, finalists: int) -> int:
        """Fresh rounds for each of the finalist pairs."""
        return max(1, (self.runs - self.training_runs) // (2 * finalists))

    @property
    def largest_block(self) -> int:
        """Rounds whose runs fit into the memory of a block."""
        cells = 64 * self.box.arms if in_lockstep(self.box) else self.box.horizon
        return max(1, min(LARGEST_BLOCK, BLOCK_CELLS // cells))

    @property
    def block_rounds(self) -> int:
        """Rounds of a full block: sixteen blocks, to be able to stop early.

        Lockstep pays off from a few hundred runs on, so its blocks are not cut below that.
        """
        least = 250 if in_lockstep(self.box) else 1
        return min(self.largest_block, max(least, self.test_rounds(FINALISTS) // 16))

    def blocks(self, finalists: int) -> list[int]:
        """Return the rounds of each block of a finalist pair."""
        rounds, size = self.test_rounds(finalists), self.block_rounds
        full, rest = divmod(rounds, size)
        return [size] * full + ([rest] if rest else [])


def in_lockstep(box: Box) -> bool:
    """Return whether the runs of a block advance together, a few dozen plays each."""
    return (
        isinstance(box, DeclaredBox)
        and isinstance(box.algorithm, Episodes)
        and not isinstance(box.algorithm, PerStep)
    )


def looks(blocks: int) -> list[int]:
    """Return after how many blocks the lower bounds are taken: powers of two, and the end."""
    powers = [2**k for k in range(blocks.bit_length()) if 2**k < blocks]
    return [*powers, blocks]


def train(plan: AuditPlan, index: int, stage: int = 0) -> list[Candidate]:
    """Return the most promising events of one pair, from training runs."""
    pair, size, rounds = plan.pairs[index], plan.largest_block, plan.stages[stage][1]
    place = (0, plan.act, index, stage)

    def draw(half: int) -> Iterator[tuple[Runs, Runs]]:
        for number, begun in enumerate(range(0, rounds, size)):
            count = min(size, rounds - begun)
            yield run_rounds(plan.box, pair, count, plan.seed, (*place, half, number))

    tried = list(statistics(plan.box.arms, plan.box.horizon, pair.position))
    tried += [History(0, min(stop, plan.box.horizon)) for stop in plan.prefixes]
    if isinstance(plan.box, DeclaredBox):
        tried += _scored(plan, plan.box.algorithm, index, stage)
    aim = Aim(plan.test_rounds(FINALISTS), plan.error / (2 * FINALISTS) ** 2, plan.delta)
    learns = plan.events == "learned"
    classifier = Classifier(plan.box.arms, plan.box.horizon, pair.position) if learns else None
    return choose(tried, draw, aim, FINALISTS, classifier)


def _scored(plan: AuditPlan, algorithm: Algorithm, index: int, stage: int) -> list[Any]:
    """Return the scored statistics of a declared algorithm that are worth their time."""
    if plan.runs < SCORED_RUNS or stage < len(plan.stages) - 1:
        return []
    pair = plan.pairs[index]
    found: list[Any] = list(exact_prefixes(algorithm, pair))
    if plan.scoring_runs:
        exact = EXACT_SEQUENCES if index < plan.favoured else 0
        scored = sequence_scores(algorithm, pair, [plan.seed, 7, plan.act, index], exact)
        # a part of a sequence is also worth a table of its frequencies
        found += [*scored, *(score.history for score in scored)]
    return found

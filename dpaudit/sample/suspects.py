"""A pair under suspicion: what its runs have taught so far, and who bets on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.bets import CAUTION, Prospect, Wealth, best_bets
from dpaudit.sample.block import Block
from dpaudit.sample.cells import MOST_CELLS, Cells, Table, learned, plain_statistic
from dpaudit.sample.events import Event
from dpaudit.sample.streams import Pair

BETTORS = 6  # cells that are bet on at once
AGAIN = 1.5  # times the rounds until everything is learned again
MOST_TAUGHT = 2**15  # rounds of a pair that teach: keeps memory and logs flat
CAUTIOUS = 1.0  # standard deviations of caution about bettors and pairs that are chosen


class Suspect:
    """A pair among `rivals`, tables of what its runs showed, and the bettors that these taught."""

    def __init__(self, index: int, pair: Pair, tried: Sequence[Any], rivals: int = 1) -> None:
        self.index, self.pair, self.rivals = index, pair, rivals
        self.rounds = self.blocks = self.learned_at = 0
        self.statistics: dict[Any, Any] = {}
        self.tables: dict[Any, Table] = {}
        self.bettors: tuple[Cells, ...] = ()
        self.counts = self.foreseen = np.zeros((0, 2, MOST_CELLS), dtype=np.int64)
        self.chosen_at, self.among = 0, 1  # rounds that chose the bettors, among so many
        self.look_at(tried)

    @property
    def caution(self) -> float:
        """The standard deviations by which beliefs of bettors are to be doubted.

        The best of n pairs looks better than it is by about sqrt(2 log n) deviations; rounds
        that had no part in choosing it take that back.
        """
        share = self.chosen_at / self.rounds if self.rounds else 0.0
        return CAUTION + math.sqrt(2 * math.log(self.among) * share)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many cells each bettor has."""
        return np.array([cells.size for cells in self.bettors], dtype=np.int64)

    @property
    def beliefs(self) -> NDArray[np.int64]:
        """What bettors believe of their cells: counts of rounds, and what was foreseen."""
        return self.counts + self.foreseen

    @property
    def taught(self) -> tuple[Any, ...]:
        """The statistics that blocks tell about."""
        return tuple(self.tables) if self.rounds < MOST_TAUGHT else ()

    def look_at(self, statistics: Sequence[Any]) -> None:
        """Look at more statistics, from the next block on; learn again after it."""
        for statistic in statistics:
            plain = plain_statistic(statistic)
            self.tables.setdefault(plain, Table.empty(plain))
            self.statistics[type(statistic), plain] = statistic
        self.learned_at = 0

    def count(self, block: Block, rounds: int) -> NDArray[np.int64]:
        """Add a block to the beliefs and to the tables; return its counts, piece by piece."""
        counts = np.zeros((len(block.counts), *self.counts.shape), dtype=np.int64)
        for piece, found in zip(counts, block.counts, strict=True):
            for row, both in zip(piece, found, strict=True):
                row[:, : len(both[0])] = both
        self.counts = self.counts + counts.sum(axis=0)
        for statistic, table in zip(self.tables, block.tables, strict=False):
            if table is not None:
                self.tables[statistic] = self.tables[statistic] + table
        self.rounds += rounds
        self.blocks += 1
        return counts

    def learn(self, wealth: Wealth, left: int) -> None:
        """Cut new cells if there is much more to learn from, and keep the most promising ones."""
        if self.rounds < AGAIN * self.learned_at or self.learned_at >= MOST_TAUGHT:
            return
        self.learned_at = self.rounds
        tables = ((it, self.tables[plain_statistic(it)]) for it in self.statistics.values())
        found = [each for it in tables if (each := learned(*it)) is not None]
        if not found:
            return
        both = np.zeros((2, len(found), 2, MOST_CELLS), dtype=np.int64)
        for number, (cells, *known) in enumerate(found):
            both[:, number, :, : cells.size] = known
        beliefs = both.sum(axis=0)
        sizes = np.array([each[0].size for each in found])
        order = np.argsort(-wealth.reach(beliefs, sizes, left, CAUTIOUS), kind="stable")
        marks: dict[bytes, int] = {}
        for number in order.tolist():
            marks.setdefault(np.sort(beliefs[number], axis=1).tobytes(), number)
        chosen = list(marks.values())[:BETTORS]
        self.chosen_at, self.among = self.rounds, 1 if both[1].any() else self.rivals
        self.bettors = tuple(found[number][0] for number in chosen)
        self.counts, self.foreseen = both[:, chosen]

    def prospect(self, wealth: Wealth, left: int) -> Prospect | None:
        """Return the bets on the next block, if so many rounds are left."""
        if not self.bettors:
            return None
        return wealth.prospect(self.beliefs, self.sizes, left, self.caution)

    def outlook(self, wealth: Wealth) -> float:
        """Return the rounds of this pair that may exclude the lowest open level."""
        if not self.bettors:
            return math.inf
        return wealth.rounds_to_exclude(self.beliefs, self.sizes, CAUTIOUS)

    def telling(self, wealth: Wealth) -> Telling | None:
        """Return the event that says most at the highest level that is refuted."""
        level = wealth.claim if wealth.claim_refuted else max(wealth.refuted - 1, 0)
        ratio, found = float(wealth.ratios[level]), []
        for cells, counts in zip(self.bettors, self.counts, strict=True):
            for swapped in (0, 1):
                here, there = counts[swapped], counts[1 - swapped]
                inside = np.flatnonzero(here[: cells.size] > ratio * there[: cells.size])
                event, kept = cells.event(inside.tolist())
                if event is not None:
                    hits, others = int(here[kept].sum()), int(there[kept].sum())
                    rounds = int(here.sum())
                    belief = (
                        np.array([each + 0.5, rounds - each + 0.5]) for each in (hits, others)
                    )
                    p, q = (each / (rounds + 1) for each in belief)
                    growth = float(
                        best_bets(np.array([ratio]), p, q, float(wealth.deltas[level])).growth
                    )
                    found.append(Telling(growth, event, swapped, hits, others, rounds))
        return max(found, key=lambda it: it.growth, default=None)


def promises(
    some: Sequence[Suspect], wealth: Wealth, left: int, caution: float = CAUTIOUS
) -> list[float]:
    """Return, for each pair, the level to expect of the rounds that are left, if they go to it."""
    if not any(it.bettors for it in some):
        return [0.0 for _ in some]
    beliefs, sizes = [it.beliefs for it in some], [it.sizes for it in some]
    levels = wealth.reach(np.concatenate(beliefs), np.concatenate(sizes), left, caution)
    ends = np.cumsum([len(it.bettors) for it in some])[:-1]
    return [float(part.max(initial=0.0)) for part in np.split(levels, ends)]


class Telling(NamedTuple):
    """An event and its counts on rounds that had no part in choosing it.

    Swapped means that it is likelier on the neighbour; `hits_other` are those on the other stream.
    """

    growth: float
    event: Event
    swapped: int
    hits: int
    hits_other: int
    rounds: int

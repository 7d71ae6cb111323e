"""One block of fresh runs: how often each cell occurred on either stream, and what it teaches.

It is counted in pieces, one after the other: what is bet on a piece may depend on those before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.boxes import Box, PolicyBox
from dpaudit.sample.cells import Table, tabled
from dpaudit.sample.rounds import mark_of, run_rounds
from dpaudit.sample.streams import Pair

MARKED = 8  # rounds of a block that can be made again: so many first ones, and telling ones
PIECES = 8  # of a block of an audit
SHOWN = 4096  # steps of a marked run that are kept to say what differs


class Parted(Protocol):
    """A statistic of runs and a few cells of its values: the cells of a bettor, or an event."""

    @property
    def statistic(self) -> Any:
        """What is read off a run."""

    @property
    def size(self) -> int:
        """The number of cells."""

    def of(self, values: Any) -> NDArray[Any]:
        """Return the cell of every value."""


@dataclass(frozen=True)
class Block:
    """One block of fresh runs: counts (piece, parted, stream, cell), and marks of some runs.

    A mark is a round and the digests of its two runs, by which they are known if they are made
    again; `shown` holds the actions of marked runs (round, side), where they are few. `tables` are
    what later bets may learn from.
    """

    counts: list[list[list[list[int]]]]
    marks: list[tuple[int, str, str]]
    tables: list[Table | None] = field(default_factory=list)
    shown: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict)


def pieces_of(rounds: int, most: int) -> list[slice]:
    """Return the pieces of a block, at most so many, as like as can be."""
    edges = [rounds * n // min(most, rounds) for n in range(min(most, rounds) + 1)]
    return [slice(*both) for both in pairwise(edges)]


def judge(
    box: Box,
    pair: Pair,
    parted: Sequence[Parted],
    rounds: int,
    key: tuple[int, ...],
    seed: int,
    taught: Sequence[Any] = (),
    pieces: int = 1,
) -> Block:
    """Return the counts of one block of fresh runs, and tables of the statistics to be taught."""
    both = run_rounds(box, pair, rounds, seed, key)
    statistics = dict.fromkeys([*(it.statistic for it in parted), *taught])
    values = {each: (each(both[0]), each(both[1])) for each in statistics}
    places = [[it.of(values[it.statistic][side]) for side in (0, 1)] for it in parted]
    counts = [
        [
            [np.bincount(place[piece], minlength=it.size).tolist() for place in both_places]
            for it, both_places in zip(parted, places, strict=True)
        ]
        for piece in pieces_of(rounds, pieces)
    ]
    tables = [tabled(each, *values[each]) for each in taught]
    if not isinstance(box, PolicyBox):
        return Block(counts, [(0, mark_of(both[0]), mark_of(both[1]))], tables)
    # what speaks against a claim are the runs inside of a rare cell: these first
    telling: list[int] = []
    if parted:
        one, other = places[0]
        telling = np.flatnonzero((one == 1) | (other == 1))[:MARKED].tolist()
    chosen = sorted({*telling, *range(min(rounds, MARKED))})
    marks = [(n, mark_of(both[0].only(n)), mark_of(both[1].only(n))) for n in chosen]
    few = box.horizon <= SHOWN
    shown = {(n, side): both[side].actions(n) for n in chosen for side in (0, 1) if few}
    return Block(counts, marks, tables, shown)

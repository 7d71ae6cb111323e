"""The judgement of one block of fresh runs: how often every event occurred on either stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.boxes import Box, PolicyBox
from dpaudit.sample.rounds import mark_of, run_rounds
from dpaudit.sample.streams import Pair

MARKED = 8  # rounds of a block that can be made again: so many first ones, and inside of an event
SHOWN = 4096  # steps of a marked run that are kept to say what differs


@dataclass(frozen=True)
class Block:
    """One block of fresh runs: counts on both streams for every event, and marks of some runs.

    A mark is a round and the digests of its two runs, by which they are known if they are made
    again; `shown` holds the actions of marked runs (round, side), where they are few.
    """

    counts: list[list[int]]
    marks: list[tuple[int, str, str]]
    shown: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict)


def judge(
    box: Box, pair: Pair, events: tuple[Any, ...], rounds: int, key: tuple[int, ...], seed: int
) -> Block:
    """Return the counts of every event on one block of fresh runs."""
    both = run_rounds(box, pair, rounds, seed, key)
    hits = [[event(runs) for runs in both] for event in events]
    counts = [[int(one.sum()), int(other.sum())] for one, other in hits]
    if not isinstance(box, PolicyBox):
        return Block(counts, [(0, mark_of(both[0]), mark_of(both[1]))])
    # what speaks against a claim are the runs inside of an event: these first
    telling = np.flatnonzero(np.any([one | other for one, other in hits], axis=0))
    chosen = sorted({*telling[:MARKED].tolist(), *range(min(rounds, MARKED))})
    marks = [(n, mark_of(both[0].only(n)), mark_of(both[1].only(n))) for n in chosen]
    few = box.horizon <= SHOWN
    shown = {(n, side): both[side].actions(n) for n in chosen for side in (0, 1) if few}
    return Block(counts, marks, shown)

"""Rounds: one run on the stream and one on its neighbour, in an order that a coin decides.

What drifts from run to run (a clock, a counter, a cache) then drifts alike on both streams: given
all that was before a round, either of its two runs is as likely to be the one on the stream. Every
run has a seed of its own, by its place in the audit, and the coins have theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from dpaudit.sample.boxes import Box, PolicyBox, Seed
from dpaudit.sample.guard import run_seeds
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream

COINS = 2  # beside the sides 0 and 1 of a pair
SIDES = ("stream", "neighbour")


def seed_of(seed: int, *key: int) -> Seed:
    """Return the seed of a block by its place in the audit."""
    return np.random.SeedSequence(seed, spawn_key=key)


def run_rounds(
    box: Box, pair: Pair, rounds: int, seed: int, key: tuple[int, ...]
) -> tuple[Runs, Runs]:
    """Return independent runs on both streams of a pair, those of foreign code in random order.

    A declaration runs in lockstep: all runs on a stream are one calculation, from one seed, that
    keeps nothing afterwards.
    """
    streams, seeds = (pair.stream, pair.neighbour), [seed_of(seed, *key, side) for side in (0, 1)]
    if not isinstance(box, PolicyBox):
        return box.run(streams[0], rounds, seeds[0]), box.run(streams[1], rounds, seeds[1])
    rewards, own = [it.array() for it in streams], [run_seeds(it, rounds) for it in seeds]
    first = np.random.default_rng(seed_of(seed, *key, COINS)).integers(0, 2, rounds)
    sides = np.stack((first, 1 - first), axis=1)
    actions = box.run_each(
        [(rewards[s], own[s][number]) for number, both in enumerate(sides) for s in both]
    )
    made = sides.ravel()
    return Runs.of_actions(actions[made == 0]), Runs.of_actions(actions[made == 1])


@dataclass(frozen=True)
class Slot:
    """Where a run stands in an audit: a number among runs from one seed; enough to make it again.

    For anything but foreign code it stands for all of these runs, which are made at once.
    """

    stream: Stream
    key: tuple[int, ...]
    runs: int
    number: int
    name: str

    @classmethod
    def of(cls, pair: Pair, key: tuple[int, ...], rounds: int, number: int, side: int) -> Slot:
        """Return the slot of a run on one side of a pair."""
        stream = pair.neighbour if side else pair.stream
        name = f"run {number + 1} on the {SIDES[side]} ({pair.name})"
        return cls(stream, (*key, side), rounds, number, name)

    def again(self, box: Box, seed: int) -> Runs:
        """Make the run again, alone."""
        if isinstance(box, PolicyBox):
            own = run_seeds(seed_of(seed, *self.key), self.number + 1)[-1]
            return Runs.of_actions(box.run_each([(self.stream.array(), own)]))
        return box.run(self.stream, self.runs, seed_of(seed, *self.key))


def mark_of(runs: Runs) -> str:
    """Return a digest of action sequences."""
    digest = blake2b(np.ascontiguousarray(runs.arms).tobytes(), digest_size=8)
    digest.update(np.ascontiguousarray(runs.starts).tobytes())
    return digest.hexdigest()

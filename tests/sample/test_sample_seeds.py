"""The two streams of a pair never share a seed, and judged runs none with training runs."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np

from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import PolicyBox
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.rounds import Slot, run_rounds
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream

PAIR = Pair("first", Stream.of([0.0] * 64), 0, 1.0)


@dataclass(frozen=True)
class Coins:
    """Plays by coins alone, and remembers which stream was run from which seed."""

    arms: int = 2
    horizon: int = 64
    seen: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)

    def identity(self) -> dict[str, str]:
        return {"policy": "coins"}

    def run(self, stream: Stream, runs: int, seed: np.random.SeedSequence) -> Runs:
        self.seen.append((stream.at(0), tuple(seed.spawn_key)))
        return Runs.of_actions(np.random.default_rng(seed).integers(0, 2, (runs, self.horizon)))


def test_runs_on_the_two_streams_are_independent():
    """Equal by chance with probability 2^-64."""
    for seed in (0, 1):
        stream, neighbour = run_rounds(Coins(), PAIR, 1, seed, (1, 0))
        assert not np.array_equal(stream.actions(0), neighbour.actions(0))


def test_no_seed_of_an_audit_is_used_twice():
    """The runs that judge would otherwise be those that chose what to judge."""
    box = Coins()
    audit(AuditPlan(box, 1.0, 0.05, 2000, 0, (PAIR,)))
    keys = [key for _, key in box.seen]
    assert len(keys) > 4
    assert len(set(keys)) == len(keys)
    assert {reward for reward, _ in box.seen} == {0.0, 1.0}


class Inquisitive:
    """Ignores every reward, and plays by what its generator says of where it comes from."""

    def __init__(self, arms, rng):
        key = rng.bit_generator.seed_seq
        SEEN.append((key.spawn_key, tuple(np.ravel(key.entropy).tolist())))

    def select(self):
        return 0

    def update(self, arm, reward):
        pass


SEEN: list = []


def test_a_generator_tells_nothing_of_the_audit():
    """Its key named the side of the pair, and its entropy was the same in every run."""
    SEEN.clear()
    box = PolicyBox("inquisitive", lambda rng: Inquisitive(2, rng), 2, 3)
    run_rounds(box, Pair("first", Stream.of([0.0] * 3), 0, 1.0), 8, 0, (1, 0))
    assert len(SEEN) == 16 and {key for key, _ in SEEN} == {()}
    assert len({entropy for _, entropy in SEEN}) == 16


def drawing(stream, rng):
    """Uses its generator in every way that numpy's own allows."""
    copies = [copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))]
    children = [*rng.spawn(1), *rng.spawn(1), np.random.default_rng(rng.bit_generator.seed_seq)]
    drawn = [each.integers(0, 2**15 - 1) for each in (rng, *copies, *children)]
    DRAWN.append(tuple(drawn))
    return drawn


DRAWN: list = []


def test_a_run_made_again_alone_draws_the_same():
    """Also with generators that it spawns, copies or makes of its seed."""
    box = PolicyBox("drawing", lambda rng: drawing, 2**15 - 1, 6)
    pair = Pair("first", Stream.of([0.0] * 6), 0, 1.0)
    both = run_rounds(box, pair, 40, 3, (1, 0))
    for number in (0, 17, 39):
        for side in (0, 1):
            alone = Slot.of(pair, (1, 0), 40, number, side).again(box, 3)
            assert np.array_equal(alone.actions(0), both[side].actions(number))
    assert len(set(DRAWN)) == 80
    first, one, other, *children = DRAWN[0]
    assert first == one == other and len({first, *children[:2]}) == 3

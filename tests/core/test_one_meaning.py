"""A declaration means one thing: what a rule sees is one public state, in every interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from dpaudit.core import lockstep, sampled
from dpaudit.core.environments import Bernoulli
from dpaudit.core.episodes import Deciding, DoublingEpisodes
from dpaudit.core.outcome import RunBlock, checkpoints
from dpaudit.core.scores import Affine, Imed, KLBound
from dpaudit.core.simulate import simulate
from dpaudit.core.stream import StreamRewards, interpret
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream

ARMS, HORIZON, RUNS = 3, 300, 40
ENVIRONMENT = Bernoulli((0.3, 0.5, 0.6))


def bonus(formula):
    """Doubling episodes whose bonus is `formula(pulls, time, m)`."""

    @dataclass(frozen=True, kw_only=True)
    class Careless(DoublingEpisodes):
        def rule(self, pulls, time, m):
            return Affine(formula(pulls, time, m))

    return Careless(arms=ARMS)


def branching(pulls, time, m):
    if time > 50:
        return m.sqrt(m.log(time) / pulls)
    return 3 * m.sqrt(m.log(time) / pulls)


def looping(pulls, time, m):
    return np.array([m.sqrt(m.log(time) / pulls[arm]) for arm in range(ARMS)])


CARELESS = {
    "sum over the counts": lambda pulls, time, m: m.sqrt(m.log(sum(pulls)) / pulls),
    "their own sum": lambda pulls, time, m: m.sqrt(m.log(pulls.sum()) / pulls),
    "the first arm's count": lambda pulls, time, m: m.sqrt(m.log(pulls[0] + 1) / pulls),
    "the largest count": lambda pulls, time, m: m.sqrt(m.log(pulls.max() + 1) / pulls),
    "a branch on the time": branching,
    "a loop over the arms": looping,
    "a number for all arms": lambda pulls, time, m: 1 / len(pulls),
    "a plain list": lambda pulls, time, m: np.array([1.0 / n for n in pulls.tolist()]),
}


def slow(algorithm, seed):
    """The reference: one run after the other through the declaration's own steps."""
    times = checkpoints(HORIZON)
    return sampled.run(algorithm, RunBlock(ENVIRONMENT, times, RUNS, np.random.default_rng(seed)))


class Tape:
    """A generator whose Laplace draws are fixed per call, so that runs can be compared."""

    def __init__(self, units):
        self.units, self.place = units, 0

    def laplace(self, loc=0.0, scale=1.0, size=None):
        count = 1 if size is None else size
        drawn = self.units[self.place : self.place + count]
        self.place += count
        return loc + scale * (drawn[0] if size is None else drawn)


@pytest.mark.parametrize("name", CARELESS)
def test_careless_rules_act_alike_one_by_one_and_in_lockstep(name):
    algorithm = bonus(CARELESS[name])
    assert lockstep.decisions(algorithm, HORIZON) is not None
    rng = np.random.default_rng(7)
    for _ in range(6):
        stream, units = rng.random(HORIZON), rng.laplace(size=HORIZON)
        rewards = StreamRewards(stream, ARMS)
        expected = interpret(algorithm, HORIZON, rewards, Tape(units)).actions
        pieces = Stream(tuple(stream), (1,) * HORIZON)
        found = run_many(algorithm, pieces, 1, Tape(units))
        np.testing.assert_array_equal(found.actions(0), expected)


def test_many_runs_in_one_block_have_the_law_of_single_runs():
    """Runs in different states shared a rule: the regret of 250 was not that of one.

    The means of 2 x 400 runs; a z-score of 6 has probability 2e-9.
    """
    algorithm = bonus(CARELESS["their own sum"])
    fast = simulate(algorithm, ENVIRONMENT, HORIZON, runs=400, seed=1).regrets
    blocks = [slow(algorithm, [2, block]).pulls for block in range(10)]
    slowly = np.concatenate(blocks) @ ENVIRONMENT.gaps
    error = np.sqrt(fast.var() / len(fast) + slowly.var() / len(slowly))
    assert abs(fast.mean() - slowly.mean()) < 6 * error


def test_rules_of_different_kinds_in_one_algorithm():
    @dataclass(frozen=True, kw_only=True)
    class Turncoat(DoublingEpisodes):
        def rule(self, pulls, time, m):
            if time > 40:
                return Imed(pulls / 2)
            return KLBound(m.log(time) / pulls) if time > 10 else Affine(1 / pulls)

    algorithm = Turncoat(arms=ARMS)
    decisions = lockstep.decisions(algorithm, HORIZON)
    rng = np.random.default_rng(3)
    rung = rng.integers(1, 6, size=(50, ARMS))
    x = rng.random((50, ARMS))
    expected = []
    for rungs, row in zip(rung, x, strict=True):
        pulls = tuple(decisions.climb.edges[r] for r in rungs)
        chosen = algorithm.step(Deciding(pulls)).request.rule
        from dpaudit.core.arithmetic import FLOAT

        expected.append(int(chosen(FLOAT).winner(row, rng)))
    np.testing.assert_array_equal(decisions.winners(rung, x, rng), expected)


def test_another_start_is_not_ignored():
    @dataclass(frozen=True, kw_only=True)
    class HeadStart(DoublingEpisodes):
        """Pretends that two pulls of arm 0 have been made; nobody may run it as if not."""

        def start(self):
            return Deciding((1,) * self.arms)

        def rule(self, pulls, time, m):
            return Affine(1 / pulls)

    assert lockstep.ladder(HeadStart(arms=2), 100) is None


def test_instances_that_a_class_calls_equal_are_told_apart():
    @dataclass(frozen=True, kw_only=True)
    class Alike(DoublingEpisodes):
        epsilon: float = field(default=1.0, compare=False)

        def rule(self, pulls, time, m):
            return Affine(1 / pulls)

    loud, quiet = Alike(arms=2, epsilon=0.01), Alike(arms=2, epsilon=100.0)
    assert loud == quiet and hash(loud) == hash(quiet)
    spread = [lockstep.decisions(each, 100).climb.spread[0, 0] for each in (loud, quiet)]
    assert spread == [200.0, 0.02]

"""Many runs of a declared algorithm on one reward stream, in lockstep over the runs.

An episode algorithm sees a stream only through the sums of its episodes, which are differences of
the stream's cumulative sum: a run of ten million steps costs a few dozen vectorised steps, shared
by all runs of a block (the ladder of `dpaudit.core.lockstep`). Per-step algorithms use the compiled
kernels. What neither understands goes through the reference interpreter, run by run, on the same
cumulative sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import compiled
from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.episodes import Episodes
from dpaudit.core.lockstep import Ladder, ladder
from dpaudit.core.stream import Trajectory, interpret
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream

_ladder = lru_cache(maxsize=64)(ladder)  # a ladder costs as much as a small block of runs


def run_many(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    """Return independent runs of a declaration on a stream."""
    if compiled.supports(algorithm):
        return _compiled(algorithm, stream, runs, rng)
    climb = _ladder(algorithm, stream.horizon)
    if climb is not None and isinstance(algorithm, Episodes):
        return run_episodes(algorithm, climb, stream, runs, rng)
    return _one_by_one(algorithm, stream, runs, rng)


def _compiled(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    rewards, horizon = stream.array(), stream.horizon
    # the kernel reads rewards[t, arm]: on a stream every arm pays the same
    table = np.broadcast_to(rewards[:, None], (horizon, algorithm.arms))
    random = compiled.Machine(algorithm).unit is not None
    actions = np.empty((runs if random else 1, horizon), dtype=np.int16)
    still = np.zeros(compiled.CHUNK)
    for row in actions:
        machine = compiled.Machine(algorithm)
        for begun in range(0, horizon, compiled.CHUNK):
            ended = min(begun + compiled.CHUNK, horizon)
            noise = still if machine.unit is None else machine.unit.draw(rng, ended - begun)
            row[begun:ended] = machine.advance(table[begun:ended], noise)
    found = Runs.of_actions(actions)
    # without noise all runs are equal: one is computed and repeated
    return found if random else found.repeated(runs)


class Releases(NamedTuple):
    """The releases of one turn, over the runs that make one; `kept` is what a register adds to."""

    runs: NDArray[np.int64]
    arm: NDArray[np.int64]
    begun: NDArray[np.int64]
    ended: NDArray[np.int64]
    noise: NDArray[np.float64]
    spread: NDArray[np.float64]
    divisor: NDArray[np.float64]
    kept: NDArray[np.float64]
    register: NDArray[np.float64]


def run_episodes(
    algorithm: Episodes,
    climb: Ladder,
    stream: Stream,
    runs: int,
    rng: np.random.Generator,
    released: Callable[[Releases], None] = lambda _: None,
) -> Runs:
    """Return runs of an episode algorithm, one array operation per turn of all runs.

    `released` hears of every turn's releases, with the registers that they leave.
    """
    arms, horizon = algorithm.arms, stream.horizon
    register = np.zeros((runs, arms))
    pulls = np.zeros((runs, arms), dtype=np.int64)
    rung = np.zeros((runs, arms), dtype=np.int64)
    time = np.zeros(runs, dtype=np.int64)
    played: list[NDArray[np.int16]] = []
    starts: list[NDArray[np.int64]] = []
    alive = np.arange(runs)
    while len(alive):
        if len(played) < arms:
            arm = np.full(len(alive), len(played))
        else:
            rule = algorithm.rule(pulls[alive].astype(float), time[alive, None] + 1.0, FLOAT)
            arm = np.asarray(rule.winner(register[alive], rng))
        column, start = np.zeros(runs, dtype=np.int16), np.full(runs, horizon, dtype=np.int64)
        column[alive], start[alive] = arm, time[alive]
        played.append(column)
        starts.append(start)
        step, begun = rung[alive, arm], time[alive]
        ended = np.minimum(begun + climb.lengths[step], horizon)
        pulls[alive, arm] += ended - begun
        rung[alive, arm] += 1
        time[alive] = ended
        # an episode that ends at the horizon, cut or not, is never released
        going = ended < horizon
        alive, arm, step, begun, ended = (x[going] for x in (alive, arm, step, begun, ended))
        spread, divisor = climb.spread[arm, step], climb.divisor[arm, step]
        noise = climb.unit.draw(rng, len(alive)) * spread
        total = stream.cumulative(ended) - stream.cumulative(begun)
        kept = climb.memory[arm, step] * register[alive, arm]
        held = register[alive, arm] = kept + (total / divisor + noise)
        released(Releases(alive, arm, begun, ended, noise, spread, divisor, kept, held))
    return Runs(np.stack(played, axis=1), np.stack(starts, axis=1), horizon)


class CumulativeRewards:
    """Rewards of a stream for the reference interpreter, in memory that grows with the plays."""

    def __init__(self, stream: Stream, arms: int) -> None:
        self.stream = stream
        self.time = 0
        self.plays: list[list[tuple[int, int, int]]] = [[] for _ in range(arms)]

    def play(self, arm: int, rounds: int) -> None:
        """Give the next steps of the stream to an arm."""
        done = self.plays[arm]
        first = done[-1][1] if done else 0
        if done and done[-1][2] + (first - done[-1][0]) == self.time:
            done[-1] = (done[-1][0], first + rounds, done[-1][2])
        else:
            done.append((first, first + rounds, self.time))
        self.time += rounds

    def total(self, rows: Rows) -> float:
        """Return the sum of the arm's rewards number first to stop - 1."""
        total = 0.0
        for first, stop, start in reversed(self.plays[rows.arm]):
            low, high = max(first, rows.first), min(stop, rows.stop)
            if low < high:
                edges = self.stream.cumulative(
                    np.array([start + low - first, start + high - first])
                )
                total += float(edges[1] - edges[0])
            if first <= rows.first:
                break
        return total


def _one_by_one(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    found: list[Trajectory] = []
    for _ in range(runs):
        rewards = CumulativeRewards(stream, algorithm.arms)
        found.append(interpret(algorithm, stream.horizon, rewards, rng))
    width = max(len(run.arms) for run in found)
    arms = np.zeros((runs, width), dtype=np.int16)
    starts = np.full((runs, width), stream.horizon, dtype=np.int64)
    for index, run in enumerate(found):
        arms[index, : len(run.arms)] = run.arms
        starts[index, : len(run.arms)] = np.cumsum((0, *run.rounds[:-1]))
    return Runs(arms, starts, stream.horizon)

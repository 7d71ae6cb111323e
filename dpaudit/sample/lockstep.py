"""Many runs of a declared algorithm on one reward stream, in lockstep over the runs.

An episode algorithm sees a stream only through the sums of its episodes, which are differences of
the stream's cumulative sum: a run of ten million steps costs a few dozen vectorised steps, shared
by all runs of a block (the ladder of `dpaudit.core.lockstep`). Per-step algorithms use the compiled
kernels. What neither understands is interpreted, for all runs in one public state at once
(`together`), or run by run where states cannot be told apart, on the same cumulative sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import compiled
from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.canonical import Distrust
from dpaudit.core.lattice import rounded
from dpaudit.core.lockstep import Counts, Decisions, Releases, advance, decisions
from dpaudit.core.stream import Trajectory, apart, in_any_order, interpret
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream
from dpaudit.sample.together import run_together


def run_many(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    """Return independent runs of a declaration on a stream."""
    if compiled.supports(algorithm) and stream.horizon <= getattr(algorithm, "horizon", math.inf):
        return _compiled(algorithm, stream, runs, rng)
    climbing = decisions(algorithm, stream.horizon)
    if climbing is not None:
        return run_episodes(climbing, stream, runs, rng)
    with suppress(Distrust):
        return run_together(algorithm, stream, runs, rng)
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


def run_episodes(
    decisions: Decisions,
    stream: Stream,
    runs: int,
    rng: np.random.Generator,
    released: Callable[[Releases], None] = lambda _: None,
) -> Runs:
    """Return runs of an episode algorithm, one array operation per turn of all runs.

    `released` hears of every turn's releases, with the registers that they leave.
    """

    grid = decisions.climb.grid

    def totals(arm: Counts, begun: Counts, ended: Counts) -> NDArray[Any]:
        if grid:
            return np.asarray(stream.steps(ended, grid) - stream.steps(begun, grid))
        return np.asarray(stream.cumulative(ended) - stream.cumulative(begun))

    plays = advance(decisions, stream.horizon, runs, rng, totals, released)
    return Runs(*plays, stream.horizon)


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
        for begun, ended in self._spans(rows):
            edges = self.stream.cumulative(np.array([begun, ended]))
            total += float(edges[1] - edges[0])
        return total

    def steps(self, rows: Rows, grid: int, rounding: str, rng: np.random.Generator) -> int:
        """Return the sum of the same rewards on a grid, in integers."""
        total = 0
        for begun, ended in self._spans(rows):
            for value, count in self.stream.between(begun, ended):
                if rounding == "nearest":
                    total += count * int(rounded(np.array([value]), grid, rounding, rng)[0])
                else:
                    low = int(value * grid)
                    total += count * low + int(rng.binomial(count, value * grid - low))
        return total

    def _spans(self, rows: Rows) -> Iterator[tuple[int, int]]:
        """Yield the steps of the stream that the arm's rows were paid at."""
        for first, stop, start in reversed(self.plays[rows.arm]):
            low, high = max(first, rows.first), min(stop, rows.stop)
            if low < high:
                yield start + low - first, start + high - first
            if first <= rows.first:
                break


def _one_by_one(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    own = [apart(rng) for _ in range(runs)]

    def run(number: int) -> Trajectory:
        rewards = CumulativeRewards(stream, algorithm.arms)
        return interpret(algorithm, stream.horizon, rewards, own[number])

    found: list[Trajectory] = in_any_order(runs, run)
    width = max(len(run.arms) for run in found)
    arms = np.zeros((runs, width), dtype=np.int16)
    starts = np.full((runs, width), stream.horizon, dtype=np.int64)
    for index, plays in enumerate(found):
        arms[index, : len(plays.arms)] = plays.arms
        starts[index, : len(plays.arms)] = np.cumsum((0, *plays.rounds[:-1]))
    return Runs(arms, starts, stream.horizon)

"""Many runs of a declared algorithm on one reward stream, in lockstep over the runs.

An episode algorithm sees a stream only through the sums of its episodes, which are differences of
the stream's cumulative sum: a run of ten million steps costs a few dozen vectorised steps, shared
by all runs of a block. What the fast path does not understand (registers other than one per arm,
releases of anything but the episode or all rewards so far) goes through the reference interpreter,
run by run, with the same cumulative sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import compiled
from dpaudit.core.algorithm import Accumulate, Algorithm, Release, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.episodes import Episodes
from dpaudit.core.noise import Gaussian, Laplace, NoNoise
from dpaudit.core.stream import Trajectory, interpret
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream

Runner = Callable[[Any, Stream, int, np.random.Generator], Runs]


def run_many(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    """Return independent runs of a declaration on a stream.

    Where a first run draws nothing from the generator, the algorithm is deterministic and the
    run is repeated rather than computed again.
    """
    if compiled.supports(algorithm):
        runner: Runner = _compiled
    elif isinstance(algorithm, Episodes) and _simple(algorithm):
        runner = _episodes
    else:
        runner = _one_by_one
    before = rng.bit_generator.state
    first = runner(algorithm, stream, 1, rng)
    if rng.bit_generator.state == before:
        return first.repeated(runs)
    rng.bit_generator.state = before
    return runner(algorithm, stream, runs, rng)


def _compiled(algorithm: Any, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    rewards, horizon = stream.array(), stream.horizon
    # a column of its own per arm: the kernel reads rewards[t, arm]
    table = np.broadcast_to(rewards[:, None], (horizon, algorithm.arms))
    actions = np.empty((runs, horizon), dtype=np.int16)
    still = np.zeros(compiled.CHUNK)
    for index in range(runs):
        machine = compiled.Machine(algorithm)
        for begun in range(0, horizon, compiled.CHUNK):
            ended = min(begun + compiled.CHUNK, horizon)
            noise = still if machine.unit is None else machine.unit.draw(rng, ended - begun)
            actions[index, begun:ended] = machine.advance(table[begun:ended], noise)
    return Runs.of_actions(actions)


def _simple(algorithm: Episodes) -> bool:
    kind = type(algorithm)
    if (kind.step, kind.choice, kind.registers, kind.start) != (
        Episodes.step,
        Episodes.choice,
        Episodes.registers,
        Episodes.start,
    ):
        return False
    length = algorithm.episode_length(1)
    request = algorithm.release(Rows(1, 1, 1 + length))
    return (
        request.register == 1
        and isinstance(request.noise, Laplace | Gaussian | NoNoise)
        and request.rows in (Rows(1, 1, 1 + length), Rows(1, 0, 1 + length))
    )


def _episodes(algorithm: Any, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    arms, horizon = algorithm.arms, stream.horizon
    pulls = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms))
    registers = np.zeros((runs, arms))
    time = np.zeros(runs, dtype=np.int64)
    played: list[NDArray[np.int16]] = []
    starts: list[NDArray[np.int64]] = []
    live = np.arange(runs)
    while len(live):
        turn = len(played)
        if turn < arms:
            arm = np.full(len(live), turn)
            rounds = np.ones(len(live), dtype=np.int64)
        else:
            rule = algorithm.rule(pulls[live].astype(float), (time[live] + 1.0)[:, None], FLOAT)
            arm = np.asarray(rule.winner(registers[live], rng))
            rounds = np.asarray(algorithm.episode_length(pulls[live, arm]), dtype=np.int64)
            rounds = np.broadcast_to(rounds, arm.shape)
        begun = time[live]
        ended = np.minimum(begun + rounds, horizon)
        column = np.zeros(runs, dtype=np.int16)
        column[live] = arm
        start = np.full(runs, horizon, dtype=np.int64)
        start[live] = begun
        played.append(column)
        starts.append(start)
        reward = stream.cumulative(ended) - stream.cumulative(begun)
        totals[live, arm] += reward
        _release(algorithm, live, arm, pulls, rounds, reward, totals, registers, rng)
        pulls[live, arm] += rounds
        time[live] = ended
        live = live[ended < horizon]
    return Runs(np.stack(played, axis=1), np.stack(starts, axis=1), horizon)


def _release(
    algorithm: Any,
    live: NDArray[np.int64],
    arm: NDArray[np.int64],
    pulls: NDArray[np.int64],
    rounds: NDArray[np.int64],
    reward: NDArray[np.float64],
    totals: NDArray[np.float64],
    registers: NDArray[np.float64],
    rng: np.random.Generator,
) -> None:
    """Write the noisy release of each live run's episode; runs with equal rows are done at once."""
    first = pulls[live, arm]
    groups, inverse = np.unique(np.stack((arm, first, rounds)), axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    for index, (which, begin, length) in enumerate(groups.T.tolist()):
        members = np.flatnonzero(inverse == index)
        rows = Rows(which, begin, begin + length)
        request: Release | Accumulate = algorithm.release(rows)
        covered = reward[members] if request.rows == rows else totals[live[members], which]
        value = covered / float(request.divisor) + _draw(request.noise, len(members), rng)
        if isinstance(request, Accumulate):
            value = value + registers[live[members], which]
        registers[live[members], which] = value


def _draw(noise: Any, count: int, rng: np.random.Generator) -> Any:
    match noise:
        case Laplace(scale):
            return rng.laplace(0.0, float(scale), count)
        case Gaussian(deviation):
            return rng.normal(0.0, deviation, count)
        case _:
            return 0.0


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

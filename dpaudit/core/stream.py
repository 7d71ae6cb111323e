"""The stream runner: a declared algorithm on a fixed reward stream, with sampled noise.

The reward at step t is stream[t] whichever arm is played, as in the definition of global DP. This
is the reference interpreter: the faster ones are tested against it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Keep, Play, Release, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.errors import InvalidArgument


class Rewards(Protocol):
    """Where rewards come from; only their sums over rows are ever asked for."""

    def play(self, arm: int, rounds: int) -> None:
        """Collect the rewards of the next rounds for an arm."""

    def total(self, rows: Rows) -> float:
        """Return the sum of an arm's collected rewards."""


class StreamRewards:
    """Rewards of a fixed stream: step t pays stream[t], whichever arm is played."""

    def __init__(self, stream: NDArray[np.float64], arms: int) -> None:
        self.stream = stream
        self.time = 0
        self.steps: list[list[int]] = [[] for _ in range(arms)]

    def play(self, arm: int, rounds: int) -> None:
        """Give the next steps of the stream to an arm."""
        self.steps[arm].extend(range(self.time, self.time + rounds))
        self.time += rounds

    def total(self, rows: Rows) -> float:
        """Return the sum of the arm's rewards number first to stop - 1."""
        return float(self.stream[self.steps[rows.arm][rows.first : rows.stop]].sum())


@dataclass(frozen=True)
class Trajectory:
    """What a run made public: the arm of every play, its rounds, and the number of releases."""

    arms: tuple[int, ...]
    rounds: tuple[int, ...]
    releases: int

    @property
    def actions(self) -> NDArray[np.int64]:
        """The arm of every step."""
        return np.repeat(np.array(self.arms, dtype=np.int64), self.rounds)


def interpret(algorithm: Algorithm, horizon: int, rewards: Rewards, rng: Any) -> Trajectory:
    """Run a declaration for `horizon` rounds on some rewards and return what it made public."""
    registers: dict[Hashable, float] = {}
    pulls = [0] * algorithm.arms
    arms: list[int] = []
    rounds: list[int] = []
    releases, time = 0, 0
    state = algorithm.start()
    while True:
        step = algorithm.step(state)
        answer: Any = None
        match step.request:
            case Play(arm, length):
                length = min(length, horizon - time)
                rewards.play(arm, length)
                arms.append(arm)
                rounds.append(length)
                time += length
                if time == horizon:
                    return Trajectory(tuple(arms), tuple(rounds), releases)
                answer = Rows(arm, pulls[arm], pulls[arm] + length)
                pulls[arm] += length
            case Release(register, rows, noise, divisor):
                registers[register] = rewards.total(rows) / float(divisor) + noise.sample(rng)
                releases += 1
            case Accumulate(register, rows, noise, divisor):
                added = rewards.total(rows) / float(divisor) + noise.sample(rng)
                registers[register] = registers.get(register, 0.0) + added
                releases += 1
            case Choose(candidates, names, rule):
                x = np.array([sum(registers[name] for name in group) for group in names])
                answer = candidates[int(rule(FLOAT).winner(x, rng))]
            case Keep(candidates, names, width):
                x = np.array([sum(registers[name] for name in group) for group in names])
                near = x >= x.max() - float(width(FLOAT))
                answer = tuple(arm for arm, kept in zip(candidates, near, strict=True) if kept)
        state = step.then(answer)


def run_stream(
    algorithm: Algorithm, stream: Sequence[float] | NDArray[Any], rng: Any
) -> Trajectory:
    """Run an algorithm on a reward stream; the horizon is the stream's length."""
    rewards = np.asarray(stream, dtype=float)
    if rewards.ndim != 1 or len(rewards) < 1:
        raise InvalidArgument("stream", rewards.shape, "must be one row of at least one reward.")
    if not np.all((rewards >= 0) & (rewards <= 1)):
        raise InvalidArgument("stream", "(values)", "must lie in [0, 1].")
    return interpret(algorithm, len(rewards), StreamRewards(rewards, algorithm.arms), rng)

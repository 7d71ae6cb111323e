"""Many action sequences at once, and the statistics of them that events are made of.

A run is stored as plays: an arm and the step at which its play began. Per-step algorithms have one
play per step, episode algorithms a few dozen in ten million steps. A statistic is a function of
the action sequence alone: plays that continue the same arm are merged before anything is read.
Statistics are either keys (64-bit hashes: two histories that collide share a key, which is still
a set of action sequences) or numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Runs:
    """`arms[i, j]` is played from step `starts[i, j]` on; rows are padded with start = horizon.

    Where every step is a play of its own, `starts` is the one row 0..horizon-1.
    """

    arms: NDArray[np.int16]
    starts: NDArray[np.int64]
    horizon: int

    @classmethod
    def of_actions(cls, actions: NDArray[Any]) -> Runs:
        """Return runs from their actions, one row per run."""
        horizon = actions.shape[1]
        return cls(actions.astype(np.int16), np.arange(horizon, dtype=np.int64), horizon)

    def __len__(self) -> int:
        return len(self.arms)

    @property
    def per_step(self) -> bool:
        """Whether every step is a play of its own."""
        return self.starts.ndim == 1

    def plays(self, index: int) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the arms and the starts of one run."""
        return self.arms[index], self.starts if self.per_step else self.starts[index]

    def actions(self, index: int, stop: int | None = None) -> NDArray[np.int64]:
        """Return the arm of every step of one run, up to `stop`."""
        end = self.horizon if stop is None else min(stop, self.horizon)
        arms, starts = self.plays(index)
        edges = np.minimum(np.append(starts, self.horizon), end)
        return np.repeat(arms.astype(np.int64), np.diff(edges))

    def only(self, index: int) -> Runs:
        """Return one of the runs."""
        starts = self.starts if self.per_step else self.starts[index : index + 1]
        return Runs(self.arms[index : index + 1], starts, self.horizon)

    def repeated(self, count: int) -> Runs:
        """Return one deterministic run as `count` equal ones."""
        shape = (count, self.arms.shape[1])
        starts = self.starts if self.per_step else np.broadcast_to(self.starts[:1], shape)
        return Runs(np.broadcast_to(self.arms[:1], shape), starts, self.horizon)


def mix(value: Any) -> Keys:
    """Return well-mixed 64-bit hashes of integers (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(value).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


@dataclass(frozen=True, order=True)
class History:
    """Key: the actions from step `start` to `stop - 1`."""

    start: int
    stop: int

    def __call__(self, runs: Runs) -> Keys:
        """Return one key per run: a sum of hashes of (step, arm) where the arm changes."""
        arms, starts = runs.arms, runs.starts
        if runs.per_step:
            arms, starts = arms[:, self.start : self.stop], starts[None, self.start : self.stop]
        ends = np.concatenate(
            (starts[:, 1:], np.full((len(starts), 1), min(self.stop, runs.horizon))), axis=1
        )
        begun = np.maximum(starts, self.start)
        inside = (begun < np.minimum(ends, self.stop)) & (starts < runs.horizon)
        changed = np.ones(arms.shape, dtype=bool)
        changed[:, 1:] = arms[:, 1:] != arms[:, :-1]
        changed |= starts <= self.start
        tokens = mix(begun * np.int64(1024) + arms)
        return np.asarray(np.where(inside & changed, tokens, np.uint64(0)).sum(1, dtype=np.uint64))

    def __str__(self) -> str:
        if self.start == 0:
            return f"the first {self.stop:,} actions"
        return f"the actions of rounds {self.start + 1:,} to {self.stop:,}"


def pulls(runs: Runs, arm: int, stop: int) -> NDArray[np.int64]:
    """Return how often each run plays an arm in its first `stop` steps."""
    if runs.per_step:
        return np.asarray((runs.arms[:, :stop] == arm).sum(1, dtype=np.int64))
    edges = np.minimum(
        np.concatenate((runs.starts, np.full((len(runs), 1), runs.horizon)), axis=1), stop
    )
    return np.asarray(np.where(runs.arms == arm, np.diff(edges, axis=1), 0).sum(1))


@dataclass(frozen=True, order=True)
class PullCounts:
    """Key: how often every arm was played in the first `stop` steps."""

    arms: int
    stop: int

    def __call__(self, runs: Runs) -> Keys:
        """Return one key per run."""
        return self.keys(pulls(runs, arm, self.stop) for arm in range(self.arms))

    @staticmethod
    def keys(counts: Iterable[NDArray[np.int64]]) -> Keys:
        """Return the keys of counts, a row for every arm."""
        key = np.zeros(1, dtype=np.uint64)
        for row in counts:
            key = mix(key ^ row.astype(np.uint64))
        return key

    def __str__(self) -> str:
        return f"the pulls of every arm after {self.stop:,} rounds"


@dataclass(frozen=True, order=True)
class Pulls:
    """Number: how often one arm was played in the first `stop` steps."""

    arm: int
    stop: int

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        """Return one number per run."""
        return pulls(runs, self.arm, self.stop).astype(float)

    def __str__(self) -> str:
        return f"the pulls of arm {self.arm} after {self.stop:,} rounds"

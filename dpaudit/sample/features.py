"""Features: an action sequence as a row of small whole numbers, for a classifier to weigh.

Which arm is played at many steps, how often each arm was played and how often the arm changed up to
a few stops, when each arm was first and last played, when the arm first changed after the changed
reward. Every feature is a whole number of at most 15 bits (long times lose their last bits), so
that sums over runs and weighted sums over features are exact in doubles, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.runs import Runs, pulls

BITS = 15
LOOKS = 128  # steps whose arm is a feature, shared among the arms
FEWEST_LOOKS = 16
SHOWN = 8  # arms that have features of their own
STOPS = 8
SWITCHES = 3


def spread(start: int, stop: int, count: int) -> tuple[int, ...]:
    """Return up to `count` whole numbers in start..stop-1, all or denser near the start."""
    if stop - start <= count:
        return tuple(range(start, stop))
    near = range(count // 2)
    far = np.geomspace(max(count // 2, 1), stop - start - 1, count - len(near))
    return tuple(sorted({start + step for step in (*near, *np.rint(far).astype(int).tolist())}))


@dataclass(frozen=True)
class Features:
    """The features of runs with these arms and horizon, for a reward changed at `position`."""

    arms: int
    horizon: int
    position: int

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The steps whose arm is looked at: all, or many after the changed reward."""
        count = max(FEWEST_LOOKS, LOOKS // min(self.arms - 1, SHOWN))
        start = 0 if self.horizon <= count else min(self.position + 1, self.horizon - 1)
        return spread(start, self.horizon, count)

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """The numbers of first steps over which plays and changes are counted."""
        start = min(self.position + 1, self.horizon - 1)
        far = np.geomspace(1, self.horizon - start, STOPS)
        return tuple(sorted({start + int(step) for step in np.rint(far)}))

    def __call__(self, runs: Runs) -> NDArray[np.int16]:
        """Return one row of features per run."""
        return np.stack([np.asarray(column, dtype=np.int16) for column in self._columns(runs)], 1)

    def _columns(self, runs: Runs) -> Iterator[NDArray[Any]]:
        shown = range(min(self.arms, SHOWN))
        for step in self.steps:
            played = arm_at(runs, step)
            for arm in shown[: self.arms - 1]:
                yield played == arm
        changed = changes(runs)
        for stop in self.stops:
            for arm in shown:
                yield _short(pulls(runs, arm, stop), stop)
            yield _short((changed & (_starts(runs) < stop)).sum(axis=1), stop)
        for arm in shown:
            plays = (runs.arms == arm) & (_starts(runs) < runs.horizon)
            yield _short(first(plays, runs), self.horizon)
            yield _short(last(plays, runs), self.horizon)
        later = changed & (_starts(runs) > self.position)
        for _ in range(SWITCHES):
            yield _short(first(later, runs), self.horizon)
            later[np.arange(len(runs)), later.argmax(axis=1)] = False


def _starts(runs: Runs) -> NDArray[np.int64]:
    return runs.starts[None, :] if runs.per_step else runs.starts


def _short(values: NDArray[Any], most: int) -> NDArray[Any]:
    """Return whole numbers up to `most` in at most 15 bits."""
    return np.asarray(values >> max(0, most.bit_length() - BITS))


def arm_at(runs: Runs, step: int) -> NDArray[np.int16]:
    """Return the arm that each run plays at a step."""
    if runs.per_step:
        return runs.arms[:, step]
    play = (runs.starts <= step).sum(axis=1) - 1
    return np.asarray(runs.arms[np.arange(len(runs)), play])


def changes(runs: Runs) -> NDArray[np.bool_]:
    """Return which plays begin with another arm than the one before."""
    found = np.zeros(runs.arms.shape, dtype=bool)
    found[:, 1:] = runs.arms[:, 1:] != runs.arms[:, :-1]
    return np.asarray(found & (_starts(runs) < runs.horizon))


def first(marked: NDArray[np.bool_], runs: Runs) -> NDArray[np.int64]:
    """Return the step at which each run's first marked play begins; the horizon without one."""
    place = marked.argmax(axis=1)
    step = runs.starts[place] if runs.per_step else runs.starts[np.arange(len(runs)), place]
    return np.where(marked.any(axis=1), step, runs.horizon)


def last(marked: NDArray[np.bool_], runs: Runs) -> NDArray[np.int64]:
    """Return the step after each run's last marked play; zero without one."""
    place = marked.shape[1] - marked[:, ::-1].argmax(axis=1)
    if runs.per_step:
        step = place
    else:
        ends = np.concatenate((runs.starts, np.full((len(runs), 1), runs.horizon)), axis=1)
        step = ends[np.arange(len(runs)), place]
    return np.where(marked.any(axis=1), step, 0)

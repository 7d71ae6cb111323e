"""Events: sets of action sequences, each a statistic and a condition on it; and what is tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.runs import History, PullCounts, Pulls, Runs


class Condition:
    """A set of values of a statistic, as two cells: 0 outside and 1 inside."""

    statistic: Any
    size = 2

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        raise NotImplementedError

    def of(self, values: Any) -> NDArray[np.int64]:
        """Return the cell of each value."""
        return self.holds(values).astype(np.int64)

    def __call__(self, runs: Runs) -> NDArray[np.bool_]:
        """Return whether each run lies in the event."""
        return self.holds(self.statistic(runs))


@dataclass(frozen=True)
class OneOf(Condition):
    """The statistic's key is one of these."""

    statistic: History | PullCounts
    keys: tuple[int, ...]

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.isin(values, np.array(self.keys, dtype=np.uint64))

    def __str__(self) -> str:
        count = len(self.keys)
        values = "a chosen value" if count == 1 else f"one of {count:,} chosen values"
        return f"{self.statistic} take {values}"


@dataclass(frozen=True)
class AtLeast(Condition):
    """The statistic is at least `bound`."""

    statistic: Any
    bound: float

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values >= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} >= {self.bound:.6g}"


@dataclass(frozen=True)
class AtMost(Condition):
    """The statistic is at most `bound`."""

    statistic: Any
    bound: float

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values <= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} <= {self.bound:.6g}"


Event = OneOf | AtLeast | AtMost


def statistics(arms: int, horizon: int, position: int) -> Iterator[Any]:
    """Yield the statistics that an audit tries for a pair that differs at `position` (from 0).

    Histories from the start to a growing step, histories that begin right after the changed
    reward, pull counts at a growing step.
    """
    sizes = [2**k for k in range(horizon.bit_length() + 1)]
    prefixes = {min(horizon, arms + size) for size in sizes}
    histories = {History(0, stop) for stop in prefixes}
    histories |= {History(position + 1, min(horizon, position + 1 + size)) for size in sizes}
    yield from sorted(history for history in histories if history.start < history.stop)
    stops = sorted({min(horizon, position + 1 + arms * size) for size in sizes} | {horizon})
    for stop in stops:
        yield PullCounts(arms, stop)
    for stop in (stops[len(stops) // 2], horizon):
        for arm in range(min(arms, 3)):
            yield Pulls(arm, stop)

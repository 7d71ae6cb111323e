"""Events: sets of action sequences, each a statistic and a condition on it, also in words; and what
is tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.runs import History, PullCounts, Pulls, Runs

MOST_TRIED = 14  # bits: values of a statistic that are tried to put a key into words
SPELLED = 4  # values of an event that are written out


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
        return f"{self.statistic} are one of {len(self.keys):,} that were learned"


@dataclass(frozen=True)
class AtLeast(Condition):
    """The statistic, a whole number, is at least `bound`."""

    statistic: Any
    bound: float

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values >= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} are {math.ceil(self.bound):,} or more"


@dataclass(frozen=True)
class AtMost(Condition):
    """The statistic, a whole number, is at most `bound`, which may lie between two of them."""

    statistic: Any
    bound: float

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values <= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} are {math.floor(self.bound):,} or fewer"


Event = OneOf | AtLeast | AtMost


def in_words(event: Event, arms: int) -> str:
    """Return an event in words, with the actions or counts it stands for where they can be listed.

    Keys are hashes; what they stand for is found by trying every value, if there are few.
    """
    if not isinstance(event, OneOf):
        return str(event)
    found = _listed(event.statistic, arms)
    if found is None:
        return str(event)
    texts, keys = found
    chosen = {key: text for key, text in zip(keys.tolist(), texts, strict=True)}
    named = sorted(chosen[key] for key in event.keys if key in chosen)[:SPELLED]
    if not named:
        return str(event)
    # keys of runs that stopped are not listed: they are others
    rest = len(event.keys) - len(named)
    more = f" or {rest:,} other{'s' * (rest > 1)}" if rest else ""
    return f"{event.statistic} are {' or '.join(named)}{more}"


def _listed(statistic: History | PullCounts, arms: int) -> tuple[list[str], Any] | None:
    """Return every value of a statistic in words and its key; None where there are too many."""
    if isinstance(statistic, History):
        steps = statistic.stop - statistic.start
        if steps * math.log2(arms) > MOST_TRIED:
            return None
        rows = np.array(list(product(range(arms), repeat=steps)))
        before = np.zeros((len(rows), statistic.start), dtype=np.int64)
        keys = statistic(Runs.of_actions(np.concatenate((before, rows), axis=1)))
        return [" ".join(map(str, row)) for row in rows.tolist()], keys
    bars = statistic.stop + arms - 1
    if math.log2(math.comb(bars, arms - 1)) > MOST_TRIED:
        return None
    cuts = np.array(list(combinations(range(bars), arms - 1)), dtype=np.int64)
    ends = np.full((len(cuts), 1), -1), np.full((len(cuts), 1), bars)
    counts = np.diff(np.concatenate((ends[0], cuts, ends[1]), axis=1), axis=1) - 1
    return [" ".join(map(str, row)) for row in counts.tolist()], statistic.keys(counts.T)


def statistics(arms: int, horizon: int, position: int) -> Iterator[Any]:
    """Yield the statistics that an audit tries for a pair that differs at `position` (from 0).

    Histories from the start to a growing step, histories that begin right after the changed
    reward, pull counts at a growing step. What ends before the changed reward tells nothing of it.
    """
    sizes = [2**k for k in range(horizon.bit_length() + 1)]
    histories = {History(0, min(horizon, max(arms, position + 1) + size)) for size in sizes}
    histories |= {History(position + 1, min(horizon, position + 1 + size)) for size in sizes}
    yield from sorted(history for history in histories if history.start < history.stop)
    stops = sorted({min(horizon, position + 1 + arms * size) for size in sizes} | {horizon})
    for stop in stops:
        yield PullCounts(arms, stop)
    for stop in (stops[len(stops) // 2], horizon):
        for arm in range(min(arms, 3)):
            yield Pulls(arm, stop)

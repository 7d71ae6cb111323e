"""Events: sets of action sequences, chosen on training runs and never on the runs that are judged.

An event is a statistic and a condition on it. `choose` reads training runs in two halves: the first
finds, for every statistic, the set with the largest lower bound to expect; the second, which had no
part in finding it, ranks the sets. What is returned is judged on fresh runs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.learned import Classifier
from dpaudit.sample.lower import cautious, promised
from dpaudit.sample.runs import History, Keys, PullCounts, Pulls, Runs
from dpaudit.sample.scores import ExactHistory, ScoredHistory


@dataclass(frozen=True)
class OneOf:
    """The statistic's key is one of these."""

    statistic: History | PullCounts
    keys: tuple[int, ...]

    def __call__(self, runs: Runs) -> NDArray[np.bool_]:
        """Return whether each run lies in the event."""
        return self.holds(self.statistic(runs))

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.isin(values, np.array(self.keys, dtype=np.uint64))

    def __str__(self) -> str:
        count = len(self.keys)
        values = "a chosen value" if count == 1 else f"one of {count:,} chosen values"
        return f"{self.statistic} take {values}"


@dataclass(frozen=True)
class AtLeast:
    """The statistic is at least `bound`."""

    statistic: Any
    bound: float

    def __call__(self, runs: Runs) -> NDArray[np.bool_]:
        """Return whether each run lies in the event."""
        return self.holds(self.statistic(runs))

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values >= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} >= {self.bound:.6g}"


@dataclass(frozen=True)
class AtMost:
    """The statistic is at most `bound`."""

    statistic: Any
    bound: float

    def __call__(self, runs: Runs) -> NDArray[np.bool_]:
        """Return whether each run lies in the event."""
        return self.holds(self.statistic(runs))

    def holds(self, values: Any) -> NDArray[np.bool_]:
        """Return whether each value of the statistic lies in the event."""
        return np.asarray(values <= self.bound)

    def __str__(self) -> str:
        return f"{self.statistic} <= {self.bound:.6g}"


Event = OneOf | AtLeast | AtMost


@dataclass(frozen=True)
class Candidate:
    """An event with its counts on the ranking half of the training runs.

    `swapped` says that the neighbour is the stream on which the event is likelier, so that the
    hypothesis to refute is P(E | r') <= e^epsilon P(E | r) + delta.
    """

    event: Event
    swapped: int
    hits: int
    hits_other: int
    rounds: int
    promise: float


@dataclass(frozen=True)
class Plan:
    """What the choice of events aims at: the rounds to come, their error share, delta."""

    later: int
    error: float
    delta: float = 0.0

    def promise(self, hits: Any, hits_other: Any, rounds: int) -> Any:
        """Return the bound to expect from the fresh runs, by cautious estimates."""
        p, q = cautious(hits, hits_other, rounds)
        return promised(p, q, self.later, self.error, self.delta)


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


def best_set(
    values: Keys, other: Keys, plan: Plan, scores: Mapping[int, float] | None = None
) -> tuple[int, ...]:
    """Return the keys that are likelier among `values`, up to the most promising cut.

    Keys are ordered by their scores where these are known, else by their frequencies.
    """
    keys, inverse = np.unique(np.concatenate((values, other)), return_inverse=True)
    counts = np.bincount(inverse[: len(values)], minlength=len(keys))
    against = np.bincount(inverse[len(values) :], minlength=len(keys))
    if scores is None:
        ratio = np.log((counts + 0.5) / (against + 0.5))
        ratio[counts <= against] = 0.0
    else:
        ratio = np.array([scores.get(key, 0.0) for key in keys.tolist()])
    order = np.argsort(-ratio, kind="stable")
    order = order[ratio[order] > 0][:4096]
    if not len(order):
        return ()
    promise = plan.promise(np.cumsum(counts[order]), np.cumsum(against[order]), len(values))
    chosen = order[: int(np.argmax(promise)) + 1]
    return tuple(int(key) for key in np.sort(keys[chosen]))


def best_bound(values: NDArray[np.float64], other: NDArray[np.float64], plan: Plan) -> float:
    """Return the bound b for which {value >= b} is the most promising event."""
    bounds = np.unique(np.concatenate((values, other)))
    if len(bounds) > 2048:
        bounds = np.unique(np.quantile(bounds, np.linspace(0, 1, 2048), method="nearest"))
    counts = len(values) - np.searchsorted(np.sort(values), bounds, side="left")
    against = len(other) - np.searchsorted(np.sort(other), bounds, side="left")
    promise = plan.promise(counts, against, len(values))
    return float(bounds[int(np.argmax(promise))])


def choose(
    tried: Sequence[Any],
    draw: Callable[[int], Iterator[tuple[Runs, Runs]]],
    plan: Plan,
    keep: int,
    classifier: Classifier | None = None,
) -> list[Candidate]:
    """Return the most promising events of a pair, best first.

    `draw(half)` yields training runs in chunks (runs on the stream, runs on the neighbour) for half
    0 and half 1; only the statistics' values are kept, never the runs. A classifier learns from
    half 0.
    """
    tried = list(tried)
    finding = _values(tried, _watched(draw(0), classifier))
    score = None if classifier is None else classifier.score()
    if classifier is not None and score is not None:
        tried.append(score)
        finding.append(classifier.held_out(score))
    ranking = _values(tried, draw(1))
    proposed: list[tuple[Event, int, int, int]] = []
    for statistic, learn, rank in zip(tried, finding, ranking, strict=True):
        for swapped in (0, 1):
            likely, other = learn[swapped], learn[1 - swapped]
            for event in _events(statistic, likely, other, plan, swapped):
                hits = int(event.holds(rank[swapped]).sum())
                hits_other = int(event.holds(rank[1 - swapped]).sum())
                proposed.append((event, swapped, hits, hits_other))
    if not proposed:
        return []
    rounds = len(ranking[0][0])
    counts = np.array([(hits, hits_other) for _, _, hits, hits_other in proposed])
    promises = plan.promise(counts[:, 0], counts[:, 1], rounds).tolist()
    found = [
        Candidate(*each, rounds, promise) for each, promise in zip(proposed, promises, strict=True)
    ]
    found.sort(key=lambda candidate: -candidate.promise)
    distinct: dict[tuple[int, int, int], Candidate] = {}
    for candidate in found:
        distinct.setdefault((candidate.swapped, candidate.hits, candidate.hits_other), candidate)
    return list(distinct.values())[:keep]


def _watched(
    chunks: Iterator[tuple[Runs, Runs]], classifier: Classifier | None
) -> Iterator[tuple[Runs, Runs]]:
    for runs, runs_neighbour in chunks:
        if classifier is not None:
            classifier.watch(runs, runs_neighbour)
        yield runs, runs_neighbour


def _events(statistic: Any, likely: Any, other: Any, plan: Plan, swapped: int) -> Iterator[Event]:
    if isinstance(statistic, ScoredHistory | ExactHistory):
        sign = -1.0 if swapped else 1.0
        keys = best_set(likely, other, plan, {k: sign * v for k, v in statistic.known.items()})
        if keys:
            yield OneOf(statistic.history, keys)
    elif isinstance(statistic, History | PullCounts):
        keys = best_set(likely, other, plan)
        if keys:
            yield OneOf(statistic, keys)
    else:
        yield AtLeast(statistic, best_bound(likely, other, plan))
        yield AtMost(statistic, -best_bound(-likely, -other, plan))


def _values(tried: Sequence[Any], chunks: Iterator[tuple[Runs, Runs]]) -> list[tuple[Any, Any]]:
    columns: list[tuple[list[Any], list[Any]]] = [([], []) for _ in tried]
    for runs, runs_neighbour in chunks:
        for statistic, (left, right) in zip(tried, columns, strict=True):
            left.append(statistic(runs))
            right.append(statistic(runs_neighbour))
    return [(np.concatenate(left), np.concatenate(right)) for left, right in columns]

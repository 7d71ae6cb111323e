"""Reward streams as runs of equal rewards, and pairs of neighbouring ones.

A stream of ten million steps is a few pieces, so that it can be stored, logged and summed over any
episode without ever being written out. A pair is a stream and one changed reward: neighbouring by
construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument

LONGEST = 2**53  # beyond, doubles do not count every step
LONGEST_ROW = 10**8  # rewards written out: a file cannot make the machine run out of memory


@dataclass(frozen=True)
class Stream:
    """Rewards r_1..r_T in [0, 1] as pieces: `values[i]` repeated `lengths[i]` times."""

    values: tuple[float, ...]
    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.lengths) or not self.lengths or min(self.lengths) < 1:
            raise InvalidArgument("stream", "(pieces)", "needs one positive length per value.")
        for value in self.values:
            if not 0 <= value <= 1:
                raise InvalidArgument("reward", value, "must lie in [0, 1].")
        if self.horizon > LONGEST:
            raise InvalidArgument("horizon", f"{self.horizon:,}", "must be at most 2^53 for runs.")

    @classmethod
    def of(cls, rewards: Sequence[float] | NDArray[Any]) -> Stream:
        """Return a stream from its rewards."""
        row = np.asarray(rewards, dtype=float)
        if row.ndim != 1 or len(row) < 1:
            raise InvalidArgument("stream", list(row.shape), "must be one row of rewards.")
        cuts = np.flatnonzero(np.diff(row)) + 1
        starts = np.concatenate(([0], cuts))
        lengths = np.diff(np.concatenate((starts, [len(row)])))
        return cls(tuple(row[starts].tolist()), tuple(lengths.tolist()))

    @classmethod
    def constant(cls, value: float, horizon: int) -> Stream:
        """Return the stream that pays the same reward at every step."""
        return cls((value,), (horizon,))

    @cached_property
    def horizon(self) -> int:
        """T, the number of rewards."""
        return sum(self.lengths)

    @cached_property
    def _pieces(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        ends = np.cumsum(np.array(self.lengths, dtype=np.int64))
        values = np.array(self.values)
        sums = np.concatenate(([0.0], np.cumsum(values * np.array(self.lengths))))[:-1]
        return ends, values, sums

    def cumulative(self, steps: Any) -> Any:
        """Return the sum of the first `steps` rewards, vectorised over `steps`."""
        _, values, sums = self._pieces
        return self._interpolated(steps, values, sums)

    def steps(self, steps: Any, grid: int) -> Any:
        """Return the same sum with each reward rounded to the nearest of 0..grid, in integers."""
        if self.horizon * grid > LONGEST:
            raise InvalidArgument("grid", grid, f"is too fine for {self.horizon:,} rewards.")
        values = np.rint(np.array(self.values) * grid).astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(values * np.array(self.lengths))))[:-1]
        return self._interpolated(steps, values, sums)

    def _interpolated(self, steps: Any, values: NDArray[Any], sums: NDArray[Any]) -> Any:
        ends, steps = self._pieces[0], np.asarray(steps)
        piece = np.searchsorted(ends, steps, side="left")
        start = ends[piece] - np.array(self.lengths, dtype=np.int64)[piece]
        return sums[piece] + values[piece] * (steps - start)

    def at(self, position: int) -> float:
        """Return the reward at a step (from 0)."""
        return self.values[int(np.searchsorted(self._pieces[0], position, side="right"))]

    def array(self) -> NDArray[np.float64]:
        """Return the rewards one by one, read-only."""
        if self.horizon > LONGEST_ROW:
            rule = f"must be at most {LONGEST_ROW:,}, where rewards are written out one by one."
            raise InvalidArgument("horizon", f"{self.horizon:,}", rule)
        rewards = np.repeat(np.array(self.values), self.lengths)
        rewards.flags.writeable = False
        return rewards

    def replaced(self, position: int, value: float) -> Stream:
        """Return the stream with another reward at one step (from 0)."""
        if not 0 <= position < self.horizon:
            raise InvalidArgument("position", position, f"must lie in 0..{self.horizon - 1}.")
        piece = int(np.searchsorted(self._pieces[0], position, side="right"))
        start = int(self._pieces[0][piece]) - self.lengths[piece]
        before, after = position - start, start + self.lengths[piece] - position - 1
        middle = [(self.values[piece], before), (value, 1), (self.values[piece], after)]
        kept = [(v, n) for v, n in middle if n]
        return Stream(
            (*self.values[:piece], *(v for v, _ in kept), *self.values[piece + 1 :]),
            (*self.lengths[:piece], *(n for _, n in kept), *self.lengths[piece + 1 :]),
        )

    def between(self, begun: int, ended: int) -> list[tuple[float, int]]:
        """Return the pieces (value, times) of the steps `begun` to `ended - 1`."""
        ends = self._pieces[0].tolist()
        cut = zip(self.values, ends, self.lengths, strict=True)
        spans = ((v, min(end, ended) - max(end - n, begun)) for v, end, n in cut)
        return [(value, count) for value, count in spans if count > 0]

    def first(self, steps: int) -> Stream:
        """Return the first steps."""
        return self if steps >= self.horizon else Stream(*zip(*self.between(0, steps), strict=True))

    def spliced(self, begun: int, pieces: Sequence[tuple[float, int]]) -> Stream:
        """Return the stream with other rewards, given in pieces, from step `begun` on."""
        inside = [(value, count) for value, count in pieces if count]
        after = begun + sum(count for _, count in inside)
        before, rest = self.between(0, begun), self.between(after, self.horizon)
        values, lengths = zip(*before, *inside, *rest, strict=True)
        return Stream(values, lengths)


@dataclass(frozen=True)
class Pair:
    """A stream and its neighbour, which differs in the reward at `position` (from 0)."""

    name: str
    stream: Stream
    position: int
    value: float

    def __post_init__(self) -> None:
        self.neighbour  # noqa: B018  a bad position or reward must fail here
        if self.stream.at(self.position) == self.value:
            raise InvalidArgument("value", self.value, "must differ from the stream's reward.")

    @cached_property
    def neighbour(self) -> Stream:
        """The other stream."""
        return self.stream.replaced(self.position, self.value)

    def first(self, steps: int) -> Pair:
        """Return the pair of the first steps, the changed reward among them."""
        if steps >= self.stream.horizon:
            return self
        name = f"{self.name} (first {steps:,} rounds)"
        return replace(self, name=name, stream=self.stream.first(steps))

    @classmethod
    def between(cls, stream: Stream, neighbour: Stream, name: str = "given") -> Pair:
        """Return the pair of two streams that differ in exactly one reward."""
        if stream.horizon != neighbour.horizon:
            rule = f"must have the length of the stream, {stream.horizon}."
            raise InvalidArgument("neighbour length", neighbour.horizon, rule)
        apart = np.flatnonzero(stream.array() != neighbour.array())
        if len(apart) != 1:
            rule = "must be 1: neighbouring streams differ in exactly one reward."
            raise InvalidArgument("differing positions", len(apart), rule)
        position = int(apart[0])
        return cls(name, stream, position, neighbour.at(position))


def candidates(
    arms: int, horizon: int, seed: Sequence[int] | int, rewards: Sequence[float] = (0.0, 0.5, 1.0)
) -> list[Pair]:
    """Return the pairs an audit tries by default; `seed` makes the random ones.

    Everything at the lowest or the highest reward with one step flipped (the extremal streams where
    the supermodularity theorem applies), at the first pulls of the first and last arm, early, in
    the middle and late; then one good first reward among bad ones; then random streams.
    """
    rng = np.random.default_rng(seed)
    low, high = min(rewards), max(rewards)
    last = max(horizon - 2, 0)
    early = dict.fromkeys(p for p in (0, 1, arms - 1, arms, 2 * arms) if p <= last)
    late = dict.fromkeys(p for p in (horizon // 4, horizon // 2, last) if p not in early)
    pairs: list[Pair] = []

    def add(name: str, stream: Stream, position: int, value: float) -> None:
        pair = Pair(
            f"{name}, reward {position + 1:,}: {stream.at(position):g} to {value:g}",
            stream,
            position,
            value,
        )
        if all((p.stream, p.position, p.value) != (stream, position, value) for p in pairs):
            pairs.append(pair)

    for position in (*early, *late):
        add(f"all {low:g}", Stream.constant(low, horizon), position, high)
        add(f"all {high:g}", Stream.constant(high, horizon), position, low)
    for middle in rewards:
        if low < middle < high:
            add(f"all {middle:g}", Stream.constant(middle, horizon), 0, high)
            add(f"all {low:g}", Stream.constant(low, horizon), min(arms - 1, last), middle)
    for _ in range(4):
        pieces = int(min(horizon, 64))
        cuts = (
            np.sort(rng.choice(np.arange(1, horizon), size=pieces - 1, replace=False))
            if horizon <= 4096
            else np.unique(rng.integers(1, horizon, size=pieces - 1))
        )
        lengths = np.diff(np.concatenate(([0], cuts, [horizon])))
        values = rng.choice(np.array([low, high]), size=len(lengths))
        stream = (
            Stream.of(np.repeat(values, lengths))
            if horizon <= 4096
            else Stream(tuple(values.tolist()), tuple(lengths.tolist()))
        )
        position = int(rng.integers(0, min(last, 4 * arms) + 1))
        value = high if stream.at(position) == low else low
        add("random", stream, position, value)
    return pairs

"""Runs of any declaration together: those that stand in one public place are answered at once.

A declaration never holds a reward, so what it asks for next is a function of its public state. The
runs of a block that share a state share its request, and an answer is a few array operations over
them; they part where their decisions differ and meet again where their states are equal (as
plain data: `dpaudit.core.canonical`). Places are visited by time, so that all that meet have met
before they go on, and what a declaration said is remembered for the next block. This is the
reference interpreter of `dpaudit.core.stream`, request by request, with arrays for numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Keep,
    Play,
    Release,
    Respond,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.canonical import Distrust, canonical, parameters
from dpaudit.core.noise import NOISES
from dpaudit.core.scores import RULES, winner_is_known
from dpaudit.core.stream import apart, decide, drawn, in_any_order, shown, side_edges
from dpaudit.core.walk import Place, begin
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream

MOST_PLACES = 2**14  # that are remembered, of one algorithm
PROBED = 32  # runs that tell how many places there are
MOST_KEPT = 4  # algorithms whose places are remembered
Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass
class Spot:
    """A place, its name, and what follows each answer that was given there."""

    place: Place
    name: Any
    after: dict[Any, Spot] = field(default_factory=dict)


@dataclass
class Atlas:
    """The places of a declaration that runs have been in, by what is public of them: the first."""

    algorithm: Algorithm
    spots: dict[Any, Spot] = field(default_factory=dict)

    def begin(self) -> Spot:
        """Return where every run begins."""
        return self._spot(begin(self.algorithm))

    def follow(self, spot: Spot, answer: Any) -> Spot:
        """Return where runs go on after an answer."""
        found = spot.after.get(answer)
        if found is None:
            found = self._spot(spot.place.after(answer))
            if found.name in self.spots:
                spot.after[answer] = found
        return found

    def _spot(self, place: Place) -> Spot:
        name = canonical(place.state), place.pulls, place.time, place.idle, place.written
        known = self.spots.get(name)
        if known is None:
            known = Spot(place, name)
            if len(self.spots) < MOST_PLACES:
                self.spots[name] = known
        return known


_kept: dict[Any, Atlas] = {}


def atlas(algorithm: Algorithm) -> Atlas:
    """Return the places of an algorithm; raise `Distrust` where states cannot be told apart."""
    key = type(algorithm), parameters(algorithm)
    if key not in _kept:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = Atlas(algorithm)
    return _kept[key]


class Plays:
    """What the runs of a block have played, and the sums of rewards that every arm was paid."""

    def __init__(self, stream: Stream, runs: int, arms: int) -> None:
        self.stream = stream
        self.counts = np.zeros(runs, dtype=np.int64)
        self.arms = np.zeros((runs, 16), dtype=np.int16)
        self.starts = np.full((runs, 16), stream.horizon, dtype=np.int64)
        # per arm and play of it: the rows before, and the rewards before; the last play stands last
        self.number = np.full((arms, runs), -1, dtype=np.int64)
        self.first = [np.zeros((runs, 16), dtype=np.int64) for _ in range(arms)]
        self.begun = [np.zeros((runs, 16), dtype=np.int64) for _ in range(arms)]
        self.paid = [np.zeros((runs, 16)) for _ in range(arms)]
        self.total = np.zeros((arms, runs))

    def play(self, runs: Counts, time: int, rows: Rows) -> None:
        """Give the next steps of the stream to an arm of some runs."""
        self.show(runs, rows.arm, time)
        arm = rows.arm
        place = self.number[arm, runs] + 1
        if (size := int(place.max())) >= self.first[arm].shape[1]:
            for kept in (self.first, self.begun, self.paid):
                kept[arm] = _wider(kept[arm], size)
        self.first[arm][runs, place], self.begun[arm][runs, place] = rows.first, time
        self.paid[arm][runs, place] = self.total[arm, runs]
        self.number[arm, runs] = place
        edges = self.stream.cumulative(np.array([time, time + len(rows)]))
        self.total[arm, runs] += edges[1] - edges[0]

    def show(self, runs: Counts, arm: int, time: int) -> None:
        """Write down that an arm is played from a step on."""
        place = self.counts[runs]
        if (size := int(place.max())) >= self.arms.shape[1]:
            self.arms = _wider(self.arms, size)
            self.starts = _wider(self.starts, size, self.stream.horizon)
        self.arms[runs, place], self.starts[runs, place] = arm, time
        self.counts[runs] = place + 1

    def sum_of(self, runs: Counts, rows: Rows, pulls: int) -> Numbers:
        """Return the sums of an arm's rewards number first to stop - 1."""
        until = self.total[rows.arm, runs] if rows.stop == pulls else self._before(runs, rows, 1)
        return until - self._before(runs, rows, 0) if rows.first else until

    def _before(self, runs: Counts, rows: Rows, end: int) -> Numbers:
        """Return the sums of an arm's rewards before number first, or stop."""
        row, first = (rows.stop if end else rows.first), self.first[rows.arm]
        place = self.number[rows.arm, runs]
        if (first[runs, place] > row).any():
            inside = np.arange(first.shape[1]) <= place[:, None]
            place = ((first[runs] <= row) & inside).sum(axis=1) - 1
        begun = self.begun[rows.arm][runs, place]
        past = self.stream.cumulative(begun + row - first[runs, place])
        sums = self.paid[rows.arm][runs, place] + past - self.stream.cumulative(begun)
        return np.asarray(sums)

    def runs(self) -> Runs:
        """Return what was played."""
        width = int(self.counts.max())
        return Runs(self.arms[:, :width], self.starts[:, :width], self.stream.horizon)


def _wider(old: NDArray[Any], size: int, filler: int = 0) -> NDArray[Any]:
    """Return an array with room for a column of that number."""
    more = np.full((len(old), 2 * size - old.shape[1]), filler, dtype=old.dtype)
    return np.concatenate((old, more), axis=1)


def run_together(algorithm: Algorithm, stream: Stream, runs: int, rng: np.random.Generator) -> Runs:
    """Return independent runs of a declaration on a stream; raise `Distrust` where it cannot.

    It cannot on a lattice, nor where public states are no plain data.
    """
    plays = Plays(stream, runs, algorithm.arms)
    _walk(atlas(algorithm), plays, rng)
    return plays.runs()


def _walk(known: Atlas, plays: Plays, rng: np.random.Generator) -> None:
    """Walk all runs from place to place, to their ends."""
    if known.algorithm.grid is not None:
        raise Distrust("noise on a lattice is drawn run by run")
    registers: dict[Hashable, Numbers] = {}
    everyone = np.arange(len(plays.counts))
    spot = known.begin()
    waiting: dict[Any, tuple[Spot, list[Counts]]] = {spot.name: (spot, [everyone])}
    order: list[tuple[int, int, int, Any]] = [(0, 0, 0, spot.name)]
    number = 0
    while order:
        *_, name = heapq.heappop(order)
        spot, parts = waiting.pop(name)
        some = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
        for answer, part in _answered(spot.place, some, plays, registers, rng):
            after = known.follow(spot, answer)
            if after.name in waiting:
                waiting[after.name][1].append(part)
                continue
            number += 1
            waiting[after.name] = after, [part]
            heapq.heappush(order, (after.place.time, after.place.idle, number, after.name))


def places(algorithm: Algorithm, steps: int) -> float:
    """Return the public places per run that a few runs of so many steps part to, all rewards 0.

    It is the number of requests where they cannot be told apart.
    """
    known = Atlas(algorithm)
    plays = Plays(Stream.constant(0.0, steps), PROBED, algorithm.arms)
    try:
        _walk(known, plays, np.random.default_rng(0))
    except Distrust:
        return float(steps)
    return len(known.spots) / PROBED


def _answered(
    place: Place,
    some: Counts,
    plays: Plays,
    registers: dict[Hashable, Numbers],
    rng: np.random.Generator,
) -> list[tuple[Any, Counts]]:
    """Answer the request of a place for some runs; return the answers and who got them."""
    request = place.request
    match request:
        case Play():
            rows = place.rows(plays.stream.horizon)
            plays.play(some, place.time, rows)
            ended = place.time + len(rows) == plays.stream.horizon
            return [] if ended else [(rows, some)]
        case Release(register) | Accumulate(register) | Respond(register):
            value = registers.setdefault(register, np.zeros(len(plays.counts)))
            shows = _disclosed(place, some, plays, rng)
            value[some] = shows if isinstance(request, Release) else value[some] + shows
            return [(None, some)]
        case Choose() | Keep():
            x = _shown(place, some, registers)
            return _decided(place, x, some, rng)
        case Toss(chances):
            sides = np.searchsorted(side_edges(chances), rng.random(len(some)), side="right")
            return _parted(sides, some)
        case Stop(arm):
            plays.show(some, place.algorithm.arms + arm, place.time)
    return []


def _disclosed(place: Place, some: Counts, plays: Plays, rng: np.random.Generator) -> Numbers:
    """Return what a release or a response makes public."""
    request: Any = place.request
    total = plays.sum_of(some, request.rows, place.pulls[request.rows.arm])
    if isinstance(request, Respond):
        one, zero = float(request.one), float(request.zero)
        chance = zero + (one - zero) * np.clip(total, 0.0, 1.0)
        return np.asarray(rng.random(len(some)) < chance, dtype=float)
    if type(request.noise) in NOISES:
        noise = request.noise.draw(rng, len(some))
    else:
        own = [apart(rng) for _ in some]
        noise = np.array(in_any_order(len(some), lambda run: drawn(place, own[run])))
    return np.asarray(total / float(request.divisor) + noise)


def _shown(place: Place, some: Counts, registers: dict[Hashable, Numbers]) -> Numbers:
    """Return what every arm shows to a decision, a row for every run."""
    request: Any = place.request
    if getattr(request, "weights", None) is not None:
        names = {name for group in request.registers for name in group}
        rows = [{name: float(registers[name][run]) for name in names} for run in some.tolist()]
        return np.array([shown(place, row) for row in rows])
    x = np.zeros((len(some), len(request.registers)))
    for column, group in enumerate(request.registers):
        for name in group:
            x[:, column] += registers[name][some]
    return x


def _decided(
    place: Place, x: Numbers, some: Counts, rng: np.random.Generator
) -> list[tuple[Any, Counts]]:
    """Return the answers of a decision, and who got them."""
    request: Any = place.request
    if isinstance(request, Keep):
        apart_by = (place.width[:, None] + place.width) / 2
        near = x >= (x[:, None, :] - apart_by).max(axis=2)
        marks = near @ (1 << np.arange(len(request.arms), dtype=object))
        found = _parted(marks, some)
        return [
            (tuple(arm for n, arm in enumerate(request.arms) if mark >> n & 1), part)
            for mark, part in found
        ]
    if type(place.rule) in RULES:
        winners = place.rule.winner(x, rng)
        return [(request.arms[winner], part) for winner, part in _parted(winners, some)]
    own = [rng if winner_is_known(place.rule) else apart(rng) for _ in x]
    answers = in_any_order(len(x), lambda run: decide(place, x[run], own[run]))
    return _parted(np.array(answers), some)


def _parted(answers: NDArray[Any], some: Counts) -> list[tuple[int, Counts]]:
    """Return every answer with the runs that got it."""
    return [(int(one), some[answers == one]) for one in np.unique(answers)]

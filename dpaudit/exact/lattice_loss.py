"""The largest loss of a program whose noise lies on a lattice, over the sums that rewards can have.

A likelihood depends on rewards through the integers that are released alone, each the sum of n
rewards of 0..g. So the streams in [0, 1]^T are as many combinations of such sums, and neighbours
differ in one of them by at most g; binary streams have multiples of g. Every combination of every
action sequence is looked at. Where they are too many for [0, 1], binary streams are a lower bound,
and the charge bounds the loss from above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.core.algorithm import Accumulate, Release
from dpaudit.core.lattice import Lattice
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import GRACE, OutOfTime
from dpaudit.exact.enumerate import Steepest, Tabulated
from dpaudit.exact.lattice_sums import Array, exactly, probability
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

LONGEST = 12
MOST_SUMS = 4_000  # combinations, of all paths, before [0, 1] is left for {0, 1}


@dataclass(frozen=True)
class Released:
    """The rounds of each release of a path, and the largest value of a reward there, in steps."""

    rounds: tuple[tuple[int, ...], ...]
    each: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many sums each release can have."""
        return tuple(len(it) * most + 1 for it, most in zip(self.rounds, self.each, strict=True))

    def pair(self, sums: Sequence[int], place: int, moved: int, horizon: int) -> list[Array]:
        """Return two streams with these sums, and one of them moved, that differ in one reward."""
        found = [np.zeros(horizon), np.zeros(horizon)]
        for number, rounds in enumerate(self.rounds):
            most, left, change = self.each[number], sums[number], 0
            values = []
            for k in range(len(rounds)):
                value = min(left, most)
                if number == place and not k:  # room for the change: the others take all they can
                    value, change = max(0, left - (len(rounds) - 1) * most), moved
                values.append((value, value + change))
                left, change = left - value, 0
            for t, both in zip(rounds, values, strict=True):
                for stream, value in zip(found, both, strict=True):
                    stream[t] = value / most
        return found


@dataclass
class SumTable:
    """Bounds on the likelihood of an action sequence, for all combinations of its sums."""

    released: Released
    lower: Array
    upper: Array
    certified: bool = True

    def logs(self) -> Tabulated:
        """Return the bounds as logarithms."""
        with np.errstate(divide="ignore"):
            return Tabulated(np.log(self.lower), np.log(self.upper), certified=self.certified)


def largest_loss(asked: Question) -> WorstLoss:
    """Return the largest loss over all streams, or over binary ones, with a pair that has it."""
    if asked.horizon > LONGEST:
        raise Unsupported(f"On a lattice all sums are listed, of up to {LONGEST} rounds.")
    try:
        paths = list(all_paths(asked.algorithm, asked.horizon, asked.clock))
        many = sum(math.prod(_released(path, whole=False).sizes) for path in paths)
        nearest = all(_law(it).rounding == "nearest" for path in paths for it in _releases(path))
        whole = asked.whole or not nearest or many > MOST_SUMS
        tables = _tables(asked, paths, whole)
    except OutOfTime:  # some paths of an action sequence say nothing of it
        raise Unsupported("The budget ended before every path was summed.") from None
    found = Steepest(math.log(asked.floor))
    for actions, table in tables.items():
        found.see(actions, table.logs(), table.released.each)
    slack = 1e-13 * (1 + found.most)  # of logarithms and their differences
    lower, upper = max(0.0, found.loss - slack), found.most + slack
    witness = None
    if found.where is not None and lower >= asked.epsilon:
        actions, at = found.where
        pair = tables[actions].released.pair(at.index, at.axis, at.moved, asked.horizon)
        arms, later = np.frombuffer(actions, dtype=np.int64), asked.clock.later(GRACE)
        one, two = (stream.tolist() for stream in pair[:: -1 if at.up else 1])
        witness = witness_of(asked.algorithm, arms, one, two, "ball", later)
    complete = asked.whole or not whole
    covers = replace(asked, streams="binary" if whole else "real").everything
    covers += ", of the program as it runs"
    if not complete:
        covers += ". For rewards in [0, 1] this is a lower bound"
    return asked.answer(
        Enclosure(lower, upper if complete else math.inf, found.certified),
        witness,
        len(paths),
        method="sums over a lattice",
        covers=covers,
        loss_above_floor=found.likely,
        proved=True,
    )


def _releases(path: Path) -> list[Release | Accumulate]:
    return [event for event in path.events if isinstance(event, Release | Accumulate)]


def _law(event: Release | Accumulate) -> Lattice:
    if not isinstance(event.noise, Lattice):
        raise Unsupported("Noise on a lattice and on the line have no common sum.")
    return event.noise


def _cells(event: Release | Accumulate) -> int:
    return int(_law(event).cells(event.divisor))


def _released(path: Path, whole: bool) -> Released:
    """Return what a path releases; a reward may enter one release alone."""
    events = _releases(path)
    rounds = [tuple(t for part in path.steps(event.rows) for t in part) for event in events]
    if len({t for part in rounds for t in part}) != sum(map(len, rounds)):
        raise Unsupported("A reward enters more than one release on a lattice.")
    return Released(tuple(rounds), tuple(1 if whole else _cells(event) for event in events))


def _tables(asked: Question, paths: list[Path], whole: bool) -> dict[bytes, SumTable]:
    """Return the likelihoods of every action sequence."""
    found: dict[bytes, SumTable] = {}
    for path in paths:
        released, key = _released(path, whole), path.actions.tobytes()
        units = [_cells(event) if whole else 1 for event in _releases(path)]
        if key not in found:
            found[key] = SumTable(released, np.zeros(released.sizes), np.zeros(released.sizes))
        table = found[key]
        if table.released != released:
            raise Unsupported("Paths of the same actions release other sums.")
        for sums in np.ndindex(released.sizes):
            asked.clock()
            steps = [k * unit for k, unit in zip(sums, units, strict=True)]
            part = exactly(path.chance, probability(path, steps))
            table.lower[sums] += part.lower
            table.upper[sums] += part.upper
            table.certified = table.certified and part.certified
    return found

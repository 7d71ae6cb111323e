"""Cells: the few sets of action sequences that a bettor tells apart, learned from earlier runs.

A table counts how often a statistic took each value on either stream. Values are put in the order
of their log-ratio (or of their size if they are numbers) and
cut into cells, finer towards both ends: 1/32 of the runs, 1/16, and so on. Every other round
teaches the order and the cuts; the rounds in between, which the cuts have not seen, are the
bettor's first belief about its cells, and all later rounds add to it. Of a declared algorithm the
table can be `Foreseen`: then it is there before the first round. Whatever is learned is
learned before the rounds that are bet on, so a bad table costs power, never soundness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.sample.events import AtLeast, AtMost, Event, OneOf
from dpaudit.sample.runs import History, PullCounts

CUTS = 0.5 ** np.arange(5, -1, -1)  # of the runs at either end
MOST_VALUES = 256  # of a statistic that a block teaches
LARGEST_TABLE = 4096
PLENTY = 50  # rounds for every value
MOST_CELLS = 2 * len(CUTS) + 1
Places = NDArray[np.int64]


@dataclass(frozen=True)
class KeyCells:
    """Cells of keys: key `keys[i]` (in order) lies in cell `places[i]`, all others in cell 0."""

    statistic: History | PullCounts
    keys: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return max(self.places, default=0) + 1

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], Places]:
        return np.array(self.keys, dtype=np.uint64), np.array(self.places, dtype=np.int64)

    def of(self, values: Any) -> Places:
        """Return the cells of values."""
        keys, places = self._sorted
        if not len(keys):
            return np.zeros(len(values), dtype=np.int64)
        index = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
        return np.where(keys[index] == values, places[index], 0)

    def event(self, chosen: Sequence[int]) -> tuple[Event | None, list[int]]:
        """Return the event that a run lies in one of these cells, without cell 0, and the cells."""
        kept = [place for place in chosen if place]
        keys = [k for k, p in zip(self.keys, self.places, strict=True) if p in kept]
        return (OneOf(self.statistic, tuple(keys)), kept) if keys else (None, [])


@dataclass(frozen=True)
class NumberCells:
    """Cells of numbers: cell i holds those from `edges[i - 1]` on and below `edges[i]`."""

    statistic: Any
    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.edges) + 1

    def of(self, values: Any) -> Places:
        """Return the cells of values."""
        return np.asarray(np.searchsorted(np.array(self.edges), values, side="right"))

    def event(self, chosen: Sequence[int]) -> tuple[Event | None, list[int]]:
        """Return the event of the upper or else the lower cells among these, and the cells."""
        above = [n for n in range(self.size) if {*range(n, self.size)} <= {*chosen}]
        if above and above[0]:
            found = AtLeast(self.statistic, self.edges[above[0] - 1])
            return found, list(range(above[0], self.size))
        below = [n for n in range(self.size - 1) if {*range(n + 1)} <= {*chosen}]
        if not below:
            return None, []
        bound = float(np.nextafter(self.edges[below[-1]], -np.inf))
        return AtMost(self.statistic, bound), list(range(below[-1] + 1))


Cells = KeyCells | NumberCells


def is_key(statistic: Any) -> bool:
    """Tell whether the values of a statistic are keys."""
    return isinstance(statistic, History | PullCounts)


@dataclass(frozen=True)
class Table:
    """Values of a statistic, in order, and how often they came: (teaching, believing) x streams.

    `rounds` are the believing ones, those of rare values that were left out among them.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    rounds: int

    @classmethod
    def empty(cls, statistic: Any) -> Table:
        """Return a table of nothing."""
        kind = np.uint64 if is_key(statistic) else np.float64
        return cls(np.zeros(0, dtype=kind), np.zeros((4, 0), dtype=np.int64), 0)

    def __add__(self, other: Table) -> Table:
        """Return both tables in one, of at most `LARGEST_TABLE` values: the most frequent."""
        values, inverse = np.unique(
            np.concatenate((self.values, other.values)), return_inverse=True
        )
        counts = np.zeros((4, len(values)), dtype=np.int64)
        np.add.at(counts.T, inverse, np.concatenate((self.counts, other.counts), axis=1).T)
        return Table(values, counts, self.rounds + other.rounds).limited(LARGEST_TABLE)

    def limited(self, most: int) -> Table:
        """Return the most frequent values."""
        if len(self.values) <= most:
            return self
        kept = np.sort(np.argsort(-self.counts.sum(axis=0), kind="stable")[:most])
        return Table(self.values[kept], self.counts[:, kept], self.rounds)


@dataclass(frozen=True)
class Foreseen:
    """A history, and the table of it to expect of so many rounds as foresight is worth."""

    history: History
    table: Table


def plain_statistic(statistic: Any) -> Any:
    """Return the statistic that is computed, without what is foreseen of it."""
    return statistic.history if isinstance(statistic, Foreseen) else statistic


def tabled(statistic: Any, stream: Any, neighbour: Any) -> Table | None:
    """Return what a block teaches about a statistic; None where nearly every value is another."""
    both = np.concatenate((stream, neighbour))
    values, inverse = np.unique(both, return_inverse=True)
    if len(values) > max(len(stream), 16):
        if is_key(statistic):
            return None
        values = np.unique(values[:: len(values) // MOST_VALUES + 1])
        inverse = np.searchsorted(values, both, side="right") - 1
    half = np.tile(np.arange(len(stream)) % 2, 2)
    side = np.repeat(np.arange(2), len(stream))
    counts = np.zeros((4, len(values)), dtype=np.int64)
    np.add.at(counts, (2 * half + side, inverse), 1)
    return Table(values, counts, len(stream) // 2).limited(MOST_VALUES)


def cut(statistic: Any, table: Table) -> Cells | None:
    """Return the cells that a table teaches, or None if it teaches nothing."""
    here, there = table.counts[0], table.counts[1]
    mass = here + there
    if not mass.any() or len(table.values) < 2:
        return None
    if not is_key(statistic):
        return _cut_numbers(statistic, table.values, mass)
    score = np.log((here + 0.5) / (there + 0.5))
    places = np.zeros(len(mass), dtype=np.int64)
    next_place = 1
    for sign in (1.0, -1.0):
        order = np.argsort(-sign * score, kind="stable")
        order = order[(sign * score[order] > 0) & (mass[order] > 0)]
        if not len(order):
            continue
        done = np.cumsum(mass[order]) / mass[order].sum()
        # a value belongs to the cell in which its middle lies
        cell = np.searchsorted(CUTS, done - 0.5 * mass[order] / mass[order].sum(), side="right")
        if len(order) <= len(CUTS):
            cell = np.arange(len(order))
        _, number = np.unique(cell, return_inverse=True)
        places[order] = next_place + number
        next_place += int(number.max()) + 1
    used = places > 0
    if not used.any():
        return None
    keys, chosen = table.values[used].tolist(), places[used].tolist()
    return KeyCells(statistic, tuple(keys), tuple(chosen))


def _cut_numbers(statistic: Any, values: NDArray[Any], mass: NDArray[Any]) -> NumberCells | None:
    done = np.cumsum(mass) / mass.sum()
    wanted = np.unique(np.concatenate((CUTS / 2, 1 - CUTS / 2)))
    index = np.unique(np.searchsorted(done, wanted))
    edges = np.unique(values[index[index < len(values)]])
    edges = edges[edges > values[0]]
    return NumberCells(statistic, tuple(edges.tolist())) if len(edges) else None


def learned(statistic: Any, table: Table) -> tuple[Cells, Places, Places] | None:
    """Return cells, what a table of rounds says of them, and what was foreseen.

    Where nothing was, the table teaches the cells as well; None if there is nothing to learn.
    """
    if isinstance(statistic, Foreseen):
        cells = cut(statistic.history, statistic.table)
        foreseen = None if cells is None else first_belief(cells, statistic.table)
    else:
        cells, foreseen = cut(statistic, table), None
    if cells is None:
        return None
    counts = first_belief(cells, table)
    return cells, counts, np.zeros_like(counts) if foreseen is None else foreseen


def first_belief(cells: Cells, table: Table) -> NDArray[np.int64]:
    """Return the counts (stream, neighbour) of cells on the rounds that did not teach them.

    Where there are many rounds for every value, teaching hardly flatters: they count as well.
    """
    places = cells.of(table.values)
    found = np.zeros((2, cells.size), dtype=np.int64)
    plenty = table.rounds >= PLENTY * len(table.values)
    for side in (0, 1):
        counts = table.counts[2 + side] + (table.counts[side] if plenty else 0)
        np.add.at(found[side], places, counts)
        found[side, 0] += max(table.rounds * (1 + plenty) - int(counts.sum()), 0)
    return found

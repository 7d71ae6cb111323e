"""Monotone curves in the plane of two registers: where two arms' scores were equal at a decision.

A curve has the first register as a function of the second and the other way round. When the first
register wins and a fresh one takes its place, the curve moves along the threshold between the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.scores import Score
from dpaudit.exact.pairwise import Duel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contest:
    """A three-arm decision: the episodes shown, the scores, the position that won."""

    shown: tuple[int, int, int]
    scores: tuple[Score, Score, Score]
    winner: int

    def least_to_win(self, winner: int, loser: int, x: Array) -> Array:
        """Return the value from which a position beats another's value (ties: earlier position)."""
        own, other = self.scores[winner], self.scores[loser]
        wins_ties = winner < loser
        if own != other:
            return _threshold(x, own, other, wins_ties)
        # equal scores tie at equal values, exactly, but for their plateaus
        ends = self.kinks(winner) or [-np.inf, np.inf]
        found = np.array(x, dtype=float)
        flat = ~((found > min(ends)) & (found < max(ends)))
        if flat.any():
            found[flat] = _threshold(found[flat], own, other, wins_ties)
        return found

    def kinks(self, position: int) -> list[float]:
        """Return where a position's score is not smooth."""
        return self.scores[position].kinks()


def _threshold(x: Array, own: Score, other: Score, wins_ties: bool) -> Array:
    duel = Duel((own, other), ties=0 if wins_ties else 1)
    return np.asarray(duel.least_to_win(0, x))


class Curve(ABC):
    """An increasing curve between two registers, possibly with flat and vertical stretches."""

    @abstractmethod
    def first_of(self, second: Array) -> Array:
        """Return the first register's value on the curve."""

    @abstractmethod
    def second_of(self, first: Array) -> Array:
        """Return the second register's value on the curve."""


@dataclass(frozen=True)
class Tie(Curve):
    """Where the scores of two positions of a contest are equal."""

    contest: Contest
    first: int
    second: int

    def first_of(self, second: Array) -> Array:
        """Return the first position's value that ties."""
        return self.contest.least_to_win(self.first, self.second, second)

    def second_of(self, first: Array) -> Array:
        """Return the second position's value that ties."""
        return self.contest.least_to_win(self.second, self.first, first)


@dataclass(frozen=True)
class Moved(Curve):
    """A curve whose first register won a contest, seen from the fresh register it beat."""

    curve: Curve
    contest: Contest
    fresh: int

    def first_of(self, second: Array) -> Array:
        """Return the fresh register's value whose threshold is on the old curve."""
        old = self.curve.first_of(second)
        new = self.contest.least_to_win(self.fresh, self.contest.winner, old)
        # no threshold is below -inf, not even that of a value which loses to all
        return np.where(np.isneginf(old), -np.inf, new)

    def second_of(self, first: Array) -> Array:
        """Return the old curve at the fresh register's threshold."""
        old = self.contest.least_to_win(self.contest.winner, self.fresh, first)
        return self.curve.second_of(old)


@dataclass(frozen=True)
class Above(Curve):
    """The part of a curve above a floor, and the floor elsewhere."""

    curve: Curve
    floor: Curve

    def first_of(self, second: Array) -> Array:
        """Return the larger first register."""
        return np.maximum(self.curve.first_of(second), self.floor.first_of(second))

    def second_of(self, first: Array) -> Array:
        """Return the smaller second register."""
        return np.minimum(self.curve.second_of(first), self.floor.second_of(first))


@dataclass(frozen=True)
class Turned(Curve):
    """A curve with its registers swapped."""

    curve: Curve

    def first_of(self, second: Array) -> Array:
        """Return the old second register."""
        return self.curve.second_of(second)

    def second_of(self, first: Array) -> Array:
        """Return the old first register."""
        return self.curve.first_of(first)

"""The order in which a two-arm path is integrated: one register held, one fresh, at every decision.

At a decision each arm shows one release. Whichever of the two no later decision reads is integrated
out at once, so that what is left is a function of a single register. A path that reads both again
has no such order, and neither has one that adds releases up: these are `Unsupported`.

A chain knows the releases, not the rewards: the centres come with the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property

from dpaudit.core.algorithm import Choose
from dpaudit.errors import Unsupported
from dpaudit.exact.region import Episode, Region, rate_of, require_read_once


class Drop(Enum):
    """Which of the two registers is forgotten after a decision."""

    HELD = "held"
    FRESH = "fresh"
    BOTH = "both"


@dataclass(frozen=True)
class Turn:
    """One decision: the episodes held and fresh, the held one's place in the rule, who wins."""

    request: Choose
    held: int
    older: int
    fresh: int
    held_wins: bool
    drop: Drop


@dataclass(frozen=True)
class Chain:
    """The releases of a path that are read, and its decisions; `drop` BOTH starts anew."""

    episodes: tuple[Episode, ...]
    stages: tuple[Turn, ...]

    def rate(self, episode: int) -> Fraction:
        """Return 1 / scale of a release's noise."""
        return rate_of(self.episodes[episode])

    def centre(self, episode: int, total: Fraction) -> Fraction:
        """Return a release's centre for a sum of rewards."""
        return total / self.episodes[episode].divisor

    def kind(self, episode: int) -> Batch:
        """Return what a release's law depends on, apart from its rewards."""
        if episode not in self._kinds:
            found = self.episodes[episode]
            self._kinds[episode] = Batch(self.rate(episode), found.divisor, len(found))
        return self._kinds[episode]

    @cached_property
    def _kinds(self) -> dict[int, Batch]:
        return {}


@dataclass(frozen=True)
class Batch:
    """A release's rate, divisor and number of rows."""

    rate: Fraction
    divisor: Fraction
    rows: int

    @cached_property
    def _hash(self) -> int:
        return hash((self.rate, self.divisor, self.rows))

    def __hash__(self) -> int:
        """Return the hash, computed once: kinds are keys, and fractions are slow to hash."""
        return self._hash

    def centre(self, total: Fraction | int) -> Fraction:
        """Return the centre for a sum of rewards."""
        return Fraction(total) / self.divisor


def chain_of(region: Region) -> Chain:
    """Return the order of a region; raise `Unsupported` where it has none."""
    require_read_once(region)
    last = {
        index: place
        for place, decision in enumerate(region.decisions)
        for group in decision.shown
        for index in group
    }
    stages: list[Turn] = []
    held = -1
    for place, decision in enumerate(region.decisions):
        request = decision.request
        if not isinstance(request, Choose) or len(decision.shown) != 2:
            raise Unsupported("The chain engine needs choices between two arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The chain engine needs registers that hold a single release.")
        shown = tuple(group[0] for group in decision.shown)
        if held not in shown:
            # the register that is read for longer is the one to hold
            held = max(shown, key=lambda index: last[index])
        position = shown.index(held)
        fresh = shown[1 - position]
        wins = request.arms.index(decision.outcome) == position
        over = (last[held] <= place, last[fresh] <= place)
        if over == (False, False):
            raise Unsupported("Both registers are read again after a decision between them.")
        drop = Drop.BOTH if all(over) else Drop.HELD if over[0] else Drop.FRESH
        stages.append(Turn(request, position, held, fresh, wins, drop))
        held = fresh if drop is Drop.HELD else held if drop is Drop.FRESH else -1
    return Chain(region.episodes, tuple(stages))

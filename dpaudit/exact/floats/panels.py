"""Any continuous scores, in doubles: functions of a register by their logarithm on panels.

The points where a function is not smooth are known: the centres of the releases, the kinks of the
scores, and their images under the thresholds. The error was measured against certified values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.core.arithmetic import FLOAT
from dpaudit.exact.algebra import Algebra
from dpaudit.exact.floats.line import (
    Array,
    LogFunction,
    build,
    constant,
    log_cumulative,
    log_survival,
)
from dpaudit.exact.floats.scanned import Nothing, Scanned
from dpaudit.exact.pairwise import Duel, duel_of
from dpaudit.exact.schedule import Chain, Kind, Stage

_TAIL = 45.0  # e^-45 of what remains beyond the last kink is below a double's resolution
_WIDEST = 8.0


@dataclass(frozen=True)
class Meeting:
    """A decision between two registers: their releases, the scores, the held one's position."""

    held: Kind
    fresh: Kind
    duel: Duel
    position: int

    @property
    def identity(self) -> Hashable:
        """What tells it from other comparisons."""
        return self.held, self.fresh, id(self.duel), self.position


class Panels(Algebra[LogFunction | None]):
    """The algebra of log functions; None is the function that is zero everywhere."""

    def __init__(self, chains: Iterable[Chain]) -> None:
        rates = {chain.rate(i) for chain in chains for i in range(len(chain.episodes))}
        self.reach = _TAIL / float(min(rates, default=1)) + 2.0
        self._duels: dict[int, tuple[Stage, Duel]] = {}
        self._same: dict[Hashable, Duel] = {}
        self._tails: dict[Hashable, LogFunction | None] = {}

    def duel(self, chain: Chain, stage: Stage) -> Meeting:
        """Return a stage's comparison; raise `Unsupported` where it is none of two scores."""
        kept = self._duels.get(id(stage))
        if kept is None:
            found = duel_of(stage.request.rule(FLOAT))
            found = self._same.setdefault(found.identity, found)
            kept = self._duels[id(stage)] = stage, found
        kinds = chain.kind(stage.older), chain.kind(stage.fresh)
        return Meeting(*kinds, kept[1], stage.held)

    def one(self, kind: Kind) -> LogFunction:
        """Return the constant 1."""
        return constant(self.reach)

    def times(self, first: LogFunction | None, second: LogFunction | None) -> LogFunction | None:
        """Return the product."""
        if first is None or second is None:
            return None
        for one, other in ((first, second), (second, first)):
            if one.is_one:
                return other
        return first.times(second, min(1.0, self.reach / 4))

    def absorb(
        self, function: LogFunction | None, duel: Meeting, fresh: Fraction, held_wins: bool
    ) -> LogFunction | None:
        """Multiply by the chance that the fresh register loses, or wins."""
        key = (duel.identity, fresh, held_wins)
        if key not in self._tails:
            self._tails[key] = self._tail(duel, float(fresh), held_wins)
        return self.times(function, self._tails[key])

    def _tail(self, at: Meeting, centre: float, held_wins: bool) -> LogFunction | None:
        other, scale = 1 - at.position, 1 / float(at.fresh.rate)
        side = log_cumulative if held_wins else log_survival

        def function(x: Array) -> Array:
            threshold = at.duel.least_to_win(other, x)
            with np.errstate(over="ignore", divide="ignore"):
                return side(threshold, centre, scale)

        theirs = [centre, *at.duel.kinks(other)]
        points = [*at.duel.kinks(at.position), *at.duel.image(other, theirs)]
        return build(function, points, _WIDEST / float(at.held.rate), self.reach)

    def beyond(
        self,
        function: LogFunction | None,
        duel: Meeting,
        centre: Fraction,
        held_wins: bool,
        of_held: bool,
    ) -> LogFunction | None:
        """Integrate one register out, on its side of the other's threshold."""
        if function is None:
            return None
        out, left = (duel.held, duel.fresh) if of_held else (duel.fresh, duel.held)
        position = duel.position if of_held else 1 - duel.position
        message = function.weighed(float(centre), 1 / float(out.rate))

        def mass(y: Array) -> Array:
            threshold = duel.duel.least_to_win(position, y)
            return message.log_beyond(threshold, upper=held_wins == of_held)

        theirs = [*message.breakpoints, *duel.duel.kinks(position)]
        points = [*duel.duel.kinks(1 - position), *duel.duel.image(position, theirs)]
        return build(mass, points, _WIDEST / float(left.rate), self.reach)

    def log_total(self, function: LogFunction | None, kind: Kind, centre: Fraction) -> float:
        """Return the logarithm of the integral."""
        if function is None:
            return -np.inf
        return float(Scanned(function, kind)(np.array([float(centre)]))[0])

    def curve(self, function: LogFunction | None, kind: Kind) -> Scanned | Nothing:
        """Return the log-likelihood by a release's own sum."""
        return Nothing() if function is None else Scanned(function, kind)

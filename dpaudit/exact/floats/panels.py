"""Any continuous scores, in doubles: functions of a register by their logarithm on panels.

The points where a function is not smooth are known: the centres of the releases, the kinks of the
scores, and their images under the thresholds. The error was measured against certified values.

The largest loss tries steps of a release's own sum on a grid, refined around the best. Paths that
are no chain (three arms, registers that add up releases) are known by evaluation alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import FLOAT
from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.algebra import Algebra, Bounds
from dpaudit.exact.floats.duel import Duel, duel_of
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.line import (
    LogFunction,
    build,
    constant,
    density,
    log_cumulative,
    log_survival,
)
from dpaudit.exact.region import Region
from dpaudit.exact.schedule import Batch, Chain, Turn

_SCAN = 8  # own sums tried per unit step
_LONG = 64  # rows from which fewer are tried
_FINER = 3
_MOVES = np.linspace(-1, 1, 9)


@dataclass(frozen=True, eq=False)
class Scanned:
    """A Laplace law moved over a weight: left and right of its centre two running integrals."""

    function: LogFunction
    kind: Batch

    @cached_property
    def _halves(self) -> tuple[LogFunction, LogFunction]:
        rate = float(self.kind.rate)
        return self.function.tilted(rate), self.function.tilted(-rate)

    def __call__(self, centres: Array) -> Array:
        """Return the log-likelihood for centres of the release."""
        rate = float(self.kind.rate)
        left, right = self._halves
        below = left.log_beyond(centres, upper=False) - rate * centres
        above = right.log_beyond(centres, upper=True) + rate * centres
        return np.asarray(np.logaddexp(below, above) + np.log(rate / 2))

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return the largest gain of the steps that are tried; the upper end is only measured."""
        divisor = float(self.kind.divisor)
        return steps(lambda sums: self(sums / divisor), self.kind.rows, rising, whole)


class Nothing:
    """The likelihood of a path that no noise takes: 0 for every own sum."""

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return that nothing is lost."""
        return Bounds(0.0, 0.0, Fraction(0), Fraction(0), -math.inf)


def steps(
    phi: Callable[[Array], Array], rows: int, rising: bool, whole: bool, single: bool = False
) -> Bounds:
    """Return the largest gain among steps on a grid of own sums, improved around the best.

    With `single` the worst step is known to leave the sum that is farthest from the others', as it
    does where the log-likelihood is concave.
    """
    per = 1 if whole else max(1, min(_SCAN, _LONG // max(rows, 1)))
    size = 1 if single else rows
    sums = np.arange(size * per + 1) / per
    if not rising:
        sums = rows - sums
    values = phi(sums)
    if not np.isfinite(values).all():
        raise Unsupported("A likelihood is too small for doubles.")
    if whole:
        gains = values[per:] - values[:-per]
        start = int(np.argmax(gains))
        stop = start + per
    else:
        window = np.concatenate([values, np.full(per, -np.inf)])
        reach = np.lib.stride_tricks.sliding_window_view(window, per + 1)[: len(values)]
        start = int(np.argmax(reach.max(1) - values))
        stop = start + int(np.argmax(reach[start]))
    own, other = float(sums[start]), float(sums[stop])
    low, high = float(values[start]), float(values[stop])
    spacing = 1 / per
    for _ in range(0 if whole or own == other else _FINER):
        # both ends of the step move, on finer and finer grids
        starts, stops = (np.clip(end + spacing * _MOVES, 0, rows) for end in (own, other))
        before, after = phi(starts), phi(stops)
        ahead = (stops - starts[:, None]) * (1 if rising else -1)
        gains = np.where((ahead >= 0) & (ahead <= 1), after - before[:, None], -np.inf)
        one, two = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[one, two] > high - low:
            own, other = float(starts[one]), float(stops[two])
            low, high = float(before[one]), float(after[two])
        spacing /= 8
    gain = max(high - low, 0.0)
    return Bounds(gain, gain, Fraction(own), Fraction(other), high)


LogLikelihood = Callable[[Region, NDArray[np.float64]], float]


@dataclass(frozen=True)
class Evaluated:
    """A log-likelihood by own sum; `single`: only its first step, whole, can be the worst."""

    log: Callable[[float], float]
    rows: int
    single: bool

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return the largest gain of the steps that are tried."""
        known: dict[float, float] = {}

        def phi(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            for s in sums.tolist():
                if s not in known:
                    known[s] = self.log(s)
            return np.array([known[s] for s in sums.tolist()])

        return steps(phi, self.rows, rising, whole, self.single)


@dataclass(frozen=True)
class MeasuredPass:
    """A pass over regions by evaluation."""

    regions: Sequence[Region]
    evaluate: LogLikelihood

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Evaluated]]:
        """Yield the episodes of a region with their likelihoods by own sum."""
        region = self.regions[number]
        base = np.array([float(len(episode)) for episode in region.episodes]) * background
        convex = conditions.convex(region)
        for index, episode in enumerate(region.episodes):

            def log(s: float, index: int = index) -> float:
                sums = base.copy()
                sums[index] = s
                return self.evaluate(region, region.means(sums))

            single = convex or (len(episode) == 1 and conditions.monotone(region, index))
            yield index, Evaluated(log, len(episode), single)


_TAIL = 45.0  # e^-45 of what remains beyond the last kink is below a double's resolution
_WIDEST = 8.0


@dataclass(frozen=True)
class Meeting:
    """A decision between two registers: their releases, the scores, the held one's position."""

    held: Batch
    fresh: Batch
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
        self._duels: dict[int, tuple[Turn, Duel]] = {}
        self._same: dict[Hashable, Duel] = {}
        self._tails: dict[Hashable, LogFunction | None] = {}

    def duel(self, chain: Chain, stage: Turn) -> Meeting:
        """Return a stage's comparison; raise `Unsupported` where it is none of two scores."""
        kept = self._duels.get(id(stage))
        if kept is None:
            found = duel_of(stage.request.rule(FLOAT))
            found = self._same.setdefault(found.identity, found)
            kept = self._duels[id(stage)] = stage, found
        kinds = chain.kind(stage.older), chain.kind(stage.fresh)
        return Meeting(*kinds, kept[1], stage.held)

    def one(self, kind: Batch) -> LogFunction:
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
        out, left = (duel.held, duel.fresh) if of_held else (duel.fresh, duel.held)
        position = duel.position if of_held else 1 - duel.position
        message = self.times(function, density(float(centre), 1 / float(out.rate), self.reach))
        if message is None:
            return None

        def mass(y: Array) -> Array:
            threshold = duel.duel.least_to_win(position, y)
            return message.log_beyond(threshold, upper=held_wins == of_held)

        theirs = [*message.breakpoints, *duel.duel.kinks(position)]
        points = [*duel.duel.kinks(1 - position), *duel.duel.image(position, theirs)]
        return build(mass, points, _WIDEST / float(left.rate), self.reach)

    def log_total(self, function: LogFunction | None, kind: Batch, centre: Fraction) -> float:
        """Return the logarithm of the integral."""
        if function is None:
            return -np.inf
        return float(Scanned(function, kind)(np.array([float(centre)]))[0])

    def curve(self, function: LogFunction | None, kind: Batch) -> Scanned | Nothing:
        """Return the log-likelihood by a release's own sum."""
        return Nothing() if function is None else Scanned(function, kind)

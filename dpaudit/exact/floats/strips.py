"""A weight of two registers as sums of products, region by region, and its integrals along lines.

The regions are cut out by monotone curves. On each, H(x, y) = sum over r of P_r(x) Q_r(y); which
region a point is in is told by the side of every curve that it is on. A curve is where two arms'
scores were equal at a decision: it has the first register as a function of the second and the other
way round. When the first register wins and a fresh one takes its place, the curve moves along the
threshold between the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.scores import Score
from dpaudit.exact.floats.axis import Panes, Tails
from dpaudit.exact.floats.duel import Duel, threshold

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contest:
    """A three-arm decision: the episodes shown, the scores, the position that won."""

    shown: tuple[int, int, int]
    scores: tuple[Score, Score, Score]
    winner: int

    def least_to_win(self, winner: int, loser: int, x: Array) -> Array:
        """Return the value from which a position beats another's value (ties: earlier position)."""
        duel = Duel((self.scores[winner], self.scores[loser]), ties=0 if winner < loser else 1)
        return threshold(duel, 0)(np.asarray(x, dtype=float))

    def kinks(self, position: int) -> list[float]:
        """Return where a position's score is not smooth."""
        return self.scores[position].kinks()


class Border(ABC):
    """An increasing curve between two registers, possibly with flat and vertical stretches."""

    @abstractmethod
    def first_of(self, second: Array) -> Array:
        """Return the first register's value on the curve."""

    @abstractmethod
    def second_of(self, first: Array) -> Array:
        """Return the second register's value on the curve."""


@dataclass(frozen=True)
class Tie(Border):
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
class Moved(Border):
    """A curve whose first register won a contest, seen from the fresh register it beat."""

    curve: Border
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
class Above(Border):
    """The part of a curve above a floor, and the floor elsewhere."""

    curve: Border
    floor: Border

    def first_of(self, second: Array) -> Array:
        """Return the larger first register."""
        return np.maximum(self.curve.first_of(second), self.floor.first_of(second))

    def second_of(self, first: Array) -> Array:
        """Return the smaller second register."""
        return np.minimum(self.curve.second_of(first), self.floor.second_of(first))


@dataclass(frozen=True)
class Turned(Border):
    """A curve with its registers swapped."""

    curve: Border

    def first_of(self, second: Array) -> Array:
        """Return the old second register."""
        return self.curve.second_of(second)

    def second_of(self, first: Array) -> Array:
        """Return the old first register."""
        return self.curve.first_of(first)


Keys = NDArray[np.int64]

_EQUAL = 1e-12  # in units of the scale: curves this near to each other are one


@dataclass(frozen=True, eq=False)
class HeldSide:
    """One held register: its episode, its axis, its functions (terms x panels x nodes), sizes."""

    index: int
    axis: Panes
    values: Array
    sizes: Array

    @property
    def carried(self) -> Array:
        """Functions and magnitudes, to be carried to finer panels together."""
        wide = np.broadcast_to(self.sizes[:, :, None], self.values.shape)
        return np.concatenate([self.values, wide])


@dataclass(frozen=True, eq=False)
class Message:
    """H: terms in regions. Bit i of a term's region says that first >= curve i at second."""

    first: HeldSide
    second: HeldSide
    regions: Keys
    curves: tuple[Border, ...]

    def turned(self) -> Message:
        """Return the same function with its registers swapped."""
        flip = (1 << len(self.curves)) - 1
        curves = tuple(Turned(curve) for curve in self.curves)
        return Message(self.second, self.first, self.regions ^ flip, curves)


def layout(curves: tuple[Border, ...], second: Array, scale: float) -> tuple[Array, Keys]:
    """Return the first register's cuts on lines of the second, in order, and the regions between.

    Curves that are nearly equal keep their own order, so that rounding makes no regions.
    """
    count = len(curves)
    cuts = np.array([curve.first_of(second) for curve in curves]).reshape(count, len(second))
    order = np.argsort(cuts, axis=0, kind="stable")
    cuts = np.take_along_axis(cuts, order, axis=0)
    for _ in range(count):
        for k in range(count - 1):
            with np.errstate(invalid="ignore"):
                near = ~(cuts[k + 1] - cuts[k] > _EQUAL * scale) & (order[k] > order[k + 1])
            order[k], order[k + 1] = (
                np.where(near, order[k + 1], order[k]),
                np.where(near, order[k], order[k + 1]),
            )
    keys = np.zeros((count + 1, len(second)), dtype=np.int64)
    for k in range(count):
        keys[k + 1] = keys[k] | (1 << order[k])
    return cuts, keys


def _present(curves: tuple[Border, ...], lines: Panes, scale: float) -> set[int]:
    """Return the regions that lines of the second register meet."""
    cuts, keys = layout(curves, lines.x.ravel(), scale)
    if not len(cuts):
        return {0}
    full = np.full((1, cuts.shape[1]), np.inf)
    with np.errstate(invalid="ignore"):
        length = np.concatenate([cuts, full]) - np.concatenate([-full, cuts])
    return {int(key) for key in np.unique(keys[length > _EQUAL * scale])}


def pruned(message: Message) -> Message:
    """Drop regions that do not exist and curves that separate none."""
    first, second, curves = message.first, message.second, message.curves
    flip = (1 << len(curves)) - 1
    turned = tuple(Turned(curve) for curve in curves)
    seen = _present(curves, second.axis, first.axis.scale)
    seen |= {key ^ flip for key in _present(turned, first.axis, second.axis.scale)}
    keep = np.isin(message.regions, list(seen))
    regions = message.regions[keep]
    columns: dict[tuple[int, ...], int] = {}
    for i in range(len(curves)):
        bits = tuple((regions >> i & 1).tolist())
        if len(set(bits)) > 1:
            columns.setdefault(bits, i)
    kept = sorted(columns.values())
    packed = sum((((regions >> i) & 1) << place for place, i in enumerate(kept)), regions * 0)
    return Message(
        replace(first, values=first.values[keep], sizes=first.sizes[keep]),
        replace(second, values=second.values[keep], sizes=second.sizes[keep]),
        packed,
        tuple(curves[i] for i in kept),
    )


class Lines:
    """Integrals of a message along lines of the second register, above a floor.

    Row 0 is the integral; row 1 + j is the correction E of region j.
    """

    def __init__(
        self,
        message: Message,
        tails: Tails,
        regions: Keys,
        contest: Contest | None,
        position: int,
        parallel: bool,
    ) -> None:
        self.parallel = parallel
        self.message, self.tails, self.regions = message, tails, regions
        self.contest, self.position = contest, position
        self.scale = message.first.axis.scale

    def _floor(self, x: Array) -> Array:
        if self.contest is None:
            return np.full(x.shape, -np.inf)
        return self.contest.least_to_win(self.contest.winner, self.position, x)

    def __call__(self, x: Array, carried: Array) -> tuple[Array, Array]:
        """Return the rows and their magnitudes at nodes of the second register."""
        line = x.ravel()
        count = self.tails.count
        q = carried[:count].reshape(count, -1)
        q_size = carried[count:].reshape(count, -1)
        cuts, keys = layout(self.message.curves, line, self.scale)
        floor = self._floor(line)
        ends = [np.maximum(cut, floor) for cut in cuts]
        beyond = [self.tails(floor), *(self.tails(end) for end in ends)]
        beyond.append(np.zeros_like(beyond[0]))
        owner = self.message.regions[:, None]
        total, size = np.zeros(line.size), np.zeros(line.size)
        correction = np.zeros((len(self.regions), line.size))
        correction_size = np.zeros_like(correction)
        for k in range(len(keys) - 1, -1, -1):
            own = owner == keys[k]
            over = np.where(own, q * beyond[k + 1], 0.0).sum(axis=0)
            over_size = np.where(own, q_size * np.abs(beyond[k + 1]), 0.0).sum(axis=0)
            if k < len(keys) - 1:
                # an end at the floor counts: where the winner's score is flat, a whole stretch of
                # the register that it beats has its threshold there
                here = keys[k] == self.regions[:, None]
                here &= cuts[k] > floor - _EQUAL * self.scale
                correction += np.where(here, total - over, 0.0)
                correction_size += np.where(here, size + over_size, 0.0)
            total = total + np.where(own, q * (beyond[k] - beyond[k + 1]), 0.0).sum(axis=0)
            size += over_size + np.where(own, q_size * np.abs(beyond[k]), 0.0).sum(axis=0)
        found = np.concatenate([total[None], correction]).reshape(-1, *x.shape)
        sizes = np.concatenate([size[None], correction_size]).reshape(-1, *x.shape)
        return found, sizes

    def crossings(self) -> list[float]:
        """Return where the order of the curves and the floor changes along the second register."""
        curves = self.message.curves
        ties: list[Border] = list(curves)
        if not ties or self.parallel:
            return []
        axis = self.message.second.axis
        # either side of every panel's end: a jump there needs no further split
        near = 1e-10 * axis.scale * np.array([1.0, -1.0])
        inner = (axis.left[1:, None] + near).ravel()
        x = np.unique(np.concatenate([axis.x.ravel(), inner]))
        values = [curve.first_of(x) for curve in ties]
        functions: list[Callable[[Array], Array]] = [curve.first_of for curve in ties]
        if self.contest is not None:
            values.append(self._floor(x))
            functions.append(self._floor)
        found: list[float] = []
        for i, one in enumerate(values):
            for j in range(i):
                sign = self._sign(one, values[j])
                place = np.flatnonzero((sign[1:] * sign[:-1] < 0) & (np.diff(x) > 3 * near[0]))
                low, high, side = x[place], x[place + 1], sign[place]
                for _ in range(50 if place.size else 0):
                    middle = 0.5 * (low + high)
                    same = self._sign(functions[i](middle), functions[j](middle)) == side
                    low, high = np.where(same, middle, low), np.where(same, high, middle)
                found += high.tolist()
        return found

    def _sign(self, one: Array, two: Array) -> Array:
        with np.errstate(invalid="ignore"):
            gap = one - two
        return np.where(np.abs(gap) > _EQUAL * self.scale, np.sign(gap), 0.0)

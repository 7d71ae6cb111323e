"""Scores that nobody has proved, in doubles: what the cells need to know of two of them.

Ties go to the earlier arm. IMED is no score of one register; beside scores of one's own it is
compared as it always is (`balls/compare.py`).

Thresholds are asked at the nodes and at three points of every cell. Their divided differences,
widened by as much as they differ, stand for bounds of the derivatives: a kink or a jump that was
not declared makes them large, hence the enclosure wide. Nothing of this is certified.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import RULES, Imed, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.compare import Bout, Known
from dpaudit.exact.balls.interval import Array, Interval, where
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Comparison
from dpaudit.exact.known import GRID, NEAR, scores_of
from dpaudit.exact.region import Batch

FAR = 1e6
INNER = np.array([0.25, 0.5, 0.75])
TAIL = 45.0  # e^-45 of what remains beyond the last kink is below a double's resolution
SPREAD = (1.0, 4.0, 14.0, TAIL)  # marks of a tail, in noise scales


@dataclass(frozen=True)
class PlainComparison:
    """Two scores in doubles, and whether the first wins ties; registers count from `centres`."""

    scores: tuple[Score, Score]
    first_wins_ties: bool
    centres: tuple[float, float] = (0.0, 0.0)

    @property
    def identity(self) -> Hashable:
        """What tells it from other comparisons; of scores of one's own, these themselves."""
        if any(type(score) not in RULES for score in self.scores):
            return (*map(id, self.scores), self.first_wins_ties)
        parts = [(type(score), *map(float, vars(score).values())) for score in self.scores]
        return (*parts, self.first_wins_ties)

    @property
    def flipped(self) -> PlainComparison:
        return PlainComparison(self.scores[::-1], not self.first_wins_ties, self.centres[::-1])

    @property
    def always(self) -> bool | None:
        low, high = self._theta(np.array([-FAR, FAR]))
        return True if low == np.inf else False if high == -np.inf else None

    def centred(self, first: Interval, second: Interval) -> PlainComparison:
        both = zip(self.centres, (first, second), strict=True)
        one, two = (before + 0.5 * float(more.lo + more.hi) for before, more in both)
        return replace(self, centres=(one, two))

    def _theta(self, x: Array) -> Array:
        """Return what the second register must reach to beat x of the first."""
        with np.errstate(all="ignore"):
            v, own = self.scores[0].value(x + self.centres[0]), self.scores[1]
            found = own.inverse_upper(v) if self.first_wins_ties else own.inverse(v)
            return np.asarray(found - self.centres[1], dtype=float)

    def threshold(self, x: Array | Interval, rough: bool = False) -> Theta:
        """Return theta at increasing values x of the first's register, its derivatives measured."""
        if isinstance(x, Interval):
            ends = Interval(*(np.maximum.accumulate(self._theta(end)) for end in (x.lo, x.hi)))
            return replace(self.threshold(x.lo, rough), at=ends)
        at = np.maximum.accumulate(self._theta(x))
        if rough:
            none, endless = np.zeros(len(x) - 1), np.full(len(x) - 1, np.inf)
            return Theta(Interval.of(at), Interval(none, endless), Interval(-endless, endless))
        with np.errstate(all="ignore"):
            part = np.diff(x) / 4
            points = x[:-1, None] + 4 * part[:, None] * INNER
            inner = self._theta(np.where(np.isfinite(points), points, x[:-1, None]))
            five = np.concatenate([at[:-1, None], inner, at[1:, None]], axis=1)
            slopes = np.diff(five, axis=1) / part[:, None]
            bends = np.diff(slopes, axis=1) / part[:, None]
        slope, bend = _widened(slopes), _widened(bends)
        flat = at[1:] == at[:-1]
        still = Interval.of(np.zeros(flat.shape))
        slope = Interval(np.maximum(slope.lo, 0.0), slope.hi)
        return Theta(Interval.of(at), where(flat, still, slope), where(flat, still, bend))

    @property
    def marks(self) -> list[Interval]:
        """The kinks of the first's score, and the images of the second's."""
        mine, theirs = (
            [x - centre for x in _bends(score)]
            for score, centre in zip(self.scores, self.centres, strict=True)
        )
        points = [*mine, *self.reached(1, theirs)]
        return [_blunt(x) for x in sorted(points)]

    def reached(self, source: int, points: list[float]) -> list[float]:
        """Return where the other register meets values of one; plateaus answer with both ends."""
        v = self.scores[source].value(np.array(points) + self.centres[source])
        other = self.scores[1 - source]
        found = np.concatenate([np.ravel(other.inverse(v)), np.ravel(other.inverse_upper(v))])
        return [float(x) - self.centres[1 - source] for x in found if np.isfinite(x)]

    def moves(self, place: int, start: float, stop: float) -> bool:
        """Tell whether the score at a place differs between two values of its register."""
        low, high = self.scores[place].value(np.array([start, stop]) + self.centres[place])
        return bool(low != high)


def _bends(score: Score) -> list[float]:
    """Return a score's kinks, and the ends of the plateaus that are seen on a grid."""
    with np.errstate(all="ignore"):
        shown = np.asarray(score.value(GRID), dtype=float)
        levels = np.unique(shown[1:][shown[1:] == shown[:-1]])
        ends = [*np.ravel(score.inverse(levels)), *np.ravel(score.inverse_upper(levels))]
    return [*score.kinks(), *(float(x) for x in ends if np.isfinite(x))]


def _widened(values: Array) -> Interval:
    """Return the hull of the numbers of each row and as much again; no bound if one is none."""
    low, high = values.min(axis=1), values.max(axis=1)
    with np.errstate(all="ignore"):
        found = low - (high - low), high + (high - low)
        usable = np.isfinite(found[0] + found[1])
    return Interval(np.where(usable, found[0], -np.inf), np.where(usable, found[1], np.inf))


def _blunt(x: float) -> Interval:
    """Return what lies as near to a mark as scores that were not proved are trusted to show it."""
    return Interval(np.float64(x - NEAR * (1 + abs(x))), np.float64(x + NEAR * (1 + abs(x))))


class MeasuredDuels(Known):
    """Comparisons in doubles, on grids that reach as far as noise does where scores go on."""

    certain = False

    def __init__(self, region: object = None) -> None:
        super().__init__(region)
        self._rules: dict[int, tuple[Choose, tuple[Score, ...]]] = {}

    def compared(self, request: Choose, places: tuple[int, int]) -> Comparison:
        """Return how two scores compare in doubles."""
        if id(request) not in self._rules:
            rule = request.rule(FLOAT)
            if isinstance(rule, Imed):
                return super().compared(request, places)
            if not isinstance(rule, Score):
                kind = type(rule).__name__
                raise Unsupported(f"The exact engine has no regions for the rule {kind}.")
            self._rules[id(request)] = request, scores_of(rule, len(request.arms))
        one, two = (self._rules[id(request)][1][place] for place in places)
        return PlainComparison((one, two), places[0] < places[1])

    def identity(self, request: Choose, places: tuple[int, int]) -> Hashable:
        found = self.scores(request, places)
        if isinstance(found, PlainComparison):
            return found.identity
        return super().identity(request, places)

    def marks(self, duels: Sequence[Bout]) -> Iterator[tuple[Batch, list[Interval]]]:
        """Yield the kinks, and tails beyond all that is an image of a centre or of a kink."""
        ends: dict[Batch, list[float]] = {}
        for kind, found in super().marks(duels):
            yield kind, found
            points = [0.0, float(kind.centre(kind.rows)), *(float(mark.lo) for mark in found)]
            ends.setdefault(kind, []).extend(points)
        plain = [(at.scores, at.kinds) for at in duels if isinstance(at.scores, PlainComparison)]
        # a register's range is that of its own centres and of what it is compared with
        for scores, kinds in [*plain, *reversed(plain)]:
            for source, kind in enumerate(kinds):
                hull = [min(ends[kind]), max(ends[kind])]
                ends[kinds[1 - source]].extend(scores.reached(source, hull))
        slowest = float(min(ends, key=lambda kind: kind.rate).rate) if ends else 1.0
        for scores, kinds in plain:
            for place, kind in enumerate(kinds):
                for sign, end in ((-1, min(ends[kind])), (1, max(ends[kind]))):
                    tail = [end + sign * part / slowest for part in (0.0, *SPREAD)]
                    if scores.moves(place, tail[0], tail[-1]):
                        yield kind, [Interval.of(np.float64(x)) for x in tail]

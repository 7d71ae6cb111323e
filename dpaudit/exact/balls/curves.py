"""Monotone maps between registers, composed on a grid: where one register meets what another says.

At a decision the values of position b that lose to a value x of position a are everything below
theta(x): a `Tie` from a to b, whose inverse is the tie from b to a. A `Map` is a row of ties, the
first one first; the empty row is the identity. An `Extreme` is the larger (or smaller) of several
maps of one register.

Scores at one decision are in one order, so that two ties of the same decision in a row are one.
Between ties of two decisions lies a register that is asked for what it never holds: what lies
beyond its window, or where one of its scores begins or ends to saturate, which is what a plateau
of another score asks for. Values that a register never takes are collapsed to one class. What is
asked of a register is ordered by class, within a class by decision (the later one counts as the
larger), within a decision by score: one order for all, so that what two bounds are parted into has
nothing in common and leaves nothing out, and the way back of a map is that of its complement. In a
class the first y that asks for as much as x lies at the lower end of the class where y's decision
is the later one, else at the upper end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.balls.interval import Array, Interval, where
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Comparison
from dpaudit.exact.balls.weight import ROUND, scaled

SAMPLED, NARROWED, SLOW = 129, 16, 1e-3  # points, and steps, to find where two maps cross
BESIDE = 1e-9


@dataclass(frozen=True)
class Tie:
    """The threshold of one position's register by another's, at a decision."""

    decision: int
    source: int
    target: int


@dataclass(frozen=True)
class Extreme:
    """The largest of some maps, or the smallest."""

    maps: tuple[Map, ...]
    largest: bool


Map = tuple[Tie, ...] | Extreme


def composed(inner: Map, outer: Map) -> Map:
    """Return x -> outer(inner(x)), for `outer` at least `inner`; extremes come out."""
    if isinstance(inner, Extreme):
        return _extreme_of([composed(part, outer) for part in inner.maps], inner.largest)
    if isinstance(outer, Extreme):
        return _extreme_of([composed(inner, part) for part in outer.maps], outer.largest)
    steps = list(inner)
    for now in outer:
        if steps and now.decision == steps[-1].decision:
            last = steps.pop()
            if last.source == now.target:
                continue
            now = Tie(now.decision, last.source, now.target)
        steps.append(now)
    return tuple(steps)


def _extreme_of(maps: Sequence[Map], largest: bool) -> Map:
    flat: dict[Map, None] = {}
    for part in maps:
        alike = isinstance(part, Extreme) and part.largest == largest
        flat |= dict.fromkeys(part.maps if alike else [part])  # type: ignore[union-attr]
    return next(iter(flat)) if len(flat) == 1 else Extreme(tuple(flat), largest)


def inverse(given: Map) -> Map:
    """Return the map back, which is that of the complement."""
    if isinstance(given, Extreme):
        return Extreme(tuple(inverse(part) for part in given.maps), not given.largest)
    return tuple(Tie(it.decision, it.target, it.source) for it in reversed(given))


def largest(one: Map, two: Map) -> Map:
    """Return the larger of two maps of one register."""
    return _extreme_of([one, two], largest=True)


@dataclass(frozen=True)
class Classes:
    """Values that a register never takes, as disjoint intervals that rise; each is one class."""

    low: Array
    high: Array

    def of(self, x: Array) -> NDArray[np.intp]:
        """Return the class of every value, -1 where it is in none."""
        place = np.clip(np.searchsorted(self.low, x, "right") - 1, 0, len(self.low) - 1)
        inside = (self.low[place] <= x) & (x <= self.high[place])
        return np.where(inside, place, -1)

    def moved(self, x: Array, upwards: bool) -> Array:
        """Return values, those in a class at its upper or at its lower end."""
        found = self.of(x)
        ends = (self.high if upwards else self.low)[found]
        return np.where(found >= 0, ends, x)

    def ends(self) -> list[Interval]:
        """Return the finite ends."""
        points = np.concatenate([self.low, self.high])
        return [Interval.of(x) for x in points[np.isfinite(points)]]


@dataclass
class Curves:
    """The maps of a path, by the comparison of any two positions at its decisions.

    `classes` are those of the register that a position shows at a decision.
    """

    compared: Callable[[int, int, int], Comparison]
    classes: dict[tuple[int, int], Classes] = field(default_factory=dict)
    _pairs: dict[tuple[int, int, int], Comparison] = field(default_factory=dict)
    _crossed: dict[tuple[Map, Map, float], list[Interval]] = field(default_factory=dict)
    _sampled: dict[float, dict[Map, Theta]] = field(default_factory=dict)

    def pair(self, tie: Tie) -> Comparison:
        """Return the comparison of a tie, its source first."""
        key = (tie.decision, tie.source, tie.target)
        if key not in self._pairs:
            found = self._pairs[key] = self.compared(*key)
            self._pairs[tie.decision, tie.target, tie.source] = found.flipped
        return self._pairs[key]

    def on(
        self, x: Array, given: Map, known: dict[Map, Theta] | None = None, rough: bool = False
    ) -> Theta:
        """Enclose a map on increasing doubles; `known` are maps on the same ones.

        Where `rough`, its derivatives are not asked for.
        """
        known = {} if known is None else known
        if given not in known:
            known[given] = self._new(x, given, known, rough)
        return known[given]

    def _new(self, x: Array, given: Map, known: dict[Map, Theta], rough: bool) -> Theta:
        if isinstance(given, Extreme):
            first, *rest = (self.on(x, part, known, rough) for part in given.maps)
            for other in rest:
                first = _extreme(first, other, np.diff(x), given.largest)
            return first
        if not given:
            cells = len(x) - 1
            return Theta(Interval.of(x), Interval.of(np.ones(cells)), Interval.of(np.zeros(cells)))
        inner, tie = self.on(x, given[:-1], known, rough), given[-1]
        if len(given) == 1:
            outer = self.pair(tie).threshold(inner.at, rough)
        else:
            classes = self.classes[tie.decision, tie.source]
            upwards = tie.decision < given[-2].decision
            outer = _across(self.pair(tie), inner.at, classes, upwards, rough)
        if rough:
            return outer
        square = scaled(inner.slope, inner.slope)
        bend = scaled(square, outer.bend) + scaled(outer.slope, inner.bend)
        return Theta(outer.at, scaled(inner.slope, outer.slope), bend)

    def kinks(self, given: Map) -> list[Interval]:
        """Return where a map may jump or bend sharply, in its own register."""
        if isinstance(given, Extreme):
            return [mark for part in given.maps for mark in self.kinks(part)]
        found: list[Interval] = []
        for place, step in enumerate(given):
            ends = self.classes[step.decision, step.source].ends() if place else []
            found += self._back(self.pair(step).marks + ends, inverse(given[:place]))
        return found

    def _crossings(self, one: Map, two: Map, reach: float) -> list[Interval]:
        """Return about where two maps cross: the larger of them bends there."""

        def gap(x: Array, known: dict[Map, Theta] | None = None) -> Array:
            first, second = (self.on(x, part, known, rough=True).at for part in (one, two))
            with np.errstate(invalid="ignore"):
                return np.asarray(first.lo + first.hi - second.lo - second.hi)

        if (one, two, reach) in self._crossed:
            return self._crossed[one, two, reach]
        x = reach * np.linspace(-1.0, 1.0, SAMPLED)
        sampled = self._sampled.setdefault(reach, {})
        y = gap(x, sampled)
        with np.errstate(invalid="ignore"):
            turns = np.flatnonzero(np.isfinite(y[1:] + y[:-1]) & (y[1:] * y[:-1] < 0))
        a, b, at_a, at_b = x[turns], x[turns + 1], y[turns], y[turns + 1]
        for _ in range(NARROWED if len(turns) else 0):
            # the secant, and the middle where it would stay at one end
            cut = (a * at_b - b * at_a) / (at_b - at_a)
            cut = np.where(np.minimum(cut - a, b - cut) > SLOW * (b - a), cut, (a + b) / 2)
            value = gap(cut)
            left = np.signbit(value) == np.signbit(at_a)
            a, at_a = np.where(left, cut, a), np.where(left, value, at_a)
            b, at_b = np.where(left, b, cut), np.where(left, at_b, value)
        with np.errstate(invalid="ignore"):
            best = np.where(np.abs(at_a) < np.abs(at_b), a, b)
        found = self._crossed[one, two, reach] = [Interval.of(point) for point in best]
        return found

    def bends(
        self, given: Map, reach: float, marks: list[Interval], bends: set[float]
    ) -> set[float]:
        """Return about where masses beyond a map bend: it meets where its target does, or turns."""
        points = [*marks, *map(Interval.of, sorted(bends))]
        found = [*self._back(points, inverse(given)), *self._turns(given, reach)]
        middles = (0.5 * float(mark.lo + mark.hi) for mark in found)
        return {round(middle, 9) for middle in middles if abs(middle) < reach}

    def _turns(self, given: Map, reach: float) -> list[Interval]:
        if not isinstance(given, Extreme):
            return []
        found = [mark for part in given.maps for mark in self._turns(part, reach)]
        for one, two in combinations(given.maps, 2):
            found += self._crossings(one, two, reach)
        return found

    def _back(self, marks: list[Interval], given: Map) -> list[Interval]:
        if not marks or not given:
            return marks
        points = sorted({float(end) for mark in marks for end in (mark.lo, mark.hi)})
        theta = self.on(np.array(points), given, rough=True) if len(points) > 1 else None
        if theta is None:
            theta = self.on(np.array([points[0], points[0] + 1.0]), given, rough=True)
        at = {x: theta.at[i] for i, x in enumerate(points)}
        images = (Interval(at[float(m.lo)].lo, at[float(m.hi)].hi) for m in marks)
        return [image for image in images if np.isfinite(image.lo) and np.isfinite(image.hi)]


def _extreme(one: Theta, two: Theta, length: Array, larger: bool) -> Theta:
    """Return the larger, or the smaller, of two functions of one register.

    Where they cross, the larger one's slope jumps up. A jump J at c takes a function off its chord
    by at most J (x - a) (b - x) / h at x, as a bend of 2 J / h does. Between two crossings their
    slopes change order, so that all jumps of a cell add up to no more than the first and twice what
    the difference of their slopes changes by.
    """
    pick = np.maximum if larger else np.minimum
    at = Interval(pick(one.at.lo, two.at.lo), pick(one.at.hi, two.at.hi))
    first = ahead(one, two, length) if larger else ahead(two, one, length)
    second = ahead(two, one, length) if larger else ahead(one, two, length)
    slopes, bends = (
        Interval(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi))
        for a, b in ((one.slope, two.slope), (one.bend, two.bend))
    )
    with np.errstate(invalid="ignore", over="ignore"):
        jumps = 2 * (slopes.hi - slopes.lo) / length + 4 * (bends.hi - bends.lo)
        jumps = np.where(slopes.hi == 0, 0.0, jumps * (1 + ROUND))  # of two constants one is larger
        jumps = np.where(np.isnan(jumps), np.inf, jumps)
        rough = Interval(bends.lo - (0 if larger else jumps), bends.hi + (jumps if larger else 0))
    slope = where(first, one.slope, where(second, two.slope, slopes))
    return Theta(at, slope, where(first, one.bend, where(second, two.bend, rough)))


def ahead(one: Theta, two: Theta, length: Array) -> Array:
    """Return the cells on which one function is certainly at least another."""
    with np.errstate(invalid="ignore"):
        gap = one.at.lo - two.at.hi
        gap = np.where(np.isnan(gap), -np.inf, gap)
        far = one.at.lo[:-1] >= two.at.hi[1:]
        # from the left end the gap falls at most at one pace, from the right end at another
        slack = 1e-14 * (one.slope.hi + two.slope.hi)
        low = (one.slope.lo - two.slope.hi - slack) * length
        high = (one.slope.hi - two.slope.lo + slack) * length
        left, right = gap[:-1], gap[1:]
        near = (left > 0) & (right > 0) & ((low > -left) | (high < right))
    return np.asarray(far | near)


def _across(pair: Comparison, x: Interval, classes: Classes, upwards: bool, rough: bool) -> Theta:
    """Return the threshold of what a register is asked for, which may lie in a class."""
    low, high = (classes.moved(end, upwards) for end in (x.lo, x.hi))
    theta = pair.threshold(Interval(low, high), rough)
    moved = (low != x.lo) | (high != x.hi)
    if moved.any():
        # next to where a score saturates, doubles do not resolve it: a threshold rises, ask farther
        beside = pair.threshold(high + BESIDE if upwards else low - BESIDE, True).at
        if upwards:
            best = Interval(theta.at.lo, np.minimum(theta.at.hi, beside.hi))
        else:
            best = Interval(np.maximum(theta.at.lo, beside.lo), theta.at.hi)
        theta = replace(theta, at=where(moved, best, theta.at))
    # below all of a register, and not strictly so, is nothing; strictly above all, everything
    end = np.inf if upwards else -np.inf
    at = Interval(np.where(low == end, end, theta.at.lo), np.where(high == end, end, theta.at.hi))
    first, last = classes.of(x.lo[:-1]), classes.of(x.hi[1:])
    flat = (first == last) & (first >= 0)
    between = np.searchsorted(classes.low, x.hi[1:], "right")
    met = between > np.searchsorted(classes.high, x.lo[:-1], "left")
    still, none = Interval.of(np.zeros(flat.shape)), np.full(flat.shape, np.inf)
    slope = where(flat, still, where(met, Interval(still.lo, none), theta.slope))
    return Theta(at, slope, where(flat, still, where(met, Interval(-none, none), theta.bend)))

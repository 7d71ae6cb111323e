"""Monotone maps between registers, composed on a grid: where one register meets what another says.

At a decision the values of position b that lose to a value x of position a are everything below
theta(x): a `Tie` from a to b, whose inverse is the tie from b to a. A `Map` is a row of steps, the
first one first; the empty row is the identity. An `Extreme` is the larger (or smaller) of several
maps of one register.

Scores at one decision are in one order, so that two ties of the same decision in a row are one:
where the register between them saturates, both ways to say so bound the same part of its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpaudit.exact.balls.interval import Array, Interval, where
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Rivals
from dpaudit.exact.balls.weight import scaled


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
    """Return x -> outer(inner(x)); maps are monotone, so extremes come out."""
    if isinstance(inner, Extreme):
        return _extreme_of([composed(part, outer) for part in inner.maps], inner.largest)
    if isinstance(outer, Extreme):
        return _extreme_of([composed(inner, part) for part in outer.maps], outer.largest)
    steps = list(inner)
    for step in outer:
        if steps and step.decision == steps[-1].decision:
            source = steps.pop().source
            if source == step.target:
                continue
            step = Tie(step.decision, source, step.target)
        steps.append(step)
    return tuple(steps)


def _extreme_of(maps: Sequence[Map], largest: bool) -> Map:
    flat: dict[Map, None] = {}
    for part in maps:
        alike = isinstance(part, Extreme) and part.largest == largest
        flat |= dict.fromkeys(part.maps if alike else [part])  # type: ignore[union-attr]
    return next(iter(flat)) if len(flat) == 1 else Extreme(tuple(flat), largest)


def inverse(given: Map) -> Map:
    """Return the map back."""
    if isinstance(given, Extreme):
        return Extreme(tuple(inverse(part) for part in given.maps), not given.largest)
    return tuple(Tie(step.decision, step.target, step.source) for step in reversed(given))


def largest(one: Map, two: Map) -> Map:
    """Return the larger of two maps of one register."""
    return _extreme_of([one, two], largest=True)


@dataclass
class Curves:
    """The maps of a path, by the comparison of any two positions at its decisions."""

    compared: Callable[[int, int, int], Rivals]
    _pairs: dict[Tie, Rivals] = field(default_factory=dict)

    def pair(self, tie: Tie) -> Rivals:
        """Return the comparison of a tie, its source first."""
        if tie not in self._pairs:
            found = self.compared(tie.decision, tie.source, tie.target)
            self._pairs[tie] = found
            self._pairs[Tie(tie.decision, tie.target, tie.source)] = found.flipped
        return self._pairs[tie]

    def on(self, x: Array, given: Map, known: dict[Map, Theta] | None = None) -> Theta:
        """Enclose a map on increasing doubles; `known` are maps on the same ones."""
        known = {} if known is None else known
        if given not in known:
            known[given] = self._new(x, given, known)
        return known[given]

    def _new(self, x: Array, given: Map, known: dict[Map, Theta]) -> Theta:
        if isinstance(given, Extreme):
            first, *rest = (self.on(x, part, known) for part in given.maps)
            for other in rest:
                first = _extreme(first, other, np.diff(x), given.largest)
            return first
        if not given:
            cells = len(x) - 1
            return Theta(Interval.of(x), Interval.of(np.ones(cells)), Interval.of(np.zeros(cells)))
        inner = self.on(x, given[:-1], known)
        outer = self.pair(given[-1]).threshold(inner.at, True)
        square = scaled(inner.slope, inner.slope)
        bend = scaled(square, outer.bend) + scaled(outer.slope, inner.bend)
        return Theta(outer.at, scaled(inner.slope, outer.slope), bend)

    def kinks(self, given: Map) -> list[Interval]:
        """Return where a map may jump or bend sharply, in its own register."""
        if isinstance(given, Extreme):
            return [mark for part in given.maps for mark in self.kinks(part)]
        found: list[Interval] = []
        for place, step in enumerate(given):
            found += self._back(self.pair(step).marks(True), inverse(given[:place]))
        return found

    def _back(self, marks: list[Interval], given: Map) -> list[Interval]:
        if not marks or not given:
            return marks
        points = sorted({float(end) for mark in marks for end in (mark.lo, mark.hi)})
        theta = self.on(np.array(points), given) if len(points) > 1 else None
        if theta is None:
            theta = self.on(np.array([points[0], points[0] + 1.0]), given)
        at = {x: theta.at[i] for i, x in enumerate(points)}
        images = (Interval(at[float(m.lo)].lo, at[float(m.hi)].hi) for m in marks)
        return [image for image in images if np.isfinite(image.lo) and np.isfinite(image.hi)]


def _extreme(one: Theta, two: Theta, length: Array, larger: bool) -> Theta:
    """Return the larger, or the smaller, of two functions of one register."""
    pick = np.maximum if larger else np.minimum
    at = Interval(pick(one.at.lo, two.at.lo), pick(one.at.hi, two.at.hi))
    first = ahead(one, two, length) if larger else ahead(two, one, length)
    second = ahead(two, one, length) if larger else ahead(one, two, length)
    hull = Interval(np.minimum(one.slope.lo, two.slope.lo), np.maximum(one.slope.hi, two.slope.hi))
    endless = np.where(hull.hi == 0, 0.0, np.inf)  # the larger of two constants is one
    slope = where(first, one.slope, where(second, two.slope, hull))
    bend = where(first, one.bend, where(second, two.bend, Interval(-endless, endless)))
    return Theta(at, slope, bend)


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

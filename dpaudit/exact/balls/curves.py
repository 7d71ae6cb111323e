"""Monotone maps between registers, composed on a grid: where one register meets what another says.

At a decision the values of position b that lose to a value x of position a are everything below
theta(x): a `Tie` from a to b, whose inverse is the tie from b to a. A `Map` is a row of ties, the
first one first; the empty row is the identity. An `Extreme` is the larger (or smaller) of several
maps of one register.

Scores at one decision are in one order, so that two ties of the same decision in a row are one.
Between ties of two decisions lies a register that may be asked for what it never holds: infinity,
where a score saturates. f(x) <= g(y) between such values says x <= (the last x of which f is at
most that), or y >= (the first y of which g is at least that). So a tie that comes second takes
-inf to -inf, or, where it is `strict`, for f(x) < g(y), +inf to +inf. The way back is that of the
complement, strict where the way forth is not: what a map parts has nothing in common.
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
    strict: bool = False


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
    for place, step in enumerate(outer):
        now = step if place else Tie(step.decision, step.source, step.target)
        if steps and now.decision == steps[-1].decision:
            last = steps.pop()
            if last.source == now.target:
                continue
            now = Tie(now.decision, last.source, now.target, last.strict)
        steps.append(now)
    if steps and steps[0].strict:  # a register itself is finite
        steps[0] = Tie(steps[0].decision, steps[0].source, steps[0].target)
    return tuple(steps)


def _extreme_of(maps: Sequence[Map], largest: bool) -> Map:
    flat: dict[Map, None] = {}
    for part in maps:
        alike = isinstance(part, Extreme) and part.largest == largest
        flat |= dict.fromkeys(part.maps if alike else [part])  # type: ignore[union-attr]
    return next(iter(flat)) if len(flat) == 1 else Extreme(tuple(flat), largest)


def inverse(given: Map) -> Map:
    """Return the map back, of the complement: what the map is not strict about, it is."""
    if isinstance(given, Extreme):
        return Extreme(tuple(inverse(part) for part in given.maps), not given.largest)
    found = []
    for place in range(len(given) - 1, -1, -1):
        step = given[place]
        strict = place + 1 < len(given) and not given[place + 1].strict
        found.append(Tie(step.decision, step.target, step.source, strict))
    return tuple(found)


def largest(one: Map, two: Map) -> Map:
    """Return the larger of two maps of one register."""
    return _extreme_of([one, two], largest=True)


@dataclass
class Curves:
    """The maps of a path, by the comparison of any two positions at its decisions."""

    compared: Callable[[int, int, int], Rivals]
    _pairs: dict[tuple[int, int, int], Rivals] = field(default_factory=dict)

    def pair(self, tie: Tie) -> Rivals:
        """Return the comparison of a tie, its source first."""
        key = (tie.decision, tie.source, tie.target)
        if key not in self._pairs:
            found = self._pairs[key] = self.compared(*key)
            self._pairs[tie.decision, tie.target, tie.source] = found.flipped
        return self._pairs[key]

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
        if len(given) > 1:
            outer = _beyond_all(outer, inner.at, given[-1].strict)
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


def _beyond_all(theta: Theta, x: Interval, strict: bool) -> Theta:
    """Return a threshold of values that may be -inf, which stays (strict: +inf, which does)."""
    end = np.inf if strict else -np.inf
    low, high = x.lo == end, x.hi == end
    at = Interval(np.where(low, end, theta.at.lo), np.where(high, end, theta.at.hi))
    moved = low | high
    here = moved[1:] | moved[:-1]
    flat = (at.lo[:-1] == at.hi[1:]) & (at.lo[1:] == at.hi[1:]) & (at.lo[:-1] == at.hi[:-1])
    still, none = Interval.of(np.zeros(here.shape)), np.full(here.shape, np.inf)
    slope = where(here, where(flat, still, Interval(0 * still.lo, none)), theta.slope)
    return Theta(at, slope, where(here, where(flat, still, Interval(-none, none)), theta.bend))

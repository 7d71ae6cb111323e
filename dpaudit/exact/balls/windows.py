"""Functions of the variables of a net: weights on windows of a few noise scales.

A window's nodes crowd at the marks of the maps that are used and thin out with the noise. Where
steps have exponentials that are large, the cells at marks are holes: a jump within one would be
felt, however narrow it is, and the probability to fall into one is not.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.beyond import Beyond
from dpaudit.exact.balls.cells import graded, span_of
from dpaudit.exact.balls.curves import Classes, Curves, Map, ahead
from dpaudit.exact.balls.interval import Array, Interval, outward, where
from dpaudit.exact.balls.net import Band, Line
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.weight import ROUND, Lebesgue, Weight
from dpaudit.exact.clock import ENDLESS, Clock

REACH = 40  # noise scales
NARROW = 1e-9  # what is left out at a mark
CLOSE = 1e-7  # noise scales: bends so near to a mark are none of their own
FEWEST = 8  # cells between two marks
THINNING = 4.0  # noise scales over which cells grow by e
HEAVY = 100.0  # noise scales of what a function is at its least
WIDEST = 0.25  # noise scales: a step's exponentials are large where its noise is not


@dataclass
class Functions:
    """Weights on the grids of the variables, with what maps make of their masses."""

    curves: Curves
    grids: dict[int, Array]
    holes: dict[int, list[int]]
    rates: dict[int, float]
    least: float = 0.0
    clock: Clock = ENDLESS
    _measures: dict[int, Lebesgue] = field(default_factory=dict)
    _beyond: dict[Any, Beyond] = field(default_factory=dict)
    _thetas: dict[int, dict[Map, Theta]] = field(default_factory=dict)

    def measure(self, variable: int) -> Lebesgue:
        """Return Lebesgue's measure on a variable's window."""
        if variable not in self._measures:
            self._measures[variable] = Lebesgue(self.grids[variable], self.holes[variable])
        return self._measures[variable]

    def term(self) -> None:
        self.clock()

    def total(self, variable: int, function: Weight) -> Interval:
        return self.measure(variable).total(function)

    def times(self, one: Weight, two: Weight) -> Weight:
        return one * two

    def scaled(self, number: Interval, function: Any) -> Any:
        with np.errstate(invalid="ignore"):  # 0 times what has no bound is no bound
            if isinstance(function, Interval):
                return number * function
            return function.each(lambda part: number * part)

    def sides(self, out: int, function: Weight, tilt: Fraction) -> list[tuple[Weight, bool]]:
        """Part a function where it is small beside noise, if it is heavy on either side.

        What lies beyond both bounds is added and taken away again, so it had better be little: a
        growing exponential is small below what it is compared with, a falling one above.
        """
        law = self.measure(out)
        mass = law.cells.hi * law.means(function).hi
        far = np.exp(np.abs(law.grid[1:]) * self.rates[out])
        least = int(np.argmin(np.where(law.cells.hi > 0, function.range.hi * far, np.inf)))
        left, right = float(mass[:least].sum()), float(mass[least + 1 :].sum())
        if min(left, right) <= HEAVY * float(function.range.hi[least]) / self.rates[out]:
            return [(function, tilt < 0 if tilt else right <= left)]
        before = np.arange(len(mass)) <= least
        return [(function.on(before), True), (function.on(~before), False)]

    def beyond(self, out: int, function: Weight, right: bool, line: Line) -> Weight:
        """Return the mass on one side of a map of another variable, as a function of that one.

        Of two maps, the mass between them where the second is the larger one, else nothing.
        """
        variable, given = line
        if not isinstance(given, Band):
            return self._on(out, line, right)(function)
        found, other = (self._strip(out, function, variable, given, side) for side in (False, True))
        at, cell = _meet(found.at, other.at), _meet(found.range, other.range)
        low, high = (self._on(out, (variable, it), right).theta for it in (given.low, given.high))
        length = np.diff(self.grids[variable])
        empty, full = ahead(low, high, length), ahead(high, low, length)
        none = Interval.of(np.float64(0.0))
        least, most = self._thin(out, function, low, high, length)
        at = Interval(np.minimum(at.lo, least), np.minimum(at.hi, least))
        cell = Interval(np.minimum(cell.lo, most), np.minimum(cell.hi, most))
        at = where(low.at.lo >= high.at.hi, none, at)
        cell = where(empty, none, cell)
        endless = Interval(np.float64(-np.inf), np.float64(np.inf))
        first, second = (
            where(empty, none, where(full, part, endless)) for part in (found.first, found.second)
        )
        return Weight(at, cell, first, second)

    def within(
        self, out: int, function: Weight, low: Line, high: Line, others: dict[int, Weight]
    ) -> dict[int, Weight]:
        """Cut what the variables of two lines carry where nothing lies between the lines.

        What is taken away there is what was added, but it may be large.
        """
        some = np.flatnonzero((function.range.hi > self.least) & (self.measure(out).cells.hi > 0))
        if not len(some):
            return others
        x = self.grids[out]
        ahead = self._on(out, low, True).theta.at.lo[:-1] >= x[some[-1] + 1]
        behind = self._on(out, high, True).theta.at.hi[1:] <= x[some[0]]
        cut = ((low[0], ahead), (high[0], behind))
        return others | {i: others[i].on(~beyond) for i, beyond in cut if beyond.any()}

    def _thin(
        self, out: int, function: Weight, low: Theta, high: Theta, length: Array
    ) -> tuple[Array, Array]:
        """Bound the mass between two maps by how far apart they are, at nodes and on cells."""
        x, top = self.grids[out], np.append(function.range.hi, 0.0)

        def highest(start: Array, stop: Array) -> Array:
            first = np.clip(np.searchsorted(x, start, "right") - 1, 0, len(x) - 2)
            last = np.clip(np.searchsorted(x, stop, "left"), first + 1, len(x) - 1)
            return np.asarray(np.maximum.reduceat(top, np.stack([first, last], 1).ravel())[::2])

        with np.errstate(invalid="ignore", over="ignore"):
            gap = np.maximum(high.at.hi - low.at.lo, 0.0) * (1 + ROUND)
            apart = np.minimum(gap[1:], gap[:-1])
            apart = apart + np.maximum(high.slope.hi - low.slope.lo, 0.0) * length
            apart = apart + np.maximum(low.slope.hi - high.slope.lo, 0.0) * length
            bounds = [
                highest(low.at.lo, high.at.hi) * gap,
                highest(low.at.lo[:-1], high.at.hi[1:]) * apart * (1 + ROUND),
            ]
        return tuple(np.where(np.isnan(it), np.inf, it) for it in bounds)  # type: ignore[return-value]

    def _strip(self, out: int, function: Weight, variable: int, band: Band, right: bool) -> Weight:
        """Return the mass between two maps as a difference of masses on one side."""
        low, high = (self._on(out, (variable, it), right)(function) for it in (band.low, band.high))
        return low + -high if right else high + -low

    def _on(self, out: int, line: Line, right: bool) -> Beyond:
        variable, given = line
        key = (out, line, right)
        if key not in self._beyond:
            known = self._thetas.setdefault(variable, {})
            theta = self.curves.on(self.grids[variable], given, known)
            self._beyond[key] = Beyond(self.measure(out), theta, below=not right)
        return self._beyond[key]

    def added(self, parts: Sequence[tuple[int, Any]]) -> Any:
        total, *rest = (part if sign > 0 else -part for sign, part in parts)
        return reduce(operator.add, rest, total)


def _meet(one: Interval, two: Interval) -> Interval:
    """Return what two enclosures of non-negative numbers have in common."""
    low = np.maximum(np.maximum(one.lo, two.lo), 0.0)
    return Interval(low, np.maximum(np.minimum(one.hi, two.hi), low))


def exponential(grid: Array, rate: Fraction, scale: Fraction) -> Weight:
    """Return scale exp(rate x) as a weight."""
    r, by = outward(ball(rate)) if rate else Interval.of(np.float64(0.0)), outward(ball(scale))
    at = (r * Interval.of(grid)).exp() * by
    rising = rate > 0
    low, high = (at.lo[:-1], at.hi[1:]) if rising else (at.lo[1:], at.hi[:-1])
    cell = Interval(low, high)
    return Weight(at, cell, cell * r, cell * (r * r))


def noise(grid: Array, rate: Fraction, tilt: Fraction, scale: Fraction) -> Weight:
    """Return scale exp(tilt x) times the density of centred Laplace noise, 0 being a node.

    A product of both would not know that exponentials cancel.
    """
    rising, falling = (exponential(grid, tilt + r, scale * rate / 2) for r in (rate, -rate))
    left = grid <= 0

    def pick(one: Interval, two: Interval) -> Interval:
        return where(left[-one.lo.shape[-1] :], one, two)

    return rising.each(pick, falling)


def window(
    rates: Sequence[Fraction],
    marks: Sequence[Interval],
    bends: Iterable[float],
    cells: int,
    points: Iterable[Fraction],
) -> Array:
    """Return nodes that crowd at marks and bends and thin out with the noise."""
    least = min(rates)
    r, held = float(least), [float(x) for x in points]
    reach = REACH / r
    last = reach + max(held, default=0.0)

    def flat(x: Array) -> Array:
        """Return x in a coordinate in which the cells may be even."""
        return np.asarray(np.sign(x) * -np.expm1(-np.abs(x) * r / THINNING))

    def back(y: Array) -> Array:
        return np.asarray(np.sign(y) * -np.log1p(-np.abs(y)) * THINNING / r)

    spans = {span_of(mark) for mark in marks if _held(mark, -reach, last)}
    near = np.array(sorted(end for span in spans for end in span))
    far = (x for x in bends if not len(near) or np.abs(near - x).min() > CLOSE / r)
    spans |= {(x, x) for x in (-reach, 0.0, reach, last, *held, *far)}
    ordered = np.array(sorted(spans))
    found = [ordered.ravel(), back(graded([*map(tuple, flat(ordered))], cells, FEWEST))]
    even = math.ceil((last + reach) * float(max(rates)) / WIDEST)
    nodes = np.unique(np.concatenate([*found, np.linspace(-reach, last, even)])) + 0.0
    return nodes[(nodes >= -reach) & (nodes <= last)]


def cells_at(grid: Array, marks: Iterable[Interval]) -> list[int]:
    """Return the cells next to marks that a window with them has."""
    ends = grid[0], grid[-1]
    spans = (np.searchsorted(grid, span_of(mark)) for mark in marks if _held(mark, *ends))
    return sorted({k for start, stop in spans for k in range(start, min(stop, len(grid) - 1))})


def _held(mark: Interval, first: float, last: float) -> bool:
    return bool(first < mark.lo and mark.hi < min(last, mark.lo + NARROW))


def classes_of(marks: Sequence[Interval], rates: Iterable[Sequence[Fraction]]) -> Classes:
    """Return what none of some variables with these marks in common takes.

    What lies near to the end of one of their windows is not among it.
    """
    reaches = [REACH / float(min(given)) for given in rates]
    most, least = 1.001 * max(reaches), 0.999 * min(reaches)
    spans = sorted(span_of(mark) for mark in marks if _held(mark, -least, least))
    found = [(-np.inf, -most)]
    for low, high in [*spans, (most, np.inf)]:
        if low <= found[-1][1]:
            low, high = found[-1][0], max(found.pop()[1], high)
        found.append((low, high))
    return Classes(*np.array(found).T)


def escape(rates: Sequence[Fraction]) -> float:
    """Bound the probability that a sum of Laplace draws leaves its window (Chernoff)."""
    if len(rates) == 1:
        return 1.001 * math.exp(-REACH)
    with ctx.workprec(128):
        least = min(rates)
        t = ball(Fraction(9, 10) * least)
        bound = 2 * (-(t * ball(Fraction(REACH) / least))).exp()
        for rate in rates:
            bound = bound / (1 - (t / ball(rate)) ** 2)
        return float(outward(arb(bound.upper())).hi)

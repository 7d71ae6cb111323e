"""Scores that bend, of any number of arms and of registers that add releases up, certified.

A register's value is a variable, counted from the centre of what it shows; one that adds a release
up is the value before it and fresh Laplace noise. A decision says that the winner's value is at
least what every other value asks of it, a monotone map (`curves.py`). The density of a sum's step
is a product of exponentials of both values on either side of x_i = x_j. So a path is a sum of
integrals of products of functions of single variables under comparisons x_i >= f(x_j).

Integrating one variable out between its bounds gives M(least upper bound) - M(largest lower bound),
M the mass of its function on one side. Splitting by which bound is the largest and which the least
keeps every term of this form: f(x_j) <= g(x_i) is a comparison of x_i and x_j again, by composed
maps, and two comparisons of the same pair are one, by the larger map. What is left in the end is a
number, or a function of the one variable that is kept.

Every variable lives in a window of `REACH` noise scales; the probability to leave one goes to the
upper end. Functions are enclosed to third order on cells that are graded towards every place where
a map that is used may bend sharply: a first walk through the terms, without functions, lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT, ball
from dpaudit.core.scores import Score
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.cells import (
    FASTEST,
    SLOWEST,
    Meshed,
    cap_of,
    centres_of,
    graded,
)
from dpaudit.exact.balls.compare import compared
from dpaudit.exact.balls.curves import Curves, Map, Tie, ahead, composed, inverse, largest
from dpaudit.exact.balls.interval import Array, Interval, where
from dpaudit.exact.balls.own_sum import Moving
from dpaudit.exact.balls.threshold import Rivals
from dpaudit.exact.balls.weight import Beyond, Grid, Masses, Measure, Weight, away, outward
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.region import Region, rate_of
from dpaudit.exact.schedule import Batch

REACH = 40  # noise scales
LIMIT = 5_000  # terms
NARROW = 1e-9  # what is left out at a mark
FEWEST = 8  # cells between two marks
THINNING = 4.0  # noise scales over which cells grow by e
WIDEST = 0.25  # noise scales: a step's exponentials are large where its noise is not
Comparisons = dict[tuple[int, int], Map]  # (i, j): x_i >= f(x_j)
ZERO = Fraction(0)
Exponents = Mapping[int, Fraction]  # of the exponentials of steps, by variable


@dataclass(frozen=True)
class Band:
    """What lies between two maps of one variable."""

    low: Map
    high: Map


Line = tuple[int, Any]  # a variable, and a map of it or a band


@dataclass(frozen=True)
class Side:
    """One side of a step x_i = x_j + noise: where it is, and the rates of both exponentials."""

    upper: int
    lower: int
    rates: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Net:
    """A path: its variables, known by their last release, fresh ones, steps, comparisons."""

    rates: dict[int, list[Fraction]]  # of all the noise in a variable
    fresh: tuple[int, ...]
    sides: tuple[tuple[Side, Side], ...]
    comparisons: Comparisons
    curves: Curves
    possible: bool


def net_of(region: Region, centres: Mapping[int, Fraction]) -> Net:
    """Return a path's net; raise `Unsupported` where a decision has no certified comparisons."""
    shown = {group for decision in region.decisions for group in decision.shown}
    groups = sorted({group[:end] for group in shown for end in range(1, len(group) + 1)})
    if len({group[-1] for group in groups}) < len(groups):
        raise Unsupported("A decision reads part of a sum that another decision read.")
    rate = {group[-1]: rate_of(region.episodes[group[-1]]) for group in groups}
    if not all(SLOWEST <= r <= FASTEST for r in rate.values()):
        raise Unsupported("Noise of such a scale does not fit on the certified grids.")
    middle = {group[-1]: sum((centres[i] for i in group), ZERO) for group in groups}

    def pair(decision: int, one: int, two: int) -> Rivals:
        request, groups = region.decisions[decision].request, region.decisions[decision].shown
        assert isinstance(request, Choose)
        with ctx.workprec(256):
            given = middle[groups[one][-1]], middle[groups[two][-1]]
            return compared(request.rule, (one, two), given)

    curves, possible = Curves(pair), True
    comparisons: Comparisons = {}
    for number, decision in enumerate(region.decisions):
        request = decision.request
        if not isinstance(request, Choose):
            raise Unsupported("Eliminations have no bending scores.")
        if len(decision.shown) > 2 and not isinstance(request.rule(FLOAT), Score):
            raise Unsupported(f"{type(request.rule(FLOAT)).__name__} compares two arms only.")
        last = [group[-1] for group in decision.shown]
        if len({i for group in decision.shown for i in group}) < sum(map(len, decision.shown)):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        won = request.arms.index(decision.outcome)
        for lost in range(len(last)):
            if lost != won:
                always = curves.pair(Tie(number, won, lost)).always
                possible = possible and always is not False
                if always is None:
                    _demand(comparisons, last[won], last[lost], (Tie(number, lost, won),))
    return Net(
        {group[-1]: [rate[i] for i in group] for group in groups},
        tuple(i for *before, i in groups if not before),
        tuple(_sides(i, before[-1], rate[i]) for *before, i in groups if before),
        comparisons,
        curves,
        possible,
    )


def _sides(i: int, j: int, rate: Fraction) -> tuple[Side, Side]:
    return Side(i, j, ((i, -rate), (j, rate))), Side(j, i, ((i, rate), (j, -rate)))


def _demand(comparisons: Comparisons, upper: int, lower: int, given: Map) -> None:
    """Add that one variable is at least a map of another."""
    old = comparisons.get((upper, lower))
    comparisons[upper, lower] = given if old is None else largest(old, given)


class Listing:
    """What a walk without functions finds: the maps that are used, and how many terms there are."""

    def __init__(self) -> None:
        self.lines: dict[Line, None] = {}
        self.terms = 0

    def total(self, variable: int, function: None) -> int:
        """Return 1, whatever the function."""
        return 1

    def term(self) -> None:
        """Count a term; raise `Unsupported` where there are too many."""
        self.terms += 1
        if self.terms > LIMIT:
            raise Unsupported(f"A path needs more than {LIMIT:,} terms.")

    def times(self, one: None, two: None) -> None:
        """Return nothing."""

    def scaled(self, number: Any, function: Any) -> int:
        """Return 1, whatever is scaled."""
        return 1

    def rightwards(self, out: int, function: None, lines: Sequence[Line]) -> bool:
        """Return a side."""
        return True

    def beyond(self, out: int, function: None, line: Line, right: bool) -> None:
        """Note a map that is used."""
        variable, given = line
        maps = (given.low, given.high) if isinstance(given, Band) else (given,)
        self.lines |= dict.fromkeys((variable, part) for part in maps)


@dataclass
class Functions:
    """Weights on the grids of the variables, with what maps make of their masses."""

    curves: Curves
    grids: dict[int, Grid]
    holes: dict[int, list[int]]
    clock: Clock = ENDLESS
    _measures: dict[int, Measure] = field(default_factory=dict)
    _beyond: dict[Any, Beyond] = field(default_factory=dict)

    def measure(self, variable: int) -> Measure:
        """Return Lebesgue's measure on a variable's window."""
        if variable not in self._measures:
            self._measures[variable] = Measure(self.grids[variable], self.holes[variable])
        return self._measures[variable]

    def term(self) -> None:
        """Ask the clock."""
        self.clock()

    def total(self, variable: int, function: Weight) -> Interval:
        """Enclose the integral of a function."""
        return self.measure(variable).total(function)

    def times(self, one: Weight, two: Weight) -> Weight:
        """Return the product."""
        return one * two

    def scaled(self, number: Interval, function: Any) -> Any:
        """Return a number times a function, or times another number."""
        if isinstance(function, Interval):
            return number * function
        parts = function.at, function.range, function.first, function.second
        return Weight(*(_signed(number, part) for part in parts))

    def rightwards(self, out: int, function: Weight, lines: Sequence[Line]) -> bool:
        """Return whether less of a function lies right of the lines than left of them."""
        law = self.measure(out)
        below, above = law.running(function, True), law.running(function, False)
        at = [self.curves.on(np.array([-1e-3, 1e-3]), given).at.lo[1] for _, given in lines]
        place = np.searchsorted(law.grid.x, float(np.mean(np.clip(at, -1e9, 1e9))))
        place = np.clip(place, 0, len(law.grid.x) - 1)
        return bool(above.hi[place] <= below.hi[place])

    def beyond(self, out: int, function: Weight, line: Line, right: bool) -> Weight:
        """Return the mass on one side of a map of another variable, as a function of that one.

        Of two maps, the mass between them where the second is the larger one, else nothing.
        """
        variable, given = line
        if not isinstance(given, Band):
            return self._on(out, line, right)(function)
        found, other = (self._strip(out, function, variable, given, side) for side in (False, True))
        at, cell = _meet(found.at, other.at), _meet(found.range, other.range)
        low, high = (self._on(out, (variable, it), right).theta for it in (given.low, given.high))
        length = np.diff(self.grids[variable].x)
        empty, full = ahead(low, high, length), ahead(high, low, length)
        none = Interval.of(np.float64(0.0))
        at = where(low.at.lo >= high.at.hi, none, at)
        cell = where(empty, none, cell)
        endless = Interval(np.float64(-np.inf), np.float64(np.inf))
        first, second = (
            where(empty, none, where(full, part, endless)) for part in (found.first, found.second)
        )
        return Weight(at, cell, first, second)

    def _strip(self, out: int, function: Weight, variable: int, band: Band, right: bool) -> Weight:
        """Return the mass between two maps as a difference of masses on one side."""
        low, high = (self._on(out, (variable, it), right)(function) for it in (band.low, band.high))
        found: Weight = _sum([(1 if right else -1, low), (-1 if right else 1, high)])
        return found

    def _on(self, out: int, line: Line, right: bool) -> Beyond:
        variable, given = line
        key = (out, line, right)
        if key not in self._beyond:
            theta = self.curves.on(self.grids[variable].x, given)
            self._beyond[key] = Beyond(self.measure(out), theta, below=not right)
        return self._beyond[key]


def _meet(one: Interval, two: Interval) -> Interval:
    """Return what two enclosures of non-negative numbers have in common."""
    low = np.maximum(np.maximum(one.lo, two.lo), 0.0)
    return Interval(low, np.maximum(np.minimum(one.hi, two.hi), low))


def _signed(number: Interval, part: Interval) -> Interval:
    with np.errstate(invalid="ignore"):
        ends = [a * b for a in (number.lo, number.hi) for b in (part.lo, part.hi)]
    found = Interval(np.minimum.reduce(ends), np.maximum.reduce(ends))
    return Interval(
        found.lo - 1e-15 * np.abs(found.lo) - 5e-324, found.hi + 1e-15 * np.abs(found.hi) + 5e-324
    )


def integrate(
    algebra: Any,
    functions: dict[int, Any],
    exponents: Exponents,
    comparisons: Comparisons,
    keep: int | None,
) -> Any:
    """Integrate a product of functions of single variables under comparisons.

    Return a number, or a function of the variable that is kept.
    """
    algebra.term()
    bound = {i for pair in comparisons for i in pair}
    free = [i for i in functions if i not in bound and i != keep]
    factors = [algebra.total(i, functions[i]) for i in free]
    functions = {i: function for i, function in functions.items() if i not in free}
    found = functions.get(keep) if keep is not None else None
    if functions.keys() - {keep}:
        found = _between(algebra, functions, exponents, comparisons, keep)
    if found is None:
        first, *factors = factors
        found = first
    return reduce(lambda total, factor: algebra.scaled(factor, total), factors, found)


def _first(functions: Iterable[int], comparisons: Comparisons) -> int:
    """Return the variable to integrate out, one with few bounds."""

    def cases(i: int) -> int:
        low = sum(1 for upper, _ in comparisons if upper == i)
        high = sum(1 for _, lower in comparisons if lower == i)
        return max(low, 1) * max(high, 1) * (1 + (low > 0 and high > 0))

    return min(functions, key=cases)


def _between(
    algebra: Any,
    functions: dict[int, Any],
    exponents: Exponents,
    comparisons: Comparisons,
    keep: int | None,
) -> Any:
    """Integrate one variable out between its bounds, and then all others."""
    out = _first([i for i in functions if i != keep], comparisons)
    lower: list[Line] = [(j, f) for (i, j), f in comparisons.items() if i == out]
    upper: list[Line] = [(i, inverse(f)) for (i, j), f in comparisons.items() if j == out]
    rest = {pair: f for pair, f in comparisons.items() if out not in pair}
    others = {i: function for i, function in functions.items() if i != out}
    right = not upper
    if upper and lower:
        # a growing exponential is small below what it is compared with, a falling one above
        right = exponents[out] < 0
        if not exponents[out]:
            right = algebra.rightwards(out, functions[out], lower + upper)
    parts = []
    none: list[Line | None] = [None]
    for low, high in product(lower or none, upper or none):
        given = dict(rest)
        for j, f in lower:
            if low is not None and j != low[0]:
                _demand(given, low[0], j, composed(f, inverse(low[1])))
        for i, g in upper:
            if high is not None and i != high[0]:
                _demand(given, i, high[0], composed(high[1], inverse(g)))
        if low is not None and high is not None and low[0] != high[0]:
            _demand(given, high[0], low[0], composed(low[1], inverse(high[1])))
        ends = [(low, 1 if right else -1), (high, -1 if right else 1)]
        if low is not None and high is not None and low[0] == high[0]:
            ends = [((low[0], Band(low[1], high[1])), 1)]
        for line, sign in ends:
            if line is not None:
                i = line[0]
                beyond = algebra.beyond(out, functions[out], line, right)
                weighted = others | {i: algebra.times(others[i], beyond)}
                left = {**exponents, i: exponents[i] + exponents[out]}
                parts.append((sign, integrate(algebra, weighted, left, given, keep)))
    return _sum(parts)


def _sum(parts: Sequence[tuple[int, Any]]) -> Any:
    """Return the sum of signed numbers or functions."""
    sign, total = parts[0]
    total = total if sign > 0 else _minus(total)
    for sign, part in parts[1:]:
        part = part if sign > 0 else _minus(part)
        if isinstance(total, Weight):
            pairs = zip(_parts(total), _parts(part), strict=True)
            total = Weight(*(one + two for one, two in pairs))
        else:
            total = total + part
    return total


def _minus(part: Any) -> Any:
    return Weight(*(-it for it in _parts(part))) if isinstance(part, Weight) else -part


def _parts(weight: Weight) -> tuple[Interval, ...]:
    return weight.at, weight.range, weight.first, weight.second


def likelihood(
    region: Region, totals: Mapping[int, Fraction], cells: int, clock: Clock = ENDLESS
) -> Interval:
    """Enclose the probability of a region by the sums of its releases; [0, 0] if impossible."""
    centres = {i: totals[i] / episode.divisor for i, episode in enumerate(region.episodes)}
    net = net_of(region, centres)
    if not net.possible:
        return Interval(np.float64(0.0), np.float64(0.0))
    total, _, escaped = _integrated(net, cells, None, clock)
    return Interval(max(float(total.lo), 0.0), min(1.0, float(total.hi) + 2 * escaped))


@dataclass(frozen=True)
class ByMesh:
    """The log-likelihood of a path by one release's own sum, enclosed on a mesh when asked."""

    region: Region
    index: int
    background: int
    cells: int
    mesh: int
    clock: Clock

    @property
    def _kind(self) -> Batch:
        episode = self.region.episodes[self.index]
        return Batch(rate_of(episode), episode.divisor, len(episode))

    @property
    def cap(self) -> float:
        """What no step gains: the density of a release changes by at most this."""
        return cap_of(self._kind)

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1; of whole steps if the mesh is 1."""
        episodes, kind = self.region.episodes, self._kind
        sums = {i: Fraction(self.background * len(e)) for i, e in enumerate(episodes)}
        centres = {i: sums[i] / e.divisor for i, e in enumerate(episodes)} | {self.index: ZERO}
        net = net_of(self.region, centres)
        if not net.possible:
            return Bounds(0.0, 0.0, ZERO, ZERO, -math.inf)
        places = centres_of(kind, self.mesh)
        weight, grid, escaped = _integrated(net, self.cells, self.index, self.clock, places)
        laws = Masses(grid, kind.rate, ZERO), Masses(grid, kind.rate, kind.centre(kind.rows))
        nodes = np.searchsorted(grid.x, np.array([float(place) for place in places]))
        moving = Moving(*laws, nodes, away(places), 2 * escaped)
        return Meshed(moving(Weight.stacked([_open(weight)])), self.mesh, kind).largest(rising)[0]


def _open(weight: Weight) -> Weight:
    """Return a probability by the kept variable, with anything beyond its window."""
    at, cell = weight.at.clip(0.0, 1.0), weight.range.clip(0.0, 1.0)
    low, high = at.lo.copy(), at.hi.copy()
    low[[0, -1]], high[[0, -1]] = 0.0, 1.0
    floor, top = cell.lo.copy(), cell.hi.copy()
    floor[[0, -1]], top[[0, -1]] = 0.0, 1.0
    return Weight(Interval(low, high), Interval(floor, top), weight.first, weight.second)


@dataclass(frozen=True)
class Nets:
    """A pass over paths, each release's likelihood by itself."""

    regions: Mapping[int, Region]
    cells: int
    mesh: int
    clock: Clock

    def curves(self, number: int, background: int) -> Iterator[tuple[int, ByMesh]]:
        """Yield the episodes of a path with their curves."""
        region = self.regions[number]
        for index in range(len(region.episodes)):
            yield index, ByMesh(region, index, background, self.cells, self.mesh, self.clock)


def _integrated(
    net: Net, cells: int, keep: int | None, clock: Clock, points: Iterable[Fraction] = ()
) -> tuple[Any, Any, float]:
    """Integrate all variables but one out; the kept one's grid holds the points.

    Return also that grid, and what is missed where a variable leaves its window.
    """
    listing = Listing()
    terms = list(_terms(net))
    for given, sides in terms:
        integrate(listing, dict.fromkeys(net.rates), _exponents(net, sides), given, keep)
    marks: dict[int, list[Interval]] = {i: [] for i in net.rates}
    for variable, given in listing.lines:
        marks[variable] += net.curves.kinks(given)
    laid = {
        i: _grid(rates, marks[i], cells, points if i == keep else ())
        for i, rates in net.rates.items()
    }
    grids = {i: grid for i, (grid, _) in laid.items()}
    # only the exponentials of steps are so large that a jump within a cell would be felt
    holes = {i: found if i != keep and net.sides else [] for i, (_, found) in laid.items()}
    algebra = Functions(net.curves, grids, holes, clock)
    escaped = sum(_escape(rates) for rates in net.rates.values())
    for i, cut in holes.items():
        width = math.fsum(np.diff(grids[i].x)[cut])
        escaped += 1.001 * width * float(min(net.rates[i])) / 2
    fresh = {i: density(grids[i], net.rates[i][0]) for i in net.fresh if i != keep}
    parts = []
    for given, sides in terms:
        functions = {i: fresh.get(i, grids[i].one()) for i in net.rates}
        for side in sides:
            for i, rate in side.rates:
                scale = abs(rate) / 2 if i == side.rates[0][0] else Fraction(1)
                functions[i] = functions[i] * exponential(grids[i], rate, scale)
        exponents = _exponents(net, sides)
        parts.append((1, integrate(algebra, functions, exponents, given, keep)))
    return _sum(parts), None if keep is None else grids[keep], escaped


def _exponents(net: Net, sides: Sequence[Side]) -> dict[int, Fraction]:
    found = dict.fromkeys(net.rates, ZERO)
    for i, rate in (pair for side in sides for pair in side.rates):
        found[i] += rate
    return found


def _terms(net: Net) -> Iterable[tuple[Comparisons, tuple[Side, ...]]]:
    """Yield the comparisons of every choice of a side of each step."""
    for sides in product(*net.sides):
        given = dict(net.comparisons)
        for side in sides:
            _demand(given, side.upper, side.lower, ())
        yield given, sides


def exponential(grid: Grid, rate: Fraction, scale: Fraction) -> Weight:
    """Return scale exp(rate x) as a weight."""
    r, by = outward(ball(rate)), outward(ball(scale))
    at = (r * Interval.of(grid.x)).exp() * by
    rising = rate > 0
    low, high = (at.lo[:-1], at.hi[1:]) if rising else (at.lo[1:], at.hi[:-1])
    cell = Interval(low, high)
    return Weight(at, cell, cell * r, cell * (r * r))


def density(grid: Grid, rate: Fraction) -> Weight:
    """Return the density of centred Laplace noise, whose centre is a node."""
    parts = [exponential(grid, sign * rate, rate / 2) for sign in (1, -1)]
    left = grid.x <= 0
    cell = grid.x[1:] <= 0

    def pick(one: Interval, two: Interval, where: Any) -> Interval:
        return Interval(np.where(where, one.lo, two.lo), np.where(where, one.hi, two.hi))

    pairs = list(zip(_parts(parts[0]), _parts(parts[1]), strict=True))
    return Weight(*(pick(*pair, left if k == 0 else cell) for k, pair in enumerate(pairs)))


def _grid(
    rates: Sequence[Fraction], marks: Sequence[Interval], cells: int, points: Iterable[Fraction]
) -> tuple[Grid, list[int]]:
    """Return nodes that crowd at the marks and thin out with the noise, and the cells at marks."""
    least = min(rates)
    r, held = float(least), [float(x) for x in points]
    reach = REACH / r
    last = reach + max(held, default=0.0)

    def flat(x: Array) -> Array:
        """Return x in a coordinate in which the cells may be even."""
        return np.asarray(np.sign(x) * -np.expm1(-np.abs(x) * r / THINNING))

    def back(y: Array) -> Array:
        return np.asarray(np.sign(y) * -np.log1p(-np.abs(y)) * THINNING / r)

    inside = [m for m in marks if -reach < m.lo and m.hi < min(last, m.lo + NARROW)]
    edges = [16 * np.spacing(1 + abs(float(m.hi))) + 2 * (m.hi - m.lo) for m in inside]
    spans = {(float(m.lo - e), float(m.hi + e)) for m, e in zip(inside, edges, strict=True)}
    spans |= {(x, x) for x in (-reach, 0.0, reach, last, *held)}
    ordered = sorted(spans)
    found = [np.array(ordered).ravel()]
    reached = -reach
    for start, stop in ordered:
        low, high = flat(np.array([reached, start]))
        if high - low > 1e-9:
            count = max(FEWEST, math.ceil(cells * ((high - low) / 2) ** (2 / 3)))
            found.append(back(graded(float(low), float(high), count)))
        reached = max(reached, stop)
    even = math.ceil((last + reach) * float(max(rates)) / WIDEST)
    nodes = np.unique(np.concatenate([*found, np.linspace(-reach, last, even)])) + 0.0
    nodes = nodes[(nodes >= -reach) & (nodes <= last)]
    cut = [np.searchsorted(nodes, span) for span in spans if span[0] < span[1]]
    return Grid(nodes), sorted({k for start, stop in cut for k in range(start, stop)})


def _escape(rates: Sequence[Fraction]) -> float:
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

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations, product
from typing import Any, NamedTuple, Protocol, TypeVar

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT, ball
from dpaudit.core.scores import Score
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.compare import Known, require_resolved
from dpaudit.exact.balls.curves import Curves, Map, Tie, composed, inverse, largest
from dpaudit.exact.balls.interval import Interval, outward
from dpaudit.exact.balls.polytopes import sums_of
from dpaudit.exact.balls.threshold import Comparison
from dpaudit.exact.region import Region

LIMIT = 5_000  # terms
Comparisons = dict[tuple[int, int], Map]  # (i, j): x_i >= f(x_j)
Tilts = Mapping[int, Fraction]  # of the exponentials of steps, by variable
F = TypeVar("F")  # a function of one variable
N = TypeVar("N")  # a number, or a function of the variable that is kept


@dataclass(frozen=True)
class Band:
    """What lies between two maps of one variable."""

    low: Map
    high: Map


Line = tuple[int, Any]  # a variable, and a map of it or a band


class HalfStep(NamedTuple):
    """One side of a step by noise, whose density falls with the upper value less the lower one."""

    upper: int
    lower: int
    rate: Fraction


@dataclass(frozen=True)
class Net:
    """A path: its variables, known by their last release, fresh ones, steps, comparisons."""

    rates: dict[int, list[Fraction]]  # of all the noise in a variable
    roots: dict[int, int]  # the first release in a variable
    fresh: tuple[int, ...]
    sides: tuple[tuple[HalfStep, HalfStep], ...]
    comparisons: Comparisons
    curves: Curves
    shown: dict[tuple[int, int], int]  # the first release of what a position shows at a decision
    possible: bool

    def marks(self) -> dict[int, list[Interval]]:
        """Return where the scores of a register, known by its first release, may bend or jump."""
        found: dict[int, list[Interval]] = {root: [] for root in self.shown.values()}
        for one, two in permutations(self.shown, 2):
            if one[0] == two[0]:
                found[self.shown[one]] += self.curves.pair(Tie(*one, two[1])).marks
        return found


def net_of(region: Region, centres: Mapping[int, Fraction], known: Known) -> Net:
    """Return a path's net; raise `Unsupported` where a decision has no such comparisons."""
    groups = sums_of(region.decisions)
    rate = {group[-1]: region.episodes[group[-1]].kind.rate for group in groups}
    for r in rate.values():
        require_resolved(r)
    middle = {group[-1]: sum((centres[i] for i in group), Fraction(0)) for group in groups}

    def pair(number: int, one: int, two: int) -> Comparison:
        shown, request = region.decisions[number].shown, region.decisions[number].request
        assert isinstance(request, Choose)
        first, second = (outward(ball(middle[shown[position][-1]])) for position in (one, two))
        return known.scores(request, (one, two)).centred(first, second)

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
        {group[-1]: group[0] for group in groups},
        tuple(i for *before, i in groups if not before),
        tuple(
            (HalfStep(i, before[-1], rate[i]), HalfStep(before[-1], i, rate[i]))
            for *before, i in groups
            if before
        ),
        comparisons,
        curves,
        {(n, p): g[0] for n, d in enumerate(region.decisions) for p, g in enumerate(d.shown)},
        possible,
    )


def _demand(comparisons: Comparisons, upper: int, lower: int, given: Map) -> None:
    """Add that one variable is at least a map of another."""
    old = comparisons.get((upper, lower))
    comparisons[upper, lower] = given if old is None else largest(old, given)


class Technology(Protocol[F, N]):
    """What the elimination asks of functions of single variables."""

    def term(self) -> None:
        """Begin a term; raise where there are too many, or no time is left."""

    def total(self, variable: int, function: F) -> N:
        """Return the integral of a function."""

    def times(self, one: F, two: F) -> F:
        """Return the product of two functions of one variable."""

    def scaled(self, number: N, other: Any) -> Any:
        """Return a number times another, or times a function."""

    def sides(self, out: int, function: F, tilt: Fraction) -> Sequence[tuple[F, bool]]:
        """Part a function into summands, and say of which the masses right of lines are taken."""

    def beyond(self, out: int, function: F, right: bool, line: Line) -> F:
        """Return the mass on one side of a line, as a function of the line's variable."""

    def within(
        self, out: int, function: F, low: Line, high: Line, others: dict[int, F]
    ) -> dict[int, F]:
        """Return the lines' variables' functions, 0 where nothing lies between the lines."""

    def added(self, parts: Sequence[tuple[int, Any]]) -> Any:
        """Return the sum of signed numbers, or of signed functions of one variable."""


class Listing:
    """A walk without functions, which are all 1: the maps that are used, if terms are not many."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int, Map], None] = {}  # what goes, and maps of what is left
        self.terms = 0

    def term(self) -> None:
        """Count a term; raise `Unsupported` where there are too many."""
        self.terms += 1
        if self.terms > LIMIT:
            raise Unsupported(f"A path needs more than {LIMIT:,} terms.")

    def _one(self, *_: Any) -> int:
        return 1

    total = times = scaled = added = _one

    def sides(self, out: int, function: int, tilt: Fraction) -> Sequence[tuple[int, bool]]:
        """Return a side: either asks for the same maps."""
        return [(1, True)]

    def within(
        self, out: int, function: int, low: Line, high: Line, others: dict[int, int]
    ) -> dict[int, int]:
        """Return the functions."""
        return others

    def beyond(self, out: int, function: int, right: bool, line: Line) -> int:
        """Note a map that is used."""
        variable, given = line
        both = isinstance(given, Band)
        self.lines[out, variable, largest(given.low, given.high) if both else given] = None
        return 1


def integrate(
    algebra: Technology[Any, Any],
    functions: dict[int, Any],
    tilts: Tilts,
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
    if functions.keys() - {keep}:
        found = _between(algebra, functions, tilts, comparisons, keep)
    elif keep is not None:
        found = functions[keep]
    else:
        found, *factors = factors
    return reduce(lambda total, factor: algebra.scaled(factor, total), factors, found)


def _first(functions: Iterable[int], comparisons: Comparisons) -> int:
    """Return the variable to integrate out, one with few bounds."""

    def cases(i: int) -> int:
        low = sum(1 for upper, _ in comparisons if upper == i)
        high = sum(1 for _, lower in comparisons if lower == i)
        return max(low, 1) * max(high, 1) * (1 + (low > 0 and high > 0))

    return min(functions, key=cases)


def _between(
    algebra: Technology[Any, Any],
    functions: dict[int, Any],
    tilts: Tilts,
    comparisons: Comparisons,
    keep: int | None,
) -> Any:
    """Integrate one variable out between its bounds, and then all others."""
    out = _first([i for i in functions if i != keep], comparisons)
    lower: list[Line] = [(j, f) for (i, j), f in comparisons.items() if i == out]
    upper: list[Line] = [(i, inverse(f)) for (i, j), f in comparisons.items() if j == out]
    rest = {pair: f for pair, f in comparisons.items() if out not in pair}
    others = {i: function for i, function in functions.items() if i != out}
    halves = [(functions[out], not upper)]
    if upper and lower:
        halves = list(algebra.sides(out, functions[out], tilts[out]))
    parts = []
    known: dict[tuple[int, Line], Any] = {}  # the masses of a half beyond a line
    none: list[Line | None] = [None]
    for low, high in product(lower or none, upper or none):
        given = dict(rest)
        order: list[tuple[Line, Line]] = []
        if low is not None:
            order += [(low, line) for line in lower if line is not low]
        if high is not None:
            order += [(line, high) for line in upper if line is not high]
        if low is not None and high is not None and low[0] != high[0]:
            order.append((high, low))
        for above, below in order:
            _demand(given, above[0], below[0], composed(below[1], inverse(above[1])))
        inside = others
        if low is not None and high is not None and low[0] != high[0]:
            inside = algebra.within(out, functions[out], low, high, others)
        for number, (half, right) in enumerate(halves):
            ends = [(low, 1 if right else -1), (high, -1 if right else 1)]
            if low is not None and high is not None and low[0] == high[0]:
                ends = [((low[0], Band(low[1], high[1])), 1)]
            for line, sign in ends:
                if line is not None:
                    i = line[0]
                    if (number, line) not in known:
                        known[number, line] = algebra.beyond(out, half, right, line)
                    weighted = inside | {i: algebra.times(inside[i], known[number, line])}
                    left = {**tilts, i: tilts[i] + (tilts[out] if line[1] == () else 0)}
                    parts.append((sign, integrate(algebra, weighted, left, given, keep)))
    return algebra.added(parts)


def tilts_of(net: Net, sides: Sequence[HalfStep]) -> dict[int, Fraction]:
    """Return the exponents of the exponentials of a term, by variable."""
    found = dict.fromkeys(net.rates, Fraction(0))
    for side in sides:
        found[side.upper] -= side.rate
        found[side.lower] += side.rate
    return found


def terms_of(net: Net) -> Iterable[tuple[Comparisons, tuple[HalfStep, ...]]]:
    """Yield the comparisons of every choice of a side of each step."""
    for sides in product(*net.sides):
        given = dict(net.comparisons)
        for side in sides:
            _demand(given, side.upper, side.lower, ())
        yield given, sides

"""Likelihoods of nets: of a path, and by the own sum of one of its releases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpaudit.exact.algebra import Bounds, Curve
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.balls.interval import Array, Interval
from dpaudit.exact.balls.net import (
    HalfStep,
    Listing,
    Net,
    integrate,
    net_of,
    terms_of,
    tilts_of,
)
from dpaudit.exact.balls.own_sum import Moving, cap_of, centres_of
from dpaudit.exact.balls.weight import Weight
from dpaudit.exact.balls.windows import (
    REACH,
    Functions,
    cells_at,
    classes_of,
    escape,
    exponential,
    noise,
    window,
)
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.region import Batch, Region

ZERO = Fraction(0)
COARSE = 600  # cells that are too wide for bends to matter, which take time to find
NEGLIGIBLE = 1e-140  # what cutting functions that are next to nothing may change


class Integral:
    """A net with one variable kept, or none, and what its grids must resolve."""

    def __init__(self, net: Net, keep: int | None = None) -> None:
        self.net, self.keep = net, keep
        listing, own = Listing(), net.marks()
        for root, found in own.items():
            rates = [net.rates[i] for i, first in net.roots.items() if first == root]
            classes = classes_of(found, rates)
            net.curves.classes |= {at: classes for at, first in net.shown.items() if first == root}
        self.terms = list(terms_of(net))
        for known, sides in self.terms:
            integrate(listing, dict.fromkeys(net.rates, 1), tilts_of(net, sides), known, keep)
        self.own = {i: own[root] for i, root in net.roots.items()}
        self.integrals = listing.terms
        self.lines = listing.lines
        self.marks: dict[int, list[Interval]] = {i: [] for i in net.rates}
        for _, variable, given in self.lines:
            self.marks[variable] += net.curves.kinks(given)

    @cached_property
    def bends(self) -> dict[int, set[float]]:
        """About where functions of the variables bend."""
        net, found = self.net, {i: {0.0} for i in self.net.rates}
        for out, variable, given in self.lines:
            reach = REACH / float(min(net.rates[variable]))
            marks = self.own[out] + self.marks[out]
            found[variable] |= net.curves.bends(given, reach, marks, found[out])
        return found

    def on(
        self, cells: int, clock: Clock, points: Iterable[Fraction] = ()
    ) -> tuple[Any, Any, float]:
        """Integrate; the kept variable's grid holds the points.

        Return also that grid, and what is missed where a variable leaves its window.
        """
        net, keep, grids, holes = self.net, self.keep, {}, {}
        escaped = 0.0
        for i, rates in net.rates.items():
            held = points if i == keep else ()
            bends = self.bends[i] if cells > COARSE else {0.0}
            grids[i] = window(rates, self.own[i] + self.marks[i], bends, cells, held)
            # only the exponentials of steps are so large that a jump at any mark would be felt
            left_out = self.own[i] + (self.marks[i] if net.sides else [])
            holes[i] = [] if i == keep else cells_at(grids[i], left_out)
            width = math.fsum(np.diff(grids[i])[holes[i]])
            escaped += escape(rates) + 1.001 * width * float(min(rates)) / 2
        slowest = {i: float(min(rates)) for i, rates in net.rates.items()}
        algebra = Functions(net.curves, grids, holes, slowest, clock=clock)
        parts = []
        for given, sides in self.terms:
            tilts = tilts_of(net, sides)
            functions = self._functions(grids, sides, tilts)
            algebra.least = 0.0 if keep is not None else _next_to_nothing(functions, grids)
            parts.append((1, integrate(algebra, functions, tilts, given, keep)))
        return algebra.added(parts), None if keep is None else grids[keep], escaped

    def _functions(
        self, grids: Mapping[int, Array], sides: Sequence[HalfStep], tilts: Mapping[int, Fraction]
    ) -> dict[int, Weight]:
        """Return what every variable carries in a term: its noise, exponentials of steps."""
        scales = dict.fromkeys(grids, Fraction(1))
        for side in sides:
            scales[side.upper] *= side.rate / 2
        found = {i: exponential(grid, tilts[i], scales[i]) for i, grid in grids.items()}
        for i in set(self.net.fresh) - {self.keep}:
            found[i] = noise(grids[i], self.net.rates[i][0], tilts[i], scales[i])
        return found


class Probability:
    """The probability of a region by the sums of its releases, on cells as fine as asked for."""

    def __init__(self, region: Region, totals: Mapping[int, Fraction], known: Known) -> None:
        net = net_of(region, region.centres(totals), known)
        self.integral = Integral(net) if net.possible else None
        self.terms = self.integral.integrals if self.integral else 0

    def on(self, cells: int, clock: Clock = ENDLESS) -> Interval:
        """Enclose it; [0, 0] if impossible."""
        if self.integral is None:
            return Interval(np.float64(0.0), np.float64(0.0))
        total, _, escaped = self.integral.on(cells, clock)
        low, high = float(total.lo) - NEGLIGIBLE, float(total.hi) + NEGLIGIBLE + 1.001 * escaped
        return Interval(np.float64(max(low, 0.0)), np.float64(min(1.0, high)))


def _next_to_nothing(functions: Mapping[int, Weight], grids: Mapping[int, Array]) -> float:
    """Return what a function may be taken for 0 below, `LIMIT` times, without being missed.

    A mass is at most the supremum of its function times the length of its window, so that no
    product of what is left, over all windows, exceeds the one of these numbers.
    """
    lengths = {i: float(grid[-1] - grid[0]) for i, grid in grids.items()}
    sizes = (float(f.range.hi.max()) * lengths[i] for i, f in functions.items())
    bound = math.prod(max(size, 1.0) for size in sizes) * max(lengths.values())
    return 1e-10 * NEGLIGIBLE / bound


def _open(weight: Weight) -> Weight:
    """Return a probability by the kept variable, with anything beyond its window."""
    at, cell = weight.at.clip(0.0, 1.0), weight.range.clip(0.0, 1.0)
    for part in (at, cell):
        part.lo[[0, -1]], part.hi[[0, -1]] = 0.0, 1.0
    return replace(weight, at=at, range=cell)


@dataclass(frozen=True)
class Nets:
    """A pass over paths, release by release, on so many cells and points of a mesh."""

    regions: Mapping[int, Region]
    known: Known
    fine: tuple[int, int]
    clock: Clock

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Curve]]:
        """Yield the episodes of a path with their curves, enclosed when they are asked.

        No step gains more than the density of the release changes by.
        """
        region = self.regions[number]
        for index, episode in enumerate(region.episodes):
            largest = partial(self._largest, region, index, episode.kind, background)
            yield index, Curve(largest, cap_of(episode.kind))

    def _largest(
        self, region: Region, index: int, kind: Batch, background: int, rising: bool, _: bool
    ) -> Bounds:
        sums = {i: background * len(episode) for i, episode in enumerate(region.episodes)}
        net = net_of(region, region.centres(sums | {index: 0}), self.known)
        if not net.possible:
            return Bounds(0.0, 0.0, ZERO, ZERO)
        cells, mesh = self.fine
        integral = Integral(net, index)
        weight, grid, escaped = integral.on(cells, self.clock, centres_of(kind, mesh))
        moving = Moving(kind, mesh, grid, 1.001 * escaped)
        return moving(Weight.stacked([_open(weight)])).largest(rising)[0]

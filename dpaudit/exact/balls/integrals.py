"""Likelihoods of nets: of a path, and by the own sum of one of its releases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.cells import Meshed, cap_of, centres_of
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.balls.net import Listing, Net, exponents_of, integrate, net_of, terms_of
from dpaudit.exact.balls.own_sum import Moving
from dpaudit.exact.balls.weight import Masses, Weight, away
from dpaudit.exact.balls.windows import Functions, density, escape, exponential, window
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.region import Region, rate_of
from dpaudit.exact.schedule import Batch

ZERO = Fraction(0)


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


def _integrated(
    net: Net, cells: int, keep: int | None, clock: Clock, points: Iterable[Fraction] = ()
) -> tuple[Any, Any, float]:
    """Integrate all variables but one out; the kept one's grid holds the points.

    Return also that grid, and what is missed where a variable leaves its window.
    """
    listing = Listing()
    terms = list(terms_of(net))
    for given, sides in terms:
        integrate(listing, dict.fromkeys(net.rates, 1), exponents_of(net, sides), given, keep)
    marks: dict[int, list[Interval]] = {i: [] for i in net.rates}
    for variable, given in listing.lines:
        marks[variable] += net.curves.kinks(given)
    laid = {
        i: window(rates, marks[i], cells, points if i == keep else ())
        for i, rates in net.rates.items()
    }
    grids = {i: grid for i, (grid, _) in laid.items()}
    # only the exponentials of steps are so large that a jump within a cell would be felt
    holes = {i: found if i != keep and net.sides else [] for i, (_, found) in laid.items()}
    algebra = Functions(net.curves, grids, holes, clock)
    escaped = sum(escape(rates) for rates in net.rates.values())
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
        exponents = exponents_of(net, sides)
        parts.append((1, integrate(algebra, functions, exponents, given, keep)))
    return algebra.added(parts), None if keep is None else grids[keep], escaped


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

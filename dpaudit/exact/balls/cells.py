"""Scores that bend: functions of a register on cells, enclosed to third order.

A function is a `Weight`; thresholds between two scores are certified node by node. Halving the
cells divides the width of every enclosure by about eight. Grids are graded towards the clip points
and the crossings of the levels, where thresholds bend sharply, and hold every centre that a release
can have, so that no density has a kink inside a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import ctx

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Bounds
from dpaudit.exact.balls.beyond import Beyond, tail
from dpaudit.exact.balls.compare import balls_of, compared
from dpaudit.exact.balls.interval import WIDE, Array, Interval, above
from dpaudit.exact.balls.own_sum import Moving, Scan, mesh_steps
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Comparison
from dpaudit.exact.balls.weight import Grid, Masses, Weight, away
from dpaudit.exact.schedule import Batch, Chain, Turn

FEWEST = 16  # cells between two marks
ELEMENTS = 1 << 17  # numbers that fit into a processor's nearest memory
SLOWEST, FASTEST = Fraction(1, 10**9), Fraction(10**9)  # rates whose grids doubles can hold


@dataclass(frozen=True)
class Bout:
    """One decision's numbers: both releases and how their registers compare, the held one first."""

    held: Batch
    fresh: Batch
    scores: Comparison
    identity: Hashable


class Known:
    """Comparisons that were made, by request, place and releases; `certain` if all are certified.

    The requests are kept, so that no other takes their id. Equal comparisons get the same number.
    """

    certain = True

    def __init__(self) -> None:
        self._duels: dict[Hashable, tuple[Choose, Bout]] = {}
        self._numbers: dict[Hashable, int] = {}

    def compared(self, stage: Turn) -> tuple[Comparison, Hashable]:
        """Return how the scores compare, the held one first, and what tells this from others."""
        with ctx.workprec(256):
            rule = stage.request.rule(BALL)
            scores = compared(stage.request.rule, (stage.held, 1 - stage.held))
            numbers = [x for arm in (rule.at(0), rule.at(1)) for x in balls_of(arm)]
            exact = tuple(part for x in numbers for part in (x.mid().man_exp(), x.rad().man_exp()))
        return scores, (type(rule), stage.held, exact)

    def duel(self, chain: Chain, stage: Turn) -> Bout:
        """Return a stage's comparison; raise `Unsupported` where it has none."""
        older, fresh = chain.kind(stage.older), chain.kind(stage.fresh)
        key = (id(stage.request), stage.held, older, fresh)
        if key not in self._duels:
            if not all(SLOWEST <= kind.rate <= FASTEST for kind in (older, fresh)):
                raise Unsupported("Noise of such a scale does not fit on the certified grids.")
            scores, identity = self.compared(stage)
            number = self._numbers.setdefault((identity, older, fresh), len(self._numbers))
            self._duels[key] = stage.request, Bout(older, fresh, scores, number)
        return self._duels[key][1]

    def marks(self, duels: Sequence[Bout]) -> Iterator[tuple[Batch, list[Interval]]]:
        """Yield where thresholds may jump or bend sharply, and beyond which they are constant."""
        for found in duels:
            yield found.held, found.scores.marks(True)
            yield found.fresh, found.scores.marks(False)


class Cells(Algebra[Weight]):
    """Grids, laws and thresholds of all the duels of some chains, built once and shared."""

    together = 32

    def __init__(
        self,
        chains: Iterable[Chain],
        cells: int,
        mesh: int = 1,
        more: Iterable[tuple[Batch, Array]] = (),
        known: Known | None = None,
        wide: bool = False,
    ) -> None:
        """Prepare the grids; `known` are duels that an earlier pass made of the same requests.

        The grids hold the centres of own sums on a mesh, and the nodes that are given as `more`.
        What is too small for doubles is not for `wide` numbers, which are slower.
        """
        self.cells, self.mesh = cells, mesh
        self.known = known or Known()
        marks: dict[Batch, list[Interval]] = {}
        duels = (self.duel(chain, stage) for chain in chains for stage in chain.stages)
        for kind, found in self.known.marks(list({it.identity: it for it in duels}.values())):
            marks.setdefault(kind, []).extend(found)
        nodes = {kind: [_nodes(parts, cells)] for kind, parts in marks.items()}
        for kind, given in more:
            nodes.setdefault(kind, []).append(given)
        self.grids = {kind: _grid(kind, parts, mesh, wide) for kind, parts in nodes.items()}
        self._moving: dict[Batch, Moving] = {}
        self._laws: dict[Hashable, Masses] = {}
        self._thresholds: dict[Hashable, Theta] = {}
        self._tails: dict[Hashable, Weight] = {}
        self._beyond: dict[Hashable, Beyond] = {}

    def duel(self, chain: Chain, stage: Turn) -> Bout:
        """Return a stage's comparison; raise `Unsupported` where it has none."""
        return self.known.duel(chain, stage)

    def holds(self, kind: Batch, centre: Fraction) -> bool:
        """Tell whether a release of this kind may have this centre."""
        return kind in self.grids and bool(np.any(self.grids[kind].x == float(centre)))

    def law(self, kind: Batch, centre: Fraction) -> Masses:
        """Return the law of a release of this kind at a centre."""
        found = self._laws.get((kind, centre))
        if found is None:
            found = self._laws[kind, centre] = Masses(self.grids[kind], kind.rate, centre)
        return found

    def theta(self, at: Bout, of_held: bool) -> Theta:
        """Return the threshold as a function of the held, or of the fresh register."""
        found = self._thresholds.get((at.identity, of_held))
        if found is None:
            grid = self.grids[at.held if of_held else at.fresh]
            found = at.scores.threshold(np.asarray(grid.x, dtype=float), of_held)
            ends = Interval(*(np.asarray(end, grid.x.dtype) for end in (found.at.lo, found.at.hi)))
            found = replace(found, at=ends)
            self._thresholds[at.identity, of_held] = found
        return found

    def one(self, kind: Batch) -> Weight:
        """Return the constant 1."""
        return self.grids[kind].one()

    def times(self, first: Weight, second: Weight) -> Weight:
        """Return the product."""
        return first * second

    def absorb(self, function: Weight, duel: Bout, fresh: Fraction, held_wins: bool) -> Weight:
        """Multiply by the chance that the fresh register loses, or wins."""
        key = (duel.identity, fresh, held_wins)
        found = self._tails.get(key)
        if found is None:
            found = tail(self.theta(duel, True), self.law(duel.fresh, fresh), held_wins)
            self._tails[key] = found
        return function * found

    def beyond(
        self, function: Weight, duel: Bout, centre: Fraction, held_wins: bool, of_held: bool
    ) -> Weight:
        """Integrate one register out, on its side of the other's threshold."""
        key = (duel.identity, centre, held_wins, of_held)
        found = self._beyond.get(key)
        if found is None:
            law = self.law(duel.held if of_held else duel.fresh, centre)
            found = Beyond(law, self.theta(duel, not of_held), below=held_wins != of_held)
            self._beyond[key] = found
        return found(function)

    def log_total(self, function: Weight, kind: Batch, centre: Fraction) -> Interval:
        """Return the logarithm of the integral."""
        return self.law(kind, centre).total(function).log()

    def curve(self, function: Weight, kind: Batch) -> Meshed:
        """Return the likelihood by a release's own sum."""
        if kind not in self._moving:
            ends = self.law(kind, Fraction(0)), self.law(kind, kind.centre(kind.rows))
            centres = centres_of(kind, self.mesh)
            near = np.array([float(centre) for centre in centres])
            nodes = np.searchsorted(self.grids[kind].x, near)
            self._moving[kind] = Moving(*ends, nodes, away(centres))
        return Meshed(self._moving[kind](function), self.mesh, kind)

    def mapped(self, operation: Callable[..., Any], *columns: Sequence[Weight]) -> list[Any]:
        """Return what an operation makes of rows of functions, many of them at once."""
        size = columns[0][0].at.lo.size
        rows = max(1, ELEMENTS // size)
        found: list[Any] = []
        for start in range(0, len(columns[0]), rows):
            parts = (Weight.stacked(column[start : start + rows]) for column in columns)
            found += operation(*parts).split()
        return found


def cap_of(kind: Batch) -> float:
    """Return what the logarithm of a release's density changes by at most, for one reward."""
    return above(ball(kind.rate / kind.divisor))


class Meshed:
    """Likelihoods by own sum, enclosed on a mesh with their derivative, all steps found at once."""

    def __init__(self, scan: Scan, mesh: int, kind: Batch) -> None:
        self.scan, self.mesh, self.kind = scan, mesh, kind
        self._found: dict[bool, list[Bounds]] = {}

    def split(self) -> list[OfMany]:
        """Return a curve for every function."""
        return [OfMany(self, row) for row in range(len(self.scan.mass.lo))]

    def largest(self, rising: bool) -> list[Bounds]:
        """Enclose the largest gains of steps of at most 1; of whole steps if the mesh is 1."""
        if rising not in self._found:
            kappa = cap_of(self.kind)
            found = mesh_steps(self.scan, self.mesh, kappa, rising)
            # the density of a release, and so its integral, changes by at most exp(kappa)
            self._found[rising] = [replace(it, upper=min(it.upper, kappa)) for it in found]
        return self._found[rising]


@dataclass(frozen=True)
class OfMany:
    """One of many curves."""

    curves: Meshed
    row: int
    cap: ClassVar[float] = math.inf  # all are found at once

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1; of whole steps if the mesh is 1."""
        return self.curves.largest(rising)[self.row]


def impossible(chain: Chain, known: Known) -> bool:
    """Is some decision's outcome impossible, whatever the registers hold?"""
    duels = (known.duel(chain, stage) for stage in chain.stages)
    found = ((d.scores.always, s.held_wins) for d, s in zip(duels, chain.stages, strict=True))
    return any(always is not None and always != wins for always, wins in found)


def centres_of(kind: Batch, mesh: int) -> list[Fraction]:
    """Return the centres at the own sums 0, 1 / mesh, 2 / mesh, ..., n; none if the mesh is 0."""
    if not mesh:
        return []
    return [kind.centre(Fraction(number, mesh)) for number in range(kind.rows * mesh + 1)]


def graded(low: float, high: float, cells: int) -> Array:
    """Return nodes that thicken towards both ends like the sixth-degree smooth step."""
    u = np.linspace(0.0, 1.0, cells + 1)[1:-1]
    return low + (high - low) * u**3 * (10 - 15 * u + 6 * u**2)


def _nodes(marks: Sequence[Interval], cells: int) -> Array:
    """Return nodes on both sides of every mark, and graded ones between them.

    At a mark thresholds bend like t / log t: the fewer cells of a short stretch go with its length
    to the power 2 / 3.
    """
    if not marks:
        return np.empty(0)
    edges = [16 * np.spacing(1 + abs(mark.hi)) + 2 * (mark.hi - mark.lo) for mark in marks]
    spans = sorted((m.lo - edge, m.hi + edge) for m, edge in zip(marks, edges, strict=True))
    found = [np.array(spans).ravel()]
    first, last = spans[0][0], max(stop for _, stop in spans)
    whole = last - first
    # a mark that is not known well may lie anywhere in a part of the grid, and leaves it its cells
    narrow = [span for span in spans if span[1] - span[0] <= 1e-6 * whole]
    reached = first
    for start, stop in [*narrow, (last, last)]:
        if start - reached > 1e-9 * whole:
            share = ((start - reached) / whole) ** (2 / 3)
            found.append(graded(reached, start, max(FEWEST, math.ceil(cells * share))))
        reached = max(reached, stop)
    return np.concatenate(found)


def _grid(kind: Batch, parts: Sequence[Array], mesh: int, wide: bool) -> Grid:
    centres = np.array([float(centre) for centre in centres_of(kind, mesh)])
    nodes = np.unique(np.concatenate([*parts, centres]))
    if not wide:
        return Grid(nodes)
    if WIDE is None:
        raise Unsupported("The likelihood is too small for this machine's numbers.")
    return Grid(nodes.astype(WIDE))

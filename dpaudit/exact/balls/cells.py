"""Scores that bend: functions of a register on cells, enclosed to third order.

A function is a `Weight`; thresholds between two scores are certified node by node. Halving the
cells divides the width of every enclosure by about eight. Grids are graded towards the clip points
and the crossings of the levels, where thresholds bend sharply, and hold every centre that a release
can have, so that no density has a kink inside a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Bounds, Curve, Message
from dpaudit.exact.balls.beyond import Beyond, tail
from dpaudit.exact.balls.compare import Bout, Known
from dpaudit.exact.balls.interval import WIDE, Array, Interval, above
from dpaudit.exact.balls.own_sum import Moving, Scan, mesh_steps
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.weight import Grid, Masses, Weight, away
from dpaudit.exact.trees import Batch, Edge, Forest

FEWEST = 16  # cells between two marks
ELEMENTS = 1 << 17  # numbers that fit into a processor's nearest memory


class Cells(Algebra[Weight]):
    """Grids, laws and thresholds of all the duels of some trees, built once and shared."""

    together = 32

    def __init__(
        self,
        trees: Iterable[Forest],
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
        duels = (self.duel(tree, edge) for tree in trees for edge in tree.edges)
        for kind, found in self.known.marks(list({it.identity: it for it in duels}.values())):
            marks.setdefault(kind, []).extend(found)
        nodes = {kind: [_nodes(parts, cells)] for kind, parts in marks.items()}
        for kind, given in more:
            nodes.setdefault(kind, []).append(given)
        self.grids = {kind: _grid(kind, parts, mesh, wide) for kind, parts in nodes.items()}
        self._built: dict[Hashable, Any] = {}

    def _once(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """Return what was built for a key."""
        if key not in self._built:
            self._built[key] = build()
        return self._built[key]

    def duel(self, tree: Forest, edge: Edge) -> Bout:
        return self.known.duel(tree, edge)

    def holds(self, kind: Batch, centre: Fraction) -> bool:
        """Tell whether a release of this kind may have this centre."""
        return kind in self.grids and bool(np.any(self.grids[kind].x == float(centre)))

    def law(self, kind: Batch, centre: Fraction) -> Masses:
        """Return the law of a release of this kind at a centre."""
        found: Masses = self._once(
            (kind, centre), lambda: Masses(self.grids[kind], kind.rate, centre)
        )
        return found

    def theta(self, at: Bout, of_first: bool) -> Theta:
        """Return the threshold as a function of the first, or of the second register."""

        def build() -> Theta:
            grid = self.grids[at.kinds[not of_first]]
            scores = at.scores if of_first else at.scores.flipped
            found = scores.threshold(np.asarray(grid.x, dtype=float))
            ends = Interval(*(np.asarray(end, grid.x.dtype) for end in (found.at.lo, found.at.hi)))
            return replace(found, at=ends)

        found: Theta = self._once((at.identity, of_first), build)
        return found

    def times(self, first: Weight, second: Weight) -> Weight:
        return first * second

    def message(self, function: Weight | None, sent: Message) -> Weight:

        def build() -> Any:
            law, theta = self.law(sent.kind, sent.centre), self.theta(sent.duel, not sent.of_first)
            make = tail if function is None else Beyond
            return make(law, theta, sent.below)

        found = self._once((sent.key, function is None), build)
        return found if function is None else found(function)  # type: ignore[no-any-return]

    def log_total(self, function: Weight, kind: Batch, centre: Fraction) -> Interval:
        return self.law(kind, centre).total(function).log()

    def curve(self, function: Weight, kind: Batch) -> Meshed:

        def build() -> Moving:
            ends = self.law(kind, Fraction(0)), self.law(kind, kind.centre(kind.rows))
            centres = centres_of(kind, self.mesh)
            near = np.array([float(centre) for centre in centres])
            nodes = np.searchsorted(self.grids[kind].x, near)
            return Moving(*ends, nodes, away(centres))

        return Meshed(self._once(kind, build)(function), self.mesh, kind)

    def mapped(self, operation: Callable[..., Any], *columns: Sequence[Weight]) -> list[Any]:
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

    def split(self) -> list[Curve]:
        """Return a curve for every function."""
        return [Curve(partial(self._row, row)) for row in range(len(self.scan.mass.lo))]

    def _row(self, row: int, rising: bool, whole: bool) -> Bounds:
        return self.largest(rising)[row]

    def largest(self, rising: bool) -> list[Bounds]:
        """Enclose the largest gains of steps of at most 1; of whole steps if the mesh is 1."""
        if rising not in self._found:
            kappa = cap_of(self.kind)
            found = mesh_steps(self.scan, self.mesh, kappa, rising)
            # the density of a release, and so its integral, changes by at most exp(kappa)
            self._found[rising] = [replace(it, upper=min(it.upper, kappa)) for it in found]
        return self._found[rising]


def impossible(tree: Forest, known: Known) -> bool:
    """Is some decision's outcome impossible, whatever the registers hold?"""
    found = ((known.duel(tree, edge).scores.always, edge.first_wins) for edge in tree.edges)
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

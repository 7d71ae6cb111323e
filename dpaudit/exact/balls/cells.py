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
from typing import Any

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Message
from dpaudit.exact.balls.beyond import Beyond, tail
from dpaudit.exact.balls.compare import Bout, Known
from dpaudit.exact.balls.interval import WIDE, Array, Interval
from dpaudit.exact.balls.own_sum import Moving, Scan, centres_of
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.weight import Masses, Weight
from dpaudit.exact.region import Batch
from dpaudit.exact.trees import Edge, Forest

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
        return kind in self.grids and bool(np.any(self.grids[kind] == float(centre)))

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
            found = scores.threshold(np.asarray(grid, dtype=float))
            ends = Interval(*(np.asarray(end, grid.dtype) for end in (found.at.lo, found.at.hi)))
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

    def curve(self, function: Weight, kind: Batch) -> Scan:
        moving: Moving = self._once(kind, lambda: Moving(kind, self.mesh, self.grids[kind]))
        return moving(function)

    def mapped(self, operation: Callable[..., Any], *columns: Sequence[Weight]) -> list[Any]:
        size = columns[0][0].at.lo.size
        rows = max(1, ELEMENTS // size)
        found: list[Any] = []
        for start in range(0, len(columns[0]), rows):
            parts = (Weight.stacked(column[start : start + rows]) for column in columns)
            found += operation(*parts).split()
        return found


def impossible(tree: Forest, known: Known) -> bool:
    """Is some decision's outcome impossible, whatever the registers hold?"""
    found = ((known.duel(tree, edge).scores.always, edge.first_wins) for edge in tree.edges)
    return any(always is not None and always != wins for always, wins in found)


def graded(spans: Sequence[tuple[float, float]], cells: int, fewest: int) -> Array:
    """Return nodes between spans that rise, thickening towards both ends of each stretch.

    Nodes are graded like the sixth-degree smooth step. At a mark thresholds bend like t / log t:
    the fewer cells of a short stretch go with its length to the power 2 / 3.
    """
    found = [np.empty(0)]
    reached, last = spans[0][0], spans[-1][1]
    whole = last - reached
    for start, stop in spans:
        share = (start - reached) / whole
        if share > 1e-9:
            count = max(fewest, math.ceil(cells * share ** (2 / 3)))
            u = np.linspace(0.0, 1.0, count + 1)[1:-1]
            found.append(reached + (start - reached) * u**3 * (10 - 15 * u + 6 * u**2))
        reached = max(reached, stop)
    return np.concatenate(found)


def span_of(mark: Interval) -> tuple[float, float]:
    """Return what lies so near to a mark that nodes are on either side of it."""
    edge = 16 * np.spacing(1 + abs(float(mark.hi))) + 2 * (mark.hi - mark.lo)
    return float(mark.lo - edge), float(mark.hi + edge)


def _nodes(marks: Sequence[Interval], cells: int) -> Array:
    """Return nodes on both sides of every mark, and graded ones between them."""
    if not marks:
        return np.empty(0)
    spans = sorted(map(span_of, marks))
    first, last = spans[0][0], max(stop for _, stop in spans)
    # a mark that is not known well may lie anywhere in a part of the grid, and leaves it its cells
    narrow = [span for span in spans if span[1] - span[0] <= 1e-6 * (last - first)]
    between = graded([(first, first), *narrow, (last, last)], cells, FEWEST)
    return np.concatenate([np.array(spans).ravel(), between])


def _grid(kind: Batch, parts: Sequence[Array], mesh: int, wide: bool) -> Array:
    centres = np.array(centres_of(kind, mesh), dtype=float)
    nodes = np.unique(np.concatenate([*parts, centres]))
    if not wide:
        return nodes
    if WIDE is None:
        raise Unsupported("The likelihood is too small for this machine's numbers.")
    return nodes.astype(WIDE)

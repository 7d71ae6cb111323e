"""Certified log-likelihoods and searches: which technology answers, and how fine it has to be.

Every parameter comes from the declaration evaluated in balls or as a fraction, never from a double.
Precision or cells grow until the result is tight, so a ball that comes back is both sound and
narrow, or `Unsupported` says why there is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import BALL
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact import algebra
from dpaudit.exact.algebra import Imprecise, Sharing
from dpaudit.exact.balls import gaussians, integrals, polytopes
from dpaudit.exact.balls.cells import Cells, impossible
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.balls.exponentials import Exponentials, margin_of
from dpaudit.exact.balls.interval import Array, Interval
from dpaudit.exact.clock import ENDLESS, Clock, OutOfTime
from dpaudit.exact.known import require_alike, rule_in
from dpaudit.exact.region import Region
from dpaudit.exact.search import Pass
from dpaudit.exact.trees import Forest, forest_of

FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
TARGET_BITS = 80
FINE, REACH = 1 / 16, 40.0  # rates beside cells; noise scales around a centre
CLOSE = 1e-12  # nodes that are of no use
SHORT = 32  # rows of which every whole sum is a node, for other streams
CELLS, CELL_WIDTH = (200, 16_200), 1e-9  # at first and at most
# cells of a net, how much wider than a chain's its log-likelihood may be, or at most before it is
# useless
NETS, NET_WIDER, NET_LIMIT = (600, 1800, 5400, 10_800), 1000, 1e-3
NET_EFFORT = 4_000_000  # terms times cells, about a minute


class Wide(Unsupported):
    """An enclosure that stays too wide to be of use."""


def tighten(compute: Callable[[], arb]) -> arb:
    """Return compute() at a precision, doubled from the first, that leaves enough correct bits."""
    precision = FIRST_PRECISION
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                found = compute()
            except Imprecise:
                found = None
            if found is not None and found.is_finite() and found.rel_accuracy_bits() >= TARGET_BITS:
                return found
        precision *= 2
    raise Unsupported(f"The ball stays wide at {LAST_PRECISION} bits.")


def affine(tree: Forest) -> bool:
    """Tell whether the scores of a tree are affine, of equal slopes: its functions are exact."""
    try:
        return all(kind.rate for edge in tree.edges for kind in margin_of(tree, edge).kinds)
    except Unsupported:
        return False


def closed(region: Region) -> bool:
    """Tell whether every decision is an elimination or an affine choice: there are closed forms."""
    requests = (decision.request for decision in region.decisions)
    return all(isinstance(it, Keep) or type(rule_in(BALL, it)) is Affine for it in requests)


def bounded_by_lines(region: Region) -> bool:
    """Tell whether a region is a polytope, and not a tree of affine scores of equal slopes."""
    tree = region.prepared(as_forest)
    known = tree is not None and affine(tree)
    return not known and bool(region.decisions) and closed(region)


def as_forest(region: Region) -> Forest | None:
    """Return a region's comparisons as a tree; None where they are none: it is a net."""
    try:
        return forest_of(region)
    except Unsupported:
        return None


def log_likelihood(
    region: Region,
    totals: Mapping[int, Fraction],
    clock: Clock = ENDLESS,
    width: float = CELL_WIDTH,
) -> arb:
    """Return a ball around the log-probability of a region; -inf where it is impossible.

    `totals` are the exact sums of the rewards of the episodes. Affine scores give about 80 correct
    bits, however small the probability is; others are enclosed on cells, refined until the ball is
    of the width that is asked for or the cells are at their finest. A clock may end the refinement,
    which leaves a wider ball.
    """
    region.prepared(_require_alike)
    if gaussians.applies(region):
        return gaussians.log_likelihood(region, totals)
    if bounded_by_lines(region):
        parts = polytopes.parts_of(region)
        return _log(tighten(lambda: polytopes.likelihood(region, parts, totals, clock)))
    tree = region.prepared(as_forest)
    if tree is not None and affine(tree):
        centres = region.centres(totals)

        def probability() -> arb:
            found: arb = algebra.log_likelihood(Exponentials([tree]), tree, centres)
            return found.exp()

        return _log(tighten(probability))
    log = bending(region, totals, Known, clock, width)
    if log.hi == -math.inf:
        return arb("-inf")
    return arb(float(log.lo)).union(arb(float(log.hi)))


def bending(
    region: Region, totals: Mapping[int, Fraction], known: type[Known], clock: Clock, width: float
) -> Interval:
    """Enclose the log-probability by any comparisons: of a tree on cells, of others as a net."""
    tree = region.prepared(as_forest)
    if tree is None:
        return of_net(region, totals, region.prepared(known), clock, width)
    centres = region.centres(totals)
    return region.prepared(_on_cells, known).log(centres, clock, width)


@dataclass
class OnCells:
    """A tree on finer and finer cells; what was built for one stream is there for the next."""

    tree: Forest
    known: Known
    cells: int = CELLS[0]
    wide: bool = False
    _built: dict[int, Cells] = field(default_factory=dict)

    def log(self, centres: Mapping[int, Fraction], clock: Clock, width: float) -> Interval:
        """Enclose the log-probability; -inf alone where some decision is impossible."""
        if impossible(self.tree, self.known):
            return Interval.of(-math.inf)
        while True:
            began = time.monotonic()
            log = self._at(self.cells, centres)
            if log.lo == -math.inf and not self.wide:
                self.wide, self._built = True, {}
                log = self._at(self.cells, centres)
            found = log.hi - log.lo
            if found < width or self.cells == CELLS[1]:
                break
            # widths are of third order
            growth = min(max(1.2 * math.cbrt(found / width), 1.5), 9.0)
            if not clock.allows(growth * (time.monotonic() - began)):
                break
            self.cells = min(math.ceil(growth * self.cells), CELLS[1])
        if not math.isfinite(log.lo):
            raise Unsupported("The likelihood is too small for the grid engine.")
        return log

    def _at(self, cells: int, centres: Mapping[int, Fraction]) -> Interval:
        tree, kinds = self.tree, self.tree.kinds
        now = self._built.get(cells)
        if now is None or not all(now.holds(kinds[i], centre) for i, centre in centres.items()):
            nodes = {i: [centre] for i, centre in centres.items()}
            for i, kind in kinds.items():
                if kind.rows <= SHORT:
                    nodes[i] += [kind.centre(total) for total in range(kind.rows + 1)]
            given = [(kinds[i], np.array(it, dtype=float)) for i, it in nodes.items()]
            given += [(kinds[i], x) for i, x in self._around(cells, centres).items()]
            now = self._built[cells] = Cells([tree], cells, 0, given, self.known, self.wide)
        found: Interval = algebra.log_likelihood(now, tree, centres)
        return found

    def _around(self, cells: int, centres: Mapping[int, Fraction]) -> dict[int, Array]:
        """Return nodes around the centres, and their images, of noise that is finer than cells."""
        u = np.linspace(-1.0, 1.0, cells // 2 + 1)
        rates = {i: float(self.tree.kinds[i].rate) for i in centres}
        fine = (i for i, rate in rates.items() if rate > FINE * cells)
        found = {i: float(centres[i]) + REACH / rates[i] * u * np.abs(u) for i in fine}
        for edge in self.tree.edges:
            scores, images = self.known.duel(self.tree, edge).scores, {}
            for source, target in (edge.ends, edge.ends[::-1]):
                if source in found:
                    one = scores if source == edge.ends[0] else scores.flipped
                    at = one.threshold(np.unique(found[source])).at
                    image = 0.5 * (at.lo + at.hi)[np.isfinite(at.lo) & np.isfinite(at.hi)]
                    # where a threshold is constant, and at its ends, nothing is to be resolved
                    apart = np.diff(image, prepend=-np.inf, append=np.inf) > CLOSE
                    images[target] = image[apart[1:] & apart[:-1]]
            for i, image in images.items():
                found[i] = np.concatenate([found.get(i, image[:0]), image])
        return found


def _on_cells(region: Region, known: type[Known]) -> OnCells:
    return OnCells(forest_of(region), known())


def _require_alike(region: Region) -> None:
    require_alike(decision.request for decision in region.decisions)


def _log(probability: arb) -> arb:
    if probability.is_zero():  # an elimination of no width that keeps two arms
        return arb("-inf")
    with ctx.workprec(2 * TARGET_BITS):
        return probability.log()


def of_net(
    region: Region, totals: Mapping[int, Fraction], known: Known, clock: Clock, width: float
) -> Interval:
    """Enclose the log-probability of a net, as finely as it has to be; -inf where impossible."""
    probability = integrals.Probability(region, totals, known)
    for cells in NETS:
        began = time.monotonic()
        with np.errstate(divide="ignore"):
            log = probability.on(cells).log()
        found = 0.0 if log.hi == -math.inf else float(log.hi - log.lo)
        if found < NET_WIDER * width or not found < NET_LIMIT * (NETS[-1] / cells) ** 3:
            break
        if probability.terms * 3 * cells > NET_EFFORT:
            break
        if not clock.allows(4 * (time.monotonic() - began)):
            if not found < NET_LIMIT:
                raise OutOfTime
            break
    if not found < NET_LIMIT:
        raise Wide("A net stays wide: the likelihood is too small, or noises too unlike.")
    return log


# cells of a grid's smooth stretches, and mesh points per unit of own sum, in the first pass and at
# most: widths are of second order in the mesh, of third in the cells
FIRST_PASS, FINEST = (100, 16), (20_000, 4096)
LARGE = 500.0  # exponents that leave doubles to be multiplied


@dataclass
class Precise:
    """Passes in balls: more bits where they are wide, then bisected maxima if there are any."""

    build: Callable[[list[int], bool], Pass]
    narrows: bool
    precision: int = FIRST_PRECISION
    narrow: bool = False

    def __call__(self, active: list[int], excess: float | None) -> Pass | None:
        """Open the next pass."""
        if excess == math.inf:
            self.precision *= 2
            if self.precision > LAST_PRECISION:
                raise Unsupported(f"The balls stay wide at {LAST_PRECISION} bits.")
        elif excess is not None:
            if self.narrow or not self.narrows:
                return None
            self.narrow = True
        with self.working():
            return self.build(active, self.narrow)

    def working(self, _: Pass | None = None) -> AbstractContextManager[Any]:
        """Return the context in which a pass is looked at."""
        found: AbstractContextManager[Any] = ctx.workprec(self.precision)
        return found


@dataclass
class Gridded:
    """Passes over some paths on cells, as fine as their last enclosure asks for."""

    build: Callable[[list[int], int, int], Pass]
    whole: bool
    first: tuple[int, int] = FIRST_PASS
    seen: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __call__(self, active: list[int], excess: float | None) -> Pass | None:
        """Open the next pass."""
        cells, mesh = self.first
        if excess is not None:
            cells, mesh = min(self.seen[number] for number in active)
            if (cells, mesh) == FINEST:
                return None
            wanted = math.sqrt(2 * min(excess, 1e6))
            cells = min(math.ceil(cells * min(max(wanted, 1.5), 3.0)), FINEST[0])
            mesh = min(mesh * 2 ** min(max(math.ceil(math.log2(wanted)), 1), 3), FINEST[1])
        self.seen |= dict.fromkeys(active, (cells, mesh))
        return self.build(active, cells, 1 if self.whole else mesh)


def gridded(trees: Sequence[Forest], whole: bool, known: Known) -> Gridded:
    """Return passes on cells over trees, but for those that no noise can take."""
    taken = [Forest(it.region, ()) if impossible(it, known) else it for it in trees]
    # about as small as the likelihood of a path gets, by its logarithm
    sizes = ((it.kinds[i] for i in it.at) for it in taken)
    smallest = max(
        (sum(float(k.rate * k.centre(k.rows)) for k in {*it}) for it in sizes), default=0
    )

    def build(active: list[int], cells: int, mesh: int) -> Pass:
        chosen = {number: taken[number] for number in active}
        wide = smallest > LARGE
        return Sharing(Cells(chosen.values(), cells, mesh, known=known, wide=wide), chosen)

    return Gridded(build, whole)

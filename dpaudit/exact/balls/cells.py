"""Scores that bend: functions of a register on cells, enclosed to second order.

A function is a `Weight`; thresholds between two scores are certified node by node. Halving the
cells divides the width of every enclosure by about four. Grids are graded towards the clip points
and the crossings of the levels, where thresholds bend sharply, and hold every centre that a release
can have, so that no density has a kink inside a cell.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Bounds
from dpaudit.exact.balls.compare import balls_of, compared
from dpaudit.exact.balls.interval import Array, Interval, above
from dpaudit.exact.balls.own_sum import Moving, Scan, mesh_steps
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.threshold import Rivals
from dpaudit.exact.balls.weight import Beyond, Grid, Masses, Weight, tail
from dpaudit.exact.schedule import Batch, Chain, Turn

SLOWEST, FASTEST = Fraction(1, 10**9), Fraction(10**9)  # rates whose grids doubles can hold


@dataclass(frozen=True)
class Bout:
    """One decision's numbers: both releases and how their registers compare, the held one first."""

    held: Batch
    fresh: Batch
    scores: Rivals
    identity: Hashable


class Known:
    """Comparisons that were made, by request, place and releases.

    The requests are kept, so that no other takes their id. Equal comparisons get the same number.
    """

    def __init__(self) -> None:
        self._duels: dict[Hashable, tuple[Choose, Bout]] = {}
        self._numbers: dict[Hashable, int] = {}

    def duel(self, chain: Chain, stage: Turn) -> Bout:
        """Return a stage's comparison; raise `Unsupported` where it has no certified form."""
        key = (id(stage.request), stage.held, chain.kind(stage.older), chain.kind(stage.fresh))
        if key not in self._duels:
            found = duel_of(chain, stage)
            number = self._numbers.setdefault(found.identity, len(self._numbers))
            self._duels[key] = stage.request, replace(found, identity=number)
        return self._duels[key][1]


class Cells(Algebra[Weight]):
    """Grids, laws and thresholds of all the duels of some chains, built once and shared."""

    def __init__(
        self,
        chains: Iterable[Chain],
        cells: int,
        mesh: int = 1,
        centres: Iterable[tuple[Batch, Fraction]] = (),
        known: Known | None = None,
    ) -> None:
        """Prepare the grids; `known` are duels that an earlier pass made of the same requests."""
        self.cells, self.mesh = cells, mesh
        self.known = known or Known()
        wanted: dict[Batch, list[Array]] = {}
        seen: set[Hashable] = set()
        for chain in chains:
            for stage in chain.stages:
                found = self.duel(chain, stage)
                if found.identity not in seen:
                    seen.add(found.identity)
                    wanted.setdefault(found.held, []).append(found.scores.nodes(True, cells))
                    wanted.setdefault(found.fresh, []).append(found.scores.nodes(False, cells))
        for kind, centre in centres:
            wanted.setdefault(kind, []).append(np.array([float(centre)]))
        self.grids = {kind: _grid(kind, parts, mesh) for kind, parts in wanted.items()}
        self._moving: dict[Batch, Moving] = {}
        self._laws: dict[Hashable, Masses] = {}
        self._thresholds: dict[Hashable, Theta] = {}
        self._tails: dict[Hashable, Weight] = {}
        self._beyond: dict[Hashable, Beyond] = {}

    def duel(self, chain: Chain, stage: Turn) -> Bout:
        """Return a stage's comparison; raise `Unsupported` where it has no certified form."""
        return self.known.duel(chain, stage)

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
            found = at.scores.threshold(grid.x, of_held)
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
            self._moving[kind] = Moving(*ends, _marks(self.grids[kind], kind, self.mesh))
        return Meshed(self._moving[kind](function), self.mesh, kind)


@dataclass(frozen=True)
class Meshed:
    """A likelihood by own sum, enclosed on a mesh with its derivative."""

    scan: Scan
    mesh: int
    kind: Batch

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1; of whole steps if the mesh is 1."""
        kappa = above(ball(self.kind.rate / self.kind.divisor))
        found = mesh_steps(self.scan, self.mesh, kappa, rising)
        lower = -math.inf if math.isnan(found.lower) else found.lower
        upper = math.inf if math.isnan(found.upper) else found.upper
        return replace(found, lower=lower, upper=upper)


def duel_of(chain: Chain, stage: Turn) -> Bout:
    """Return a stage's comparison of bounds, or of IMED's."""
    older, fresh = chain.kind(stage.older), chain.kind(stage.fresh)
    if not all(SLOWEST <= kind.rate <= FASTEST for kind in (older, fresh)):
        raise Unsupported("Noise of such a scale does not fit on the certified grids.")
    with ctx.workprec(256):
        rule = stage.request.rule(BALL)
        scores = compared(stage.request.rule, stage.held)
        numbers = [x for arm in (rule.at(0), rule.at(1)) for x in balls_of(arm)]
        exact = tuple(part for x in numbers for part in (x.mid().man_exp(), x.rad().man_exp()))
    return Bout(older, fresh, scores, (type(rule), older, fresh, stage.held, exact))


def impossible(chain: Chain, known: Known) -> bool:
    """Is some decision's outcome impossible, whatever the registers hold?"""
    duels = (known.duel(chain, stage) for stage in chain.stages)
    found = ((d.scores.always, s.held_wins) for d, s in zip(duels, chain.stages, strict=True))
    return any(always is not None and always != wins for always, wins in found)


def _centres(kind: Batch, mesh: int) -> list[Fraction]:
    """Return the centres at the own sums 0, 1 / mesh, 2 / mesh, ..., n."""
    return [kind.centre(Fraction(number, mesh)) for number in range(kind.rows * mesh + 1)]


def _grid(kind: Batch, parts: Sequence[Array], mesh: int) -> Grid:
    centres = np.array([float(centre) for centre in _centres(kind, mesh)])
    return Grid(np.unique(np.concatenate([*parts, centres])))


def _marks(grid: Grid, kind: Batch, mesh: int) -> NDArray[np.intp]:
    """Return where a release's centres are among the nodes."""
    centres = _centres(kind, mesh)
    if any(Fraction(float(centre)) != centre for centre in centres):
        raise Unsupported("The centres of a release are not doubles.")
    return np.searchsorted(grid.x, np.array([float(centre) for centre in centres]))

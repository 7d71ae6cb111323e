"""Chains under KL scores: messages on grids, enclosed to second order with outward rounding.

A message is the register's Laplace density times a `Weight`; thresholds between two scores are
certified node by node. Halving the cells divides the width of every enclosure by about four. Grids
are graded towards the clip points and the crossings of the levels, where thresholds bend sharply,
and hold every centre that a release can have, so that no density has a kink inside a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpaudit.core import divergence
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_chain import Chain, Drop, Stage
from dpaudit.exact.ball_compare import balls_of, compare, compared, same
from dpaudit.exact.ball_interval import Array, Interval
from dpaudit.exact.ball_scan import Scan, scan
from dpaudit.exact.ball_scores import Bound, Order, Threshold, threshold
from dpaudit.exact.ball_threshold import FLIPPED, graded
from dpaudit.exact.ball_weight import Beyond, Grid, Law, Weight, outward, tail

SLOWEST, FASTEST = Fraction(1, 10**9), Fraction(10**9)  # rates whose grids doubles can hold
Kind = tuple[Fraction, Fraction, int]  # a release's rate, divisor and number of rows


class Comparison(Protocol):
    """Two scores of one register each, and who wins ties."""

    @property
    def always(self) -> bool | None:
        """Whether the first always wins (True), the second always does (False), or neither."""

    def threshold(self, x: Array, of_first: bool) -> Threshold:
        """Enclose theta on increasing doubles x of one side's register."""

    def nodes(self, of_first: bool, cells: int) -> Array:
        """Return the nodes that the comparison wants on one side's axis."""


@dataclass(frozen=True)
class Bounds:
    """Two plain KL bounds: the comparison of adap_klucb."""

    first: Bound
    second: Bound
    order: Order
    first_wins_ties: bool
    always: None = None

    def threshold(self, x: Array, of_first: bool) -> Threshold:
        """Enclose theta on increasing doubles x of one side's register."""
        if of_first:
            return threshold(x, self.first, self.second, self.order, self.first_wins_ties)
        order = FLIPPED[self.order]
        return threshold(x, self.second, self.first, order, not self.first_wins_ties)

    def nodes(self, of_first: bool, cells: int) -> Array:
        """Return the nodes that the comparison wants on one side's axis."""
        if of_first:
            return _nodes(self.first, self.second, self.order, cells)
        return _nodes(self.second, self.first, FLIPPED[self.order], cells)


@dataclass(frozen=True)
class Duel:
    """One decision's numbers: both releases and how their registers compare, the held one first."""

    held: Kind
    fresh: Kind
    scores: Comparison
    identity: tuple[object, ...]


def kind(chain: Chain, release: int) -> Kind:
    """Return what a release's law depends on, apart from its rewards."""
    found = chain.releases[release]
    if not SLOWEST <= chain.rate(release) <= FASTEST:
        raise Unsupported("Noise of such a scale does not fit on the certified grids.")
    return chain.rate(release), Fraction(found.divisor), len(found.rows)


def duel(chain: Chain, stage: Stage) -> Duel:
    """Return a stage's numbers; raise `Unsupported` unless its rule is a KL bound or IMED."""
    with ctx.workprec(256):
        rule = stage.rule(BALL)
        scores: Comparison
        if type(rule) is KLBound and isinstance(rule.scale, int) and rule.scale == 1:
            scores, numbers = _bounds(rule, stage)
        else:
            scores = compared(stage.rule, stage.held)
            numbers = tuple(x for arm in (rule.at(0), rule.at(1)) for x in balls_of(arm))
        identity = tuple(part for x in numbers for part in (x.mid().man_exp(), x.rad().man_exp()))
    older, fresh = kind(chain, stage.older), kind(chain, stage.fresh)
    return Duel(older, fresh, scores, (type(rule), older, fresh, stage.held, *identity))


def _bounds(rule: KLBound, stage: Stage) -> tuple[Bounds, tuple[arb, ...]]:
    held, fresh = rule.at(stage.held), rule.at(1 - stage.held)
    order = compare(ball(held.level), ball(fresh.level), lambda: same(stage.rule, "level"))
    numbers = tuple(ball(x) for b in (held, fresh) for x in (b.level, b.shift))
    if not (numbers[0] > 0 and numbers[2] > 0):
        raise Unsupported("A level is not certainly positive.")
    one, two = (Bound(outward(numbers[i]), outward(numbers[i + 1])) for i in (0, 2))
    return Bounds(one, two, order, stage.held == 0), numbers


def _nodes(own: Bound, other: Bound, order: Order, cells: int) -> Array:
    """Return the nodes that one duel wants on one register's axis."""
    shift, level = float(own.shift.lo), float(own.level.lo)
    width = float(own.shift.hi - own.shift.lo)
    marks = [0.0, 1.0]
    if order is Order.BELOW:
        marks.insert(1, float(divergence.lower_mean(float(other.level.lo), level)))
    edge = 4 * np.spacing(1 + abs(shift)) + 2 * width
    found = [np.array([mark - shift + side for mark in marks for side in (-edge, edge)])]
    for low, high in zip(marks[:-1], marks[1:], strict=True):
        found.append(graded(low - shift, high - shift, cells))
    return np.concatenate(found)


class Engine:
    """Grids, laws and thresholds of all the duels of some chains, built once and shared."""

    def __init__(
        self,
        chains: Iterable[Chain],
        cells: int,
        mesh: int = 1,
        centres: Iterable[tuple[Kind, Fraction]] = (),
    ) -> None:
        self.cells, self.mesh = cells, mesh
        self.duels: dict[tuple[object, ...], Duel] = {}
        wanted: dict[Kind, list[Array]] = {}
        self._known: dict[int, tuple[Chain, list[Duel]]] = {}
        for chain in chains:
            for found in self.duels_of(chain):
                if found.identity in self.duels:
                    continue
                self.duels[found.identity] = found
                wanted.setdefault(found.held, []).append(found.scores.nodes(True, cells))
                wanted.setdefault(found.fresh, []).append(found.scores.nodes(False, cells))
        for key, centre in centres:
            wanted.setdefault(key, []).append(np.array([float(centre)]))
        self.grids = {key: _grid(key, parts, mesh) for key, parts in wanted.items()}
        self._marks = {key: _marks(grid, key, mesh) for key, grid in self.grids.items()}
        self._laws: dict[tuple[object, ...], Law] = {}
        self._thresholds: dict[tuple[object, ...], Threshold] = {}
        self._tails: dict[tuple[object, ...], Weight] = {}
        self._beyond: dict[tuple[object, ...], Beyond] = {}

    def duels_of(self, chain: Chain) -> list[Duel]:
        """Return the numbers of a chain's stages."""
        known = self._known.get(id(chain))
        if known is None:
            found = [duel(chain, stage) for stage in chain.stages]
            known = self._known[id(chain)] = chain, found
        return known[1]

    def law(self, key: Kind, centre: Fraction) -> Law:
        """Return the law of a release of this kind at a centre."""
        found = self._laws.get((key, centre))
        if found is None:
            found = self._laws[key, centre] = Law(self.grids[key], key[0], centre)
        return found

    def theta(self, at: Duel, of_held: bool) -> Threshold:
        """Return the threshold as a function of the held, or of the fresh register."""
        found = self._thresholds.get((at.identity, of_held))
        if found is None:
            grid = self.grids[at.held if of_held else at.fresh]
            found = at.scores.threshold(grid.x, of_held)
            self._thresholds[at.identity, of_held] = found
        return found

    def tail(self, at: Duel, centre: Fraction, held_wins: bool) -> Weight:
        """Return the chance that the fresh register loses (or wins), as a weight of the held."""
        key = (at.identity, centre, held_wins)
        found = self._tails.get(key)
        if found is None:
            law = self.law(at.fresh, centre)
            found = tail(self.theta(at, True), law, held_wins)
            self._tails[key] = found
        return found

    def scan(self, key: Kind, weight: Weight) -> Scan:
        """Return the likelihood by a release's own sum, for the weight of its register."""
        marks = self._marks[key]
        low, high = Fraction(0), Fraction(key[2]) / key[1]
        return scan(self.law(key, low), self.law(key, high), weight, marks)

    def beaten(self, at: Duel, centre: Fraction, held_wins: bool) -> Beyond:
        """Return the map from a weight of the held register to one of the fresh register."""
        key = (at.identity, centre, held_wins, "held")
        found = self._beyond.get(key)
        if found is None:
            law = self.law(at.held, centre)
            found = Beyond(law, self.theta(at, False), below=not held_wins)
            self._beyond[key] = found
        return found

    def survived(self, at: Duel, centre: Fraction, held_wins: bool) -> Beyond:
        """Return the map from a functional of the fresh register to one of the held register."""
        key = (at.identity, centre, held_wins, "fresh")
        found = self._beyond.get(key)
        if found is None:
            law = self.law(at.fresh, centre)
            found = Beyond(law, self.theta(at, True), below=held_wins)
            self._beyond[key] = found
        return found


def _centres(key: Kind, mesh: int) -> list[Fraction]:
    """Return the centres at the own sums 0, 1 / mesh, 2 / mesh, ..., n."""
    _, divisor, rows = key
    return [Fraction(number, mesh) / divisor for number in range(rows * mesh + 1)]


def _grid(key: Kind, parts: Sequence[Array], mesh: int) -> Grid:
    centres = np.array([float(centre) for centre in _centres(key, mesh)])
    return Grid(np.unique(np.concatenate([*parts, centres])))


def _marks(grid: Grid, key: Kind, mesh: int) -> NDArray[np.intp]:
    """Return where a release's centres are among the nodes."""
    centres = _centres(key, mesh)
    if any(Fraction(float(centre)) != centre for centre in centres):
        raise Unsupported("The centres of a release are not doubles.")
    return np.searchsorted(grid.x, np.array([float(centre) for centre in centres]))


def impossible(chain: Chain) -> bool:
    """Is some decision's outcome impossible, whatever the registers hold?"""
    duels = (duel(chain, stage).scores.always for stage in chain.stages)
    return any(
        always is not None and always != stage.held_wins
        for always, stage in zip(duels, chain.stages, strict=True)
    )


def likelihood(chain: Chain, sums: Mapping[int, Fraction], cells: int) -> Interval:
    """Enclose the probability of a chain by the sums of its releases."""
    centres = [(kind(chain, number), chain.centre(number, total)) for number, total in sums.items()]
    engine = Engine([chain], cells, centres=centres)
    total = Interval.of(np.float64(1.0))
    weight: Weight | None = None
    for stage, at in zip(chain.stages, engine.duels_of(chain), strict=True):
        older = chain.centre(stage.older, sums[stage.older])
        fresh = chain.centre(stage.fresh, sums[stage.fresh])
        if weight is None:
            weight = engine.grids[at.held].one()
        if stage.drop is Drop.HELD:
            weight = engine.beaten(at, older, stage.held_wins)(weight)
            continue
        weight = weight * engine.tail(at, fresh, stage.held_wins)
        if stage.drop is Drop.BOTH:
            total = total.times(engine.law(at.held, older).total(weight))
            weight = None
    return total


class Sharing:
    """Weights by prefix and functionals by suffix, all other episodes at one background."""

    def __init__(self, engine: Engine, background: int) -> None:
        self.engine, self.background = engine, background
        self.forward: dict[tuple[object, ...], Weight] = {}
        self.backward: dict[tuple[object, ...], Weight] = {}

    def centre(self, key: Kind) -> Fraction:
        """Return a release's centre with all its rewards at the background."""
        return Fraction(self.background * key[2]) / key[1]

    def curves(self, chain: Chain) -> Iterator[tuple[int, Scan]]:
        """Yield every release that enters a decision, with its likelihood by its own sum."""
        stages = chain.stages
        duels = self.engine.duels_of(chain)
        drops = [stage.drop for stage in stages[:-1]] + [Drop.FRESH]
        if Drop.BOTH in drops:
            raise Unsupported("Both registers are renewed between decisions.")
        keys = tuple(
            (at.identity, stage.held_wins, drop)
            for at, stage, drop in zip(duels, stages, drops, strict=True)
        )
        after = self._after(stages, duels, drops, keys)
        yield stages[0].older, self.engine.scan(duels[0].held, after[0])
        weight = self.engine.grids[duels[0].held].one()
        for i, (at, stage) in enumerate(zip(duels, stages, strict=True)):
            beaten = self.engine.beaten(at, self.centre(at.held), stage.held_wins)
            known = self.forward.get(keys[: i + 1])
            if drops[i] is Drop.HELD:
                if known is None:
                    known = self.forward[keys[: i + 1]] = beaten(weight)
                yield stage.fresh, self.engine.scan(at.fresh, known * after[i + 1])
            else:
                yield stage.fresh, self.engine.scan(at.fresh, beaten(weight * after[i + 1]))
                if known is None:
                    fresh = self.centre(at.fresh)
                    known = weight * self.engine.tail(at, fresh, stage.held_wins)
                    self.forward[keys[: i + 1]] = known
            weight = known

    def _after(
        self,
        stages: Sequence[Stage],
        duels: Sequence[Duel],
        drops: Sequence[Drop],
        keys: tuple[object, ...],
    ) -> list[Weight]:
        found = [self.engine.grids[duels[-1].held].one()]
        for i in range(len(stages) - 1, -1, -1):
            known = self.backward.get(keys[i:])
            if known is None:
                at, wins = duels[i], stages[i].held_wins
                fresh = self.centre(at.fresh)
                known = (
                    found[-1] * self.engine.tail(at, fresh, wins)
                    if drops[i] is Drop.FRESH
                    else self.engine.survived(at, fresh, wins)(found[-1])
                )
                self.backward[keys[i:]] = known
            found.append(known)
        return found[::-1]

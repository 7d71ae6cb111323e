"""From a declared rule between two arms to a certified comparison of their registers.

IMED is a comparison too (see `pairwise.py`): the arm with fewer pulls n, at the upper bound of its
mean at level log(n' / n) / n, against the other arm's mean; the arm with fewer pulls wins ties, and
with equal pulls both show their means. What cannot be told apart for certain (two levels, two pull
counts, a level and epsilon) is `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import BALL, FLOAT, Arithmetic, ball
from dpaudit.core.scores import Formula, Imed, KLBound, PrivateKLBound, Rule
from dpaudit.core.unchanged import unchanged
from dpaudit.core.walk import FOREIGN, said
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.bounds import Entropy, Mean, Private, Upper, Written
from dpaudit.exact.balls.exact_order import TREE, Expression
from dpaudit.exact.balls.interval import Interval, outward
from dpaudit.exact.balls.jets import JETS
from dpaudit.exact.balls.roots import Order
from dpaudit.exact.balls.threshold import Comparison, Placed, Rivals
from dpaudit.exact.region import Batch
from dpaudit.exact.trees import Edge, Forest

Build = Callable[[Arithmetic], Rule]
Pair = tuple[int, int]  # positions of two arms in a rule
PRECISION = 256
SLOWEST, FASTEST = Fraction(1, 10**9), Fraction(10**9)  # rates whose grids doubles can hold


def compare(a: arb, b: arb, equal: Callable[[], bool]) -> Order:
    """Return how two real numbers compare; `equal` proves their equality by other means."""
    if a < b:
        return Order.BELOW
    if a > b:
        return Order.ABOVE
    if not equal():
        raise Unsupported("Two parameters are neither apart nor provably equal.")
    return Order.EQUAL


def same(rule: Build, name: str, pair: Pair) -> bool:
    """Are both arms' formulas of a parameter the same expression?"""
    trees = rule(TREE)
    return bool(getattr(trees.at(pair[0]), name) == getattr(trees.at(pair[1]), name))


def balls_of(rule: Rule) -> list[arb]:
    """Return a rule's parameters as balls."""
    values = [getattr(rule, field.name) for field in fields(rule)]  # type: ignore[arg-type]
    return [ball(value) for value in values if value is not None]


def compared(rule: Build, pair: Pair) -> Rivals:
    """Return a rule of bounds or IMED as a comparison of two positions, in their order.

    The earlier position wins ties.
    """
    found = rule(BALL)
    wins_ties = pair[0] < pair[1]
    if type(found) is Imed:
        bounds, order, few = _imed(rule, found, pair)
        wins_ties = wins_ties if order is Order.EQUAL else few == 0
    elif type(found) is KLBound or type(found) is PrivateKLBound:
        bounds = [_bound(found.at(position)) for position in pair]
        order = _order(rule, found, bounds, pair)
    elif isinstance(found, Formula):
        return _stated(rule, found, pair)
    else:
        raise Unsupported(f"{type(found).__name__} is not in the certified engine.")
    one, two = (
        Placed(bound, *_place(found.at(position)))
        for bound, position in zip(bounds, pair, strict=True)
    )
    return Rivals(one, two, order, wins_ties)


def _stated(rule: Build, found: Formula, pair: Pair) -> Rivals:
    """Compare two scores that are given by their formulas."""
    plain = _stated_alike(rule, found)
    placed = []
    for position in pair:
        arm = found.at(position)
        names = [field.name for field in fields(arm)]  # type: ignore[arg-type]
        numbers = {name: JETS.number(getattr(arm, name)) for name in names}
        bound = Written(plain.at(position), replace(arm, **numbers))  # type: ignore[type-var]
        placed.append(Placed(bound, Interval.of(np.float64(1.0)), outward(-ball(found.low))))
    equal = all(same(rule, field.name, pair) for field in fields(found))  # type: ignore[arg-type]
    ends = [(placed[0].bound.bottom, placed[1].bound.bottom)]
    ends.append((placed[0].bound.ceiling, placed[1].bound.ceiling))
    order, tops = (Order.EQUAL if equal else _apart(*ends_of) for ends_of in ends)
    return Rivals(placed[0], placed[1], order, pair[0] < pair[1], tops)


STATED = ("value", "inverse", "inverse_upper", "compared", "winner", "at")


def _stated_alike(rule: Build, found: Formula) -> Formula:
    """Return a rule in doubles; raise unless it is, as in balls, one formula of an arm's register.

    Written down for all arms at once, as a run asks for it, and arm by arm, as it is certified,
    it must be the same expression.
    """
    kind = type(found).__name__
    plain, trees = rule(FLOAT), rule(TREE)
    for one in (plain, found, trees):
        if type(one) is not type(found) or not unchanged(one, Formula, STATED):
            raise Unsupported(f"{kind} is not its formula alone.")
    assert isinstance(plain, Formula) and isinstance(trees, Formula)
    arms = max((len(x) for x in map(np.atleast_1d, vars(trees).values())), default=1)
    try:
        registers = [Expression("register", (arm,)) for arm in range(max(arms, 2))]
        together = np.empty(len(registers), dtype=object)
        together[:] = registers
        joint = np.broadcast_to(trees.formula(together, TREE), together.shape)
        alone = [trees.at(arm).formula(x, TREE) for arm, x in enumerate(registers)]
    except FOREIGN as error:
        raise Unsupported(f"{kind}: the formula is no expression: {said(error)}.") from None
    if list(joint) != alone:
        raise Unsupported(f"{kind}: the formula is not one of the arm's own register.")
    return plain


def _apart(a: Interval, b: Interval) -> Order:
    if a.hi < b.lo:
        return Order.BELOW
    if a.lo > b.hi:
        return Order.ABOVE
    raise Unsupported("Two scores are neither apart nor provably equal at the ends of their range.")


def _place(arm: Any) -> tuple[Interval, Interval]:
    """Return the scale and the shift of a register."""
    scale = ball(arm.scale)
    if not scale > 0:
        raise Unsupported("A scale is not certainly positive.")
    return outward(scale), outward(ball(arm.shift))


def _bound(arm: Any) -> Upper:
    level = ball(arm.level)
    if not level > 0:
        raise Unsupported("A level is not certainly positive.")
    if isinstance(arm, KLBound):
        return Entropy(outward(level))
    return _private(level, ball(arm.epsilon))


def _private(level: arb, epsilon: arb) -> Private:
    found = Private(outward(level), outward(epsilon))
    if not (found.top.hi <= 0 or found.top.lo > 0):
        raise Unsupported("A level is not told apart from epsilon.")
    return found


def _order(rule: Build, found: Any, bounds: list[Upper], pair: Pair) -> Order:
    """Compare the scores of two means at 0: both rise with their levels."""
    endless = [bool(bound.top.hi <= 0) for bound in bounds]
    if any(endless):
        return Order(int(endless[0]) - int(endless[1]))
    if isinstance(found, PrivateKLBound) and np.ndim(found.epsilon):
        raise Unsupported("The arms' private bounds have an epsilon each.")
    one, two = (ball(found.at(position).level) for position in pair)
    return compare(one, two, lambda: same(rule, "level", pair))


def _imed(rule: Build, found: Imed, pair: Pair) -> tuple[list[Upper], Order, int]:
    """Return both bounds, how they compare at 0, and which has fewer pulls."""
    if sorted(pair) != [0, 1]:
        raise Unsupported("IMED compares two arms.")
    arms = [found.at(position) for position in pair]
    n = [ball(arm.n) for arm in arms]
    order = compare(n[0], n[1], lambda: bool(n[0] == n[1]) or same(rule, "n", pair))
    if order is Order.EQUAL:
        return [Mean(), Mean()], order, 0
    few = 0 if order is Order.BELOW else 1
    level = (n[1 - few] / n[few]).log() / n[few]
    epsilon = arms[few].epsilon
    bound: Upper = Entropy(outward(level)) if epsilon is None else _private(level, ball(epsilon))
    bounds: list[Upper] = [Mean(), Mean()]
    bounds[few] = bound
    return bounds, Order.ABOVE if few == 0 else Order.BELOW, few


@dataclass(frozen=True)
class Bout:
    """Both releases of a comparison, and how their registers compare."""

    kinds: tuple[Batch, Batch]
    scores: Comparison
    identity: Hashable


class Known:
    """The comparisons of some requests, each made once; `certain` if all of them are certified.

    The requests are kept, so that no other takes their id. Equal comparisons get the same number.
    """

    certain = True

    def __init__(self, _: object = None) -> None:
        self._scores: dict[tuple[int, Pair], tuple[Choose, Comparison]] = {}
        self._duels: dict[Hashable, Bout] = {}
        self._numbers: dict[Hashable, int] = {}

    def scores(self, request: Choose, places: Pair) -> Comparison:
        """Return how the scores of two places of a request compare."""
        key = (id(request), places)
        if key not in self._scores:
            self._scores[key] = request, self.compared(request, places)
        return self._scores[key][1]

    def compared(self, request: Choose, places: Pair) -> Comparison:
        """Make a comparison; raise `Unsupported` where there is none."""
        with ctx.workprec(PRECISION):
            return compared(request.rule, places)

    def identity(self, request: Choose, places: Pair) -> Hashable:
        """Return what tells a comparison from others."""
        with ctx.workprec(PRECISION):
            rule = request.rule(BALL)
            numbers = [x for place in places for x in balls_of(rule.at(place))]
        exact = tuple(part for x in numbers for part in (x.mid().man_exp(), x.rad().man_exp()))
        return type(rule), places, exact

    def duel(self, tree: Forest, edge: Edge) -> Bout:
        """Return the comparison of two releases; raise `Unsupported` where there is none."""
        kinds = tree.kinds_of(edge)
        key = (id(edge.request), edge.places, kinds)
        if key not in self._duels:
            for kind in kinds:
                require_resolved(kind.rate)
            scores = self.scores(edge.request, edge.places)
            identity = self.identity(edge.request, edge.places), kinds
            number = self._numbers.setdefault(identity, len(self._numbers))
            self._duels[key] = Bout(kinds, scores, number)
        return self._duels[key]

    def marks(self, duels: Sequence[Bout]) -> Iterator[tuple[Batch, list[Interval]]]:
        """Yield where thresholds may jump or bend sharply, and beyond which they are constant."""
        for found in duels:
            for place, kind in enumerate(found.kinds):
                scores = found.scores.flipped if place else found.scores
                yield kind, scores.marks


def require_resolved(rate: Fraction) -> None:
    """Raise `Unsupported` unless doubles can hold the grids of such noise."""
    if not SLOWEST <= rate <= FASTEST:
        raise Unsupported("Noise of such a scale does not fit on the certified grids.")

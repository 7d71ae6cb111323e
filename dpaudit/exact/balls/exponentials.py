"""Affine scores: functions of a register are piecewise exponential polynomials, exact in balls.

A register x beats a register y when x + c > y, with c the difference of the two
bonuses. Ties have probability zero. Every operation is one product with a Laplace density or tail,
or one antiderivative, so the only error is the radius of the balls.

As a function of its centre mu a release's likelihood is the integral of f(y - mu) W(y), which is
split left and right of mu. Its logarithm is concave in mu (Prekopa: the region is convex).

The same holds where paths are polytopes, which are evaluated one sum after the other. Choices are
convex regions, and so is an elimination of two arms, or a union of its outcomes that show as the
same actions, if it is x_0 - x_1 in an interval. For three or more arms an outcome with two
survivors and a dropped arm is no lattice: `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from flint import arb

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.algebra import Algebra, Bounds, Curve, Imprecise, Message
from dpaudit.exact.balls.interval import above, below
from dpaudit.exact.balls.piecewise import Piecewise, unit_of
from dpaudit.exact.balls.polytopes import ONE, Part, parts_of, probability, releases_of
from dpaudit.exact.known import rule_in
from dpaudit.exact.region import Batch, Region
from dpaudit.exact.trees import Edge, Forest

NARROW = 1e-9  # width at which a maximum between whole steps is no longer bisected
NEAR = Fraction(1, 1 << 30)  # how far apart points are that tell a slope


def lead_of(edge: Edge) -> arb:
    """Return c, for which the first x beats the second y when x + c > y; `Unsupported` if none."""
    rule = rule_in(BALL, edge.request)
    if type(rule) is not Affine:
        raise Unsupported(f"{type(rule).__name__} is not affine.")
    own, other = map(rule.at, edge.places)
    if own.scale is not other.scale and not (
        ball(own.scale).is_exact() and own.scale == other.scale
    ):
        raise Unsupported("Affine scores of different slopes are compared by polytopes.")
    return (ball(own.shift) - ball(other.shift)) / ball(own.scale)


@dataclass(frozen=True)
class Margin:
    """A comparison of two registers: the first x beats the second y when x + lead > y."""

    lead: arb
    kinds: tuple[Batch, Batch]

    @property
    def identity(self) -> Hashable:
        """What tells it from other comparisons."""
        return self.lead.mid().man_exp(), self.lead.rad().man_exp(), self.kinds


def margin_of(tree: Forest, edge: Edge) -> Margin:
    """Return a comparison; raise `Unsupported` unless scores are affine of equal slopes."""
    return Margin(lead_of(edge), tree.kinds_of(edge))


class Exponentials(Algebra[Piecewise]):
    """The algebra of piecewise exponential polynomials whose rates share a unit."""

    def __init__(self, trees: Iterable[Forest], narrow: bool = False) -> None:
        rates = {kind.rate for tree in trees for kind in tree.kinds.values()}
        self.unit, self.narrow = unit_of(rates), narrow
        self._leads: dict[Hashable, tuple[Edge, arb]] = {}

    def _density(self, kind: Batch, centre: Fraction) -> Piecewise:
        return Piecewise.laplace(self.unit, kind.rate, ball(centre))

    def duel(self, tree: Forest, edge: Edge) -> Margin:
        """Return the lead of the first register, which all paths have from one request."""
        key = id(edge.request), edge.places
        if key not in self._leads:
            self._leads[key] = edge, lead_of(edge)
        return Margin(self._leads[key][1], tree.kinds_of(edge))

    def times(self, first: Piecewise, second: Piecewise) -> Piecewise:
        return first.product(second)

    def message(self, function: Piecewise | None, sent: Message) -> Piecewise:
        """Integrate a release out, on its side of the other register and the lead."""
        found = self._density(sent.kind, sent.centre)
        shift = -sent.duel.lead if sent.of_first else sent.duel.lead
        if function is not None:
            found = function.product(found)
        return found.running(right=not sent.below).along(ONE, shift)

    def log_total(self, function: Piecewise, kind: Batch, centre: Fraction) -> arb:
        return function.product(self._density(kind, centre)).integral().log()

    def curve(self, function: Piecewise, kind: Batch) -> Curve:
        k = int(kind.rate / self.unit)
        left, right = (function.tilted(by).running(right=by < 0) for by in (k, -k))

        def log(total: Fraction) -> arb:
            rate, x = ball(kind.rate), ball(kind.centre(total))
            mass = left(x) * (-rate * x).exp() + right(x) * (rate * x).exp()
            return (rate * mass / 2).log()

        return Curve(ConcaveLog(log, kind.rows, narrow=self.narrow).largest)


@dataclass(frozen=True)
class ConcaveLog:
    """A log-likelihood by own sum that is concave, also beyond the sums that rewards can reach.

    With the others at 1 the steepest step leaves own sum 0 upwards, with the others at 0 it leaves
    n downwards. Where the function is monotone, whole steps suffice. Else the gain of shorter ones
    lies under two lines, each through two points near to each other: those just before the start
    are steeper than the function is from there on, those past a whole step than it is up to there.
    """

    log: Callable[[Fraction], arb]
    rows: int
    monotone: bool = False
    narrow: bool = False

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the gain of the steepest step."""
        start, sign = (Fraction(0), 1) if rising else (Fraction(self.rows), -1)
        base, none = self.log(start), arb(0)

        def gain(step: Fraction) -> arb:
            return self.log(start + sign * step) - base

        end = gain(ONE)
        most = arb.max(end, none)
        best = bounds(end if whole else most, most, start, start + sign)
        if whole or self.monotone or (falls := (end - gain(ONE + NEAR)) / ball(NEAR)) <= 0:
            return best
        slope = -gain(-NEAR) / ball(NEAR)
        under = arb.min(end + arb.max(falls, none), arb.max(slope, none))
        best = bounds(most, under, start, start + sign)
        return self._narrowed(best, gain, sign, slope) if self.narrow else best

    def _narrowed(
        self, best: Bounds, gain: Callable[[Fraction], arb], sign: int, slope: arb
    ) -> Bounds:
        """Bisect the maximum between no step and a whole one until its bounds are narrow."""
        low, high, low_value = Fraction(0), ONE, arb(0)
        for _ in range(200):
            if best.upper - best.lower < NARROW:
                break
            middle = (low + high) / 2
            before, value, after = (gain(middle + by) for by in (-NEAR, Fraction(0), NEAR))
            if after > value:
                low, low_value, slope = middle, value, (value - before) / ball(NEAR)
            elif before > value:
                high = middle
            else:
                break
            under = low_value + slope * ball(high - low)
            here = bounds(value, under, best.own, best.own + sign * middle)
            kept = here if here.lower > best.lower else best
            best = replace(kept, upper=min(best.upper, here.upper))
        return best


def bounds(lower: arb, upper: arb, own: Fraction, other: Fraction) -> Bounds:
    """Return doubles around a loss; raise `Imprecise` where its balls are wide."""
    if not (lower.is_finite() and upper.is_finite() and upper.rad() < NARROW):
        raise Imprecise("a likelihood's ball reaches zero.")
    return Bounds(below(lower), above(upper), own, other)


class Polytopes:
    """Groups of paths that show as the same actions: they differ in their last part alone."""

    def __init__(self, groups: Sequence[Sequence[Region]]) -> None:
        self.groups = [(group[0], [parts_of(region) for region in group]) for group in groups]
        for _, runs in self.groups:
            if any(run[:-1] != runs[0][:-1] or len(run) != len(runs[0]) for run in runs):
                raise Unsupported("Paths of the same actions differ before their last elimination.")

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Curve]]:
        """Yield the releases of every part, over the union of its outcomes."""
        region, runs = self.groups[number]
        sums = {i: Fraction(background * len(e)) for i, e in enumerate(region.episodes)}
        last = len(runs[0]) - 1
        unions = [
            [run[place] for run in (runs if place == last else runs[:1])]
            for place in range(len(runs[0]))
        ]
        for union in unions:
            _require_convex(union)
            if all(probability(region, part, sums).is_zero() for part in union):
                return  # an elimination of no width that keeps two arms: nobody takes these paths
        for union in unions:
            for index in releases_of(union[0]):
                log = partial(self._log, region, union, sums, index)
                rows, monotone = len(region.episodes[index]), conditions.monotone(region, index)
                yield index, Curve(ConcaveLog(log, rows, monotone).largest)

    @staticmethod
    def _log(
        region: Region, union: Sequence[Part], sums: dict[int, Fraction], index: int, at: Fraction
    ) -> arb:
        return sum((probability(region, it, sums | {index: at}) for it in union), arb(0)).log()


def _require_convex(union: Sequence[Part]) -> None:
    """Raise unless the union of some outcomes of a part is known to be convex."""
    if len(union) == 1 and not any(isinstance(d.request, Keep) for d in union[0]):
        return
    decisions = [d for part in union for d in part]
    if any(len(part) != 1 for part in union) or not all(
        isinstance(d.request, Keep) and len(d.arms) == 2 for d in decisions
    ):
        raise Unsupported("The worst loss of an elimination is certified for two arms.")
    one, two = decisions[0].arms
    if {tuple(d.outcome) for d in decisions} == {(one,), (two,)}:
        raise Unsupported("The outcomes of the same actions are not an interval.")

"""Affine choices among any number of arms, and eliminations: one register out at a time, in balls.

A choice says x_w + b_w >= x_k + b_k for every other arm k. An elimination by bands x_k -+ h_k whose
largest lower end is that of a says x_a - h_a >= x_k - h_k, and x_k + h_k >= x_a - h_a for the kept
arms k or x_j + h_j <= x_a - h_a for the dropped arms j; its outcome is the disjoint union over the
kept arms a. So a path is a union of sets of difference constraints x_i - x_j >= c between
independent Laplace releases. Integrating one release out between its bounds gives M(min of upper
bounds) - M(max of lower bounds), M its distribution function times what it carries. Splitting by
which bound is the max and which the min keeps every term a product of functions of single releases
under difference constraints, so the same step applies again until nothing is left. The number of
terms grows quickly: this is for short horizons. Decisions that share no release are independent,
and are integrated apart.

The largest loss needs likelihoods that are concave in every centre: choices are convex regions, and
so is an elimination of two arms, or a union of its outcomes that show as the same actions, if it is
x_0 - x_1 in an interval. For three or more arms an outcome with two survivors and a dropped arm is
no lattice: `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from flint import arb

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.exponentials import bounds, unit_of
from dpaudit.exact.balls.piecewise import LaplaceLaw, Piecewise
from dpaudit.exact.region import Decision, Region, rate_of

LIMIT = 20_000
PAST = Fraction(1, 1024)

Constraints = dict[tuple[int, int], arb]  # (i, j): x_i - x_j >= value
Part = tuple[Decision, ...]  # decisions whose releases no others read


def parts_of(region: Region) -> list[Part]:
    """Return a region's decisions in independent parts, or raise `Unsupported`."""
    found: list[tuple[set[int], list[Decision]]] = []
    for decision in region.decisions:
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("Comparisons of several arms are on registers of a single release.")
        shown = {group[0] for group in decision.shown}
        if len(shown) < len(decision.shown):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        meets = [part for part in found if part[0] & shown]
        releases = shown.union(*(part[0] for part in meets))
        decisions = [d for part in meets for d in part[1]] + [decision]
        found = [part for part in found if part not in meets] + [(releases, decisions)]
    return [tuple(decisions) for _, decisions in found]


def releases_of(part: Part) -> list[int]:
    """Return the releases that a part reads."""
    return sorted({index for decision in part for (index,) in decision.shown})


def _alternatives(decision: Decision) -> list[Constraints]:
    """Return the sets of constraints of which a decision's outcome is the disjoint union."""
    shown = [index for (index,) in decision.shown]
    if isinstance(decision.request, Keep):
        given = decision.request.width(BALL)
        half = {i: ball(given[k] if np.ndim(given) else given) / 2 for k, i in enumerate(shown)}
        kept = {i for i, arm in zip(shown, decision.arms, strict=True) if arm in decision.outcome}
        found = []
        for best in sorted(kept):
            others = [i for i in shown if i != best]
            above = {(best, i): half[best] + (-half[i] if i in kept else half[i]) for i in others}
            near = {(i, best): -half[i] - half[best] for i in others if i in kept}
            found.append(above | near)
        return found
    rule = decision.request.rule(BALL)
    if type(rule) is not Affine or not (isinstance(rule.scale, int) and rule.scale == 1):
        raise Unsupported(f"{type(rule).__name__} among three or more arms is not certified.")
    shift = {index: ball(rule.at(place).shift) for place, index in enumerate(shown)}
    winner = shown[decision.arms.index(decision.outcome)]
    return [{(winner, i): shift[i] - shift[winner] for i in shown if i != winner}]


def _require(constraints: Constraints, i: int, j: int, value: arb) -> None:
    old = constraints.get((i, j))
    constraints[i, j] = value if old is None else arb.max(old, value)


def probability(region: Region, part: Part, sums: Mapping[int, Fraction]) -> arb:
    """Enclose the probability of a part's outcomes by the sums of its episodes."""
    rates = {i: rate_of(region.episodes[i]) for i in releases_of(part)}
    unit = unit_of(list(rates.values()))
    functions = {}
    for i, rate in rates.items():
        law = LaplaceLaw(rate, ball(sums[i] / region.episodes[i].divisor), unit)
        functions[i] = Piecewise.one(unit).times(law.density(arb(0)))
    total, count = arb(0), [0]
    for given in outcomes(part):
        total += _integrate(arb(1), functions, given, count)
    return total


def outcomes(part: Part) -> Iterator[Constraints]:
    """Yield the sets of constraints of which a part's outcome is the disjoint union."""
    for picks in product(*(_alternatives(decision) for decision in part)):
        given: Constraints = {}
        for pick in picks:
            for (i, j), value in pick.items():
                _require(given, i, j, value)
        yield given


def likelihood(region: Region, parts: Sequence[Part], sums: Mapping[int, Fraction]) -> arb:
    """Enclose the probability of a region by the sums of its episodes."""
    total = arb(1)
    for part in parts:
        total *= probability(region, part, sums)
    return total


def _integrate(
    factor: arb, functions: dict[int, Piecewise], constraints: Constraints, count: list[int]
) -> arb:
    """Integrate a product of functions of single releases under difference constraints."""
    count[0] += 1
    if count[0] > LIMIT:
        raise Unsupported(f"A path of three or more arms needs more than {LIMIT} terms.")
    free = [i for i in functions if not any(i in pair for pair in constraints)]
    if free:
        for i in free:
            factor = factor * functions[i].integral()
        functions = {i: function for i, function in functions.items() if i not in free}
    if not functions:
        return factor

    def cases(i: int) -> int:
        low = sum(1 for a, _ in constraints if a == i)
        high = sum(1 for _, b in constraints if b == i)
        return max(low, 1) * max(high, 1)

    out = min(functions, key=cases)
    rest = {pair: value for pair, value in constraints.items() if out not in pair}
    lower = {j: value for (i, j), value in constraints.items() if i == out}  # x_out >= x_j + value
    upper = {i: -value for (i, j), value in constraints.items() if j == out}  # x_out <= x_i + value
    total = arb(0)
    for low, high in product([*lower] or [None], [*upper] or [None]):  # type: ignore[list-item]
        given = dict(rest)
        doubt = _narrowed(given, lower, upper, low, high)
        if doubt is None or _contradict(given):
            continue
        others = {i: function for i, function in functions.items() if i != out}
        part = arb(0)
        if high is not None:
            below = functions[out].mass_below(upper[high])
            part += _integrate(factor, _times(others, high, below), given, count)
            if low is not None:
                below = functions[out].mass_below(lower[low])
                part -= _integrate(factor, _times(others, low, below), given, count)
        elif low is not None:
            above = functions[out].mass_above(lower[low])
            part += _integrate(factor, _times(others, low, above), given, count)
        total += doubt * part
    return total


def _narrowed(
    given: Constraints,
    lower: Mapping[int, arb],
    upper: Mapping[int, arb],
    low: int | None,
    high: int | None,
) -> arb | None:
    """Add that two bounds of a release are the tightest; None where nothing is between them.

    Return what the integral between them counts: [0, 1] where it may be empty, or as small as the
    difference of masses says.
    """
    for j, value in lower.items():
        if low not in (None, j):  # x_low + lower[low] is the largest lower bound
            _require(given, low, j, value - lower[low])
    for i, value in upper.items():
        if high not in (None, i):  # x_high + upper[high] is the smallest upper bound
            _require(given, i, high, upper[high] - value)
    if low is None or high is None:
        return arb(1)
    gap = lower[low] - upper[high]
    if low != high:
        _require(given, high, low, gap)
        return arb(1)
    if gap >= 0:
        return None
    return arb(1) if gap < 0 else arb(0.5, 0.5)


def _times(functions: dict[int, Piecewise], i: int, by: Piecewise) -> dict[int, Piecewise]:
    return {**functions, i: functions[i].product(by)}


def _contradict(constraints: Constraints) -> bool:
    """Are two constraints on the same pair certainly contradictory?"""
    return any(
        value + constraints[j, i] > 0
        for (i, j), value in constraints.items()
        if (j, i) in constraints
    )


@dataclass(frozen=True)
class ByEvaluation:
    """A concave log-likelihood by own sum; where it is monotone, whole steps suffice.

    With the others at 1 the steepest step leaves own sum 0 upwards, with the others at 0 it leaves
    n downwards. A concave function is also concave beyond the sums that rewards can reach, so one
    more evaluation just past the full step tells its slope there: if it still gains, no shorter
    step does better; if not, the line through the two points bounds what shorter steps can gain.
    """

    log: Callable[[Fraction], arb]
    rows: int
    monotone: bool

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1."""
        start, sign = (Fraction(0), 1) if rising else (Fraction(self.rows), -1)
        base, end = self.log(start), self.log(start + sign)
        upper = arb.max(end - base, arb(0))
        if not (whole or self.monotone):
            falls = (end - self.log(start + sign * (1 + PAST))) * PAST.denominator
            upper += arb.max(arb(0), falls)
        return bounds(end - base, upper, start, start + sign, end)


class Differences:
    """Groups of paths that show as the same actions: they differ in their last part alone."""

    def __init__(self, groups: Sequence[Sequence[Region]]) -> None:
        self.groups = [(group[0], [parts_of(region) for region in group]) for group in groups]
        for _, runs in self.groups:
            if any(run[:-1] != runs[0][:-1] or len(run) != len(runs[0]) for run in runs):
                raise Unsupported("Paths of the same actions differ before their last elimination.")

    def curves(self, number: int, background: int) -> Iterator[tuple[int, ByEvaluation]]:
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
            part = union[0]
            for index in releases_of(part):
                log = partial(_log, region, union, sums, index)
                yield index, ByEvaluation(log, len(region.episodes[index]), _monotone(part, index))


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


def _monotone(part: Part, index: int) -> bool:
    """Tell whether a release wins all its choices, or none."""
    if any(isinstance(decision.request, Keep) for decision in part):
        return False
    wins = {
        decision.outcome == arm
        for decision in part
        for arm, group in zip(decision.arms, decision.shown, strict=True)
        if index in group
    }
    return len(wins) == 1


def _log(
    region: Region, union: Sequence[Part], sums: Mapping[int, Fraction], index: int, total: Fraction
) -> arb:
    """Enclose the log-probability of a union of outcomes by the own sum of one release."""
    given = {**sums, index: total}
    return sum((probability(region, part, given) for part in union), arb(0)).log()

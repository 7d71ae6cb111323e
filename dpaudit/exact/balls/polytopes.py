"""Affine comparisons of any number of arms, and eliminations: one register out at a time, in balls.

A choice says s_w x_w + b_w >= s_k x_k + b_k for every other arm k. An elimination by bands x_k -+
h_k whose largest lower end is that of a says x_a - h_a >= x_k - h_k, and x_k + h_k >= x_a - h_a for
the kept arms k or x_j + h_j <= x_a - h_a for the dropped arms j; its outcome is the disjoint union
over the kept arms a. A register that adds a release up says that its value, less the one before, is
Laplace noise: an exponential of each of the two values, on either side of a comparison of them. So
a path is a union of sets of constraints x_i >= slope x_j + value of positive slopes, and its
density a product of functions of single values, exponential polynomials in pieces.

Integrating one value out between its bounds gives M(min of upper bounds) - M(max of lower bounds),
M the mass of its function on one side. Splitting by which bound is the max and which the min keeps
every term a product of functions of single values under such constraints, so the same step applies
again until nothing is left; a value that is bounded twice by the same other one bounds that one by
a number. The number of terms grows quickly: this is for short horizons. Decisions that share no
release are independent, and are integrated apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from flint import arb, arb_poly

from dpaudit.core.algorithm import Choose, Keep
from dpaudit.core.arithmetic import BALL, ball
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.exact_order import TREE, rational
from dpaudit.exact.balls.piecewise import Piecewise, unit_of
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.known import rule_in
from dpaudit.exact.region import Decision, Region

LIMIT = 5_000
NUMBER = -1  # a variable that is 0: what is bounded by a number is bounded by it and a shift
ONE = Fraction(1)
APART = Fraction(1_234_577, 10_000_019)  # where a function that decays nowhere is parted

Line = tuple[int, Fraction, arb]  # slope x_i + value, for a positive slope
Constraints = dict[tuple[int, int, Fraction], arb]  # (i, j, slope): x_i >= slope x_j + value
Functions = dict[int, Piecewise]  # by variable
Part = tuple[Decision, ...]  # decisions whose releases no others read


@dataclass
class Effort:
    """The terms that may still be integrated, and the time for them."""

    clock: Clock = ENDLESS
    left: int = LIMIT

    def require(self, terms: int) -> None:
        """Raise `Unsupported` before terms are begun that are too many."""
        if terms > self.left:
            raise Unsupported(f"A path needs more than {LIMIT:,} terms.")

    def spend(self) -> None:
        """Count a term; raise `Unsupported` where there are too many."""
        self.left -= 1
        if self.left < 0 or self.clock.late:
            raise Unsupported(f"A path needs more than {LIMIT:,} terms, or more time.")


def parts_of(region: Region) -> list[Part]:
    """Return a region's decisions in independent parts, or raise `Unsupported`."""
    found: list[tuple[set[int], list[Decision]]] = []
    for decision in region.decisions:
        shown = {index for group in decision.shown for index in group}
        if len(shown) < sum(map(len, decision.shown)):
            raise Unsupported("Two arms show the same release: it is no fresh draw on both.")
        meets = [part for part in found if part[0] & shown]
        releases = shown.union(*(part[0] for part in meets))
        decisions = [d for part in meets for d in part[1]] + [decision]
        found = [part for part in found if part not in meets] + [(releases, decisions)]
    return [tuple(decisions) for _, decisions in found]


def releases_of(part: Part) -> list[int]:
    """Return the releases that a part reads."""
    return sorted({i for decision in part for group in decision.shown for i in group})


def sums_of(decisions: Iterable[Decision]) -> list[tuple[int, ...]]:
    """Return the sums of releases that are read, and those before them; no two end alike."""
    shown = {group for decision in decisions for group in decision.shown}
    groups = sorted({group[:end] for group in shown for end in range(1, len(group) + 1)})
    if len({group[-1] for group in groups}) < len(groups):
        raise Unsupported("A decision reads part of a sum that another decision read.")
    return groups


def likelihood(
    region: Region, parts: Sequence[Part], sums: Mapping[int, Fraction], clock: Clock = ENDLESS
) -> arb:
    """Enclose the probability of a region by the sums of its episodes."""
    return prod((probability(region, part, sums, clock) for part in parts), start=arb(1))


def probability(
    region: Region, part: Part, sums: Mapping[int, Fraction], clock: Clock = ENDLESS
) -> arb:
    """Enclose the probability of a part's outcomes by the sums of its episodes.

    A sum of releases is known by the last one, which is no other sum's: it is the sum before it and
    a fresh release.
    """
    groups = sums_of(part)
    unit = unit_of(region.episodes[group[-1]].kind.rate for group in groups)
    functions: Functions = {}
    steps: list[list[tuple[Constraints, Functions]]] = []
    for *before, i in groups:
        kind = region.episodes[i].kind
        law = Piecewise.laplace(unit, kind.rate, ball(kind.centre(sums[i])))
        functions[i] = Piecewise.smooth(unit, {0: arb_poly([1])}) if before else law
        if before:
            steps.append(_steps(law, i, before[-1]))
    total, effort = arb(0), Effort(clock)
    effort.require(prod(map(len, steps)))
    for given, sides in product(outcomes(part), [*product(*steps)]):
        constraints, weights = dict(given), functions
        for side, factors in sides:
            _demand(constraints, side)
            weights = _weighted(weights, factors)
        total += _integrate(arb(1), weights, constraints, effort)
    return total


def _steps(law: Piecewise, i: int, j: int) -> list[tuple[Constraints, Functions]]:
    """Return the density of x_i - x_j above and below its centre, as factors of both."""
    (left, right), centre = law.pieces, law.points[0].x
    found: list[tuple[Constraints, Functions]] = []
    for pair, value, own in ((i, j), centre, right), ((j, i), -centre, left):
        other = {-k: arb_poly([1]) for k in own}
        factors = {n: Piecewise.smooth(law.unit, terms) for n, terms in ((i, own), (j, other))}
        found.append(({(*pair, ONE): value}, factors))
    return found


def _weighted(functions: Functions, factors: Functions) -> Functions:
    return functions | {i: functions[i].product(by) for i, by in factors.items()}


def outcomes(part: Part) -> Iterator[Constraints]:
    """Yield the sets of constraints of which a part's outcome is the disjoint union."""
    for picks in product(*(_alternatives(decision) for decision in part)):
        given: Constraints = {}
        for pick in picks:
            _demand(given, pick)
        yield given


def _alternatives(decision: Decision) -> list[Constraints]:
    """Return the sets of constraints of which a decision's outcome is the disjoint union."""
    shown = [group[-1] for group in decision.shown]
    if isinstance(decision.request, Keep):
        given = decision.request.width(BALL)
        half = {i: ball(given[k] if np.ndim(given) else given) / 2 for k, i in enumerate(shown)}
        kept = {i for i, arm in zip(shown, decision.arms, strict=True) if arm in decision.outcome}
        found = []
        for best in sorted(kept):
            others = [i for i in shown if i != best]
            ahead = {i: half[best] + (-half[i] if i in kept else half[i]) for i in others}
            above = {(best, i, ONE): value for i, value in ahead.items()}
            near = {(i, best, ONE): -half[i] - half[best] for i in others if i in kept}
            found.append(above | near)
        return found
    rule = rule_in(BALL, decision.request)
    if type(rule) is not Affine:
        raise Unsupported(f"{type(rule).__name__} is not affine.")
    scale = [slope_of(decision.request, rule, place) for place in range(len(shown))]
    shift = [ball(rule.at(place).shift) for place in range(len(shown))]
    won = decision.arms.index(decision.outcome)
    return [
        {
            (shown[won], i, scale[k] / scale[won]): (shift[k] - shift[won]) / ball(scale[won])
            for k, i in enumerate(shown)
            if k != won
        }
    ]


def slope_of(request: Choose, rule: Affine, place: int) -> Fraction:
    """Return the slope of an affine score; raise `Unsupported` unless it is a known rational."""
    with suppress(TypeError):
        found = rational(rule_in(TREE, request).at(place).scale)  # type: ignore[attr-defined]
        if found is not None and found > 0 and ball(found).overlaps(ball(rule.at(place).scale)):
            return found
    raise Unsupported("A slope is not a positive rational.")


def _demand(constraints: Constraints, others: Constraints) -> None:
    """Add constraints; of two that differ in their numbers alone the larger number counts."""
    for key, value in others.items():
        old = constraints.get(key)
        constraints[key] = value if old is None else arb.max(old, value)


def _ordered(constraints: Constraints, high: Line, low: Line) -> arb:
    """Add that one line is at least another.

    Return what the rest counts: 0 where nothing is between them, [0, 1] where numbers do not tell.
    """
    (i, rise, top), (j, climb, bottom) = high, low
    if i == j and rise == climb:
        return arb(1) if top > bottom else arb(0) if top <= bottom else arb(0.5, 0.5)
    if i == j:
        pair, steep = (i, NUMBER) if rise > climb else (NUMBER, i), abs(rise - climb)
    else:
        pair, steep = (i, j), climb if i == NUMBER else rise
    slope = ONE if NUMBER in pair else climb / rise
    _demand(constraints, {(*pair, slope): (bottom - top) / ball(steep)})
    return arb(1)


def _integrate(factor: arb, functions: Functions, constraints: Constraints, effort: Effort) -> arb:
    """Integrate a product of functions of single variables under constraints."""
    effort.spend()
    free = [i for i in functions if not any(i in key[:2] for key in constraints)]
    for i in free:
        factor = factor * functions[i].integral()
    functions = {i: function for i, function in functions.items() if i not in free}
    if not functions or _contradict(constraints):
        return arb(0) if functions else factor

    def cases(i: int) -> int:
        low = sum(1 for key in constraints if key[0] == i)
        high = sum(1 for key in constraints if key[1] == i)
        parts = 3 if _anchor(functions, i, constraints) is None else 1
        return max(low, 1) * max(high, 1) * parts

    out = min(functions, key=cases)
    right = _anchor(functions, out, constraints)
    if right is None:
        return _parted(factor, functions, constraints, out, effort)
    lower = [(j, slope, value) for (i, j, slope), value in constraints.items() if i == out]
    upper = [
        (i, 1 / slope, -value / ball(slope))
        for (i, j, slope), value in constraints.items()
        if j == out
    ]
    rest = {key: value for key, value in constraints.items() if out not in key[:2]}
    others = {i: function for i, function in functions.items() if i != out}
    mass = functions[out].running(right)
    total = arb(0)
    for low, high in product(*([[line] for line in lines] or [[]] for lines in (lower, upper))):
        given = dict(rest)
        order = [(best, line) for best in low for line in lower if line is not best]
        order += [(line, best) for best in high for line in upper if line is not best]
        order += product(high, low)
        counts = prod((_ordered(given, *pair) for pair in order), start=arb(1))
        if counts.is_zero():
            continue
        between = arb(0)
        ends = [(line, 1 if right else -1) for line in low]
        ends += [(line, -1 if right else 1) for line in high]
        for (i, slope, value), sign in ends:
            if i == NUMBER:
                part = _integrate(factor * mass(value), others, given, effort)
            else:
                beyond = {i: mass.along(slope, value)}
                part = _integrate(factor, _weighted(others, beyond), given, effort)
            between += sign * part
        total += counts * between
    return total


def _anchor(functions: Functions, out: int, constraints: Constraints) -> bool | None:
    """Return on which side masses are taken (right: True), so that all integrals exist, or None.

    A mass must not stay where the function decays and what it is multiplied by does not.
    """
    lower = [j for i, j, _ in constraints if i == out]
    upper = [i for i, j, _ in constraints if j == out]
    sides = [functions[out].decays(right=False), functions[out].decays(right=True)]
    if not (lower and upper):
        return not upper
    if sides != [True, True]:
        return None if sides == [False, False] else sides[1]
    if NUMBER in lower or NUMBER in upper:
        return NUMBER in lower
    for right in (False, True):
        if all(functions[i].decays(not right) for i in (*lower, *upper)):
            return right
    return None


def _parted(
    factor: arb, functions: Functions, constraints: Constraints, out: int, effort: Effort
) -> arb:
    """Integrate what is left and what is right of a point of one variable."""
    here, function = ball(APART), functions[out]
    halves = (function, function) if function.decays(True) else function.parted(here)
    total = arb(0)
    for right, half in enumerate(halves):
        given = dict(constraints)
        side = {(out, NUMBER, ONE): here} if right else {(NUMBER, out, ONE): -here}
        _demand(given, side)
        total += _integrate(factor, functions | {out: half}, given, effort)
    return total


def _contradict(constraints: Constraints) -> bool:
    """Are two constraints on the same pair certainly contradictory?"""
    return any(
        value + ball(slope) * constraints[j, i, 1 / slope] > 0
        for (i, j, slope), value in constraints.items()
        if (j, i, 1 / slope) in constraints
    )

"""Three arms: two registers are held on a sheet while the third one is fresh.

Hold x_a, x_b with weight H(x_a, x_b), their densities included, while the third, z, is fresh. If z
wins, H is multiplied by the chance that z beats both: a tail at the larger of two thresholds, which
changes from one to the other where a and b tie. If a wins, H is cut where b beats a, and

    H'(z, x_b) = f(z) times the integral of H over x_a >= theta(z), the values that beat z.

So H' bends where H does, every curve x_a = c(x_b) seen from z by theta(z) = c(x_b).

Floating point with a measured error; not certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Affine, KLBound, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.arrange import Scales, arrange, windows
from dpaudit.exact.floats.duel import Duel, Frontier
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import (
    Border,
    Function,
    Points,
    Shape,
    beats,
    density,
    joint_density,
    survival,
)
from dpaudit.exact.known import scores_of
from dpaudit.exact.region import Region, require_read_once, scales_of

# Of a log-likelihood. Balls show errors of at most 1e-11 for affine scores, epsilon from 0.3 to 4,
# finer panels of at most 1e-12 for KL bounds (test_exact_plane.py repeats both on other paths).
PLANE_ERROR = 1e-9
_LEAST, _SMALLEST = 1e-10, 1e-250  # with and without points left out of the window
# where these scores bend is known; a bend inside a panel costs far more than `PLANE_ERROR`
_SMOOTH = (Affine, KLBound)


@dataclass(frozen=True)
class Contest:
    """A three-arm decision: the episodes shown, the scores, the positions that won and is fresh."""

    shown: tuple[int, ...]
    scores: tuple[Score, ...]
    winner: int
    fresh: int


@dataclass(frozen=True)
class Moved:
    """A curve between a winner on an axis and another register, seen from what the winner beat."""

    curve: Border
    over: Frontier  # between what was beaten and the winner
    axis: int

    def least(self, axis: int, other: Array) -> Array:
        """Return where the curve is on an axis."""
        if axis != self.axis:
            return self.curve.least(axis, self.over.least(1, other))
        old = self.curve.least(axis, other)
        # no threshold is below -inf, not even that of a value which loses to all
        return np.where(np.isneginf(old), -np.inf, self.over.least(0, old))

    def knots(self, axis: int) -> list[float]:
        """Return where the curve bends, on an axis."""
        if axis == self.axis:
            images = self.over.least(0, np.array(self.curve.knots(axis)))
            return [*self.over.knots(0), *images[np.isfinite(images)]]
        images = self.curve.least(axis, np.array(self.over.knots(1)))
        return [*self.curve.knots(axis), *images[np.isfinite(images)]]


def contests_of(region: Region) -> tuple[Contest, ...]:
    """Return the decisions of a three-arm region; raise `Unsupported` where it has no plane."""
    require_read_once(region)
    found = []
    held = {group[0] for group in region.decisions[0].shown[:2]}
    for place, decision in enumerate(region.decisions):
        if len(decision.shown) != 3 or not hasattr(decision.request, "rule"):
            raise Unsupported("The plane engine needs choices between three arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The plane engine needs registers that hold a single release.")
        rule = decision.request.rule(FLOAT)
        if not isinstance(rule, Score) or type(rule) not in _SMOOTH:
            raise Unsupported(f"The plane engine has no regions for {type(rule).__name__}.")
        shown = tuple(group[0] for group in decision.shown)
        fresh = [p for p in range(3) if shown[p] not in held]
        if len(fresh) != 1 or not held <= set(shown):
            raise Unsupported("The plane engine needs one fresh register at every decision.")
        winner = decision.arms.index(decision.outcome)
        if any((shown[winner],) in later.shown for later in region.decisions[place + 1 :]):
            raise Unsupported("The winner's register is read again after it won.")
        held = {*shown} - {shown[winner]}
        found.append(Contest(shown, scores_of(rule, 3), winner, fresh[0]))
    return tuple(found)


def log_likelihood(region: Region, means: Array, clock: Clock = ENDLESS) -> float:
    """Return the log-likelihood of a three-arm region with these centres of its releases."""
    return Plane(region, means, clock).log_likelihood()


class Plane:
    """One path and one vector of centres; registers are counted from them."""

    def __init__(self, region: Region, means: Array, clock: Clock = ENDLESS) -> None:
        self.contests, self.means, self.clock = region.prepared(contests_of), means, clock
        self.scales = scales_of(region)
        self.span = Scales(float(self.scales.min()), float(self.scales.max()))
        met = [
            (contest.shown[one], contest.shown[two], self.tie(contest, one, two))
            for contest in self.contests
            for one, two in combinations(range(3), 2)
        ]
        self.windows, self.clipped = windows(len(self.scales), met, self.span.coarse)

    def tie(self, contest: Contest, one: int, two: int) -> Frontier:
        """Return where the scores of two positions are equal."""
        duel = Duel((contest.scores[one], contest.scores[two]), ties=0 if one < two else 1)
        a, b = (float(self.means[contest.shown[p]]) for p in (one, two))
        return Frontier(duel, (a, b))

    def log_likelihood(self) -> float:
        """Carry the weight through the contests and integrate what is left."""
        held = [*self.contests[0].shown]
        del held[self.contests[0].fresh]
        one, two = (float(self.scales[index]) for index in held)
        weight = joint_density(one, two)
        lines = [frozenset(self.windows[index]) for index in held]
        shape = Shape((lines[0], lines[1]))
        for place, contest in enumerate(self.contests):
            self.clock()
            seats = [contest.shown.index(index) for index in held]
            tie = self.tie(contest, *seats)
            shape = shape.with_curve(tie)
            if contest.winner == contest.fresh or place == len(self.contests) - 1:
                weight, shape = self._unread(contest, seats, tie, weight, shape)
            else:
                axis = seats.index(contest.winner)
                weight, shape = self._held_wins(contest, axis, tie, weight, shape)
                held[axis] = contest.shown[contest.fresh]
        sheet = arrange(shape, 0, self.span, self.clock)
        sheet.multiply(weight)
        total = sheet.total()
        if not total >= (_LEAST if self.clipped else _SMALLEST):
            raise Unsupported("The likelihood is too small for the plane engine.")
        return math.log(total)

    def _unread(
        self, contest: Contest, seats: list[int], tie: Frontier, weight: Function, shape: Shape
    ) -> tuple[Function, Shape]:
        """Multiply by the chance of the outcome: no later contest reads the fresh register."""
        over = [self.tie(contest, contest.fresh, seat) for seat in seats]
        scale = float(self.scales[contest.shown[contest.fresh]])
        for axis, curve in enumerate(over):
            points = [*curve.knots(1), float(curve.least(1, np.zeros(1))[0])]
            shape = shape.with_lines(axis, [x for x in points if math.isfinite(x)])

        def outcome(points: Points) -> Array:
            least = [points.apply(axis, partial(over[axis].least, 0)) for axis in (0, 1)]
            if contest.winner == contest.fresh:
                return weight(points) * survival(np.maximum(*least), scale)
            axis = seats.index(contest.winner)
            return weight(points) * beats(tie, axis)(points) * survival(-least[axis], scale)

        return outcome, shape

    def _held_wins(
        self, contest: Contest, axis: int, tie: Frontier, weight: Function, shape: Shape
    ) -> tuple[Function, Shape]:
        """Cut off what the other one beats, and integrate the winner out beyond the fresh one."""
        sheet = arrange(shape, axis, self.span, self.clock)
        sheet.multiply(weight)
        sheet.multiply(beats(tie, axis))
        fresh = contest.shown[contest.fresh]
        over, scale = self.tie(contest, contest.fresh, contest.winner), float(self.scales[fresh])

        def beaten(points: Points) -> Array:
            least = points.apply(axis, partial(over.least, 1))
            mass = sheet.beyond(points[1 - axis], least)
            return mass * points.apply(axis, lambda z: density(z, scale))

        old = sheet.shape
        images = over.least(0, np.array(sorted(old.lines[axis])))
        lines = [*old.lines]
        lines[axis] = frozenset(self.windows[fresh])
        found = Shape((lines[0], lines[1])).with_lines(
            axis, [*over.knots(0), *images[np.isfinite(images)]]
        )
        curves = tuple(Moved(curve, over, axis) for curve in old.curves)
        return beaten, Shape(found.lines, curves)

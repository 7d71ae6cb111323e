"""Two registers on a sheet: three arms, and two arms whose registers add releases up.

The state between decisions is the joint weight H(x_0, x_1) of two registers, their densities
included. A decision cuts it along the curve on which they tie, or, where it alone reads a release,
multiplies it by that one's chance in closed form: a tail at a threshold, for a third arm at the
larger of two. Then a register gets a fresh release, added to what it held (a convolution along that
register) or in place of it (the old one is integrated out). A third arm z that x_0 has beaten and
that is read again takes the place of x_0:

    H'(z, x_1) = f(z) times the integral of H over x_0 >= theta(z), the values that beat z.

So H' bends where H does, every curve x_0 = c(x_1) seen from z by theta(z) = c(x_1). A `Sheet` is
laid for every integral along a register.

Floating point with a measured error; not certified.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Affine, KLBound, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.arrange import Scales, arrange, windows
from dpaudit.exact.floats.duel import Duel, Frontier, duel_of
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import (
    Border,
    Function,
    Points,
    Shape,
    Sheet,
    beats,
    density,
    joint_density,
    survival,
)
from dpaudit.exact.known import scores_of
from dpaudit.exact.region import Region, require_read_once, scales_of, seats

# Of a log-likelihood of three arms. Balls show errors of at most 1e-11 for affine scores, epsilon
# from 0.3 to 4, finer panels of at most 1e-12 for KL bounds (test_exact_plane.py repeats both).
PLANE_ERROR = 1e-9
# Of two. Finer panels, cells and tails change no log-likelihood of 36 random paths of dp_klucb,
# dp_imed (T up to 12) and dp_ucb (T = 6), epsilon from 0.3 to 5, by more than 7e-11
# (test_exact_sums.py repeats this). Beside certified values dp_ucb is off by 1.02e-9 at T = 8.
SUMS_ERROR = 5e-9
_WIDE = 10.0  # a noise scale at which no likelihood of a few rounds underflows
_LEAST, _SMALLEST = 1e-10, 1e-250  # with and without points left out of the window
# where these scores bend is known; a bend inside a panel costs far more than `PLANE_ERROR`
_SMOOTH = (Affine, KLBound)


@dataclass(frozen=True)
class Meet:
    """A decision: the positions that the axes show, the winner's, a release read by it alone.

    That release is the third arm's; or it is on top of what axis `on` holds, or in its place.
    """

    place: int
    seats: tuple[int, int]
    winner: int
    release: int | None = None
    on: int | None = None
    alone: bool = False


@dataclass(frozen=True)
class Renew:
    """A fresh release on an axis: added, in place of what it held, or of what has beaten it.

    `slot` is whose window it has, `beaten` the decision, its position there, and the winner's.
    """

    axis: int
    release: int
    slot: int
    adds: bool = False
    beaten: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class SheetProgram:
    """The steps that integrate a region, and what its decisions compare.

    `met` has for every comparison its decision, both positions, and the slots of their windows.
    """

    scales: Array
    first: tuple[int, int]
    slots: tuple[int, int]
    steps: tuple[Meet | Renew, ...]
    met: tuple[tuple[int, int, int, int, int], ...]
    duels: tuple[Mapping[tuple[int, int], Duel], ...]
    shown: tuple[tuple[tuple[int, ...], ...], ...]


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


def program_of(region: Region) -> SheetProgram:
    """Return the steps of a region; raise `Unsupported` where two registers do not describe it."""
    arms = {len(decision.shown) for decision in region.decisions}
    if not all(hasattr(decision.request, "rule") for decision in region.decisions):
        raise Unsupported("Sheets are for choices.")
    if arms == {2}:
        return _of_sums(region)
    if arms == {3}:
        return _of_three(region)
    raise Unsupported("Sheets are for choices between two arms, or between three.")


def _of_sums(region: Region) -> SheetProgram:
    """Two arms: each axis is a register, to which releases are added."""
    order = seats(region)
    shown = [(d.shown[i], d.shown[j]) for d, (i, j) in zip(region.decisions, order, strict=True)]
    last_read = {i: place for place, both in enumerate(shown) for group in both for i in group}
    if any(len(group) != 1 for group in shown[0]):
        raise Unsupported("Sheets need one release per arm at the first decision.")
    carried = [*shown[0]]
    steps: list[Meet | Renew] = []
    for place, (decision, seat) in enumerate(zip(region.decisions, order, strict=True)):
        meet = Meet(place, seat, decision.arms.index(decision.outcome))
        for axis, group in enumerate(shown[place]):
            fresh = tuple(index for index in group if index not in carried[axis])
            rest = tuple(index for index in group if index in carried[axis])
            if not fresh and rest == carried[axis]:
                continue
            if len(fresh) != 1 or rest not in ((), carried[axis]):
                raise Unsupported(
                    "A decision reads part of a sum whose parts other decisions read: the path "
                    "has more than two live registers."
                )
            if last_read[fresh[0]] == place and meet.release is None:
                meet = replace(meet, release=fresh[0], on=axis, alone=not rest)
            else:
                steps.append(Renew(axis, fresh[0], axis, adds=bool(rest)))
                carried[axis] = group
        steps.append(meet)
    first = shown[0][0][0], shown[0][1][0]
    met = tuple((place, *seat, 0, 1) for place, seat in enumerate(order))
    return _program(region, first, (0, 1), steps, met)


def _of_three(region: Region) -> SheetProgram:
    """Three arms: one register is fresh at every decision, and the axes hold the others."""
    require_read_once(region)
    held = [group[0] for group in region.decisions[0].shown[:2]]
    first = held[0], held[1]
    steps: list[Meet | Renew] = []
    met: list[tuple[int, int, int, int, int]] = []
    for place, decision in enumerate(region.decisions):
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("Sheets of three arms need registers that hold a single release.")
        rule = decision.request.rule(FLOAT)  # type: ignore[union-attr]
        if type(rule) not in _SMOOTH:
            raise Unsupported(f"Sheets of three arms have no regions for {type(rule).__name__}.")
        shown = tuple(group[0] for group in decision.shown)
        fresh = [position for position in range(3) if shown[position] not in held]
        if len(fresh) != 1:
            raise Unsupported("Sheets of three arms need one fresh register at every decision.")
        won, later = decision.arms.index(decision.outcome), region.decisions[place + 1 :]
        if any((shown[won],) in other.shown for other in later):
            raise Unsupported("The winner's register is read again after it won.")
        meet = Meet(place, (shown.index(held[0]), shown.index(held[1])), won)
        if won == fresh[0] or not later:
            steps.append(replace(meet, release=shown[fresh[0]]))
        else:
            axis, slot = meet.seats.index(won), shown[fresh[0]]
            steps += [meet, Renew(axis, slot, slot, beaten=(place, fresh[0], won))]
            held[axis] = slot
        met += [(place, i, j, shown[i], shown[j]) for i, j in combinations(range(3), 2)]
    return _program(region, first, first, steps, tuple(met))


def _program(
    region: Region,
    first: tuple[int, int],
    slots: tuple[int, int],
    steps: list[Meet | Renew],
    met: tuple[tuple[int, int, int, int, int], ...],
) -> SheetProgram:
    rules = [decision.request.rule(FLOAT) for decision in region.decisions]  # type: ignore[union-attr]
    shown = tuple(decision.shown for decision in region.decisions)
    duels = tuple(_duels(rule, len(both)) for rule, both in zip(rules, shown, strict=True))
    return SheetProgram(scales_of(region), first, slots, tuple(steps), met, duels, shown)


def _duels(rule: Any, arms: int) -> dict[tuple[int, int], Duel]:
    """Return the comparisons of any two positions of a rule."""
    if arms == 2:
        duel = duel_of(rule)
        return {(0, 1): duel, (1, 0): duel.seated((1, 0))}
    own: tuple[Score, ...] = scores_of(rule, arms)
    return {(i, j): Duel((own[i], own[j]), int(i > j)) for i, j in permutations(range(arms), 2)}


def log_likelihood(program: SheetProgram, means: Array, clock: Clock = ENDLESS) -> float:
    """Return the log-likelihood of a program with given centres of its releases.

    -inf is for impossible paths alone. Laplace noise of any scale reaches every value, so a path
    is impossible iff it is so with noise wide enough that nothing underflows.
    """
    run = _Run(program, means, clock)
    total = run.likelihood()
    if total >= (_LEAST if run.clipped else _SMALLEST):
        return math.log(total)
    wider = program.scales * max(1.0, _WIDE / float(program.scales.min()))
    if total > 0 or _Run(replace(program, scales=wider), means, clock).likelihood() > 0:
        raise Unsupported("The likelihood is too small for sheets.")
    return -math.inf


class _Run:
    """One evaluation: the weight as a function of both registers, and where it is not smooth.

    Registers are counted from the centres of what they show.
    """

    def __init__(self, program: SheetProgram, means: Array, clock: Clock) -> None:
        self.program, self.means, self.clock = program, means, clock
        fine, coarse = float(program.scales.min()), float(program.scales.max())
        two = len(program.shown[0]) == 2
        parts = math.ceil(min(coarse / fine, 1e9) - 1e-9) if two else 1
        self.scales = Scales(fine, coarse, parts)
        met = [(i, j, self.curve(place, one, two)) for place, one, two, i, j in program.met]
        if not all(curve.line or curve.bounded for *_, curve in met):
            raise Unsupported("Sheets need scores that are linear or clipped.")
        self.windows, self.clipped = windows(max(2, len(program.scales)), met, coarse)
        lines = [frozenset(self.windows[slot]) for slot in program.slots]
        self.shape = Shape((lines[0], lines[1]))
        self.weight = joint_density(*(float(program.scales[index]) for index in program.first))

    def curve(self, place: int, one: int, two: int) -> Frontier:
        """Return where two positions of a decision tie."""
        shown = self.program.shown[place]
        a, b = (float(sum(self.means[i] for i in shown[position])) for position in (one, two))
        return Frontier(self.program.duels[place][one, two], (a, b))

    def likelihood(self) -> float:
        """Return the likelihood as a double, which may underflow."""
        axis = 0
        for step in self.program.steps:
            self.clock()
            if isinstance(step, Meet):
                self._meet(step)
                continue
            axis = step.axis
            sheet = self._laid(axis)
            if step.adds:
                for panel in sheet.panels:
                    self.clock()
                    panel.convolve(float(self.program.scales[step.release]))
                self.weight, self.shape = sheet, sheet.shape
            else:
                self._renew(sheet, step)
        return self._laid(axis).total()

    def _laid(self, axis: int) -> Sheet:
        sheet = arrange(self.shape, axis, self.scales, self.clock)
        sheet.multiply(self.weight)
        return sheet

    def _meet(self, step: Meet) -> None:
        """Multiply by the outcome, or by its chance where a release is read here alone."""
        before, tie = self.weight, self.curve(step.place, *step.seats)
        if step.release is None:
            self.shape = self.shape.with_curve(tie)
            factor = beats(tie, step.seats.index(step.winner))
        else:
            scale = float(self.program.scales[step.release])
            chance = self._of_third if step.on is None else self._of_sum
            factor = chance(step, tie, scale)
        self.weight = lambda points: before(points) * factor(points)

    def _of_sum(self, step: Meet, tie: Frontier, scale: float) -> Function:
        """Return the chance of an outcome by the noise of a release on an axis."""
        axis = step.on or 0
        sign = 1.0 if step.seats.index(step.winner) == axis else -1.0
        self.shape = self.shape.with_lines(1 - axis, tie.knots(1 - axis))
        if not step.alone:
            self.shape = self.shape.with_curve(tie)
        else:
            meets = float(tie.least(1 - axis, np.zeros(1))[0])
            self.shape = self.shape.with_lines(1 - axis, [meets] * math.isfinite(meets))

        def chance(points: Points) -> Array:
            least = points.apply(1 - axis, partial(tie.least, axis))
            return survival(sign * (least - (0.0 if step.alone else points[axis])), scale)

        return chance

    def _of_third(self, step: Meet, tie: Frontier, scale: float) -> Function:
        """Return the chance of an outcome by the noise of the third arm's release."""
        third = 3 - sum(step.seats)
        over = [self.curve(step.place, third, seat) for seat in step.seats]
        self.shape = self.shape.with_curve(tie)
        for axis, curve in enumerate(over):
            points = [*curve.knots(1), float(curve.least(1, np.zeros(1))[0])]
            self.shape = self.shape.with_lines(axis, [x for x in points if math.isfinite(x)])

        def chance(points: Points) -> Array:
            least = [points.apply(axis, partial(over[axis].least, 0)) for axis in (0, 1)]
            if step.winner == third:
                return survival(np.maximum(*least), scale)
            axis = step.seats.index(step.winner)
            return beats(tie, axis)(points) * survival(-least[axis], scale)

        return chance

    def _renew(self, sheet: Sheet, step: Renew) -> None:
        """Integrate an axis out, all of it or beyond what it has beaten, which takes its place."""
        axis, scale, old = step.axis, float(self.program.scales[step.release]), sheet.shape
        over = None if step.beaten is None else self.curve(*step.beaten)

        def weight(points: Points) -> Array:
            fresh = points.apply(axis, lambda x: density(x, scale))
            if over is None:
                return fresh * points.apply(1 - axis, sheet.integrals)
            return fresh * sheet.beyond(
                points[1 - axis], points.apply(axis, partial(over.least, 1))
            )

        lines = [*old.lines]
        lines[axis] = frozenset(self.windows[step.slot])
        self.weight, self.shape = weight, Shape((lines[0], lines[1]))
        if over is not None:
            images = over.least(0, np.array(sorted(old.lines[axis])))
            bent = self.shape.with_lines(axis, [*over.knots(0), *images[np.isfinite(images)]])
            curves = tuple(Moved(curve, over, axis) for curve in old.curves)
            self.shape = replace(bent, curves=curves)

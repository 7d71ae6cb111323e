"""Two registers on a sheet: two arms whose registers add releases up.

The state between decisions is the joint weight H(x_0, x_1) of two registers, their densities
included. A decision cuts it along the curve on which they tie, or, where it alone reads a release,
multiplies it by that one's chance in closed form, a tail at a threshold. Then a register gets a
fresh release, added to what it held (a convolution along that register) or in place of it (the old
one is integrated out). A `Sheet` is laid for every integral along a register.

Floating point with a measured error; not certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.arrange import Scales, arrange, windows
from dpaudit.exact.floats.duel import Duel, Frontier, duel_of
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import (
    Function,
    Points,
    Shape,
    Sheet,
    beats,
    density,
    joint_density,
    survival,
)
from dpaudit.exact.region import Region, scales_of, seats

# Of a log-likelihood. Finer panels, cells and tails change none of 36 random paths of dp_klucb,
# dp_imed (T up to 12) and dp_ucb (T = 6), epsilon from 0.3 to 5, by more than 7e-11
# (test_exact_sums.py repeats this). Beside certified values dp_ucb is off by 1.02e-9 at T = 8.
SUMS_ERROR = 5e-9
_WIDE = 10.0  # a noise scale at which no likelihood of a few rounds underflows
_LEAST, _SMALLEST = 1e-10, 1e-250  # with and without points left out of the window


@dataclass(frozen=True)
class Meet:
    """A decision: the positions that the axes show, the winner's, a release read by it alone.

    That release is on top of what axis `on` holds, or, where it is `alone`, in its place.
    """

    place: int
    seats: tuple[int, int]
    winner: int
    release: int | None = None
    on: int = 0
    alone: bool = False


@dataclass(frozen=True)
class Renew:
    """A fresh release on an axis: added, or in place of what it held."""

    axis: int
    release: int
    adds: bool


@dataclass(frozen=True)
class SheetProgram:
    """The steps that integrate a region, and what its decisions compare."""

    scales: Array
    first: tuple[int, int]
    steps: tuple[Meet | Renew, ...]
    seats: tuple[tuple[int, int], ...]
    duels: tuple[Duel, ...]
    shown: tuple[tuple[tuple[int, ...], ...], ...]


def program_of(region: Region) -> SheetProgram:
    """Return the steps of a region; raise `Unsupported` where two registers do not describe it.

    Each axis is a register, to which releases are added.
    """
    if not all(isinstance(decision.request, Choose) for decision in region.decisions):
        raise Unsupported("Sheets are for choices.")
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
                steps.append(Renew(axis, fresh[0], adds=bool(rest)))
                carried[axis] = group
        steps.append(meet)
    first = shown[0][0][0], shown[0][1][0]
    duels = tuple(duel_of(decision.request.rule(FLOAT)) for decision in region.decisions)  # type: ignore[union-attr]
    groups = tuple(decision.shown for decision in region.decisions)
    return SheetProgram(scales_of(region), first, tuple(steps), tuple(order), duels, groups)


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
        parts = math.ceil(min(coarse / fine, 1e9) - 1e-9)
        self.scales = Scales(fine, coarse, parts)
        met = [(0, 1, self.curve(place, seat)) for place, seat in enumerate(program.seats)]
        if not all(curve.line or curve.bounded for *_, curve in met):
            raise Unsupported("Sheets need scores that are linear or clipped.")
        self.windows, self.clipped = windows(2, met, coarse)
        self.shape = Shape((frozenset(self.windows[0]), frozenset(self.windows[1])))
        self.weight = joint_density(*(float(program.scales[index]) for index in program.first))

    def curve(self, place: int, seat: tuple[int, int]) -> Frontier:
        """Return where both positions of a decision tie."""
        shown = self.program.shown[place]
        a, b = (float(sum(self.means[i] for i in shown[position])) for position in seat)
        return Frontier(self.program.duels[place].seated(seat), (a, b))

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
        before, tie = self.weight, self.curve(step.place, step.seats)
        if step.release is None:
            self.shape = self.shape.with_curve(tie)
            factor = beats(tie, step.seats.index(step.winner))
        else:
            factor = self._chance(step, tie, float(self.program.scales[step.release]))
        self.weight = lambda points: before(points) * factor(points)

    def _chance(self, step: Meet, tie: Frontier, scale: float) -> Function:
        """Return the chance of an outcome by the noise of a release on an axis."""
        axis = step.on
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

    def _renew(self, sheet: Sheet, step: Renew) -> None:
        """Integrate an axis out, whose place a fresh release takes."""
        axis, scale = step.axis, float(self.program.scales[step.release])

        def weight(points: Points) -> Array:
            fresh = points.apply(axis, lambda x: density(x, scale))
            return fresh * points.apply(1 - axis, sheet.integrals)

        lines = [*sheet.shape.lines]
        lines[axis] = frozenset(self.windows[axis])
        self.weight, self.shape = weight, Shape((lines[0], lines[1]))

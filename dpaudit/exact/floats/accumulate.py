"""Two arms whose registers are sums of releases: batches that accumulate, nodes of a tree.

The state between decisions is the joint weight of two registers. A decision cuts it along a
monotone curve; then the winner's register gets a fresh release: added to what it held (a
convolution along that register), or in place of it (the old one is integrated out). A release that
a single decision reads is integrated in closed form at that decision. A `Sheet` is laid for every
integral along a register.

Floating point with a measured error; not certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpaudit.core.arithmetic import FLOAT
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.arrange import Scales, arrange, windows
from dpaudit.exact.floats.duel import Duel, Frontier, duel_of
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import (
    Points,
    Shape,
    Sheet,
    beats,
    density,
    joint_density,
    survival,
)
from dpaudit.exact.region import Region, scales_of, seats

# Finer panels, cells and tails change no log-likelihood of 36 random paths of dp_klucb, dp_imed (T
# up to 12) and dp_ucb (T = 6), epsilon from 0.3 to 5, by more than 7e-11 (test_exact_sums.py
# repeats this on other paths). Beside certified values dp_ucb is off by up to 1.02e-9 at T = 8.
SUMS_ERROR = 5e-9
_WIDE = 10.0  # a noise scale at which no likelihood of a few rounds underflows
_LEAST, _SMALLEST = 1e-10, 1e-250  # with and without points left out of the window


@dataclass(frozen=True)
class Compare:
    """A decision between the registers as they are."""

    place: int
    winner: int


@dataclass(frozen=True)
class Soften:
    """A decision that alone reads a release of register `axis`, on top of it or in its place."""

    place: int
    winner: int
    axis: int
    release: int
    alone: bool


@dataclass(frozen=True)
class Add:
    """A fresh release is added to register `axis`."""

    axis: int
    release: int


@dataclass(frozen=True)
class Replace:
    """A fresh release takes the place of register `axis`."""

    axis: int
    release: int


Step = Compare | Soften | Add | Replace


@dataclass(frozen=True)
class SumProgram:
    """The steps that integrate a region, and what its decisions compare, register by register."""

    scales: Array
    first: tuple[int, int]
    steps: tuple[Step, ...]
    duels: tuple[Duel, ...]
    shown: tuple[tuple[tuple[int, ...], ...], ...]


def program_of(region: Region) -> SumProgram:
    """Return the steps of a two-arm region; raise `Unsupported` where two registers do not do."""
    scales = scales_of(region)
    last_read: dict[int, int] = {}
    for place, decision in enumerate(region.decisions):
        if len(decision.shown) != 2 or not hasattr(decision.request, "rule"):
            raise Unsupported("The accumulating engine needs choices between two arms.")
        last_read |= {index: place for group in decision.shown for index in group}
    order = seats(region)
    shown = [(d.shown[i], d.shown[j]) for d, (i, j) in zip(region.decisions, order, strict=True)]
    start = shown[0]
    if any(len(group) != 1 for group in start):
        raise Unsupported(
            "The accumulating engine needs one release per arm at the first decision."
        )
    carried = [*start]
    steps: list[Step] = []
    for place, (decision, seat) in enumerate(zip(region.decisions, order, strict=True)):
        winner = seat.index(decision.request.arms.index(decision.outcome))
        soft: Step | None = None
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
            if last_read[fresh[0]] == place and soft is None:
                soft = Soften(place, winner, axis, fresh[0], alone=not rest)
            elif rest:
                steps.append(Add(axis, fresh[0]))
                carried[axis] = group
            else:
                steps.append(Replace(axis, fresh[0]))
                carried[axis] = group
        steps.append(soft or Compare(place, winner))
    return SumProgram(
        scales,
        (start[0][0], start[1][0]),
        tuple(steps),
        tuple(
            duel_of(decision.request.rule(FLOAT)).seated(seat)  # type: ignore[union-attr]
            for decision, seat in zip(region.decisions, order, strict=True)
        ),
        tuple(shown),
    )


def log_likelihood(program: SumProgram, means: Array, clock: Clock = ENDLESS) -> float:
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
        raise Unsupported("The likelihood is too small for the accumulating engine's grids.")
    return -math.inf


class _Run:
    """One evaluation: the weight as a function of both registers, and where it is not smooth."""

    def __init__(self, program: SumProgram, means: Array, clock: Clock = ENDLESS) -> None:
        self.program, self.means, self.clock = program, means, clock
        fine, coarse = float(program.scales.min()), float(program.scales.max())
        self.scales = Scales(fine, coarse, math.ceil(min(coarse / fine, 1e9) - 1e-9))
        curves = [self.curve(place) for place in range(len(program.duels))]
        if not all(curve.line or curve.bounded for curve in curves):
            raise Unsupported("The accumulating engine needs scores that are linear or clipped.")
        (one, two), self.clipped = windows(2, [(0, 1, curve) for curve in curves], coarse)
        self.start = frozenset(one), frozenset(two)
        self.shape = Shape(self.start)
        self.weight = joint_density(*(float(program.scales[index]) for index in program.first))

    def curve(self, place: int) -> Frontier:
        """Return the curve of a decision, registers counted from the centres of what they show."""
        a, b = (float(sum(self.means[i] for i in group)) for group in self.program.shown[place])
        return Frontier(self.program.duels[place], (a, b))

    def likelihood(self) -> float:
        """Return the likelihood as a double, which may underflow."""
        axis = 0
        for step in self.program.steps:
            self.clock()
            if isinstance(step, Compare | Soften):
                self._decide(step)
                continue
            axis, scale = step.axis, float(self.program.scales[step.release])
            sheet = self._laid(axis)
            if isinstance(step, Replace):
                self._replace(sheet, axis, scale)
                continue
            for panel in sheet.panels:
                self.clock()
                panel.convolve(scale)
            self.weight, self.shape = sheet, sheet.shape
        return self._laid(axis).total()

    def _laid(self, axis: int) -> Sheet:
        sheet = arrange(self.shape, axis, self.scales, self.clock)
        sheet.multiply(self.weight)
        return sheet

    def _decide(self, step: Compare | Soften) -> None:
        """Multiply by the outcome, or by its chance where a release is read here alone."""
        before, curve = self.weight, self.curve(step.place)
        self.shape = self._bent(self.shape, step)
        if isinstance(step, Compare):
            factor = beats(curve, step.winner)
        else:
            scale = float(self.program.scales[step.release])
            sign = 1.0 if step.winner == step.axis else -1.0

            def factor(points: Points) -> Array:
                least = points.apply(1 - step.axis, partial(curve.least, step.axis))
                held = 0.0 if step.alone else points[step.axis]
                return survival(sign * (least - held), scale)

        self.weight = lambda points: before(points) * factor(points)

    def _bent(self, shape: Shape, step: Compare | Soften) -> Shape:
        curve = self.curve(step.place)
        if isinstance(step, Compare):
            return shape.with_curve(curve)
        other = 1 - step.axis
        shape = shape.with_lines(other, curve.knots(other))
        if not step.alone:
            return shape.with_curve(curve)
        meets = float(curve.least(other, np.zeros(1))[0])
        return shape.with_lines(other, [meets]) if math.isfinite(meets) else shape

    def _replace(self, sheet: Sheet, axis: int, scale: float) -> None:
        """Integrate the fibres out; the fresh release is independent of what is left."""
        self.weight = lambda points: (
            points.apply(axis, lambda x: density(x, scale))
            * points.apply(1 - axis, sheet.integrals)
        )
        kept, fresh = sheet.shape.lines[1 - axis], self.start[axis]
        self.shape = Shape((fresh, kept) if axis == 0 else (kept, fresh))

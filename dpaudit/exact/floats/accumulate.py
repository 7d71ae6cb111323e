"""Two arms whose registers are sums of releases: batches that accumulate, nodes of a tree.

The state between decisions is the joint weight of two registers. A decision cuts it along a
monotone curve; then the winner's register gets a fresh release: added to what it held (a
convolution along that register), or in place of it (the old one is integrated out). A release that
a single decision reads is integrated in closed form at that decision.
Between these the weight lives on a `Sheet`, which is laid anew where the winner changes.

Floating point with a measured error; not certified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.arrange import Scales, arrange
from dpaudit.exact.floats.duel import Duel, Frontier, duel
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import Function, Points, Shape, Sheet
from dpaudit.exact.region import Region, scales_of, seats

# Finer panels, cells and tails change no log-likelihood of 24 random paths of dp_klucb, dp_imed (T
# up to 12) and dp_ucb (T = 6), epsilon from 1 to 60, by more than 7e-12 (test_exact_sums.py
# repeats this on other paths).
SUMS_ERROR = 1e-9
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
        tuple(duel(d).seated(seat) for d, seat in zip(region.decisions, order, strict=True)),
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


def window(curves: Sequence[Frontier], scales: Scales) -> tuple[list[Array], bool]:
    """Return the range of each register in which the curves bend and meet, and if it was clipped.

    The density of the noise decays from zero, and what a later decision asks of a register changes
    at the curves' corners and crossings alone, so a path's likelihood lives between these points.
    Those beyond 60 noise scales are left out: what lies there has a probability below 1e-19.
    """
    zero = np.zeros(1)
    found: list[list[float]] = [[0.0], [0.0]]
    for curve in curves:
        if not (curve.line or curve.bounded):
            raise Unsupported("The accumulating engine needs scores that are linear or clipped.")
        for axis in (0, 1):
            found[axis] += [*curve.knots(axis), float(curve.least(axis, zero)[0])]
    for one, two in combinations([curve for curve in curves if curve.line], 2):
        ends = [curve.least(0, np.array([0.0, 1.0])) for curve in (one, two)]
        slope = np.diff(ends[0])[0] - np.diff(ends[1])[0]
        if abs(slope) > 1e-12:
            y = (ends[1][0] - ends[0][0]) / slope
            found[1].append(float(y))
            found[0].append(float(one.least(0, np.array([y]))[0]))
    ranges, clipped = [], False
    for points in found:
        finite = np.array([x for x in points if math.isfinite(x)])
        limit = 60 * scales.coarse
        clipped = clipped or bool(np.abs(finite).max() > limit)
        inside = np.clip(finite, -limit, limit)
        ranges.append(np.array([inside.min(), inside.max()]))
    return ranges, clipped


def _density(x: Array, scale: float) -> Array:
    return np.asarray(np.exp(-np.abs(x) / scale) / (2 * scale))


def _survival(x: Array, scale: float) -> Array:
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x > 0, tail, 1.0 - tail)


class _Run:
    """One evaluation: the weight as a function of both registers, and where it is not smooth."""

    def __init__(self, program: SumProgram, means: Array, clock: Clock = ENDLESS) -> None:
        self.program, self.means, self.clock = program, means, clock
        self.scales = Scales(float(program.scales.min()), float(program.scales.max()))
        ranges, self.clipped = window(self._curves(), self.scales)
        self.start = tuple(frozenset({0.0, *map(float, ends)}) for ends in ranges)
        self.shape = Shape((self.start[0], self.start[1]))
        one, two = (float(program.scales[index]) for index in program.first)
        self.weight: Function = lambda points: (
            points.apply(0, lambda x: _density(x, one))
            * points.apply(1, lambda x: _density(x, two))
        )

    def _curves(self) -> list[Frontier]:
        return [self.curve(place) for place in range(len(self.program.duels))]

    def curve(self, place: int) -> Frontier:
        """Return the curve of a decision, registers counted from the centres of what they show."""
        a, b = (float(sum(self.means[i] for i in group)) for group in self.program.shown[place])
        return Frontier(self.program.duels[place], (a, b))

    def likelihood(self) -> float:
        """Return the likelihood as a double, which may underflow."""
        steps = list(self.program.steps)
        total = 1.0
        while steps:
            axis = next((s.axis for s in steps if isinstance(s, Add | Replace)), 0)
            stop = self._segment(steps, axis)
            total = self._lay(steps[:stop], axis)
            if total == 0.0:
                break
            steps = steps[stop:]
        return total

    def _segment(self, steps: list[Step], axis: int) -> int:
        """Return how many steps one sheet takes: up to a replacement or a change of axis."""
        for place, step in enumerate(steps):
            if isinstance(step, Replace) and step.axis == axis:
                return place + 1
            if isinstance(step, Add | Replace) and step.axis != axis:
                stop = place
                while not isinstance(steps[stop - 1], Add):
                    stop -= 1  # cuts wait for the next sheet: what is laid anew should be smooth
                return stop
        return len(steps)

    def _lay(self, steps: list[Step], axis: int) -> float:
        """Carry the weight through steps on one sheet; return its integral at the end."""
        shape = self.shape
        for step in steps:
            if isinstance(step, Compare | Soften):
                shape = self._bent(shape, step)
        sheet = arrange(shape, axis, self.scales, self.clock)
        sheet.multiply(self.weight)
        for step in steps:
            self.clock()
            if isinstance(step, Compare):
                sheet.cut(self.curve(step.place), above=step.winner == axis)
            elif isinstance(step, Soften):
                self._soften(sheet, step)
            elif isinstance(step, Add):
                for panel in sheet.panels:
                    self.clock()
                    panel.convolve(float(self.program.scales[step.release]))
        last = steps[-1]
        if isinstance(last, Replace):
            self._replace(sheet, last)
        else:
            self.weight, self.shape = sheet, sheet.shape
        return math.fsum(float(panel.weights @ panel.integrals()) for panel in sheet.panels)

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

    def _soften(self, sheet: Sheet, step: Soften) -> None:
        curve, scale = self.curve(step.place), float(self.program.scales[step.release])
        sign = 1.0 if step.winner == step.axis else -1.0

        def factor(points: Points) -> Array:
            least = points.apply(1 - step.axis, lambda x: curve.least(step.axis, x))
            held = 0.0 if step.alone else points[step.axis]
            return _survival(sign * (least - held), scale)

        sheet.multiply(factor)

    def _replace(self, sheet: Sheet, step: Replace) -> None:
        """Integrate the fibres out; the fresh release is independent of what is left."""
        scale = float(self.program.scales[step.release])
        line = sheet.integrated()

        def weight(points: Points) -> Array:
            fresh = points.apply(step.axis, lambda x: _density(x, scale))
            return fresh * points.apply(1 - step.axis, line)

        self.weight = weight
        kept, fresh = sheet.shape.lines[1 - step.axis], self.start[step.axis]
        self.shape = Shape((fresh, kept) if step.axis == 0 else (kept, fresh))

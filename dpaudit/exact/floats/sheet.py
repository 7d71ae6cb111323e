"""A function of two registers, smooth between curves, on panels of fibres.

A panel is an interval of the outer register with Gauss-Legendre nodes; over each node lies a fibre,
a row of cells of the inner register between breakpoints that move with the node. Panels end where
two breakpoints cross or a curve has a corner, so on the curvilinear boxes between neighbouring
breakpoints the function is smooth and is interpolated in coordinates that follow the breakpoints.
Along a fibre, convolution with Laplace noise is two one-sided exponential filters. Cells are
interpolated on their own and summed without cancellation, so small values keep their relative
accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.floats.gauss import Array, GaussRule

Function = Callable[["Points"], Array]


class Border(Protocol):
    """An increasing curve in the plane of two registers, perhaps with jumps."""

    def least(self, axis: int, other: Array) -> Array:
        """Return where the curve is on an axis, at values of the other register."""

    def knots(self, axis: int) -> list[float]:
        """Return the values on an axis between which the curve is smooth."""


def density(x: Array, scale: float) -> Array:
    """Return the density of centred Laplace noise."""
    return np.asarray(np.exp(-np.abs(x) / scale) / (2 * scale))


def joint_density(one: float, two: float) -> Function:
    """Return the density of two independent releases of these scales."""
    return lambda points: (
        points.apply(0, lambda x: density(x, one)) * points.apply(1, lambda x: density(x, two))
    )


def beats(curve: Border, winner: int) -> Function:
    """Return 1 where the register on an axis is beyond a curve, 0 elsewhere."""

    def found(points: Points) -> Array:
        least = points.apply(1 - points.axis, partial(curve.least, points.axis))
        return np.where((points.inner >= least) == (winner == points.axis), 1.0, 0.0)

    return found


def survival(x: Array, scale: float) -> Array:
    """Return the probability that centred Laplace noise is above x."""
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x > 0, tail, 1.0 - tail)


OUTER, INNER = 10, 10


OUTER_RULE, INNER_RULE = GaussRule(OUTER), GaussRule(INNER)


@dataclass(frozen=True)
class Points:
    """Points of the plane, many of them over each outer node."""

    axis: int  # the inner register
    nodes: Array
    counts: NDArray[np.int64]
    inner: Array

    def __getitem__(self, axis: int) -> Array:
        """Return one register at every point."""
        return self.inner if axis == self.axis else np.repeat(self.nodes, self.counts)

    def apply(self, axis: int, function: Callable[[Array], Array]) -> Array:
        """Return a function of one register at every point, computed once per node if outer."""
        if axis == self.axis:
            return function(self.inner)
        return np.repeat(function(self.nodes), self.counts)


@dataclass(frozen=True)
class Shape:
    """Where a function of two registers may not be smooth: lines per axis, and curves."""

    lines: tuple[frozenset[float], frozenset[float]]
    curves: tuple[Border, ...] = ()

    def with_lines(self, axis: int, points: Sequence[float]) -> Shape:
        """Return the shape with more lines, those within rounding of each other taken as one."""
        kept: list[float] = []
        for x in sorted({*self.lines[axis], *points}):
            if not kept or x - kept[-1] > 1e-11:
                kept.append(x)
        lines = list(self.lines)
        lines[axis] = frozenset(kept)
        return replace(self, lines=(lines[0], lines[1]))

    def with_curve(self, curve: Border) -> Shape:
        """Return the shape with one more curve."""
        return self if curve in self.curves else replace(self, curves=(*self.curves, curve))


@dataclass(frozen=True)
class Located:
    """Points of a panel: the weights of its nodes by distinct outer value, cells, places there."""

    across: Array
    row: NDArray[np.int64]
    cell: NDArray[np.int64]
    half: Array
    t: Array
    outside: NDArray[np.bool_]


@dataclass
class Patch:
    """Fibres over the nodes of one interval of the outer register."""

    low: float
    high: float
    edges: Array  # nodes x (cells + 1)
    values: Array = field(default_factory=lambda: np.ones((1, 1, 1)))  # nodes x cells x INNER

    @property
    def nodes(self) -> Array:
        """The outer register at the nodes."""
        return 0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * OUTER_RULE.nodes

    @property
    def weights(self) -> Array:
        """The weights of the nodes."""
        return 0.5 * (self.high - self.low) * OUTER_RULE.weights

    @property
    def half(self) -> Array:
        """Half the width of every cell."""
        return 0.5 * np.diff(self.edges, axis=1)

    @property
    def middle(self) -> Array:
        """The middle of every cell."""
        return 0.5 * (self.edges[:, 1:] + self.edges[:, :-1])

    @property
    def points(self) -> Array:
        """The inner register at all nodes of all cells."""
        return self.middle[..., None] + self.half[..., None] * INNER_RULE.nodes

    def across(self, outer: Array) -> Array:
        """Return the weights of the nodes in an interpolation at outer values."""
        return OUTER_RULE.basis((2 * outer - self.low - self.high) / (self.high - self.low))

    @property
    def masses(self) -> Array:
        """The integral over every cell."""
        return np.asarray(self.values @ INNER_RULE.weights * self.half)

    @cached_property
    def beyond(self) -> Array:
        """The integrals over the fibres from the ends of the cells on."""
        sums = np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1]
        return np.concatenate([sums, np.zeros((OUTER, 1))], axis=1)

    def locate(self, outer: Array, inner: Array) -> Located:
        """Return where points are among the fibres and cells."""
        nodes, row = np.unique(outer, return_inverse=True)
        across = self.across(nodes)
        edges = (across @ self.edges)[row]
        cell = (edges <= inner[:, None]).sum(1) - 1
        outside = (cell < 0) | (cell >= edges.shape[1] - 1)
        cell = np.clip(cell, 0, edges.shape[1] - 2)
        points = np.arange(len(cell))
        low, high = edges[points, cell], edges[points, cell + 1]
        half = np.maximum(0.5 * (high - low), 1e-300)
        t = np.clip((inner - 0.5 * (low + high)) / half, -1.0, 1.0)
        return Located(across, row, cell, half, t, outside)

    def along(self, at: Located, basis: Array) -> Array:
        """Return what a basis along the fibres makes of the values in the cells of points."""
        if 4 * len(at.across) < len(at.row):  # many points on each of a few fibres
            fibres = np.tensordot(at.across, self.values, 1)
            return np.asarray(np.einsum("pi,pi->p", fibres[at.row, at.cell], basis))
        blocks = self.values.transpose(1, 0, 2)[at.cell]
        return np.asarray(
            np.einsum("po,poi,pi->p", at.across[at.row], blocks, basis, optimize=True)
        )

    def convolve(self, scale: float) -> None:
        """Convolve every fibre with centred Laplace noise."""
        half = self.half / scale
        rise = np.exp(half[..., None] * INNER_RULE.nodes)
        fall = 1.0 / rise
        edge = np.exp(-half)
        up = (self.values * rise) @ INNER_RULE.partial.T
        down = (self.values * fall) @ INNER_RULE.partial[::-1, ::-1].T
        up_total = (self.values * rise) @ INNER_RULE.weights
        down_total = (self.values * fall) @ INNER_RULE.weights
        # what comes from the cells on the left, at the left end of each cell, and the mirror image
        left, right = np.zeros_like(half), np.zeros_like(half)
        for cell in range(1, half.shape[1]):
            before = cell - 1
            gain = half[:, before] * up_total[:, before]
            left[:, cell] = edge[:, before] * (edge[:, before] * left[:, before] + gain)
        for cell in range(half.shape[1] - 2, -1, -1):
            after = cell + 1
            gain = half[:, after] * down_total[:, after]
            right[:, cell] = edge[:, after] * (edge[:, after] * right[:, after] + gain)
        from_left = fall * (half[..., None] * up + (edge * left)[..., None])
        from_right = rise * (half[..., None] * down + (edge * right)[..., None])
        self.values = 0.5 * (from_left + from_right)


@dataclass
class Sheet:
    """A function on panels, 1 at first; `axis` is the inner register."""

    axis: int
    panels: list[Patch]
    shape: Shape

    @cached_property
    def points(self) -> Points:
        """All nodes of all cells."""
        parts = [panel.points for panel in self.panels]
        return Points(
            self.axis,
            np.concatenate([panel.nodes for panel in self.panels]),
            np.concatenate([np.full(len(part), part[0].size) for part in parts]),
            np.concatenate([part.ravel() for part in parts]),
        )

    def multiply(self, function: Function) -> None:
        """Multiply by a function."""
        values, place = function(self.points), 0
        for panel in self.panels:
            shape = (len(panel.edges), panel.edges.shape[1] - 1, INNER)
            size = shape[0] * shape[1] * shape[2]
            part = values[place : place + size].reshape(shape)
            panel.values = panel.values * part
            place += size

    def __call__(self, points: Points) -> Array:
        """Return the function at points, zero beyond the last panels."""
        inner, outer = points[self.axis], points[1 - self.axis]
        result = np.zeros_like(inner)
        for panel, mine in _owned(self.panels, outer):
            at = panel.locate(outer[mine], inner[mine])
            found = panel.along(at, INNER_RULE.basis(at.t))
            result[mine] = np.where(at.outside, 0.0, np.maximum(found, 0.0))
        return result

    def beyond(self, outer: Array, least: Array) -> Array:
        """Return the integral over the inner register from given values on, by the outer one."""
        result = np.zeros_like(least)
        for panel, mine in _owned(self.panels, outer):
            at = panel.locate(outer[mine], least[mine])
            part = at.half * panel.along(at, INNER_RULE.beyond(at.t))
            rest = np.einsum("po,po->p", at.across[at.row], panel.beyond[:, at.cell + 1].T)
            result[mine] = np.maximum(part, 0.0) + np.maximum(rest, 0.0)
        return result

    def integrals(self, outer: Array) -> Array:
        """Return the integral over the inner register, by the outer one."""
        return self.beyond(outer, np.full_like(outer, -np.inf))

    def total(self) -> float:
        """Return the integral over both registers."""
        return math.fsum(float(panel.weights @ panel.masses.sum(1)) for panel in self.panels)


def _owned(panels: list[Patch], outer: Array) -> Iterator[tuple[Patch, NDArray[np.int64]]]:
    """Yield every panel that has some of the outer values, with their indices."""
    lows = np.array([panel.low for panel in panels])
    owner = np.searchsorted(lows, outer, side="right") - 1
    owner[outer > panels[-1].high] = -1
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(len(panels) + 1))
    for place, panel in enumerate(panels):
        mine = order[bounds[place] : bounds[place + 1]]
        if len(mine):
            yield panel, mine

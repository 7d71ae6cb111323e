"""Functions of one register on shared panels of Gauss-Legendre nodes, and their tail integrals.

All the functions of a register live on one `Panes`. A new function may need finer panels: these are
cut into four, the functions already there are carried over by interpolation, which is exact to
their own accuracy, and only the new nodes are evaluated. Values may have either sign; what counts
as resolved is measured against a magnitude that comes with the function, because a function that
is a small difference carries the rounding of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact.floats.gauss import Array, GaussRule

Rows = NDArray[np.integer[Any]]

ORDER = 16
RULE = GaussRule(ORDER)
# from values at the nodes to the coefficients of the integral from t to 1
_BEYOND = np.stack(
    [-legendre.legint(column, lbnd=1) for column in RULE.coefficients.T], axis=1
)  # (ORDER + 1) x ORDER
_PARTS = 4
_TOLERANCE = 1e-13
_LOUDEST = 1e-9
_NARROWEST = 1e-9  # in units of the scale: a panel this narrow holds nothing that matters
_SMALLEST = 1e-290
_MOST = 20_000  # panels at once: far beyond what smooth functions between known points need


@dataclass(frozen=True, eq=False)
class Panes:
    """Adjacent panels."""

    left: Array
    right: Array
    scale: float

    @cached_property
    def x(self) -> Array:
        """The nodes, panels x ORDER."""
        half = 0.5 * (self.right - self.left)
        return 0.5 * (self.left + self.right)[:, None] + half[:, None] * RULE.nodes

    def integrals(self, values: Array) -> Array:
        """Return the integrals of functions over the axis."""
        half = 0.5 * (self.right - self.left)
        return np.asarray((values @ RULE.weights) @ half)


Evaluate = Callable[[Array, Array], tuple[Array, Array]]


def make_axis(points: Iterable[float], scale: float, reach: float) -> Panes:
    """Return panels that end at the points, and reach some scales beyond the outer ones."""
    inner = np.unique(np.array(list(points), dtype=float))
    inner = inner[np.concatenate([[True], np.diff(inner) > 1e-10 * scale])]
    edges = np.concatenate([[inner[0] - reach * scale], inner, [inner[-1] + reach * scale]])
    return Panes(edges[:-1], edges[1:], scale)


def _part(values: Array, axis: Panes, rows: Rows, left: Array, right: Array) -> Array:
    """Return functions on parts of panels: values (k x panels x ORDER) at the parts' nodes."""
    whole_left, whole_right = axis.left[rows][:, None], axis.right[rows][:, None]
    x = 0.5 * (left + right)[:, None] + 0.5 * (right - left)[:, None] * RULE.nodes
    t = (2 * x - whole_left - whole_right) / (whole_right - whole_left)
    return np.asarray(np.einsum("knj,nij->kni", values[:, rows], RULE.basis(t)))


def split(axis: Panes, carried: Array, points: Iterable[float]) -> tuple[Panes, Array]:
    """Return the axis with panel ends at these points too, and the functions carried over."""
    inside = [p for p in points if axis.left[0] < p < axis.right[-1]]
    known = np.concatenate([axis.left, axis.right[-1:]])
    new = np.array([p for p in inside if np.min(np.abs(known - p)) > 1e-10 * axis.scale])
    if not len(new):
        return axis, carried
    edges = np.unique(np.concatenate([known, new]))
    left, right = edges[:-1], edges[1:]
    rows = np.clip(np.searchsorted(axis.left, 0.5 * (left + right), "right") - 1, 0, None)
    return Panes(left, right, axis.scale), _part(carried, axis, rows, left, right)


def resolve(axis: Panes, carried: Array, evaluate: Evaluate) -> tuple[Panes, Array, Array, Array]:
    """Refine an axis until new functions are resolved on it.

    `evaluate(x, carried)` returns the new functions and their magnitudes at nodes. What comes back
    is the axis, the functions carried over, the new functions and their magnitudes by panel.
    """
    done: list[tuple[Array, Array, Array, Array, Array]] = []
    now, before = axis, np.array(np.inf)
    while True:
        found, size = evaluate(now.x, carried)
        if not np.isfinite(found).all() or len(now.left) > _MOST:
            raise Unsupported("A function of one register is not resolved in doubles.")
        size = size.max(axis=2, initial=0.0)
        tail = np.abs(found @ RULE.coefficients.T[:, -2:]).max(axis=2, initial=0.0)
        # what does not shrink when its panel does is rounding, as long as it is small
        noise = (tail <= _LOUDEST * size) & (tail >= 0.3 * before)
        good = np.all((tail <= _TOLERANCE * size) | (size < _SMALLEST) | noise, axis=0)
        good |= now.right - now.left <= _NARROWEST * axis.scale
        done.append(
            (now.left[good], now.right[good], carried[:, good], found[:, good], size[:, good])
        )
        if good.all():
            break
        rows = np.repeat(np.flatnonzero(~good), _PARTS)
        share = np.tile(np.arange(_PARTS) / _PARTS, len(rows) // _PARTS)
        length = now.right[rows] - now.left[rows]
        left = now.left[rows] + length * share
        right = np.where(
            share == share.max(), now.right[rows], now.left[rows] + length * (share + 1 / _PARTS)
        )
        carried, before = _part(carried, now, rows, left, right), tail[:, rows]
        now = Panes(left, right, axis.scale)
    left = np.concatenate([part[0] for part in done])
    order = np.argsort(left)
    right = np.concatenate([part[1] for part in done])[order]
    kept, found, size = (np.concatenate([p[i] for p in done], axis=1)[:, order] for i in (2, 3, 4))
    return Panes(left[order], right, axis.scale), kept, found, size


class Tails:
    """The integrals of some functions of a register from any point upwards."""

    def __init__(self, axis: Panes, values: Array) -> None:
        self.axis, self.count = axis, len(values)
        half = 0.5 * (axis.right - axis.left)
        # past the last panel the function goes on as an exponential
        end, slope = values[:, -1] @ RULE.ends[1], values[:, -1] @ RULE.slopes[1] / half[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = -slope / end
        self._rate = np.where(np.isfinite(rate) & (rate > 0), rate, 1 / axis.scale)
        masses = (values @ RULE.weights) * half
        rest = np.zeros((len(values), len(half) + 1))
        rest[:, -1] = end / self._rate
        rest[:, :-1] = rest[:, -1:] + np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
        self._rest = rest
        self._coefficients = (values @ _BEYOND.T) * half[:, None]

    def __call__(self, cut: Array) -> Array:
        """Return the tail integral of every function (rows) from every point (columns)."""
        axis = self.axis
        panel = np.clip(np.searchsorted(axis.left, cut, "right") - 1, 0, len(axis.left) - 1)
        left, right = axis.left[panel], axis.right[panel]
        t = np.clip((2 * cut - left - right) / (right - left), -1.0, 1.0)
        found = np.einsum("knj,nj->kn", self._coefficients[:, panel], legendre.legvander(t, ORDER))
        found += self._rest[:, panel + 1]
        past = np.maximum(cut - axis.right[-1], 0.0)
        if past.any():
            found *= np.exp(-self._rate[:, None] * past)
        return np.asarray(found)

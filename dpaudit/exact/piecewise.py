"""A positive function on an interval, known by its logarithm on panels of Gauss-Legendre nodes.

The logarithm is what is interpolated, so relative accuracy does not depend on how small the
function is: a panel where every value is below 1e-300 is as good as any other. Panels end at the
points where the function is not smooth and are halved until the Legendre coefficients of the
logarithm have died out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]

ORDER = 16
NODES, WEIGHTS = (np.asarray(part) for part in legendre.leggauss(ORDER))
_VANDERMONDE = legendre.legvander(NODES, ORDER - 1)
_COEFFICIENTS = np.linalg.inv(_VANDERMONDE)
_BARYCENTRIC = np.array([1.0 / np.prod(x - np.delete(NODES, i)) for i, x in enumerate(NODES)])
_AT_LEFT_END, _AT_RIGHT_END = legendre.legvander(np.array([-1.0, 1.0]), ORDER - 1) @ _COEFFICIENTS
_SLOPE_RIGHT = np.array([k * (k + 1) / 2 for k in range(ORDER)]) @ _COEFFICIENTS
_SLOPE_LEFT = np.array([(-1) ** (k + 1) * k * (k + 1) / 2 for k in range(ORDER)]) @ _COEFFICIENTS
_STEEPEST = 8.0  # the most that a logarithm may vary on a panel, for the quadrature's sake
_DEEPEST = 30
# Panels this far below the largest value are not refined: no later decision of a path whose
# likelihood a double can hold turns e^-500 of a message into its main part.
_FARTHEST = 500.0


def log_sum(values: Array, axis: int = -1) -> Array:
    """Return log of the sum of exponentials; -inf where all are -inf."""
    top = np.max(values, axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=axis)) + np.squeeze(safe, axis))


def log_difference(large: Array, small: Array) -> Array:
    """Return log(e^large - e^small) for small <= large; -inf where they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.minimum(small - large, 0.0)
        return np.where(np.isneginf(large), -np.inf, large + np.log(-np.expm1(gap)))


@dataclass(frozen=True)
class LogFunction:
    """log g on panels; beyond the outer ends g goes on as an exponential, or is zero.

    `rates` are the slopes of log g at the two ends where it goes on (+ on the left, - on the
    right), and nan where it is zero beyond.
    """

    left: Array
    right: Array
    log_values: Array  # panels x ORDER
    breakpoints: Array  # where it may not be smooth; most panel ends are not
    rates: tuple[float, float]

    def panel_of(self, x: Array) -> NDArray[np.int64]:
        """Return the panel that holds each point (the nearest one outside)."""
        return np.clip(np.searchsorted(self.left, x, side="right") - 1, 0, len(self.left) - 1)

    @cached_property
    def log_masses(self) -> Array:
        """The logarithm of the integral over every panel."""
        half = 0.5 * (self.right - self.left)
        return log_sum(self.log_values + np.log(WEIGHTS)) + np.log(half)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return (
            float(_AT_LEFT_END @ self.log_values[0]),
            float(_AT_RIGHT_END @ self.log_values[-1]),
        )

    def _outer(self, side: int) -> float:
        """Return the logarithm of the integral beyond an end."""
        rate = self.rates[side]
        return -np.inf if np.isnan(rate) else self._ends[side] - float(np.log(abs(rate)))

    @cached_property
    def _from_right(self) -> Array:
        masses = np.append(self.log_masses, self._outer(1))
        return np.asarray(np.logaddexp.accumulate(masses[::-1])[::-1])

    @cached_property
    def _from_left(self) -> Array:
        return np.asarray(np.logaddexp.accumulate(np.append(self._outer(0), self.log_masses)))

    @cached_property
    def log_total(self) -> float:
        """The logarithm of the whole integral."""
        return float(np.logaddexp(self._from_right[0], self._outer(0)))

    def log_at(self, panel: Any, x: Array) -> Array:
        """Return log g at points of given panels (barycentric interpolation)."""
        return _interpolate(self.left[panel], self.right[panel], self.log_values[panel], x)

    def log_value(self, x: Array) -> Array:
        """Return log g between the outer ends, -inf where no panel is."""
        panel = self.panel_of(x)
        inside = (x >= self.left[panel]) & (x <= self.right[panel])
        middle = 0.5 * (self.left[panel] + self.right[panel])
        return np.where(inside, self.log_at(panel, np.where(inside, x, middle)), -np.inf)

    def log_tail(self, x: Array) -> Array:
        """Return the logarithm of the integral from x on."""
        return self._beyond(x, self._partial(x, upper=True), self._from_right[0], side=0)

    def log_head(self, x: Array) -> Array:
        """Return the logarithm of the integral up to x."""
        return self._beyond(x, self._partial(x, upper=False), self._from_left[-1], side=1)

    def _beyond(self, x: Array, part: Array, inner: float, side: int) -> Array:
        """Continue a partial integral over both ends; `side` is the end it reaches last."""
        ends = (self.left[0], self.right[-1])
        outside = (x < ends[0], x > ends[1])
        if not (outside[0].any() or outside[1].any()):
            return part
        with np.errstate(invalid="ignore"):
            far = self._outer(1 - side) + self.rates[1 - side] * (x - ends[1 - side])
            near = log_difference(
                np.asarray(self._outer(side)),
                self._outer(side) + self.rates[side] * (x - ends[side]),
            )
        far = np.where(np.isnan(far), -np.inf, far)
        near = np.where(np.isnan(near), -np.inf, near)
        part = np.where(outside[1 - side], far, part)
        return np.where(outside[side], np.logaddexp(inner, near), part)

    def _partial(self, x: Array, *, upper: bool) -> Array:
        """Return the logarithm of the integral from inside a panel to one end.

        The part of the panel itself is integrated afresh: the logarithm of the cumulated integral
        bends where that part overtakes what lies beyond, and no polynomial on the panel follows it.
        """
        panel = self.panel_of(x)
        inside = np.clip(x, self.left[panel], self.right[panel])
        low, high = (inside, self.right[panel]) if upper else (self.left[panel], inside)
        beyond = (self._from_right[1:] if upper else self._from_left[:-1])[panel]
        half = 0.5 * (high - low)
        points = 0.5 * (low + high)[..., None] + half[..., None] * NODES
        values = self.log_at(np.broadcast_to(panel[..., None], points.shape), points)
        with np.errstate(divide="ignore"):
            part = log_sum(values + np.log(WEIGHTS)) + np.log(half)
        return np.asarray(np.logaddexp(part, beyond))

    def times(self, log_factor: Callable[[Array], Array], widest: float) -> LogFunction | None:
        """Return the function times a factor that is smooth between the breakpoints."""

        def function(x: Array) -> Array:
            return self.log_value(x) + log_factor(x)

        return _refine(function, self.left, self.right, self.breakpoints, widest)


def _interpolate(left: Array, right: Array, values: Array, x: Array) -> Array:
    """Barycentric interpolation on panels; `values` has one row of nodes per point."""
    t = (2 * x - left - right) / (right - left)
    gaps = t[..., None] - NODES
    hit = gaps == 0
    ratio = _BARYCENTRIC / np.where(hit, 1.0, gaps)
    smooth = np.einsum("...j,...j->...", ratio, values) / ratio.sum(-1)
    if hit.any():
        smooth = np.where(hit.any(-1), np.where(hit, values, 0.0).sum(-1), smooth)
    return np.asarray(smooth)


def build(
    function: Callable[[Array], Array], breakpoints: Iterable[float], widest: float
) -> LogFunction | None:
    """Return the log function on panels between the breakpoints, halved until it is resolved.

    Panels where it is -inf are left out; None if that is all of them.
    """
    ends = np.unique(np.array(list(breakpoints), dtype=float))
    scale = max(float(np.abs(ends).max()), float(ends[-1] - ends[0]))
    ends = ends[np.append(True, np.diff(ends) > 1e-14 * scale)]
    pieces = np.clip(np.ceil(np.diff(ends) / widest), 1, 16).astype(int)
    left = np.concatenate(
        [a + (b - a) * np.arange(n) / n for a, b, n in zip(ends, ends[1:], pieces, strict=False)]
    )
    right = np.append(left[1:], ends[-1])
    return _refine(function, left, right, ends, widest)


def _refine(
    function: Callable[[Array], Array], left: Array, right: Array, ends: Array, widest: float
) -> LogFunction | None:
    """Halve panels until the function is resolved on all of them."""
    scale = max(float(np.abs(ends).max()), float(ends[-1] - ends[0]))
    done: list[tuple[Array, Array, Array]] = []
    before = np.full(len(left), np.inf)
    top = -np.inf
    for depth in range(_DEEPEST + 1):
        half = 0.5 * (right - left)
        points = 0.5 * (left + right)[:, None] + half[:, None] * NODES
        values = function(points)
        present = np.isfinite(values).all(-1)
        partly = np.isfinite(values).any(-1) & ~present
        rest, span, level = _rest(values)
        # halving that no longer helps has met the rounding of the function itself
        stuck = (rest < 1e-9) & (rest > 0.5 * before)
        # what a narrow panel gets wrong counts by its share of the integral
        small = rest * np.minimum(1.0, half / widest) <= 1e-12 + 4e-15 * level
        good = small | stuck | (half <= 1e-14 * scale)
        if present.any():
            top = max(top, float(values[present].max()))
        far = values.max(-1) < top - _FARTHEST
        good = present & ((good & (span <= _STEEPEST)) | far | (depth == _DEEPEST))
        done.append((left[good], right[good], values[good]))
        again = (present & ~good) | partly
        if depth == _DEEPEST or not again.any():
            break
        middle = 0.5 * (left[again] + right[again])
        before = np.tile(np.where(present, rest, np.inf)[again], 2)
        left, right = (
            np.concatenate([left[again], middle]),
            np.concatenate([middle, right[again]]),
        )
    left, right, values = (np.concatenate(parts) for parts in zip(*done, strict=True))
    if not len(left):
        return None
    order = np.argsort(left)
    left, right, values = left[order], right[order], values[order]
    slopes = (
        float(_SLOPE_LEFT @ values[0]) * 2 / (right[0] - left[0]),
        float(_SLOPE_RIGHT @ values[-1]) * 2 / (right[-1] - left[-1]),
    )
    rates = (
        slopes[0] if left[0] == ends[0] and slopes[0] > 0 else np.nan,
        slopes[1] if right[-1] == ends[-1] and slopes[1] < 0 else np.nan,
    )
    return LogFunction(left, right, values, ends, rates)


def _rest(values: Array) -> tuple[Array, Array, Array]:
    """Return the last Legendre coefficients, the variation and the size of log values."""
    with np.errstate(invalid="ignore"):
        rest = np.abs(values @ _COEFFICIENTS[-3:].T).max(-1)
        return rest, values.max(-1) - values.min(-1), np.abs(values).max(-1)

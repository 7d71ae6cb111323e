"""A positive function of one register, known by its logarithm on panels of Gauss-Legendre nodes.

The logarithm is what is interpolated, so relative accuracy does not depend on how small the
function is. Panels end at the points where the function is not smooth and are halved until the
Legendre coefficients of the logarithm have died out and its steep parts are nearly straight: a
steep exponential of any length is one panel. Beyond the outer ends it goes on as an exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.floats.gauss import Array, GaussRule


def log_survival(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X > x) for a Laplace variable."""
    z = (x - centre) / scale
    return np.where(z > 0, -z - np.log(2), np.log1p(-0.5 * np.exp(np.minimum(z, 0.0))))


def log_cumulative(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X < x) for a Laplace variable."""
    return log_survival(-x, -centre, scale)


ORDER = 16
RULE = GaussRule(ORDER)
_STEEPEST = 8.0  # the most that a logarithm may vary where it is integrated by one rule
_BENT = 2.0  # the most that a steeper one may be off a straight line
_STEPS = 8  # parts of a steep panel, from its larger end down: the rest is below e^-60 of them
_DEEPEST = 40
_LAYER = 0.1
_NODES_AND_ENDS = np.append(RULE.nodes, [1e-10 - 1, 1 - 1e-10])


def log_sum(values: Array, axis: int = -1) -> Array:
    """Return log of the sum of exponentials; -inf where all are -inf."""
    top = np.max(values, axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=axis)) + np.squeeze(safe, axis))


def _log_stretch(rate: float, length: Array) -> Array:
    """Return the logarithm of the integral of e^(rate x) over [0, length]."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = rate * length
        long = np.maximum(z, 0.0) + np.log(-np.expm1(-np.abs(z))) - np.log(abs(rate))
        return np.where(np.abs(z) < 1e-12, np.log(length), long)


@dataclass(frozen=True, eq=False)
class LogFunction:
    """log g on adjacent panels; `rates`: its slopes at both ends, nan where g is zero beyond."""

    left: Array
    right: Array
    log_values: Array  # panels x ORDER
    breakpoints: Array  # where it may not be smooth; most panel ends are not
    rates: tuple[float, float]

    @property
    def is_one(self) -> bool:
        """Whether this is the constant 1 itself."""
        return len(self.left) == 1 and self.rates == (0.0, 0.0) and not self.log_values.any()

    def panel_of(self, x: Array) -> NDArray[np.int64]:
        """Return the panel that holds each point (the nearest one outside)."""
        return np.clip(np.searchsorted(self.left, x, side="right") - 1, 0, len(self.left) - 1)

    @cached_property
    def _nodes(self) -> Array:
        half = 0.5 * (self.right - self.left)
        return 0.5 * (self.left + self.right)[:, None] + half[:, None] * RULE.nodes

    @cached_property
    def _ends(self) -> tuple[float, float]:
        first, last = RULE.ends[0] @ self.log_values[0], RULE.ends[1] @ self.log_values[-1]
        return float(first), float(last)

    def _outer(self, side: int) -> float:
        """Return the logarithm of the integral beyond an end; infinite where it does not decay."""
        rate = self.rates[side] * (1 - 2 * side)
        if np.isnan(rate):
            return -np.inf
        return self._ends[side] - float(np.log(rate)) if rate > 0 else np.inf

    @cached_property
    def _from_right(self) -> Array:
        masses = np.append(self._masses, self._outer(1))
        return np.asarray(np.logaddexp.accumulate(masses[::-1])[::-1])

    @cached_property
    def _from_left(self) -> Array:
        return np.asarray(np.logaddexp.accumulate(np.append(self._outer(0), self._masses)))

    @cached_property
    def _masses(self) -> Array:
        return self._integral(np.arange(len(self.left)), self.left, self.right)

    def log_total(self) -> float:
        """Return the logarithm of the whole integral."""
        return float(np.logaddexp(self._from_right[0], self._outer(0)))

    def log_at(self, panel: Any, x: Array) -> Array:
        """Return log g at points of given panels (barycentric interpolation)."""
        left, right = self.left[panel], self.right[panel]
        t = (2 * x - left - right) / (right - left)
        return np.asarray(np.einsum("...j,...j->...", RULE.basis(t), self.log_values[panel]))

    def log_value(self, x: Array) -> Array:
        """Return log g anywhere; -inf where no panel is."""
        panel = self.panel_of(x)
        inside = (x >= self.left[panel]) & (x <= self.right[panel])
        middle = 0.5 * (self.left[panel] + self.right[panel])
        found = np.where(inside, self.log_at(panel, np.where(inside, x, middle)), -np.inf)
        for side, end in enumerate((self.left[0], self.right[-1])):
            if not np.isnan(self.rates[side]):
                outside = x > end if side else x < end
                with np.errstate(invalid="ignore"):
                    along = self._ends[side] + self.rates[side] * (x - end)
                found = np.where(outside, along, found)
        return found

    def _integral(self, panel: Any, low: Array, high: Array) -> Array:
        """Return the logarithm of the integral over parts of panels."""
        found = self._ruled(panel, low, high)
        at = self.log_at(panel, low), self.log_at(panel, high)
        drop = np.abs(at[1] - at[0])
        steep = drop > _STEEPEST
        if steep.any():
            low, high, rises = low[steep], high[steep], (at[1] > at[0])[steep]
            step = (high - low) * _STEEPEST / drop[steep]
            cuts = np.minimum(step[:, None] * np.arange(_STEPS + 1), (high - low)[:, None])
            points = np.where(rises[:, None], high[:, None] - cuts, low[:, None] + cuts)
            ends = np.sort(points, axis=1)
            rows = np.broadcast_to(np.asarray(panel)[steep][:, None], ends[:, 1:].shape)
            found[steep] = log_sum(self._ruled(rows, ends[:, :-1], ends[:, 1:]))
        return found

    def _ruled(self, panel: Any, low: Array, high: Array) -> Array:
        half = 0.5 * (high - low)
        points = 0.5 * (low + high)[..., None] + half[..., None] * RULE.nodes
        values = self.log_at(np.broadcast_to(np.asarray(panel)[..., None], points.shape), points)
        with np.errstate(divide="ignore"):
            return log_sum(values + np.log(RULE.weights)) + np.log(half)

    def log_beyond(self, x: Array, upper: bool) -> Array:
        """Return the logarithm of the integral from x on (or up to x)."""
        x = np.asarray(x, dtype=float)
        shape, x = x.shape, x.ravel()
        panel = self.panel_of(x)
        inside = np.clip(x, self.left[panel], self.right[panel])
        rest = (self._from_right[1:] if upper else self._from_left[:-1])[panel]
        ends = (inside, self.right[panel]) if upper else (self.left[panel], inside)
        found = np.logaddexp(self._integral(panel, *ends), rest)
        whole = self._from_right[0] if upper else self._from_left[-1]
        for side, end in enumerate((self.left[0], self.right[-1])):
            outside = x > end if side else x < end
            if not outside.any():
                continue
            rate, length = self.rates[side], np.abs(x - end)
            if side == int(upper):  # nothing but the tail is left
                with np.errstate(invalid="ignore"):
                    part = self._outer(side) - abs(rate) * length
            else:
                away = rate if side else -rate
                with np.errstate(invalid="ignore"):
                    part = np.logaddexp(whole, self._ends[side] + _log_stretch(away, length))
                part = np.where(np.isnan(part), whole, part)
            part = np.where(np.isnan(part), -np.inf, part)
            found = np.where(outside, part, found)
        return np.asarray(found.reshape(shape))

    def tilted(self, rate: float) -> LogFunction:
        """Return g(x) e^(rate x)."""
        ends = (self.rates[0] + rate, self.rates[1] + rate)
        return replace(self, log_values=self.log_values + rate * self._nodes, rates=ends)

    def times(self, other: LogFunction, widest: float) -> LogFunction | None:
        """Return the product; None where it is zero everywhere."""
        edges = [self.left, self.right[-1:], other.left, other.right[-1:]]
        ends = np.unique(np.concatenate([self.breakpoints, other.breakpoints]))

        def function(x: Array) -> Array:
            return self.log_value(x) + other.log_value(x)

        found = _refine(function, _distinct(np.concatenate(edges)), ends, widest)
        if found is None:
            return None
        # where one of them ends, so does the product
        rates = [
            rate if np.isfinite(one + two) else np.nan
            for rate, one, two in zip(found.rates, self.rates, other.rates, strict=True)
        ]
        return replace(found, rates=(rates[0], rates[1]))


def density(centre: float, scale: float, reach: float) -> LogFunction:
    """Return the density of a Laplace variable."""
    left, right = np.array([centre - reach, centre]), np.array([centre, centre + reach])
    away = 0.5 * reach * np.stack([1 - RULE.nodes, 1 + RULE.nodes])  # of the nodes from the centre
    values = -away / scale - np.log(2 * scale)
    return LogFunction(left, right, values, np.array([centre]), (1 / scale, -1 / scale))


def constant(reach: float) -> LogFunction:
    """Return the function that is 1 everywhere."""
    ends = np.array([-reach, reach])
    return LogFunction(ends[:1], ends[1:], np.zeros((1, ORDER)), np.empty(0), (0.0, 0.0))


def build(
    function: Callable[[Array], Array], breakpoints: Iterable[float], widest: float, reach: float
) -> LogFunction | None:
    """Return the log function on panels between the breakpoints and a reach beyond them.

    Panels where it is -inf are left out; None if that is all of them.
    """
    inner = np.unique(np.array([x for x in breakpoints if np.isfinite(x)], dtype=float))
    middle = inner if len(inner) else np.zeros(1)
    edges = _distinct(np.concatenate([[middle[0] - reach], inner, [middle[-1] + reach]]))
    return _refine(function, edges, inner, widest)


def _distinct(edges: Array) -> Array:
    """Return edges in order, without those that rounding alone tells apart."""
    edges = np.unique(edges)
    scale = max(float(np.abs(edges).max()), float(edges[-1] - edges[0]))
    return np.asarray(edges[np.append(True, np.diff(edges) > 1e-14 * scale)])


def _refine(
    function: Callable[[Array], Array], edges: Array, inner: Array, widest: float
) -> LogFunction | None:
    """Halve panels until the function is resolved on all of them."""
    left, right = edges[:-1], edges[1:]
    scale = max(float(np.abs(edges).max()), float(edges[-1] - edges[0]))
    done: list[tuple[Array, Array, Array]] = []
    before = np.full(len(left), np.inf)
    for depth in range(_DEEPEST + 1):
        half = 0.5 * (right - left)
        points = 0.5 * (left + right)[:, None] + half[:, None] * _NODES_AND_ENDS
        everywhere = function(points)
        values = everywhere[:, :ORDER]
        present = np.asarray(np.isfinite(values).all(-1))
        # what is -inf at every node may be finite next to an end; it is monotone, so not inside
        partly = np.isfinite(everywhere).any(-1) & ~present
        with np.errstate(invalid="ignore"):
            terms = np.abs(np.where(present[:, None], values, 0.0) @ RULE.coefficients.T)
        # a layer next to a breakpoint may be thinner than the distance to the first node
        with np.errstate(invalid="ignore"):
            missed = np.abs(everywhere[:, ORDER:] - values @ RULE.ends.T)
        missed = np.where(np.isfinite(missed), 0.1 * missed, 0.0)
        last = terms[:, -3:].max(-1)
        rest = np.maximum(last, missed.max(-1))
        level = np.abs(np.where(present[:, None], values, 0.0)).max(-1)
        # halving that no longer helps has met the rounding of the function itself
        stuck = (rest < 1e-9) & (rest > 0.5 * before)
        # what a narrow panel gets wrong counts by its share of the integral
        small = rest * np.minimum(1.0, half / widest) <= 1e-12 + 4e-15 * level
        straight = (2 * terms[:, 1] <= _STEEPEST) | (terms[:, 2:].sum(-1) <= _BENT)
        flat = terms[:, 2:].sum(-1) <= _STEEPEST
        narrow = half <= 1e-14 * scale
        good = present & (((small | stuck) & straight & flat) | narrow | (depth == _DEEPEST))
        done.append((left[good], right[good], values[good]))
        again = ((present & ~good) | partly) & ~narrow
        if depth == _DEEPEST or not again.any():
            break
        # where only an end is missed, a thin layer there is cut off at once
        layer = present & (missed.max(-1) > 10 * last)
        share = np.where(layer, np.where(missed[:, 0] > missed[:, 1], _LAYER, 1 - _LAYER), 0.5)
        middle = (left + share * (right - left))[again]
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
        RULE.slopes[0] @ values[0] * 2 / (right[0] - left[0]),
        (RULE.slopes[1] @ values[-1] * 2 / (right[-1] - left[-1])),
    )
    rates = (
        float(slopes[0]) if left[0] == edges[0] else np.nan,
        float(slopes[1]) if right[-1] == edges[-1] else np.nan,
    )
    return LogFunction(left, right, values, inner, rates)

"""How to lay panels of fibres over the plane so that a function of a given shape is smooth on them.

Panels end at the lines of the outer register, at the knots of the curves, and where two breakpoints
of the fibres cross. The fibres of a panel have the same breakpoints in the same order: the lines of
the inner register and the curves. Beyond the last breakpoint the cells grow with the distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.gauss import Array
from dpaudit.exact.floats.sheet import OUTER, OUTER_RULE, Border, Patch, Shape, Sheet

_WIDEST = 1.25  # of a cell or panel, in units of the smallest noise scale
# Ends of cells and panels counted from the last breakpoint, in units of the largest scale: beyond
# it everything decays, so cells may grow with the distance; e^-34 is dropped.
_TAIL = np.array([1.25, 2.5, 3.75, 5.0, 7.0, 9.0, 12.0, 15.0, 20.0, 26.0, 34.0])
_MOST_PANELS = 1500
_FINEST = 16  # times that the smallest scale may go into the largest
_SAMPLES = np.cos(np.pi * np.arange(16, -1, -1) / 16)


@dataclass(frozen=True)
class Scales:
    """The smallest and the largest noise scale of a path, and into how much tails are cut."""

    fine: float
    coarse: float
    parts: int = 1  # of a tail's cells: noise of the smallest scale that is added must be resolved

    def __post_init__(self) -> None:
        if self.coarse > _FINEST * (1 + 1e-9) * self.fine:
            raise Unsupported(f"The noise scales of a path differ by more than {_FINEST}:1.")


def windows(
    count: int, met: Iterable[tuple[int, int, Border]], coarse: float
) -> tuple[list[list[float]], bool]:
    """Return for each register zero and the range where its curves bend and meet; if it is clipped.

    The density of the noise decays from zero, and what a later decision asks of a register changes
    at the curves' corners and crossings alone, so a path's likelihood lives between these points.
    Those beyond 60 noise scales are left out: what lies there has a probability below 1e-19.
    """
    found: list[list[float]] = [[0.0] for _ in range(count)]
    limit, clipped = 60 * coarse, False
    for *pair, curve in 2 * list(met):  # twice, for what lies across two curves
        for axis in (0, 1):
            mine, theirs = found[pair[axis]], found[pair[1 - axis]]
            points = np.array([*mine, *curve.knots(axis), *curve.least(axis, np.array(theirs))])
            points = points[np.isfinite(points)]
            clipped = clipped or bool(np.abs(points).max() > limit)
            inside = np.clip(points, -limit, limit)
            mine[:] = [float(inside.min()), 0.0, float(inside.max())]
    return found, clipped


def arrange(shape: Shape, axis: int, scales: Scales, clock: Clock = ENDLESS) -> Sheet:
    """Return panels of fibres along an axis on which a function of this shape is smooth."""
    lines = np.array(sorted(shape.lines[axis]))
    turns = [x for curve in shape.curves for x in curve.knots(1 - axis)]
    ends = np.array(sorted(shape.with_lines(1 - axis, turns).lines[1 - axis]))
    reach = _TAIL[-1] * scales.coarse
    whole = np.concatenate([[ends[0] - reach], ends, [ends[-1] + reach]])
    crossings = _crossings(shape.curves, axis, lines, whole, scales)
    shape = shape.with_lines(1 - axis, [*ends, *crossings])
    ends = np.array(sorted(shape.lines[1 - axis]))
    bounds = np.array(_intervals(ends, scales))
    # a panel that may be wide may also be steep: both are judged at its distance from breakpoints
    units = np.maximum(_WIDEST * scales.fine, bounds[:, 1] - bounds[:, 0])
    panels: list[Patch] = []
    while len(bounds):
        rows = _over(shape.curves, axis, bounds)
        pieces = _pieces(rows, units)
        pieces[bounds[:, 1] - bounds[:, 0] <= 1e-9 * scales.fine] = 1
        for place in np.flatnonzero(pieces == 1):
            clock()
            low, high = bounds[place]
            outside = max(ends[0] - high, low - ends[-1], 0.0)
            edges = _edges(lines, rows[:, place], scales, _split(_tail(scales, outside), scales))
            panels.append(Patch(float(low), float(high), edges))
        if len(panels) + int(pieces[pieces > 1].sum()) > _MOST_PANELS:
            raise Unsupported(
                f"The curves of this path's decisions cut the plane into more than {_MOST_PANELS} "
                "panels."
            )
        halves = [
            np.linspace(bounds[p, 0], bounds[p, 1], int(pieces[p]) + 1)
            for p in np.flatnonzero(pieces > 1)
        ]
        units = np.repeat(units[pieces > 1], pieces[pieces > 1])
        bounds = np.concatenate(
            [np.stack([cuts[:-1], cuts[1:]], axis=1) for cuts in halves] or [np.empty((0, 2))]
        )
    panels.sort(key=lambda panel: panel.low)
    return Sheet(axis, panels, shape)


def _parts(width: float, scales: Scales) -> Array:
    """Return inner ends, as parts of the whole, of cells between breakpoints `width` apart."""
    count = max(1, int(np.ceil(width / (_WIDEST * scales.fine) - 1e-9)))
    return np.arange(1, count) / count


def _tail(scales: Scales, outside: float = 0.0) -> Array:
    """Return the ends of the cells beyond the last breakpoint, counted from it.

    On a fibre that is itself `outside` all breakpoints of the other register both tails add up.
    """
    fast, slow = _TAIL * scales.fine, _TAIL * scales.coarse
    both = np.concatenate([fast[fast < slow[0]], slow])
    return both[: np.searchsorted(both, _TAIL[-1] * scales.coarse - outside) + 1]


def _split(tail: Array, scales: Scales) -> Array:
    """Cut the cells of a tail so that noise of the smallest scale is resolved as the largest is."""
    starts = np.append(0.0, tail[:-1])
    parts = np.arange(1, scales.parts + 1) / scales.parts
    return np.unique(starts[:, None] + (tail - starts)[:, None] * parts)


def _intervals(ends: Array, scales: Scales) -> list[tuple[float, float]]:
    tail = _tail(scales)
    points = [*(ends[0] - tail[::-1])]
    for low, high in zip(ends[:-1], ends[1:], strict=True):
        points += [low, *(low + (high - low) * _parts(high - low, scales))]
    points += [ends[-1], *(ends[-1] + tail)]
    return list(zip(points[:-1], points[1:], strict=True))


def _breakpoints(curves: Sequence[Border], axis: int, lines: Array, outer: Array) -> Array:
    """Return the lines and the curves over outer points, one row each; curves may be infinite."""
    rows = [np.full_like(outer, line) for line in lines]
    rows += [curve.least(axis, outer) for curve in curves]
    return np.array(rows)


def _crossings(
    curves: Sequence[Border], axis: int, lines: Array, ends: Array, scales: Scales
) -> list[float]:
    """Return the outer values between these ends where two breakpoints cross."""
    if not curves:
        return []
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    # the ends themselves belong to both sides of a corner
    samples = middle[:, None] + half[:, None] * _SAMPLES * (1 - 1e-10)
    rows = _breakpoints(curves, axis, lines, samples.ravel()).reshape(-1, *samples.shape)
    noise = 1e-11 * scales.fine
    brackets = []
    first = len(lines)
    for i, j in combinations(range(len(rows)), 2):
        if j < first:
            continue
        with np.errstate(invalid="ignore"):
            gap = rows[i] - rows[j]
        gap = np.where(np.isfinite(gap), gap, np.nan)
        side = np.where(np.abs(gap) < noise, 0.0, np.sign(gap))
        change = side[:, :-1] * side[:, 1:] < 0
        touch = (side[:, 1:-1] == 0) & (side[:, :-2] * side[:, 2:] < 0)
        brackets += [(i, j, samples[p, k], samples[p, k + 1]) for p, k in np.argwhere(change)]
        brackets += [(i, j, samples[p, k], samples[p, k + 2]) for p, k in np.argwhere(touch)]
    if not brackets:
        return []
    pairs = np.array([(i, j) for i, j, _, _ in brackets])
    low, high = np.array([(x, y) for _, _, x, y in brackets]).T
    rank = np.arange(len(pairs))

    def difference(x: Array) -> Array:
        every = _breakpoints(curves, axis, lines, x)
        return np.asarray(every[pairs[:, 0], rank] - every[pairs[:, 1], rank])

    return [float(x) for x in _roots(difference, low, high)]


def _roots(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return the zeros between low and high: false position, the stale end halved (Illinois)."""
    at_low, at_high = function(low), function(high)
    x = low
    for _ in range(60):
        before, x = x, (low * at_high - high * at_low) / (at_high - at_low)
        if np.all(np.abs(x - before) <= 1e-13 * np.maximum(1.0, np.abs(x))):
            break
        value = function(x)
        same = value * at_low > 0
        at_high = np.where(same, 0.5 * at_high, value)
        at_low = np.where(same, value, 0.5 * at_low)
        low, high = np.where(same, x, low), np.where(same, high, x)
        # a zero that is hit stays where it is
        hit = value == 0
        low, high = np.where(hit, x, low), np.where(hit, x, high)
        at_low, at_high = np.where(hit, -1.0, at_low), np.where(hit, 1.0, at_high)
    return x


def _over(curves: Sequence[Border], axis: int, bounds: Array) -> Array:
    """Return the curves over the nodes of panels: curves x panels x nodes."""
    middle, half = 0.5 * bounds.sum(1), 0.5 * (bounds[:, 1] - bounds[:, 0])
    nodes = middle[:, None] + half[:, None] * OUTER_RULE.nodes
    rows = [curve.least(axis, nodes.ravel()).reshape(nodes.shape) for curve in curves]
    return np.array(rows).reshape(len(curves), *nodes.shape)


def _pieces(rows: Array, units: Array) -> NDArray[np.int64]:
    """Return into how many pieces panels should be cut for their curves to be flat."""
    pieces = np.ones(len(units), dtype=np.int64)
    for row in rows:
        finite = np.isfinite(row).all(1)
        values = np.where(finite[:, None], row, 0.0)
        steep = np.ceil(np.ptp(values, axis=1) / units - 1e-9).astype(np.int64)
        pieces = np.maximum(pieces, steep)
    return pieces


def _edges(lines: Array, curves: Array, scales: Scales, tail: Array) -> Array:
    """Return the ends of the cells over the nodes of a panel: nodes x (cells + 1)."""
    reach = _TAIL[-1] * scales.coarse
    finite = np.clip(curves[np.isfinite(curves).all(1)], lines[0] - reach, lines[-1] + reach)
    fixed = np.broadcast_to(lines[:, None], (len(lines), OUTER))
    kept = np.sort(np.concatenate([fixed, finite]), axis=0)
    # what lies between two computations of the same curve is rounding, not a region
    kept = kept[np.append(True, np.diff(kept, axis=0).max(1) > 1e-10 * scales.fine)]
    columns = []
    for left, right in zip(kept[:-1], kept[1:], strict=True):
        parts = _parts(float((right - left).max()), scales)
        columns += [left, *(left + (right - left) * part for part in parts)]
    before = [kept[0] - x for x in tail[::-1]]
    after = [kept[-1], *(kept[-1] + x for x in tail)]
    return np.stack([*before, *columns, *after], axis=1)

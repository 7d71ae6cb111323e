"""The boundary of a decision between two scores, tabulated.

The boundary of a decision is a curve in the plane of the two registers, counted from the centres of
what they show. Arm `axis` wins iff its register is at least `least(axis, other)`, a monotone
function between corners: the points where a score or its image under the comparison is not smooth.
Between corners it is analytic and tabulated by Chebyshev polynomials, once per comparison: the
inverse of a KL bound costs a Newton iteration, and the integrals ask for it a hundred thousand
times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from dpaudit.core.scores import Affine
from dpaudit.exact.floats.own import Duel as Duel
from dpaudit.exact.floats.own import duel_of as duel_of

Array = NDArray[np.float64]

_DEGREE = 16
_NODES = chebyshev.chebpts1(_DEGREE + 1)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_NODES, _DEGREE))
_DEEPEST = 24
_COARSE = 9  # the degree on a panel of the integrals
_COARSE_NODES = chebyshev.chebpts1(_COARSE + 1)
_COARSE_TAIL = np.linalg.inv(chebyshev.chebvander(_COARSE_NODES, _COARSE))[-2:]
_RESOLVED = 1e-8  # of the threshold itself; finer changes no log-likelihood by 1e-11


@dataclass(frozen=True)
class Frontier:
    """A comparison, and the centres of what the two arms show to it."""

    duel: Duel
    centres: tuple[float, float]

    def least(self, axis: int, other: Array) -> Array:
        """Return the register value of an arm from which it beats the other's value."""
        table = threshold(self.duel, axis)
        return table(other + self.centres[1 - axis]) - self.centres[axis]

    def knots(self, axis: int) -> list[float]:
        """Return an arm's register values between which `least` of the other one is a polynomial.

        Its corners, and more points where it turns sharply without a corner.
        """
        return [x - self.centres[axis] for x in knots(self.duel, axis)]

    @property
    def line(self) -> bool:
        """Whether the curve is a straight line."""
        return threshold(self.duel, 0).affine

    @property
    def bounded(self) -> bool:
        """Whether beyond its corners the curve stays where it is."""
        return not any(threshold(self.duel, axis).plain for axis in (0, 1))


@lru_cache(maxsize=4096)
def corners(duel: Duel, axis: int) -> tuple[float, ...]:
    """Return the kinks of an arm's own score and the images of the other's."""
    points = [*duel.kinks(axis), *duel.image(1 - axis, duel.kinks(1 - axis))]
    ordered = sorted(points)
    return tuple(x for i, x in enumerate(ordered) if i == 0 or x - ordered[i - 1] > 1e-12)


@lru_cache(maxsize=4096)
def knots(duel: Duel, axis: int) -> tuple[float, ...]:
    """Return the corners, and points that split what is not resolved between them."""
    table = threshold(duel, 1 - axis)
    found = list(corners(duel, axis))
    pending = list(zip(found[:-1], found[1:], strict=True))
    while pending:
        low, high = pending.pop()
        values = table(0.5 * (low + high) + 0.5 * (high - low) * _COARSE_NODES)
        if np.isfinite(values).all():
            rest = np.abs(_COARSE_TAIL @ values).max()
            if rest > _RESOLVED and high - low > 1e-6:
                middle = 0.5 * (low + high)
                found.append(middle)
                pending += [(low, middle), (middle, high)]
    return tuple(sorted(found))


def threshold(duel: Duel, axis: int) -> Threshold:
    """Return `duel.least_to_win(axis, .)`, tabulated."""
    return _tabulated(duel.seated((1, 0)) if axis else duel)


@lru_cache(maxsize=4096)
def _tabulated(duel: Duel) -> Threshold:
    return Threshold(duel)


class Threshold:
    """The register from which the first position wins: constant, infinite or analytic stretches."""

    def __init__(self, duel: Duel) -> None:
        self._duel = duel
        ends = np.array(corners(duel, 1))
        self.affine = all(isinstance(score, Affine) for score in duel.scores)
        self.plain = self.affine or not len(ends) or not self._flat_outside(ends)
        if not self.plain:
            self._tabulate(ends)

    def _direct(self, other: Array) -> Array:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.asarray(self._duel.least_to_win(0, other), dtype=float)

    def _flat_outside(self, ends: Array) -> bool:
        far = np.array([ends[0] - 1e3, ends[0] - 1e-3, ends[-1] + 1e-3, ends[-1] + 1e3])
        values = self._direct(far)
        return bool(values[0] == values[1] and values[2] == values[3])

    def _tabulate(self, ends: Array) -> None:
        outer = self._direct(np.array([ends[0] - 1.0, ends[-1] + 1.0]))
        low, high, done = ends[:-1], ends[1:], []
        for depth in range(_DEEPEST + 1):
            values = self._direct(
                (0.5 * (low + high))[:, None] + np.outer(0.5 * (high - low), _NODES)
            )
            with np.errstate(invalid="ignore"):
                table = values @ _TO_COEFFICIENTS.T
            flat = (values == values[:, :1]).all(1)
            table[flat] = np.where(np.arange(_DEGREE + 1) == 0, values[flat], 0.0)
            rest = np.abs(table[:, -3:]).max(1)
            good = flat | (rest < 1e-13 * np.maximum(1.0, np.abs(values).max(1)))
            good |= (high - low <= 1e-13 * np.maximum(1.0, np.abs(low))) | (depth == _DEEPEST)
            done.append((low[good], high[good], table[good]))
            middle = 0.5 * (low + high)[~good]
            low, high = np.append(low[~good], middle), np.append(middle, high[~good])
            if not len(low):
                break
        lows, highs, tables = (np.concatenate(parts) for parts in zip(*done, strict=True))
        order = np.argsort(lows)
        constant = np.zeros((2, _DEGREE + 1))
        constant[:, 0] = outer
        self._left = np.append(lows[order], ends[-1])
        lows = np.concatenate([[ends[0] - 1.0], lows[order], ends[-1:]])
        highs = np.concatenate([ends[:1], highs[order], [ends[-1] + 1.0]])
        self._middle, self._half = 0.5 * (lows + highs), 0.5 * (highs - lows)
        self._table = np.concatenate([constant[:1], tables[order], constant[1:]])
        self._curved = np.abs(self._table[:, 1:]).max(1) > 0.0

    def __call__(self, other: Array) -> Array:
        """Return the least winning value against each value of the other register."""
        if self.plain:
            return self._direct(other)
        piece = np.searchsorted(self._left, other, side="right")
        result = self._table[piece, 0]
        curved = self._curved[piece]
        if curved.any():
            piece = piece[curved]
            t = np.clip((other[curved] - self._middle[piece]) / self._half[piece], -1.0, 1.0)
            result[curved] = _clenshaw(self._table[piece].T, t)
        return np.asarray(result)


def _clenshaw(coefficients: Array, t: Array) -> Array:
    first, second = np.zeros_like(t), np.zeros_like(t)
    double = 2 * t
    for row in coefficients[:0:-1]:
        first, second = row + double * first - second, first
    return np.asarray(coefficients[0] + t * first - second)

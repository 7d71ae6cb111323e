"""A fixed grid of panels for one register, and integrals against its density by product rules.

Functions are known by their values at the nodes of a register's grid. An integral of such a
function times something known in closed form (a Laplace density, a Laplace tail of a threshold) is
a weighted sum of the values, with weights that integrate the known factor against the panel's
Lagrange polynomials, split where the known factor has a kink. Accuracy is that of interpolating the
function, about 1e-6: enough to search; what is found is then evaluated by the adaptive chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]

ORDER = 8
_T, _W = (np.asarray(part) for part in legendre.leggauss(ORDER))
_FINE_T, _FINE_W = (np.asarray(part) for part in legendre.leggauss(16))
_TO_COEFFICIENTS = np.linalg.inv(legendre.legvander(_T, ORDER - 1))
_FINE_TO_COEFFICIENTS = np.linalg.inv(legendre.legvander(_FINE_T, len(_FINE_T) - 1))
_RULE = _FINE_W[:, None] * (legendre.legvander(_FINE_T, ORDER - 1) @ _TO_COEFFICIENTS)


class Grid:
    """Panels of Gauss-Legendre nodes."""

    def __init__(self, edges: Array) -> None:
        self.edges = edges
        self.left, self.right = edges[:-1], edges[1:]
        half = 0.5 * (self.right - self.left)
        self.points: Array = (0.5 * (self.left + self.right)[:, None] + half[:, None] * _T).ravel()

        self.fine: Array = 0.5 * (self.left + self.right)[:, None] + half[:, None] * _FINE_T
        self._half = half

    @property
    def panels(self) -> int:
        """How many panels there are."""
        return len(self.left)

    def __len__(self) -> int:
        return len(self.points)

    def panel_of(self, x: Array) -> NDArray[np.int64]:
        """Return the panel that holds each point (the nearest one outside)."""
        place = np.searchsorted(self.edges, x, side="right") - 1
        return np.clip(place, 0, self.panels - 1)

    def partial(
        self, factor: Callable[[Array], Array], low: Array, high: Array, panel: NDArray[np.int64]
    ) -> Array:
        """Return weights of the integral of factor times a function over parts of panels."""
        half = 0.5 * (high - low)
        x = 0.5 * (low + high)[:, None] + half[:, None] * _FINE_T
        left, right = self.left[panel][:, None], self.right[panel][:, None]
        t = (2 * x - left - right) / (right - left)
        lagrange = legendre.legvander(t, ORDER - 1) @ _TO_COEFFICIENTS
        known = factor(x) * _FINE_W * half[:, None]
        return np.asarray(np.einsum("iq,iqj->ij", known, lagrange))

    def weights(
        self,
        factor: Callable[[Array, Array], Array],
        shape: Array,
        kinks: Iterable[float],
    ) -> Array:
        """Return the weights of the integral of factor(x, shape(x)) times a function.

        `shape` holds, at the points `fine`, whatever smooth function of x the factor needs; in a
        panel that a kink of the factor splits, it is interpolated.
        """
        total = (factor(self.fine, shape) * self._half[:, None]) @ _RULE
        inside = [k for k in kinks if self.edges[0] < k < self.edges[-1]]
        for panel in {int(k) for k in self.panel_of(np.array(inside, dtype=float))}:
            left, right = self.left[panel], self.right[panel]
            coefficients = _FINE_TO_COEFFICIENTS @ shape[panel]

            def local(
                x: Array, left: Any = left, right: Any = right, c: Any = coefficients
            ) -> Array:
                return factor(x, legendre.legval((2 * x - left - right) / (right - left), c))

            cuts = np.unique(np.array([left, right, *(k for k in inside if left < k < right)]))
            same = np.full(len(cuts) - 1, panel)
            total[panel] = self.partial(local, cuts[:-1], cuts[1:], same).sum(0)
        return np.asarray(total.ravel())


def make_edges(kinks: Iterable[float], centre: float, scale: float, widest: float) -> Array:
    """Return panel edges around a release: its window reaches past its kinks, within reason."""
    tail, reach = 20.0, 130.0
    near = [k for k in kinks if abs(k - centre) <= reach * scale]
    points = sorted({centre, *near})
    points = [points[0] - tail * scale, *points, points[-1] + tail * scale]
    edges = [points[0]]
    for a, b in zip(points, points[1:], strict=False):
        if b - a < 1e-9 * scale:
            continue
        pieces = max(1, int(np.ceil((b - a) / (widest * scale))))
        edges += [a + (b - a) * i / pieces for i in range(1, pieces + 1)]
    return np.array(edges)

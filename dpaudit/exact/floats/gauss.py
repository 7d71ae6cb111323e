"""Gauss-Legendre nodes on [-1, 1]: interpolation, integration and ends of what is known at them."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]


class GaussRule:
    """The nodes of one order, and matrices from values at them to what is asked of a function."""

    def __init__(self, order: int) -> None:
        self.nodes, self.weights = (np.asarray(part) for part in legendre.leggauss(order))
        gaps = self.nodes[:, None] - self.nodes + np.eye(order)
        self.barycentric = 1.0 / gaps.prod(1)
        # the coefficients of Legendre polynomials
        self.coefficients = np.linalg.inv(legendre.legvander(self.nodes, order - 1))
        integrals = [legendre.legint(row, lbnd=-1) for row in np.eye(order)]
        values = np.stack([legendre.legval(self.nodes, row) for row in integrals], axis=1)
        self._beyond = np.stack(
            [-legendre.legint(column, lbnd=1) for column in self.coefficients.T], axis=1
        )
        self.partial = values @ self.coefficients  # integrals from -1 to each node
        # values and slopes at -1 and at 1
        self.ends = legendre.legvander(np.array([-1.0, 1.0]), order - 1) @ self.coefficients
        degrees = np.arange(order) * np.arange(1, order + 1) / 2
        signs = (-1.0) ** np.arange(1, order + 1)
        self.slopes = np.array([degrees * signs, degrees]) @ self.coefficients

    def beyond(self, t: Array) -> Array:
        """Return the integrals of the interpolating polynomials from points to 1."""
        return np.asarray(legendre.legvander(t, len(self.nodes)) @ self._beyond)

    def basis(self, t: Array) -> Array:
        """Return the values of the interpolating polynomials at points (last axis: nodes)."""
        gaps = t[..., None] - self.nodes
        hit = gaps == 0
        ratio = self.barycentric / np.where(hit, 1.0, gaps)
        smooth = ratio / ratio.sum(-1, keepdims=True)
        if hit.any():
            smooth = np.where(hit.any(-1, keepdims=True), hit.astype(float), smooth)
        return np.asarray(smooth)

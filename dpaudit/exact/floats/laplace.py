"""The Laplace law by the logarithms of its tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def log_survival(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X > x) for a Laplace variable."""
    z = (x - centre) / scale
    return np.where(z > 0, -z - np.log(2), np.log1p(-0.5 * np.exp(np.minimum(z, 0.0))))


def log_cumulative(x: Array, centre: float, scale: float) -> Array:
    """Return log P(X < x) for a Laplace variable."""
    return log_survival(-x, -centre, scale)

"""Logarithms of sums and of Laplace probabilities, compiled; accurate however small they are."""

from __future__ import annotations

import math

from dpaudit.exact.compiling import compiled


@compiled
def log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    if a == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@compiled
def log_survival(x: float, centre: float, scale: float) -> float:
    """Return log P(X > x) of a Laplace variable."""
    z = (x - centre) / scale
    if z > 0:
        return -z - 0.6931471805599453
    return math.log1p(-0.5 * math.exp(z))


@compiled
def log_cumulative(x: float, centre: float, scale: float) -> float:
    """Return log P(X < x) of a Laplace variable."""
    return log_survival(-x, -centre, scale)

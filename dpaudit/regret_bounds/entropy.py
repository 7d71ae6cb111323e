"""Relative entropies that may be divided by: accurate when the two means almost meet.

`core.divergence.bernoulli` subtracts logarithms, which is right for index comparisons; a regret
bound divides by the result, so for a gap of 1e-8 it must not round to 0. All of them are built
from H(1 + x) = (1 + x) log(1 + x) - x, computed without cancellation:

| law         | relative entropy KL(mean m || mean q)              |
|-------------|----------------------------------------------------|
| Bernoulli   | q H(m / q) + (1 - q) H((1 - m) / (1 - q))          |
| Poisson     | q H(m / q)                                         |
| exponential | m / q - 1 - log(m / q)                             |
"""

from __future__ import annotations

import math


def log1p_minus(x: float) -> float:
    """Return log(1 + x) - x, by its series where the difference would cancel."""
    if abs(x) > 0.05:
        return math.log1p(x) - x
    power, total = x, 0.0
    for k in range(2, 16):
        power *= -x
        total += power / k
    return total


def convex_log(x: float) -> float:
    """Return H(1 + x) = (1 + x) log(1 + x) - x for x >= -1."""
    if x <= -1:
        return 1.0
    return (1 + x) * log1p_minus(x) + x * x


def bernoulli(p: float, q: float) -> float:
    """Return d(p, q), infinite where q is 0 or 1 and p is not."""
    if p == q:
        return 0.0
    if q in (0.0, 1.0):
        return math.inf
    return q * convex_log((p - q) / q) + (1 - q) * convex_log((q - p) / (1 - q))


def poisson(mean: float, other: float) -> float:
    """Return KL(Poisson(mean) || Poisson(other)) for other > 0."""
    return other * convex_log((mean - other) / other)


def exponential(mean: float, other: float) -> float:
    """Return KL between exponential laws with these means."""
    return -log1p_minus((mean - other) / other)

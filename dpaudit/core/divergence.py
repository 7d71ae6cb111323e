"""Bernoulli divergences in coordinates that do not saturate.

d(p, q) is the relative entropy between Bernoulli laws. Its upper confidence bound q rounds to 1.0
in doubles long before it reaches 1, which makes false ties; here the bound is returned as
v = -log(1 - q), which tells 1 - 1e-300 from 1 - 1e-301 and is infinite only at q = 1.

d_epsilon(x, y) = inf over z in [x, y] of epsilon |z - x| + d(z, y) (arXiv 2505.05613) is the
divergence that governs private Bernoulli bandits. The inner z is max(x, tilt(y)) with
tilt(y) = y e^-epsilon / D(y) and D(y) = 1 - y + y e^-epsilon; where the tilt wins,
d_epsilon(x, y) = -epsilon x - log D(y).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Array = NDArray[np.float64]


def bernoulli(p: Any, q: Any) -> Any:
    """Return d(p, q), infinite where q is 0 or 1 and p is not; vectorised."""
    p, q = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(q, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(p > 0, xlogy(p, p) - p * np.log(q), 0.0)
        zeros = np.where(p < 1, xlogy(1 - p, 1 - p) - (1 - p) * np.log1p(-q), 0.0)
    return np.maximum(ones + zeros, 0.0)[()]


def upper_bound(mean: Any, level: Any) -> Any:
    """Return v = -log(1 - q) for the largest q with d(mean, q) <= level; vectorised.

    Newton's method from the right on a convex increasing function, so every iterate stays above
    the root and the last one is accurate to a few ulps.
    """
    mean, level = np.broadcast_arrays(np.asarray(mean, dtype=float), np.asarray(level, dtype=float))
    result = np.where(mean >= 1, np.inf, level)  # exact at mean = 0
    inner = (mean > 0) & (mean < 1)
    if inner.any():
        result[inner] = _newton_from_right(mean[inner], level[inner])
    return result[()]


def _newton_from_right(p: Array, level: Array) -> Array:
    rest = 1 - p
    entropy = -xlogy(p, p) - xlogy(rest, rest)
    least = -np.log1p(-p)
    start = (level + entropy) / rest
    pinsker = rest - np.sqrt(level / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.where(pinsker > 0, np.minimum(start, -np.log(pinsker)), start)
    v: Array = np.maximum(start, least)
    for _ in range(100):
        decay = np.exp(-v)
        excess = rest * v - p * np.log1p(-decay) - entropy - level
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = rest - p * decay / (1 - decay)
            move = np.where((excess > 0) & (slope > 0), excess / slope, 0.0)
        after = np.maximum(v - move, least)
        if np.all(v - after <= 4e-16 * v):
            return np.asarray(after)
        v = after
    return v


def lower_mean(v: Any, level: Any) -> Any:
    """Return the p <= q with d(p, q) = level, for q = 1 - e^-v and v > level; vectorised.

    The tilt p = q e^-s / (1 - q + q e^-s) turns the equation into an increasing one in s, solved by
    bisection to the last bit: no cancellation for p near 0 nor for q near 1.
    """
    v, level = np.broadcast_arrays(np.asarray(v, dtype=float), np.asarray(level, dtype=float))
    with np.errstate(divide="ignore"):
        log_q = np.log(-np.expm1(-v))
    low, high = np.zeros_like(v), np.ones_like(v)

    def excess(s: Array) -> Array:
        log_d = np.logaddexp(-v, log_q - s)
        return np.asarray(-s * np.exp(log_q - s - log_d) - log_d - level)

    for _ in range(60):
        short = excess(high) < 0
        if not short.any():
            break
        high = np.where(short, 2 * high, high)
    for _ in range(80):
        middle = 0.5 * (low + high)
        below = excess(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    s = 0.5 * (low + high)
    return np.where(np.isinf(v), 1.0, np.exp(log_q - s - np.logaddexp(-v, log_q - s)))[()]


def private_bernoulli(x: Any, y: Any, epsilon: Any) -> Any:
    """Return d_epsilon(x, y) for x <= y (and 0 for x >= y); vectorised."""
    x, y, epsilon = np.broadcast_arrays(
        np.asarray(x, dtype=float), np.asarray(y, dtype=float), np.asarray(epsilon, dtype=float)
    )
    denominator = 1 - y + y * np.exp(-epsilon)
    tilt = y * np.exp(-epsilon) / denominator
    tilted = -epsilon * x - np.log(denominator)
    return np.where(x >= y, 0.0, np.where(tilt > x, tilted, bernoulli(x, y)))[()]


def private_upper_bound(mean: Any, level: Any, epsilon: Any) -> Any:
    """Return v = -log(1 - q) for the largest q with d_epsilon(mean, q) <= level; vectorised.

    q is 1, and v infinite, as soon as epsilon (1 - mean) <= level: unlike d, d_epsilon stays finite
    at q = 1, so these ties are real.
    """
    mean, level, epsilon = np.broadcast_arrays(
        np.asarray(mean, dtype=float), np.asarray(level, dtype=float), np.asarray(epsilon, float)
    )
    plain = upper_bound(mean, level)
    # log of (1 - q) (1 - e^-epsilon) = e^-(level + epsilon mean) - e^-epsilon
    room = epsilon - level - epsilon * mean
    with np.errstate(divide="ignore", invalid="ignore"):
        log_rest = -epsilon + np.log(np.expm1(np.maximum(room, 0.0))) - np.log(-np.expm1(-epsilon))
        edge = np.where(mean < 1, np.logaddexp(np.log1p(-mean), np.log(mean) + epsilon), np.inf)
        edge = edge - np.where(mean < 1, np.log1p(-mean), 0.0)
    # up to v = edge the tilt stays below the mean, and d_epsilon is d
    return np.where(plain <= edge, plain, np.where(room > 0, -log_rest, np.inf))[()]


def private_lower_mean(v: Any, level: Any, epsilon: Any) -> Any:
    """Return the largest x with d_epsilon(x, 1 - e^-v) >= level, or -inf if there is none."""
    v, level, epsilon = np.broadcast_arrays(
        np.asarray(v, dtype=float), np.asarray(level, dtype=float), np.asarray(epsilon, dtype=float)
    )
    q = -np.expm1(-v)
    log_d = np.logaddexp(-v, np.log(q) - epsilon)
    tilt = np.exp(np.log(q) - epsilon - log_d)
    tilted = (-level - log_d) / epsilon
    plain = np.where(v > level, lower_mean(v, np.minimum(level, v)), -np.inf)
    return np.where(tilted <= tilt, np.where(tilted >= 0, tilted, -np.inf), plain)[()]

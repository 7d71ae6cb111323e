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

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
COARSE = 2.0**40
ALMOST_ONE = 1 - 2.0**-53  # the double below 1: n times the double of 1 / n may round to it


def _doubles(*values: Any) -> tuple[Array, ...]:
    """Return numbers or arrays as arrays of doubles of one shape."""
    return np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in values))


def bernoulli(p: Any, q: Any) -> Any:
    """Return d(p, q), infinite where q is 0 or 1 and p is not; vectorised.

    The sum of p log(p / q) + q - p and of the same for 1 - p and 1 - q: two non-negative terms,
    each accurate to a few ulps also where q is close to p.
    """
    p, q = _doubles(p, q)
    return (_half(p, q, q - p) + _half(1 - p, 1 - q, p - q))[()]


def _half(p: Array, q: Array, gap: Array) -> Array:
    """Return p log(p / q) + gap for gap = q - p, which is p (x - log(1 + x)) with x = gap / p."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = gap / p
        close = np.abs(x) < 0.3
        far = np.where(p > 0, gap + p * (np.log(p) - np.log(q)), gap)
    if not close.any():
        return far
    x = np.where(close, x, 0.0)
    s = x / (2 + x)
    # log(1 + x) = 2 atanh(s) and x - 2 s = s x, so nothing cancels
    square, tail = s * s, np.zeros_like(s)
    for odd in range(25, 1, -2):
        tail *= square
        tail += 1 / odd
    return np.where(close, p * (s * x - 2 * s**3 * tail), far)


def upper_bound(mean: Any, level: Any) -> Any:
    """Return v = -log(1 - q) for the largest q with d(mean, q) <= level; vectorised.

    With w = log((1 - p) / (1 - q)), d = (1 - p) w - p log(1 + (1 - p) (1 - e^-w) / p) is convex and
    increasing in w, so Newton's method from the right stays above the root and ends within a few
    ulps of v = w - log(1 - p).
    """
    mean, level = _doubles(mean, level)
    if not level.any():  # q is the mean
        with np.errstate(divide="ignore"):
            return -np.log1p(-mean)[()]
    result = np.where(mean >= 1, np.inf, level)  # exact at mean = 0
    inner = (mean > 0) & (mean < 1)
    if inner.all():
        return _newton_from_right(mean, level)[()]
    if inner.any():
        result[inner] = _newton_from_right(mean[inner], level[inner])
    return result[()]


def monotone_upper_bound(mean: Any, level: Any) -> Any:
    """Return the bound of `mean` rounded down to a multiple of 2^-40; computed, it never falls.

    The bound rises by at least (1 + v) 2^-40 from one multiple to the next, and is computed to
    within 2^-46 (1 + v) wherever log, log1p and expm1 are within 4 ulps (proofs/doubles.md). The
    bound of a mean itself falls between one of about a hundred pairs of neighbouring doubles.
    """
    return upper_bound(np.floor(np.asarray(mean, dtype=float) * COARSE) / COARSE, level)


def _newton_from_right(p: Array, level: Array) -> Array:
    rest = 1 - p
    least = -np.log1p(-p)
    with np.errstate(over="ignore"):
        odds = np.minimum(rest / p, 1e307)
    # d >= (1 - p) w + p log p; and d >= (q - p)^2 / (2 q) bounds q - p
    w = (level - p * np.log(p)) / rest
    reach = (level + np.sqrt(level * (level + 2 * p))) / rest
    w = np.where(reach < 1, np.minimum(w, -np.log1p(-np.minimum(reach, 0.999))), w)
    w = w * (1 + 1e-12)  # above the root also where these roundings add up
    for _ in range(100):
        above = -np.expm1(-w)
        excess = rest * w - p * np.log1p(odds * above) - level
        # the slope is (1 - p) (1 - e^-w) / q
        move = excess * (p + rest * above) / (rest * np.maximum(above, 1e-300))
        after = np.maximum(w - np.where((excess > 0) & (above > 0), move, 0.0), 0.0)
        if np.all(w - after <= 2e-16 * (least + w)):
            return np.asarray(least + after)
        w = after
    return np.asarray(least + w)


def lower_mean(v: Any, level: Any) -> Any:
    """Return the p <= q with d(p, q) = level, for q = 1 - e^-v; 0 where v <= level; vectorised.

    The tilt p = q e^-s / (1 - q + q e^-s) turns the equation into an increasing one in s whose
    slope is s p (1 - p): Newton's method, kept inside a bracket that shrinks at every step. The
    result is as accurate as its condition number allows, which is large only for v close to level;
    near p = 1 that is an ulp of p, which the bound v itself may resolve much more finely.
    """
    v, level = _doubles(v, level)
    if not level.any():  # p is q
        return -np.expm1(-np.maximum(v, 0.0))[()]
    shape, reachable = v.shape, v > level
    # stand-ins where there is nothing to solve
    level = np.atleast_1d(np.where(reachable, level, 0.5))
    finite = np.atleast_1d(np.where(reachable & np.isfinite(v), v, 2 * level + 1))
    low, high = np.zeros_like(finite), np.maximum(finite, 1.0)
    while (short := _tilted(finite, high)[0] < level).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
        if not (short & (high < 1000 + finite)).any():
            break  # e^(v - s) has vanished: v exceeds level by rounding alone
    s = 0.5 * (low + high)
    for _ in range(200):
        value, p, rest = _tilted(finite, s)
        low, high = np.where(value < level, s, low), np.where(value < level, high, s)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = s - (value - level) / (s * p * rest)
        inside = (newton > low) & (newton < high)
        # a step of a few ulps out of the bracket is rounding: halving would not improve on it
        settled = np.abs(newton - s) <= 2e-15 * s
        after = np.where(inside, newton, np.where(settled, s, 0.5 * (low + high)))
        if np.all(np.abs(after - s) <= 4e-16 * s):
            break
        s = after
    p = _tilted(finite, s)[1].reshape(shape)
    return np.where(np.isposinf(v), 1.0, np.where(reachable, p, 0.0))[()]


def _tilted(v: Array, s: Array) -> tuple[Array, Array, Array]:
    """Return d(p, q), p, 1 - p for the tilt s of q = 1 - e^-v, in the form that cancels least."""
    q, complement = -np.expm1(-v), np.exp(-v)
    half = np.minimum(q, 0.5)
    kept = 1 + half * np.expm1(-s)
    p = half * np.exp(-s) / kept
    small = (-np.log1p(half * np.expm1(-s)) - s * p, p, (1 - half) / kept)
    z = np.exp(np.minimum(s - v, 0.0))
    rise = np.where(s < 1, complement * np.expm1(np.minimum(s, 1.0)), z - complement)
    rest = z / (q + z)
    near = (s * rest - np.log1p(rise), q / (q + z), rest)
    u = q * np.exp(np.minimum(v - s, 0.0))
    p = u / (1 + u)
    far = (v - np.log1p(u) - s * p, p, 1 / (1 + u))
    pick = [q < 0.5, s <= v]
    forms = zip(small, near, far, strict=True)
    value, p, rest = (np.select(pick, [a, b], c) for a, b, c in forms)
    return value, p, rest


def private_bernoulli(x: Any, y: Any, epsilon: Any) -> Any:
    """Return d_epsilon(x, y) for x <= y (and 0 for x >= y); vectorised."""
    x, y, epsilon = _doubles(x, y, epsilon)
    small = np.log1p(np.minimum(y, 0.5) * np.expm1(-epsilon))
    with np.errstate(divide="ignore"):
        log_d = np.where(y < 0.5, small, np.logaddexp(np.log1p(-y), np.log(y) - epsilon))
    tilt = y * np.exp(-epsilon - log_d)
    tilted = -epsilon * x - log_d
    return np.where(x >= y, 0.0, np.where(tilt > x, tilted, bernoulli(x, y)))[()]


def private_upper_bound(mean: Any, level: Any, epsilon: Any) -> Any:
    """Return v = -log(1 - q) for the largest q with d_epsilon(mean, q) <= level; vectorised.

    q is 1, and v infinite, as soon as epsilon (1 - mean) <= level: unlike d, d_epsilon stays finite
    at q = 1, so these ties are real.
    """
    mean, level, epsilon = _doubles(mean, level, epsilon)
    plain = upper_bound(mean, level)
    # log of (1 - q) (1 - e^-epsilon) = e^-(level + epsilon mean) - e^-epsilon
    room = epsilon * (1 - mean) - level
    with np.errstate(divide="ignore", invalid="ignore"):
        log_gain = room + np.log(-np.expm1(-np.maximum(room, 0.0)))
        log_rest = -epsilon + log_gain - np.log(-np.expm1(-epsilon))
        edge = np.where(mean < 1, np.logaddexp(np.log1p(-mean), np.log(mean) + epsilon), np.inf)
        edge = edge - np.where(mean < 1, np.log1p(-mean), 0.0)
        q = np.minimum(np.expm1(-level - epsilon * mean) / np.expm1(-epsilon), 0.5)
        tilted = np.where(q < 0.5, -np.log1p(-q), -log_rest)
    # up to v = edge the tilt stays below the mean, and d_epsilon is d
    return np.where(plain <= edge, plain, np.where(room > 0, tilted, np.inf))[()]


def private_lower_mean(v: Any, level: Any, epsilon: Any) -> Any:
    """Return the largest x with d_epsilon(x, 1 - e^-v) >= level, or -inf if there is none."""
    v, level, epsilon = _doubles(v, level, epsilon)
    q = -np.expm1(-np.maximum(v, 0.0))
    with np.errstate(divide="ignore"):
        log_tilted = np.log(q) - epsilon
    log_d = np.logaddexp(-v, log_tilted)
    tilt = np.exp(log_tilted - log_d)
    tilted = (-level - log_d) / epsilon
    plain = np.where(v > level, lower_mean(v, level), -np.inf)
    return np.where(tilted <= tilt, np.where(tilted >= 0, tilted, -np.inf), plain)[()]


def private_changes(level: float, epsilon: float) -> list[float]:
    """Return the means where the private bound becomes 1 and where its two forms meet.

    d_epsilon(m, q) is d(m, q) as long as q (1 - m) <= e^epsilon m (1 - q). With equality there,
    d(m, q) = log(1 + m (e^epsilon - 1)) - epsilon m: concave in m and 0 at both ends, so it takes
    the level twice or never, before and after its peak.
    """
    if not 0 < level < epsilon:
        return []
    last = 1 - level / epsilon
    peak = 1 / epsilon - math.exp(-epsilon) / -math.expm1(-epsilon)

    def plain(m: float) -> bool:
        met = float(np.logaddexp(math.log1p(-m), math.log(m) + epsilon)) - epsilon * m
        return met > level

    if not 0 < peak < last or not plain(peak):
        return [last]
    return [last, _change(plain, 0.0, peak), _change(plain, last, peak)]


def _change(holds: Callable[[float], bool], outside: float, inside: float) -> float:
    """Return where a condition that holds inside and not outside changes, by halving."""
    while (middle := 0.5 * (outside + inside)) not in (outside, inside):
        outside, inside = (outside, middle) if holds(middle) else (middle, inside)
    return inside

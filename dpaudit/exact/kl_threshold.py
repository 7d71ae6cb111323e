"""The threshold between two KL scores, compiled: a register's value, the value that ties with it.

With v = -log(1 - q) the score of the given register, theta solves d(m, q) = level' for m <= q. The
roots are those of `dpaudit.core.divergence`, by the same Newton steps, point by point.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.kernels import upper_bound
from dpaudit.exact.compiling import compiled

Array = NDArray[np.float64]


@compiled
def _tilted(v: float, s: float) -> tuple[float, float, float]:
    """Return d(p, q), p, 1 - p for the tilt s of q = 1 - e^-v, as `divergence.lower_mean` does."""
    q = -math.expm1(-v)
    if q < 0.5:
        kept = 1 + q * math.expm1(-s)
        p = q * math.exp(-s) / kept
        return -math.log1p(q * math.expm1(-s)) - s * p, p, (1 - q) / kept
    complement = math.exp(-v)
    if s <= v:
        z = math.exp(s - v)
        rise = complement * math.expm1(s) if s < 1 else z - complement
        rest = z / (q + z)
        return s * rest - math.log1p(rise), q / (q + z), rest
    u = q * math.exp(v - s)
    p = u / (1 + u)
    return v - math.log1p(u) - s * p, p, 1 / (1 + u)


@compiled
def lower_mean(v: float, level: float) -> float:
    """Return the p <= q with d(p, q) = level for q = 1 - e^-v; 0 where v <= level."""
    if v <= level:
        return 0.0
    if v == math.inf:
        return 1.0
    low, high = 0.0, max(v, 1.0)
    while _tilted(v, high)[0] < level:
        low = high
        high *= 2
        if high >= 1000 + v:
            break
    s = 0.5 * (low + high)
    for _ in range(200):
        value, p, rest = _tilted(v, s)
        if value < level:
            low = s
        else:
            high = s
        newton = s - (value - level) / (s * p * rest)
        if low < newton < high:
            after = newton
        elif abs(newton - s) <= 2e-15 * s:
            after = s
        else:
            after = 0.5 * (low + high)
        if abs(after - s) <= 4e-16 * s:
            break
        s = after
    return _tilted(v, s)[1]


@compiled
def threshold(
    x: Array, level: float, shift: float, level_won: float, shift_won: float, wins_ties: bool
) -> Array:
    """Return the least value of the other register that wins over each x."""
    found = np.empty(len(x))
    for i in range(len(x)):
        m = min(max(x[i] + shift, 0.0), 1.0)
        v = level if m <= 0 else math.inf if m >= 1 else upper_bound(m, level)
        if v < level_won or (v == level_won and wins_ties):
            found[i] = -math.inf
        elif v == level_won:
            found[i] = -shift_won
        elif math.isinf(v):
            found[i] = 1 - shift_won if wins_ties else math.inf
        else:
            found[i] = lower_mean(v, level_won) - shift_won
    return found

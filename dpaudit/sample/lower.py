"""Lower confidence bounds on epsilon from counts (Clopper & Pearson 1934).

With p >= p_low at error a / 2 and q <= q_high at error a / 2, P(E | r) <= e^epsilon P(E | r') +
delta forces epsilon >= log((p_low - delta) / q_high) at error a. The intervals are exact for every
n and every p, rare events included: nothing is floored, so 10^6 runs can show epsilon above 11.
The bound holds at a sample size fixed in advance: for replays and one-run audits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np


@lru_cache(maxsize=4096)
def clopper_pearson(hits: int, rounds: int, error: float) -> tuple[float, float]:
    """Return lower and upper bounds on a probability, each wrong with at most `error`."""
    from scipy.special import betainccinv, betaincinv

    low = float(betaincinv(hits, rounds - hits + 1, error)) if hits else 0.0
    high = float(betainccinv(hits + 1, rounds - hits, error)) if hits < rounds else 1.0
    return low, high


def epsilon_lower(
    hits: int, hits_neighbour: int, rounds: int, error: float, delta: float = 0.0
) -> float:
    """Return a lower bound on epsilon, at least 0, wrong with probability at most `error`."""
    low = clopper_pearson(hits, rounds, error / 2)[0]
    high = clopper_pearson(hits_neighbour, rounds, error / 2)[1]
    if low <= delta:
        return 0.0
    return max(0.0, math.log((low - delta) / high))


def promised(p: Any, q: Any, later: int, error: float) -> Any:
    """Return the bound to expect from `later` fresh rounds at probabilities p, q; vectorised.

    A plan, not an inference: it ranks the aims of steered pairs.
    """
    from scipy.special import betaincinv

    p, q = np.clip(p, 1e-12, 1.0), np.clip(q, 0.0, 1.0 - 1e-12)
    low = betaincinv(p * later, (1 - p) * later + 1, error / 2)
    high = betaincinv(q * later + 1, (1 - q) * later, 1 - error / 2)
    with np.errstate(divide="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 1e-300)) - np.log(high), -700.0)

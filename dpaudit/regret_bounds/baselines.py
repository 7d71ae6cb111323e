"""Upper bounds of DP-SE and DP-UCB: Table 1's orders, and explicit ones for the code as declared.

Table 1 prints orders without constants: K log T / epsilon + sum of log T / gap for DP-SE,
log(T)^2.5 / epsilon + sum of log T / gap for DP-UCB (without the factor K that every arm's own tree
costs). With constant 1 they are orientation, not bounds.

DP-SE, explicit. With probability at least 1 - beta pi^2/12 every mean of every epoch e is within
h_e + c_e <= D_e / 4 (D_e = 2^-e) of the truth. Then the optimal arm survives, and an arm with gap
at least D_e does not outlive epoch e: its noisy gap is at least D_e - D_e/2, and the width is below
D_e / 2. So E[N_a] <= sum of R_e over e <= ceil(log2(1 / gap)), plus T beta pi^2/12 for the rest.

DP-UCB, explicit. A noisy sum carries at most L = ceil(log2 T) Laplace(L/epsilon) draws; q bounds
the chance that they exceed Gamma, by their moment generating function. Count pulls of arm a beyond
s0: at count s its index reaches the best mean only if its empirical mean exceeds
x_s = best - sqrt(2 log T / s) - 2 Gamma / s or its noise exceeds Gamma. With d0 = d(x_s0, mean),
E[N_a] <= s0 + e^(-s0 d0) / (1 - e^(-d0)) + T q + sum over t of t (t^-4 + q), the last for the
optimal arm's index (2 log t: Hoeffding gives t^-4, a union over its counts t). Order:
log(T)^3 / epsilon per arm with this Gamma, not log(T)^2.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.regret_bounds import entropy
from dpaudit.regret_bounds.upper import gaps, require_setting


def dp_se_order(means: Sequence[float], epsilon: float, horizon: int) -> float:
    """Return K log T / epsilon + sum of log T / gap, the order of Table 1 with constant 1."""
    log_horizon = math.log(horizon)
    return len(means) * log_horizon / epsilon + sum(log_horizon / gap for gap in gaps(means))


def dp_ucb_order(means: Sequence[float], epsilon: float, horizon: int) -> float:
    """Return log(T)^2.5 / epsilon + sum of log T / gap, the order of Table 1 with constant 1."""
    log_horizon = math.log(horizon)
    return math.pow(log_horizon, 2.5) / epsilon + sum(log_horizon / gap for gap in gaps(means))


def dp_se(means: Sequence[float], epsilon: float, horizon: int) -> float:
    """Bound the expected regret of DP-SE with beta = 1/T; every epoch is charged for K arms."""
    require_setting(means, epsilon, 1.0, horizon)
    declared = DPSE(arms=len(means), epsilon=epsilon, horizon=horizon)
    total = 0.0
    for gap in gaps(means):
        epochs = max(math.ceil(-math.log2(gap)), 1)
        pulls = sum(declared.phase_length(epoch, len(means)) for epoch in range(1, epochs + 1))
        total += gap * min(pulls, horizon)
    largest = max(gaps(means), default=0.0)
    return min(total + largest * math.pi**2 / 12, largest * horizon)


def dp_ucb(means: Sequence[float], epsilon: float, horizon: int, gamma: float = 0.1) -> float:
    """Bound the expected regret of DP-UCB as declared."""
    require_setting(means, epsilon, 1.0, horizon)
    best, log_horizon = max(means), math.log(horizon)
    shift = log_horizon**2 * math.log(len(means) * horizon * log_horizon / gamma) / epsilon
    levels = (horizon - 1).bit_length()
    chance = _laplace_sum(levels, shift * epsilon / levels)
    lost = 1.2021 + horizon**2 * chance
    largest = max(gaps(means), default=0.0)
    total = 0.0
    for mean in means:
        gap = best - mean
        if gap > 0:
            pulls = _pulls(mean, best, shift, horizon) + horizon * chance
            total += gap * min(pulls, horizon)
    return min(total + largest * lost, largest * horizon)


def _laplace_sum(count: int, level: float) -> float:
    """Bound P(sum of `count` unit Laplace draws > level) by e^(-u level) (1 - u^2)^-count."""
    # the optimal u solves u^2 level + 2 count u = level
    u = (math.sqrt(count**2 + level**2) - count) / level
    return math.exp(-u * level - count * math.log1p(-u * u))


def _pulls(mean: float, best: float, shift: float, horizon: int) -> float:
    def value(start: float) -> float:
        x = best - math.sqrt(2 * math.log(horizon) / start) - 2 * shift / start
        if x <= mean:
            return math.inf
        d = entropy.bernoulli(x, mean)
        return start + (math.exp(-start * d) / -math.expm1(-d) if d < math.inf else 0.0)

    # any start is valid; the useful ones begin where both bonuses fit into the gap
    gap = best - mean
    root = math.sqrt(2 * math.log(horizon))
    least = ((root + math.sqrt(root**2 + 8 * gap * shift)) / (2 * gap)) ** 2
    starts = (math.ceil(least * (1 + 10 ** (-5 + i / 6))) for i in range(36))
    return min(map(value, starts))

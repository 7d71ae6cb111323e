"""Compiled per-step kernels: UCB, KL-UCB and tree-based DP-UCB, one decision per round.

A kernel reads rewards[t, arm] and unit noise[t], so that the same code serves simulation (tables
drawn in chunks), reward streams (one column broadcast over the arms) and the conformance test (the
noise tape of the declaration). It carries on from `pulls` and `shown`, the pull counts and what the
rule sees per arm, and writes the actions. The arithmetic follows the declarations operation by
operation, so that both see the same ties.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Table = NDArray[np.float64]
Counts = NDArray[np.int64]


@njit(cache=True)
def ucb(rewards: Table, noise: Table, time: int, pulls: Counts, shown: Table, out: Counts) -> None:
    """Index: mean + sqrt(2 log t / N)."""
    arms = len(pulls)
    for t in range(len(rewards)):
        arm = 0
        if time + t < arms:
            arm = time + t
        else:
            log_time = math.log(time + t + 1.0)
            best = -math.inf
            for a in range(arms):
                value = (1.0 / pulls[a]) * shown[a] + math.sqrt(2.0 * log_time / pulls[a])
                if value > best:
                    best, arm = value, a
        pulls[arm] += 1
        shown[arm] += rewards[t, arm]
        out[t] = arm


@njit(cache=True)
def upper_bound(p: float, level: float) -> float:
    """Return -log(1 - q) for the largest q with d(p, q) <= level, as `divergence.upper_bound`."""
    if p >= 1.0:
        return math.inf
    if p <= 0.0:
        return level
    rest = 1.0 - p
    least = -math.log1p(-p)
    odds = min(rest / p, 1e307)
    w = (level - p * math.log(p)) / rest
    reach = (level + math.sqrt(level * (level + 2.0 * p))) / rest
    if reach < 1.0:
        w = min(w, -math.log1p(-min(reach, 0.999)))
    for _ in range(100):
        above = -math.expm1(-w)
        excess = rest * w - p * math.log1p(odds * above) - level
        after = w
        if excess > 0.0 and above > 0.0:
            after = max(w - excess * (p + rest * above) / (rest * above), 0.0)
        if w - after <= 2e-16 * (least + w):
            return least + after
        w = after
    return least + w


@njit(cache=True)
def kl_ucb(
    rewards: Table, noise: Table, time: int, pulls: Counts, shown: Table, out: Counts
) -> None:
    """Index: max{q : N d(mean, q) <= log t}, compared as -log(1 - q)."""
    arms = len(pulls)
    for t in range(len(rewards)):
        arm = 0
        if time + t < arms:
            arm = time + t
        else:
            log_time = math.log(time + t + 1.0)
            best = -math.inf
            for a in range(arms):
                mean = (1.0 / pulls[a]) * shown[a]
                value = upper_bound(mean, log_time / pulls[a])
                if value > best:
                    best, arm = value, a
        pulls[arm] += 1
        shown[arm] += rewards[t, arm]
        out[t] = arm


@njit(cache=True)
def dp_ucb(
    rewards: Table,
    noise: Table,
    time: int,
    pulls: Counts,
    shown: Table,
    out: Counts,
    sums: Table,
    nodes: Table,
    scale: float,
    bonus: float,
) -> None:
    """Index: noisy sum / N + sqrt(2 log t / N) + bonus / N on binary trees of noisy nodes.

    sums[arm, level] and nodes[arm, level] are the exact and the noisy sum of the last node closed
    at a level; every pull closes one node with fresh noise of the given scale.
    """
    arms = len(pulls)
    for t in range(len(rewards)):
        arm = 0
        if time + t < arms:
            arm = time + t
        else:
            log_time = math.log(time + t + 1.0)
            best = -math.inf
            for a in range(arms):
                width = math.sqrt(2.0 * log_time / pulls[a]) + bonus / pulls[a]
                value = (1.0 / pulls[a]) * shown[a] + width
                if value > best:
                    best, arm = value, a
        pulls[arm] += 1
        out[t] = arm
        total = rewards[t, arm]
        level = 0
        while (pulls[arm] >> level) & 1 == 0:
            total += sums[arm, level]
            level += 1
        sums[arm, level] = total
        nodes[arm, level] = total + scale * noise[t]
        visible = 0.0
        for j in range(level, nodes.shape[1]):
            if (pulls[arm] >> j) & 1:
                visible += nodes[arm, j]
        shown[arm] = visible


KERNELS: dict[str, Any] = {"ucb": ucb, "kl_ucb": kl_ucb, "dp_ucb": dp_ucb}

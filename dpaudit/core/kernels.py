"""Compiled per-step kernels: UCB, KL-UCB, DP-UCB on trees, local UCB; one decision per round.

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

from dpaudit.core.divergence import ALMOST_ONE

Table = NDArray[np.float64]
Counts = NDArray[np.int64]


@njit(cache=True)
def _largest_bound(time: int, pulls: Counts, shown: Table) -> int:
    """Return the next arm: the first without a pull, or that of the largest mean + bonus."""
    if time < len(pulls):
        return time
    twice = 2.0 * math.log(time + 1.0)
    arm, best = 0, -math.inf
    for a in range(len(pulls)):
        value = (1.0 / pulls[a]) * shown[a] + math.sqrt(twice / pulls[a])
        if value > best:
            best, arm = value, a
    return arm


@njit(cache=True)
def ucb(rewards: Table, noise: Table, time: int, pulls: Counts, shown: Table, out: Counts) -> None:
    """Index: mean + sqrt(2 log t / N)."""
    for t in range(len(rewards)):
        arm = _largest_bound(time + t, pulls, shown)
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
def clearly_below(p: float, level: float, v: float) -> bool:
    """Whether the bound of (p, level) is below v beyond rounding: one evaluation, no iteration."""
    if p >= 1.0:
        return False
    if p <= 0.0 or v == math.inf:
        return level < v
    w = v + math.log1p(-p)
    if w <= 0.0:
        return False
    rest = 1.0 - p
    odds = min(rest / p, 1e307)
    excess = rest * w - p * math.log1p(-odds * math.expm1(-w)) - level
    return excess > 1e-9 * (level + rest * w)


@njit(cache=True)
def _mean(total: float, pulls: int) -> float:
    """Return the mean as the declaration rounds it; a sum of all ones has mean 1, not less."""
    mean = (1.0 / pulls) * total
    return 1.0 if mean >= ALMOST_ONE else mean


@njit(cache=True)
def kl_ucb(
    rewards: Table, noise: Table, time: int, pulls: Counts, shown: Table, out: Counts
) -> None:
    """Index: max{q : N d(mean, q) <= log t}, compared as -log(1 - q).

    The last winner's index is computed; an arm clearly below it is passed over.
    """
    arms = len(pulls)
    last = 0
    for t in range(len(rewards)):
        arm = last
        if time + t < arms:
            arm = time + t
        else:
            log_time = math.log(time + t + 1.0)
            best = upper_bound(_mean(shown[arm], pulls[arm]), log_time / pulls[arm])
            for a in range(arms):
                mean, level = _mean(shown[a], pulls[a]), log_time / pulls[a]
                if a == last or clearly_below(mean, level, best):
                    continue
                value = upper_bound(mean, level)
                if value > best or (value == best and a < arm):
                    best, arm = value, a
        pulls[arm] += 1
        shown[arm] += rewards[t, arm]
        out[t] = arm
        last = arm


@njit(cache=True)
def dp_ucb(
    rewards: Table,
    noise: Table,
    time: int,
    pulls: Counts,
    shown: Table,
    out: Counts,
    sums: Table,
    visible: Table,
    scale: float,
    bonus: float,
) -> None:
    """Index: noisy sum / N + sqrt(2 log t / N) + bonus / N on binary trees of noisy nodes.

    sums[arm, level] is the exact sum of the last node closed at a level; visible[arm, level] is the
    sum of the noisy nodes of that level and above, the largest first. Every pull closes one node
    with fresh noise of the given scale.
    """
    arms = len(pulls)
    centre, extra = np.empty(arms), np.empty(arms)
    for a in range(arms):
        if pulls[a]:
            centre[a], extra[a] = (1.0 / pulls[a]) * shown[a], bonus / pulls[a]
    for t in range(len(rewards)):
        arm = 0
        if time + t < arms:
            arm = time + t
        else:
            twice = 2.0 * math.log(time + t + 1.0)
            best = -math.inf
            for a in range(arms):
                value = centre[a] + (math.sqrt(twice / pulls[a]) + extra[a])
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
        shown[arm] = visible[arm, level + 1] + (total + scale * noise[t])
        visible[arm, : level + 1] = shown[arm]
        centre[arm], extra[arm] = (1.0 / pulls[arm]) * shown[arm], bonus / pulls[arm]


@njit(cache=True)
def ldp_ucb_b(
    rewards: Table,
    noise: Table,
    time: int,
    pulls: Counts,
    shown: Table,
    out: Counts,
    one: float,
    zero: float,
) -> None:
    """Index: mean response + sqrt(2 log t / N); `noise` is uniform, below its chance for a 1."""
    for t in range(len(rewards)):
        arm = _largest_bound(time + t, pulls, shown)
        pulls[arm] += 1
        if noise[t] < zero + (one - zero) * rewards[t, arm]:
            shown[arm] += 1.0
        out[t] = arm


@njit(cache=True)
def ldp_ucb_l(
    rewards: Table,
    noise: Table,
    time: int,
    pulls: Counts,
    shown: Table,
    out: Counts,
    scale: float,
    epsilon: float,
) -> None:
    """Index: noisy mean + sqrt(2 log t / N) + sqrt(32 log t / N) / epsilon; few pulls go first."""
    arms = len(pulls)
    for t in range(len(rewards)):
        arm = 0
        if time + t < arms:
            arm = time + t
        else:
            few = 4.0 * math.log(time + t + 2.0)
            while arm < arms and pulls[arm] > few:
                arm += 1
            if arm == arms:
                log_time = math.log(time + t + 1.0)
                best = -math.inf
                for a in range(arms):
                    share = log_time / pulls[a]
                    bonus = math.sqrt(2.0 * share) + math.sqrt(32.0 * share) / epsilon
                    value = (1.0 / pulls[a]) * shown[a] + bonus
                    if value > best:
                        best, arm = value, a
        pulls[arm] += 1
        shown[arm] += rewards[t, arm] + scale * noise[t]
        out[t] = arm


KERNELS: dict[str, Any] = {
    "ucb": ucb,
    "kl_ucb": kl_ucb,
    "dp_ucb": dp_ucb,
    "ldp_ucb_b": ldp_ucb_b,
    "ldp_ucb_l": ldp_ucb_l,
}

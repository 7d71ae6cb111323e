"""Charges of dp_ucb's binary trees at any horizon that fits in memory, all pull counts at once.

`DPUCB.release` at pull n reads the rows [n - (n & -n), n) of its arm, with the same noise at every
n. One numpy expression gives the nodes of every n up to the horizon, and a cumulative sum counts
the nodes over each row. It applies only to the very function `DPUCB.release` in the unchanged frame
of `Episodes`; any override goes the slow way of `chain`, release by release.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeGuard

import numpy as np

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.canonical import Distrust
from dpaudit.core.episodes import framed
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.perstep import PerStep
from dpaudit.core.unchanged import unchanged
from dpaudit.structure.chain import last_count, probe_rules, released
from dpaudit.structure.ledger import Row

PROBES = 1024
LARGEST = 2**26


def is_tree(algorithm: Algorithm, horizon: int) -> TypeGuard[DPUCB]:
    """Tell whether an algorithm releases the nodes of dp_ucb's tree, by the identity of its code.

    Above `LARGEST` rounds the arrays would not fit, and the answer is no.
    """
    if not isinstance(algorithm, DPUCB):
        return False
    return (
        framed(algorithm)
        and unchanged(algorithm, DPUCB, ("release", "levels"))
        and unchanged(algorithm, PerStep, ("episode_length",))
        and horizon <= LARGEST
    )


def deepest_row(algorithm: DPUCB, horizon: int, tariff: Tariff = PURE) -> Row:
    """Return the row that is charged most by the trees of all arms, or a person of many rows.

    Arm 0 may release at the most counts. The real method is asked at the first counts, around every
    power of two and at the last, for every arm, and must agree with the expression.
    """
    limit = last_count(algorithm.arms, 0, horizon)
    if not limit:
        return Row(Fraction(0), 0, 0)
    count = np.arange(1, limit + 1, dtype=np.int32)
    first = count - (count & -count)
    sizes = [2**level for level in range(limit.bit_length())]
    charge = max(released(algorithm, Rows(0, size - 1, size), tariff)[2] for size in sizes)
    near_powers = {2**k + d for k in range(limit.bit_length()) for d in (-1, 0, 1)}
    probes = {n for n in near_powers | set(range(PROBES)) | {limit} if 1 <= n <= limit}
    for arm in range(algorithm.arms):
        for n in probes:
            *node, paid = released(algorithm, Rows(arm, n - 1, n), tariff)
            if node != [int(first[n - 1]), n] or not paid <= charge:
                raise Distrust(f"release at count {n} is not the node of a binary tree")
    probe_rules(algorithm, [range(1, limit + 1)] * algorithm.arms, horizon)
    changes = np.bincount(first, minlength=limit + 1)
    changes[1:] -= 1  # count n closes exactly one node, and that node ends at row n
    depth = np.cumsum(changes)
    row = int(np.argmax(depth))
    if tariff.unit > 1:
        return Row(most_nodes(horizon, algorithm.arms, tariff.unit) * charge, 0, row, tariff.unit)
    return Row(int(depth[row]) * charge, 0, row)


def most_nodes(horizon: int, arms: int, unit: int) -> int:
    """Return how many nodes `unit` rows of one run lie in at most, counted for each row.

    After n pulls of an arm, with 2^m <= n < 2^(m + 1), its nodes have sizes up to 2^m; its first
    row lies in m + 1 of them, and every other row, whose number has a bit, in m at most. Releases
    come before the last round, so the arms' pulls add up to less than the horizon. Rows beyond one
    an arm go to the arm that was pulled most.
    """
    best, rounds = 0, horizon - 1
    for used in range(1, min(arms, unit, rounds) + 1):
        for top in range((rounds - used + 1).bit_length()):
            levels, left = [0] * (used - 1), rounds - 2**top - (used - 1)
            while levels and (low := min(levels)) < top and 2**low <= left:
                levels[levels.index(low)] += 1
                left -= 2**low
            best = max(best, used + sum(levels) + top + (unit - used) * top)
    return best

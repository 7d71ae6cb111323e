"""Likelihoods as functions of one release's centre: a Laplace law moved over a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit.exact.balls.interval import UNDERFLOW, Array, Interval, where
from dpaudit.exact.balls.weight import ROUND, Indices, Law, Weight


@dataclass(frozen=True)
class Scan:
    """Likelihoods and their derivative in the centre, at nodes; on the intervals the weight's top.

    `mass` encloses the integral L of the weight against a Laplace law centred at each node, and
    `change` encloses L' / (rate L).
    """

    mass: Interval
    change: Interval
    top: Array


def scan(first: Law, last: Law, weight: Weight, nodes: Indices) -> Scan:
    """Move a Laplace law over nodes between two centres: L = A + B, L' = rate (B - A).

    Left of mu the density is a multiple of the one centred at `last`, right of mu of the one at
    `first`, so two running sums serve all centres.
    """
    x = first.grid.x[nodes]
    below = last.sums(weight)[1][nodes]
    above = first.sums(weight)[2][nodes]
    rate = first.rate
    left = below.times((rate * (Interval.of(last.centre) - Interval.of(x))).exp())
    right = above.times((rate * (Interval.of(x) - Interval.of(first.centre))).exp())
    mass = (left + right).clear_of_underflow()
    # (B - A) / (B + A) rises in B and falls in A, whatever their ends
    low = _share(right.lo, left.hi).lo
    high = _share(right.hi, left.lo).hi
    change = Interval(np.maximum(low - ROUND, -1.0), np.minimum(high + ROUND, 1.0))
    top = np.maximum.reduceat(weight.range.hi, nodes[:-1]) if len(nodes) > 1 else np.zeros(0)
    # reduceat's last span runs to the end of the grid: cut it at the last node
    if len(nodes) > 1:
        top[-1] = weight.range.hi[nodes[-2] : nodes[-1]].max()
    return Scan(mass, change, top)


def _share(b: Array, a: Array) -> Interval:
    """Enclose (b - a) / (b + a), within the rounding of b + a; anything where both vanish."""
    total = a + b
    clear = total > UNDERFLOW
    quotient = (Interval.of(b) - Interval.of(a)).over(Interval.of(np.where(clear, total, 1.0)))
    return where(clear, quotient, Interval(np.full_like(total, -1.0), np.ones_like(total)))

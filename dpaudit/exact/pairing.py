"""Prefixes meet suffixes: the integral of A(x) k(x) B(x) dx for several kernels k, compiled.

A comes from the decisions before a register, B from those after it; both are functions on panels,
made independently, so the integral runs over the common refinement of their panels. The kernel is
what depends on the odd episode's own sum: the density of its release, or the probability that its
release wins at once against x. Only where the integrand comes within e^-40 of its largest value is
it evaluated at nodes, in pieces over which its logarithm varies little.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled
from dpaudit.exact.panels import MOST
from dpaudit.exact.polynomials import (
    NODES,
    ORDER,
    WEIGHTS,
    Array,
    evaluate,
)
from dpaudit.exact.shelf import Shelf
from dpaudit.exact.thresholds import KL, Thresholds, exactly, least

NONE, DENSITY, WINS, LOSES = 0, 1, 2, 3
_NEGLIGIBLE = 40.0
_VARIES = 14.0


class Room(NamedTuple):
    """Work space of `pair`: the common refinement, and sums for every centre."""

    cuts: Array
    kinks: Array
    rows: NDArray[np.int64]  # of each interval: the panels of A and B
    ends: Array  # of each cut: log A and log B from the left and from the right, theta
    top: Array
    below: Array
    above: Array


@compiled
def room(centres: int) -> Room:
    """Return work space for so many centres."""
    size = 2 * MOST + centres + 8
    return Room(
        np.empty(size),
        np.empty(centres + 8),
        np.empty((size, 2), dtype=np.int64),
        np.empty((size, 5)),
        np.empty(centres),
        np.empty(centres),
        np.empty(centres),
    )


@compiled
def _fall(kind: int, u: float, centre: float, scale: float) -> float:
    """Return the logarithm of the kernel without its factor between 1/2 and 1."""
    if kind == DENSITY:
        return -abs(u - centre) / scale
    if kind == WINS and u > centre:
        return -(u - centre) / scale
    if kind == LOSES and u < centre:
        return -(centre - u) / scale
    return 0.0


@compiled
def _factor(kind: int, u: float, centre: float, scale: float) -> float:
    """Return what `_fall` leaves out."""
    if kind == WINS:
        return 0.5 if u > centre else 1.0 - 0.5 * math.exp((u - centre) / scale)
    if kind == LOSES:
        return 0.5 if u < centre else 1.0 - 0.5 * math.exp((centre - u) / scale)
    return 1.0


@compiled
def _refinement(
    first: Array,
    na: int,
    second: Array,
    nb: int,
    low: float,
    high: float,
    kinks: Array,
    count: int,
    cuts: Array,
    rows: NDArray[np.int64],
) -> int:
    """Fill the common refinement of two rows of edges between two ends; return its length."""
    pa, pb, k = -1, -1, 0
    while pa < na and first[pa + 1] <= low:
        pa += 1
    while pb < nb and second[pb + 1] <= low:
        pb += 1
    while k < count and kinks[k] <= low:
        k += 1
    made = 0
    x = low
    while x < high:
        cuts[made] = x
        rows[made, 0], rows[made, 1] = pa, pb
        made += 1
        after = high
        if pa < na:
            after = min(after, first[pa + 1])
        if pb < nb:
            after = min(after, second[pb + 1])
        if k < count:
            after = min(after, kinks[k])
        while pa < na and first[pa + 1] <= after:
            pa += 1
        while pb < nb and second[pb + 1] <= after:
            pb += 1
        while k < count and kinks[k] <= after:
            k += 1
        x = after
    cuts[made] = high
    return made


@compiled
def _value(terms: Array, edges: Array, n: int, p: int, rate: float, x: float) -> float:
    """Return log g at x, known to lie in panel p (-1 and n: beyond the ends, at a rate)."""
    if p < 0:
        return evaluate(terms, 0, -1.0) + rate * (x - edges[0])
    if p >= n:
        return evaluate(terms, n - 1, 1.0) + rate * (x - edges[n])
    left, right = edges[p], edges[p + 1]
    return evaluate(terms, p, min(max((2 * x - left - right) / (right - left), -1.0), 1.0))


@compiled
def pair(
    a: Shelf,
    i: int,
    b: Shelf,
    j: int,
    kind: int,
    these: Thresholds,
    to: int,
    back: int,
    centres: Array,
    scale: float,
    work: Room,
    out: Array,
    rises: Array,
) -> None:
    """Write for every centre the logarithm of the integral of A k B, and the mass' side.

    `rises[c]`: the share of the integral above the centre less that below, which for a density is
    the slope of the logarithm in units of 1 / scale.
    """
    many = len(centres)
    kinks, cuts, rows, ends = work.kinks, work.cuts, work.rows, work.ends
    count = 0
    for c in range(many):
        if kind == DENSITY:
            kinks[count] = centres[c]
            count += 1
        elif kind != NONE:
            found = exactly(these.scores, these.ties, back, centres[c])
            if math.isfinite(found):
                kinks[count] = found
                count += 1
    if kind >= WINS and these.scores[to, 0] == KL:
        kinks[count], kinks[count + 1] = these.limits[to, 0], these.limits[to, 1]
        count += 2
    for k in range(1, count):
        x = kinks[k]
        place = k
        while place > 0 and kinks[place - 1] > x:
            kinks[place] = kinks[place - 1]
            place -= 1
        kinks[place] = x
    at, bt = a.start[i], b.start[j]
    na, nb = a.start[i + 1] - at, b.start[j + 1] - bt
    ea, eb = a.edges[at + i : at + i + na + 1], b.edges[bt + j : bt + j + nb + 1]
    ta, tb = a.terms[at : at + na], b.terms[bt : bt + nb]
    peaks_a, peaks_b = a.peaks[at : at + na], b.peaks[bt : bt + nb]
    bent_a, bent_b = a.bent[at : at + na], b.bent[bt : bt + nb]
    low, high = min(ea[0], eb[0]), max(ea[na], eb[nb])
    if math.isnan(a.tails[i, 0]):
        low = max(low, ea[0])
    if math.isnan(b.tails[j, 0]):
        low = max(low, eb[0])
    if math.isnan(a.tails[i, 1]):
        high = min(high, ea[na])
    if math.isnan(b.tails[j, 1]):
        high = min(high, eb[nb])
    panels = 0
    if low < high:
        panels = _refinement(ea, na, eb, nb, low, high, kinks, count, cuts, rows)
    for c in range(many):
        work.top[c] = -math.inf
        work.below[c] = work.above[c] = 0.0
    # the integrand at the cuts is a lower bound of its maximum
    for k in range(panels + 1):
        q = min(k, panels - 1)
        x, pa, pb = cuts[k], rows[q, 0], rows[q, 1]
        ends[k, 0] = _value(ta, ea, na, pa, a.tails[i, 0 if pa < 0 else 1], x)
        ends[k, 1] = _value(tb, eb, nb, pb, b.tails[j, 0 if pb < 0 else 1], x)
        ends[k, 2] = least(these, to, x) if kind >= WINS else x
        for c in range(many):
            value = ends[k, 0] + ends[k, 1] + _fall(kind, ends[k, 2], centres[c], scale)
            work.top[c] = max(work.top[c], value)
    stack, logs, thetas = np.empty((80, 2)), np.empty(ORDER), np.empty(ORDER)
    for k in range(panels):
        pa, pb = rows[k, 0], rows[k, 1]
        bound = max(ends[k, 0], ends[k + 1, 0])
        if 0 <= pa < na and bent_a[pa]:
            bound = peaks_a[pa]
        if 0 <= pb < nb and bent_b[pb]:
            bound += peaks_b[pb]
        else:
            bound += max(ends[k, 1], ends[k + 1, 1])
        counts = False
        for c in range(many):
            if kind == DENSITY:
                fall = _fall(kind, min(max(centres[c], cuts[k]), cuts[k + 1]), centres[c], scale)
            else:
                # theta rises, so a win is likeliest at the left end, a loss at the right one
                fall = _fall(kind, ends[k + (kind == LOSES), 2], centres[c], scale)
            counts = counts or bound + fall > work.top[c] - _NEGLIGIBLE
        if not counts:
            continue
        rate_a, rate_b = a.tails[i, 0 if pa < 0 else 1], b.tails[j, 0 if pb < 0 else 1]
        stack[0, 0], stack[0, 1] = cuts[k], cuts[k + 1]
        depth = 1
        while depth > 0:
            depth -= 1
            left, right = stack[depth, 0], stack[depth, 1]
            middle, half = 0.5 * (left + right), 0.5 * (right - left)
            for n in range(ORDER):
                x = middle + half * NODES[n]
                logs[n] = _value(ta, ea, na, pa, rate_a, x) + _value(tb, eb, nb, pb, rate_b, x)
                thetas[n] = least(these, to, x) if kind >= WINS else x
            share = 1.0
            rising = True
            for c in range(many):
                least_log, most_log = math.inf, -math.inf
                for n in range(ORDER):
                    value = logs[n] + _fall(kind, thetas[n], centres[c], scale)
                    least_log = min(least_log, value)
                    most_log = max(most_log, value)
                if most_log < work.top[c] - _NEGLIGIBLE - 20.0:
                    continue
                if share * (most_log - least_log) > _VARIES:
                    share = 0.8 * _VARIES / (most_log - least_log)
                    rising = logs[ORDER - 1] + _fall(
                        kind, thetas[ORDER - 1], centres[c], scale
                    ) > logs[0] + _fall(kind, thetas[0], centres[c], scale)
            if share < 1.0 and depth < 76 and half > 4e-15 * (abs(left) + abs(right)):
                share = min(share, 0.5)
                cut = right - 2 * half * share if rising else left + 2 * half * share
                # the far part, unless nothing there comes near the largest value
                edge = _value(ta, ea, na, pa, rate_a, cut) + _value(tb, eb, nb, pb, rate_b, cut)
                theta = least(these, to, cut) if kind >= WINS else cut
                far = False
                for c in range(many):
                    value = edge + _fall(kind, theta, centres[c], scale)
                    for n in range(ORDER):
                        if (middle + half * NODES[n] < cut) == rising:
                            value = max(value, logs[n] + _fall(kind, thetas[n], centres[c], scale))
                    far = far or value > work.top[c] - _NEGLIGIBLE
                if far:
                    stack[depth, 0] = left if rising else cut
                    stack[depth, 1] = cut if rising else right
                    depth += 1
                stack[depth, 0] = cut if rising else left
                stack[depth, 1] = right if rising else cut
                depth += 1
                continue
            for c in range(many):
                total = 0.0
                for n in range(ORDER):
                    value = logs[n] + _fall(kind, thetas[n], centres[c], scale) - work.top[c]
                    if value > -_NEGLIGIBLE - 5.0:
                        factor = _factor(kind, thetas[n], centres[c], scale)
                        total += WEIGHTS[n] * factor * math.exp(value)
                if left >= centres[c]:
                    work.above[c] += half * total
                else:
                    work.below[c] += half * total
    for c in range(many):
        total = work.below[c] + work.above[c]
        out[c] = work.top[c] + math.log(total) if total > 0 else -math.inf
        if kind == DENSITY:
            out[c] -= math.log(2.0 * scale)
        rises[c] = (work.above[c] - work.below[c]) / total if total > 0 else 0.0

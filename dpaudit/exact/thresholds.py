"""Thresholds between two scores, compiled: from which register value on one arm beats another.

An affine score against an affine one gives an affine threshold. Bernoulli KL bounds give a monotone
function between two plateaus; it is tabulated once per decision, in the coordinate
log((x - low) / (high - x)), in which the x log x behaviour at both ends of the clipped mean is
analytic. Other scores are left to the general engine in `chain.py`.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.kernels import upper_bound
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.compiling import compiled
from dpaudit.exact.kl_threshold import lower_mean
from dpaudit.exact.pairwise import Duel
from dpaudit.exact.polynomials import NODES, ORDER, ROWS, TERMS, TO_CHEBYSHEV, Array, dot, evaluate

AFFINE, KL = 0.0, 1.0
_FIRST, _LAST, _WIDTH = -37.0, 23.0, 2.0  # the table's range; beyond it is constant or linear
_MOST = 200
_RESOLVED, _ROUNDING = 4e-15, 1e-12


class Thresholds(NamedTuple):
    """Thresholds by number: the least value of a target's register that beats a source's value.

    scores[i]: kind, then shift, scale, level of the source and of the target. limits[i]: the ends
    of the smooth part, the values below and above them, and the value next to the upper end.
    """

    scores: Array
    limits: Array
    ties: NDArray[np.bool_]  # whether the target wins ties
    first: NDArray[np.int64]
    edges: Array
    terms: Array


def parameters(score: Any) -> tuple[float, float, float, float]:
    """Return a score as (kind, shift, scale, level); raise where it has no compiled form."""
    if type(score) is Affine:
        return AFFINE, float(score.shift), float(score.scale), 0.0
    if type(score) is KLBound:
        return KL, float(score.shift), float(score.scale), float(score.level)
    raise Unsupported(f"The compiled engine has no thresholds for {type(score).__name__}.")


def thresholds(duels: Iterable[Duel], tabulated: Iterable[int] | None = None) -> Thresholds:
    """Return for duel i the threshold of position 0 as number 2 i, of position 1 as 2 i + 1.

    Only those whose number is in `tabulated` (all by default) can be asked for by `least`.
    """
    scores, ties = [], []
    for duel in duels:
        pair = [parameters(score) for score in duel.scores]
        if pair[0][0] != pair[1][0]:
            raise Unsupported("The compiled engine compares scores of one kind.")
        for winner in (0, 1):
            scores.append([*pair[1 - winner], *pair[winner][1:]])
            ties.append(duel.ties == winner)
    table = np.array(scores).reshape(-1, 7)
    wanted = range(len(table)) if tabulated is None else tabulated
    return _with_tables(table, np.array(ties, dtype=np.bool_), set(wanted))


@compiled
def exactly(scores: Array, ties: NDArray[np.bool_], i: int, x: float) -> float:
    """Return threshold i at x, evaluated directly."""
    if scores[i, 0] == AFFINE:
        return (scores[i, 2] * x + scores[i, 1] - scores[i, 4]) / scores[i, 5]
    mean = scores[i, 2] * x + scores[i, 1]
    if mean >= 1.0:
        return (1.0 - scores[i, 4]) / scores[i, 5] if ties[i] else math.inf
    v = upper_bound(mean, scores[i, 3]) if mean > 0.0 else scores[i, 3]
    if v < scores[i, 6] or (ties[i] and v <= scores[i, 6]):
        return -math.inf
    return (lower_mean(v, scores[i, 6]) - scores[i, 4]) / scores[i, 5]


@compiled
def least(these: Thresholds, i: int, x: float) -> float:
    """Return threshold i at x."""
    scores, limits, terms = these.scores, these.limits, these.terms
    if scores[i, 0] == AFFINE:
        return (scores[i, 2] * x + scores[i, 1] - scores[i, 4]) / scores[i, 5]
    low, high = limits[i, 0], limits[i, 1]
    if x <= low:
        return limits[i, 2]
    if x >= high:
        return limits[i, 3]
    t = math.log((x - low) / (high - x))
    first, last = these.first[i], these.first[i + 1] - 1
    if t >= _LAST:
        # straight to the end of the clipped mean: the rest is (1 - m)^2 log(1 - m)
        part = (1.0 + math.exp(_LAST)) * (high - x) / (high - low)
        return limits[i, 4] + part * (evaluate(terms, last - 1, 1.0) - limits[i, 4])
    p = first
    stop = last
    while stop - p > 1:
        middle = (p + stop) >> 1
        if these.edges[middle] <= t:
            p = middle
        else:
            stop = middle
    left, right = these.edges[p], these.edges[p + 1]
    return evaluate(terms, p, max((2 * t - left - right) / (right - left), -1.0))


@compiled
def _fill(
    scores: Array, i: int, low: float, high: float, left: float, right: float, row: Array
) -> float:
    """Write a panel of the table; return its last Legendre coefficients."""
    for j in range(ORDER):
        t = 0.5 * (left + right) + 0.5 * (right - left) * NODES[j]
        mean = scores[i, 2] * (low + (high - low) / (1.0 + math.exp(-t))) + scores[i, 1]
        v = upper_bound(min(max(mean, 0.0), 1.0), scores[i, 3])
        row[0, j] = (lower_mean(v, scores[i, 6]) - scores[i, 4]) / scores[i, 5]
    return max(abs(dot(ROWS, 0, row, 0)), abs(dot(ROWS, 1, row, 0)), abs(dot(ROWS, 2, row, 0)))


@compiled
def _tabulate(
    scores: Array, ties: NDArray[np.bool_], i: int, limits: Array, edges: Array, terms: Array
) -> int:
    """Fill the limits and a table; return how many panels it takes, 0 if there is no room."""
    zero, one = -scores[i, 1] / scores[i, 2], (1.0 - scores[i, 1]) / scores[i, 2]
    low = zero
    if scores[i, 3] < scores[i, 6]:
        low = (lower_mean(scores[i, 6], scores[i, 3]) - scores[i, 1]) / scores[i, 2]
    limits[i, 0], limits[i, 1] = low, one
    limits[i, 2] = exactly(scores, ties, i, zero - 1.0)
    limits[i, 3] = exactly(scores, ties, i, one + 1.0)
    limits[i, 4] = (1.0 - scores[i, 4]) / scores[i, 5]
    allowed = _RESOLVED * (1 + abs(scores[i, 4])) / scores[i, 5]
    row = np.empty((1, ORDER))
    rights, before = np.empty(64), np.empty(64)
    count = 0
    edges[0] = _FIRST
    while edges[count] < _LAST:
        rights[0], before[0] = min(edges[count] + _WIDTH, _LAST), math.inf
        depth = 1
        while depth > 0:
            if count >= _MOST or depth > 30:
                return 0
            left, right = edges[count], rights[depth - 1]
            rest = _fill(scores, i, low, one, left, right, row)
            # halving that does not help has met the rounding of the bounds themselves
            stuck = rest < _ROUNDING and rest > 0.1 * before[depth - 1]
            if stuck or rest <= allowed:
                for k in range(TERMS):
                    terms[count, k] = dot(TO_CHEBYSHEV, k, row, 0)
                count += 1
                depth -= 1
                edges[count] = right
            else:
                before[depth - 1] = rest
                rights[depth], before[depth] = 0.5 * (left + right), rest
                depth += 1
    return count


def _with_tables(scores: Array, ties: NDArray[np.bool_], wanted: set[int]) -> Thresholds:
    """Return the thresholds with a table for each one that is not affine."""
    n = len(scores)
    limits = np.tile([-math.inf, math.inf, -math.inf, math.inf, math.inf], (n, 1))
    first = np.zeros(n + 1, dtype=np.int64)
    all_edges, all_terms = [np.empty(0)], [np.empty((0, TERMS))]
    edges, terms = np.empty(_MOST + 1), np.empty((_MOST + 1, TERMS))
    for i in range(n):
        first[i + 1] = first[i]
        if scores[i, 0] != KL or i not in wanted:
            continue
        count = _tabulate(scores, ties, i, limits, edges, terms)
        if not count:
            raise Unsupported("A threshold is not resolved by its table.")
        all_edges.append(edges[: count + 1].copy())
        all_terms.append(terms[: count + 1].copy())  # one row more, to keep step with the edges
        first[i + 1] += count + 1
    return Thresholds(
        scores, limits, ties, first, np.concatenate(all_edges), np.concatenate(all_terms)
    )

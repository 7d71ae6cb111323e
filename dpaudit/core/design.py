"""G-optimal designs: how often each arm of a linear bandit must be pulled to learn about all.

For weights pi on the arms, V(pi) = sum pi(a) a a^T and g(pi) = max over arms b of b^T V(pi)^-1 b.
By Kiefer and Wolfowitz (1960) the least g is the dimension d of what the arms span. Wolfe's steps
with away steps (Atwood 1973) move weight to the arm of the largest b^T V^-1 b, or off the arm of
the least in the support, by the exact best amount, until g <= d (1 + tolerance).

Everything happens in coordinates of the span, so that arms of a subspace have a design as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument

Array = NDArray[np.float64]
Features = tuple[tuple[float, ...], ...]

MOST_STEPS = 5_000
RANK = 1e-9  # of the largest singular value: below it a direction is none
KEPT = 4096
MOST_NUMBERS = 10**6  # of a matrix of features


@dataclass(frozen=True, eq=False)
class Design:
    """The weights of the support, its places among the arms, and g, in `dimension` coordinates."""

    coordinates: Array
    support: tuple[int, ...]
    weights: Array
    g: float


def checked_features(features: Any, arms: int) -> Features:
    """Return one row of finite numbers for every arm, which together span their space, or raise."""
    try:
        rows = tuple(tuple(float(x) for x in row) for row in features)
    except (TypeError, ValueError):
        raise InvalidArgument("features", features, "must be a row of numbers per arm.") from None
    said = f"({len(rows)} arms)"
    if len(rows) != arms:
        raise InvalidArgument("features", said, f"must be {arms} rows, one for each arm.")
    if (
        not rows[0]
        or len({len(row) for row in rows}) > 1
        or len(rows) * len(rows[0]) > MOST_NUMBERS
    ):
        raise InvalidArgument("features", said, "must have rows of one length, of at least 1.")
    if not np.isfinite(rows).all() or not np.abs(rows).max() < 1e100:
        raise InvalidArgument("features", said, "must be finite, and below 1e100.")
    if np.linalg.matrix_rank(np.array(rows)) < len(rows[0]):
        rule = f"must span the {len(rows[0])} dimensions that they have."
        raise InvalidArgument("features", said, rule)
    return rows


def spanned(arms: Array) -> Array:
    """Return arms in an orthonormal basis of what they span."""
    _, sizes, basis = np.linalg.svd(arms, full_matrices=False)
    rank = int((sizes > RANK * sizes[0]).sum()) if sizes[0] > 0 else 0
    return np.asarray(arms @ basis[:rank].T)


@lru_cache(maxsize=KEPT)
def optimal_design(features: Features, tolerance: float) -> Design:
    """Return a design of these arms with g <= d (1 + tolerance), or raise."""
    found = spanned(np.array(features))
    arms, dimension = found.shape
    if dimension == 0:
        raise InvalidArgument("features", _said(features), "must not all be zero.")
    weights = _start(found)
    for _ in range(MOST_STEPS):
        norms = _norms(found, weights)
        best, support = int(norms.argmax()), np.flatnonzero(weights)
        g = float(norms[best])
        if g <= dimension * (1 + tolerance):
            chosen = tuple(int(arm) for arm in support)
            return Design(found, chosen, weights[support], g)
        worst = int(support[norms[support].argmin()])
        away = 1 - norms[worst] / dimension > g / dimension - 1
        arm = worst if away else best
        weights = _moved(weights, arm, float(norms[arm]), dimension, away)
    rule = f"have no design within {tolerance:g} of the best after {MOST_STEPS:,} steps."
    raise InvalidArgument("features", _said(features), rule)


def _start(arms: Array) -> Array:
    """Return equal weights on a basis that is found greedily: few arms, far apart."""
    left, chosen = arms.copy(), list[int]()
    for _ in range(arms.shape[1]):
        arm = int((left**2).sum(axis=1).argmax())
        chosen.append(arm)
        direction = left[arm] / np.linalg.norm(left[arm])
        left = left - np.outer(left @ direction, direction)
    weights = np.zeros(len(arms))
    weights[chosen] = 1 / len(chosen)
    return weights


def _norms(arms: Array, weights: Array) -> Array:
    """Return b^T V^-1 b for every arm b."""
    information = (arms * weights[:, None]).T @ arms
    try:
        return np.asarray((arms * np.linalg.solve(information, arms.T).T).sum(axis=1))
    except np.linalg.LinAlgError:
        return np.full(len(arms), np.inf)


def _moved(weights: Array, arm: int, norm: float, dimension: int, away: bool) -> Array:
    """Return weights after the best step towards an arm, or away from it down to no weight."""
    step = (norm / dimension - 1) / (norm - 1) if norm > 1 else -1.0
    if away:
        least = -weights[arm] / (1 - weights[arm])
        step = max(step, least)
        weights = (1 - step) * weights
        weights[arm] = 0.0 if step == least else weights[arm] + step
    else:
        weights = (1 - step) * weights
        weights[arm] += step
    return np.asarray(weights / weights.sum())


def _said(features: Sequence[Sequence[float]]) -> str:
    return f"({len(features)} arms)"

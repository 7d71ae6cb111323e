"""Successive elimination: each epoch has fresh registers, so the likelihood is a product.

With x the largest register of an epoch, its arm a among the kept set A and width w, the outcome has
probability  sum over a in A of  integral f_a(x) prod_{k in A, k != a} (F_k(x) - F_k(x - w))
prod_{j dropped} F_j(x - w) dx.
"""

from __future__ import annotations

import numpy as np

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import FLOAT
from dpaudit.errors import Unsupported
from dpaudit.exact.floats.laplace import log_cumulative, log_survival
from dpaudit.exact.floats.line import Array, build, log_difference
from dpaudit.exact.region import Region, require_laplace

_TAIL = 45.0


def log_between(low: Array, high: Array, centre: float, scale: float) -> Array:
    """Return log P(low < X < high) for a Laplace variable, without cancellation."""
    left = log_difference(log_cumulative(high, centre, scale), log_cumulative(low, centre, scale))
    right = log_difference(log_survival(low, centre, scale), log_survival(high, centre, scale))
    return np.where(high < centre, left, right)


def log_likelihood(region: Region, means: Array) -> float:
    """Return the log-likelihood of a region of `Keep` decisions, each on releases of its own."""
    scales = require_laplace(region, "epoch")
    seen: set[int] = set()
    total = 0.0
    for decision in region.decisions:
        if not isinstance(decision.request, Keep) or any(len(g) != 1 for g in decision.shown):
            raise Unsupported("The epoch engine needs eliminations on single releases.")
        shown = [group[0] for group in decision.shown]
        if seen & set(shown) or len(set(shown)) < len(shown):
            raise Unsupported("The epoch engine needs fresh registers at every elimination.")
        seen |= set(shown)
        width = float(decision.request.width(FLOAT))
        kept = [arm in decision.outcome for arm in decision.arms]
        total += log_outcome(means[shown], scales[shown], width, kept)
    return total


def log_outcome(centres: Array, scales: Array, width: float, kept: list[bool]) -> float:
    """Return the log-probability that one elimination keeps exactly these arms."""
    arms = range(len(kept))
    edges = np.concatenate([centres, centres + width])
    reach = _TAIL * float(scales.max())
    parts = []
    for best in (arm for arm in arms if kept[arm]):

        def function(x: Array, best: int = best) -> Array:
            value = -np.abs(x - centres[best]) / scales[best] - np.log(2 * scales[best])
            for arm in arms:
                if kept[arm] and arm != best:
                    value = value + log_between(x - width, x, centres[arm], scales[arm])
                elif not kept[arm]:
                    value = value + log_cumulative(x - width, centres[arm], scales[arm])
            return np.asarray(value)

        integral = build(function, edges, 12 * float(scales.min()), reach)
        if integral is not None:
            parts.append(integral.log_total())
    return float(np.logaddexp.reduce(parts)) if parts else -np.inf

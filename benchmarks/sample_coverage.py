"""The probability that a bound or a wealth is wrong, exact, by summation over both counts.

The lower bound on epsilon is made of two binomial ends, so the probability that it exceeds the
truth is a double sum, rare events and counts 0 and n included. The wealth after a block of
fresh runs on the boundary of the claim has its mean and its chance of refuting by the same sum.

    python benchmarks/sample_coverage.py
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import binom

from dpaudit.sample.bets import best_bets, ratios_of
from dpaudit.sample.lower import clopper_pearson

ERROR, ROUNDS = 0.05, 1000
GRID = (1e-5, 1e-4, 5e-4, 0.01, 0.2, 0.9, 1.0)


def lower_bound() -> float:
    """Print P(lower bound > truth) for a grid of p and q and return the largest."""
    counts = np.arange(ROUNDS + 1)
    ends = np.array([clopper_pearson(int(k), ROUNDS, ERROR / 2) for k in counts])
    with np.errstate(divide="ignore"):
        logs = np.log(ends)
    bounds = np.maximum(0.0, logs[:, 0][:, None] - logs[:, 1][None, :])
    print(f"P(lower bound > truth), n = {ROUNDS}, error {ERROR}, exact")
    print(f"{'p  /  q':>10}" + "".join(f"{q:>10g}" for q in GRID))
    worst = 0.0
    for p in GRID:
        cells = []
        for q in GRID:
            truth = max(0.0, math.log(p / q))
            weight = np.outer(binom.pmf(counts, ROUNDS, p), binom.pmf(counts, ROUNDS, q))
            cells.append(float(weight[bounds > truth + 1e-12].sum()))
        worst = max(worst, *cells)
        print(f"{p:>10g}" + "".join(f"{cell:>10.5f}" for cell in cells))
    ends_only = [(0, 0), (0, ROUNDS), (ROUNDS, 0), (ROUNDS, ROUNDS)]
    print("counts 0 and n:", {pair: round(float(bounds[pair]), 3) for pair in ends_only})
    return worst


def wealth() -> float:
    """Print mean and P(refuted) of one block on the boundary p = e^epsilon q, and the largest."""
    counts = np.arange(ROUNDS + 1)
    print(f"\none block of {ROUNDS} rounds on the boundary, exact: E[wealth], P(wealth >= 20)")
    worst = 0.0
    for epsilon in (0.1, 1.0, 5.0):
        ratio = ratios_of(np.array([epsilon]))
        for q in (1e-5, 1e-4, 1e-3, 0.1, 0.3):
            p = math.exp(epsilon) * q
            if p > 1 or 1 - q > math.exp(epsilon) * (1 - p):
                continue
            belief = min(1 - 1e-9, 1.5 * p + 1e-4)
            bets = best_bets(ratio, np.array([belief, 1 - belief]), np.array([q, 1 - q]))
            for boldness in (0.25, 1.0, 4.0):
                f, g = (each.ravel() for each in bets.scaled(np.array(boldness))[:2])
                rows = _power(f[0], counts) + _power(f[1], ROUNDS - counts)
                columns = _power(g[0], counts) + _power(g[1], ROUNDS - counts)
                value = np.exp(np.minimum(rows[:, None] + columns[None, :], 700.0))
                weight = np.outer(binom.pmf(counts, ROUNDS, p), binom.pmf(counts, ROUNDS, q))
                mean, refuted = float((weight * value).sum()), weight[value >= 1 / ERROR].sum()
                worst = max(worst, float(refuted))
                print(
                    f"  epsilon {epsilon:4g}  q {q:8g}  p {p:9.3g}  bold {boldness:4g}"
                    f"  {mean:9.6f}  {refuted:9.6f}"
                )
    return worst


def _power(factor: float, counts: Any) -> Any:
    """Return counts * log(factor), with 0 * log(0) = 0."""
    return np.where(counts > 0, counts * np.log(max(factor, 1e-300)), 0.0)


if __name__ == "__main__":
    wrong = lower_bound(), wealth()
    print(f"\nlargest: {wrong[0]:.5f} and {wrong[1]:.5f}, at most {ERROR} allowed")
    raise SystemExit(max(wrong) > ERROR)

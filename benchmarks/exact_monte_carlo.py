"""Exact likelihoods against Monte Carlo: every action sequence of every supported algorithm.

    python benchmarks/exact_monte_carlo.py                  # a million runs each
    python benchmarks/exact_monte_carlo.py 100000           # fewer
    python benchmarks/exact_monte_carlo.py 1000000 adap_klucb

One random stream for two arms (T = 12) and one for three (T = 8). The count of every sequence is
binomial; the smallest two-sided p-value times the number of sequences and of lines bounds the
chance that a right likelihood looks this bad. A line disagrees if that is below 1e-6. `total - 1`
is what the likelihoods of all sequences miss.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

from dpaudit.core.algorithms import load, names
from dpaudit.errors import DpauditError
from dpaudit.exact import law
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream

SIZES = ((2, 12), (3, 8))
BLOCK = 100_000


def codes(runs: Runs, arms: int) -> np.ndarray:
    """Return every run's actions as one number in base `arms`."""
    total = np.zeros(len(runs), dtype=np.int64)
    rows = np.arange(len(runs))
    for t in range(runs.horizon):
        place = np.full(len(runs), t) if runs.per_step else (runs.starts <= t).sum(axis=1) - 1
        total = total * arms + runs.arms[rows, place]
    return total


def line(name: str, arms: int, horizon: int, runs: int, lines: int) -> str:
    """Compare one algorithm's law with its runs."""
    began = time.process_time()
    head = f"{name:<12}{arms:>2}{horizon:>4}"
    extra = {"horizon": horizon} if name in ("dp_se", "dp_ucb") else {}
    algorithm = load(name, arms=arms, **extra)
    stream = np.random.default_rng([arms, horizon]).random(horizon).round(3)
    try:
        found = law(algorithm, stream, engine="float")
    except DpauditError as error:
        return f"{head}  not supported: {error}"
    probability = dict(zip(found.probabilities, np.exp(found.log_values), strict=True))
    exact = time.process_time() - began
    counts: dict[int, int] = {}
    rng = np.random.default_rng([7, arms])
    for begun in range(0, runs, BLOCK):
        part = run_many(algorithm, Stream.of(stream), min(BLOCK, runs - begun), rng)
        for code, count in zip(*np.unique(codes(part, arms), return_counts=True), strict=True):
            counts[int(code)] = counts.get(int(code), 0) + int(count)
    known = {sum(a * arms**i for i, a in enumerate(reversed(s))): p for s, p in probability.items()}
    impossible = sum(count for code, count in counts.items() if known.get(code, 0.0) == 0.0)
    p = np.clip(np.array(list(known.values())), 0.0, 1.0)
    n = np.array([counts.get(code, 0) for code in known])
    tails = np.minimum(stats.binom.cdf(n, runs, p), stats.binom.sf(n - 1, runs, p))
    chance = min(1.0, 2 * float(tails.min()) * len(p) * lines)
    spread = np.sqrt(runs * p * (1 - p))
    busy = spread > 3
    z = float(np.max(np.abs(n - runs * p)[busy] / spread[busy], initial=0.0))
    agrees = "agrees" if chance > 1e-6 and not impossible else "DISAGREES"
    return (
        f"{head}{len(p):>7}{np.count_nonzero(n):>7}{p.sum() - 1:>11.1e}{z:>8.2f}{chance:>9.2g}"
        f"{exact:>9.1f}{time.process_time() - began - exact:>8.1f}  {agrees}"
    )


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chosen = sys.argv[2:] or list(names())
    print(f"{runs} runs each")
    print("algorithm    K   T  paths   seen  total - 1  max|z|  p bound  exact s    MC s")
    for name in chosen:
        for arms, horizon in SIZES:
            print(line(name, arms, horizon, runs, len(chosen) * len(SIZES)), flush=True)


if __name__ == "__main__":
    main()

"""Exact likelihoods against Monte Carlo: every action sequence of every supported algorithm.

    python benchmarks/exact_monte_carlo.py                  # a million runs each
    python benchmarks/exact_monte_carlo.py 100000           # fewer
    python benchmarks/exact_monte_carlo.py 1000000 adap_klucb

One random stream for two arms (T = 12) and one for three (T = 8). The count of every sequence is
binomial; the smallest two-sided p-value times the number of sequences and of lines bounds the
chance that a right likelihood looks this bad. A line disagrees if that is below 1e-6. `total - 1`
is what the likelihoods of all sequences miss in floating point; `certified` is the enclosure of the
same in ball arithmetic, where there is one. dp_ucb takes the longest horizon that it supports;
dp_se, whose first decision comes after thousands of rounds, two longer ones with fewer runs.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import load, names
from dpaudit.errors import DpauditError
from dpaudit.exact import law
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.streams import Stream

SIZES = ((2, 12), (3, 8))
OWN_SIZES = {"dp_ucb": ((2, 7),), "dp_se": (*SIZES, (2, 4000), (3, 8000))}
BLOCK = 100_000
LONG_RUNS = 20_000  # of thousands of rounds


def random_stream(arms: int, horizon: int) -> np.ndarray:
    """Return rewards with three decimals."""
    return np.random.default_rng([arms, horizon]).random(horizon).round(3)


def undecided_stream(algorithm: Algorithm, arms: int, horizon: int) -> np.ndarray:
    """Return a stream on which the first elimination is nearly a coin flip.

    The last arm is rewarded by 1, the one before by a gap less, and so on; the gap is searched.
    """
    plays = np.array(max(law(algorithm, random_stream(arms, horizon)).probabilities))
    worse = arms - 1 - plays
    low, high = 0.0, 1 / (arms - 1)
    for _ in range(4):
        gaps = np.linspace(low, high, 21)
        laws = [law(algorithm, 1 - gap * worse, engine="float").log_values for gap in gaps]
        seconds = [np.sort(found)[-2] if len(found) > 1 else -np.inf for found in laws]
        best = int(np.argmax(seconds))
        low, high = gaps[max(best - 1, 0)], gaps[min(best + 1, 20)]
    return np.asarray(1 - gaps[best] * worse)


def certified_total(algorithm: Algorithm, stream: np.ndarray) -> str:
    """Enclose the sum of all likelihoods less 1."""
    found = law(algorithm, stream, engine="ball")
    return f"[{found.lower - 1:.0e}, {found.upper - 1:.0e}]" if found.certified else "-"


def line(name: str, arms: int, horizon: int, runs: int, lines: int) -> str:
    """Compare one algorithm's law with its runs."""
    began = time.process_time()
    head = f"{name:<12}{arms:>2}{horizon:>5}"
    extra = {"horizon": horizon} if name in ("dp_se", "dp_ucb") else {}
    algorithm = load(name, arms=arms, **extra)
    stream = random_stream(arms, horizon)
    if name == "dp_se":
        stream = undecided_stream(algorithm, arms, horizon)
    runs = min(runs, LONG_RUNS) if horizon > 100 else runs
    whole = History(0, horizon)
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
        for code, count in zip(*np.unique(whole(part), return_counts=True), strict=True):
            counts[int(code)] = counts.get(int(code), 0) + int(count)
    sampled = time.process_time() - began - exact
    sequences = Runs.of_actions(np.array(list(probability)))
    known = dict(zip(whole(sequences).tolist(), probability.values(), strict=True))
    assert len(known) == len(probability), "two sequences share a hash"
    impossible = sum(count for code, count in counts.items() if known.get(code, 0.0) == 0.0)
    p = np.clip(np.array(list(known.values())), 0.0, 1.0)
    n = np.array([counts.get(code, 0) for code in known])
    tails = np.minimum(stats.binom.cdf(n, runs, p), stats.binom.sf(n - 1, runs, p))
    chance = min(1.0, 2 * float(tails.min()) * len(p) * lines)
    certified = certified_total(algorithm, stream)
    spread = np.sqrt(runs * p * (1 - p))
    busy = spread > 3
    z = float(np.max(np.abs(n - runs * p)[busy] / spread[busy], initial=0.0))
    agrees = "agrees" if chance > 1e-6 and not impossible else "DISAGREES"
    return (
        f"{head}{len(p):>7}{np.count_nonzero(n):>7}{p.sum() - 1:>11.1e}{z:>8.2f}{chance:>9.2g}"
        f"{exact:>9.1f}{sampled:>8.1f}  {certified:<18}{agrees}"
    )


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    chosen = sys.argv[2:] or list(names())
    print(f"{runs} runs each")
    head = "algorithm    K    T  paths   seen  total - 1  max|z|  p bound  exact s    MC s"
    print(head, "certified", sep="  ")
    for name in chosen:
        for arms, horizon in OWN_SIZES.get(name, SIZES):
            print(line(name, arms, horizon, runs, len(chosen) * len(SIZES)), flush=True)


if __name__ == "__main__":
    main()

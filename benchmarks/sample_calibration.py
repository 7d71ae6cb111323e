"""False alarms of audits of exactly tight mechanisms, with and without a holdout; coverage.

At error 0.05, 3,000 audits may raise at most 188 false alarms (150 expected at worst, plus 3.2
standard deviations). Choosing the event on the runs that judge it is shown beside it as a warning.
Coverage of the lower bound is computed exactly, by enumeration of both counts.

    python benchmarks/sample_calibration.py [audits]
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from sample_boxes import RandomisedResponse
from scipy.stats import binom

from dpaudit.core.algorithms import load
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.events import Plan, choose, statistics
from dpaudit.sample.lower import epsilon_lower
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair, Stream
from dpaudit.verdict import Status

ERROR, RUNS, EPSILON = 0.05, 800, 1.0


def targets() -> list[tuple[str, Any, tuple[Pair, ...]]]:
    """Return the tight mechanisms: randomised response, and adap_klucb at T = 4 to 8."""
    response, coins = RandomisedResponse(EPSILON), RandomisedResponse(EPSILON, horizon=12)
    found: list[tuple[str, Any, tuple[Pair, ...]]] = [
        ("randomised response", response, response.pairs),
        ("  and ten coins", coins, coins.pairs),
    ]
    for horizon in (4, 6, 8):
        box = DeclaredBox(load("adap_klucb", arms=2, epsilon=EPSILON), horizon)
        zeros, ones = Stream.constant(0.0, horizon), Stream.constant(1.0, horizon)
        # the third reward is an episode of its own: its release is the tight one
        pairs = (Pair("all 0", zeros, 2, 1.0), Pair("all 1", ones, 2, 0.0))
        found.append((f"adap_klucb, T = {horizon}", box, pairs))
    return found


def without_holdout(box: Any, pair: Pair, seed: int) -> bool:
    """Judge the most promising event on the very runs that it was chosen on."""
    rounds = RUNS // 4
    sides = [
        box.run(stream, rounds, np.random.SeedSequence(seed, spawn_key=(9, side)))
        for side, stream in enumerate((pair.stream, pair.neighbour))
    ]
    tried = list(statistics(box.arms, box.horizon, pair.position))
    found = choose(tried, lambda half: iter([(sides[0], sides[1])]), Plan(rounds, ERROR), keep=4)
    return any(
        epsilon_lower(event.hits, event.hits_other, event.rounds, ERROR) > EPSILON
        for event in found
    )


def calibration(audits: int) -> None:
    """Print the table of false alarms."""
    kinds = targets()
    shares = [audits // 3, audits // 3, *[audits // 9] * 3]
    print(f"{'mechanism':24}{'audits':>8}{'alarms':>8}{'bound > truth':>15}{'no holdout':>12}")
    total, alarms = 0, 0
    for (name, box, pairs), count in zip(kinds, shares, strict=True):
        wrong = above = naive = 0
        for seed in range(count):
            report = audit(AuditPlan(box, EPSILON, ERROR, RUNS, seed, pairs))
            wrong += report.status is Status.REFUTED
            above += report.lower > EPSILON
            naive += any(without_holdout(box, pair, seed) for pair in pairs)
        total, alarms = total + count, alarms + wrong
        print(f"{name:24}{count:8}{wrong:8}{above:15}{naive:12}", flush=True)
    limit = math.floor(total * ERROR + 3.2 * math.sqrt(total * ERROR * (1 - ERROR)))
    print(f"{'all':24}{total:8}{alarms:8}   at most {limit} allowed: {alarms <= limit}")


def coverage() -> None:
    """Print the exact probability that the lower bound exceeds the truth."""
    rounds = 1000
    counts = np.arange(rounds + 1)
    low = np.array([epsilon_lower_parts(int(k), rounds)[0] for k in counts])
    high = np.array([epsilon_lower_parts(int(k), rounds)[1] for k in counts])
    print(f"\nP(lower bound > truth), n = {rounds}, error {ERROR}, exact")
    grid = (1e-5, 1e-4, 5e-4, 0.01, 0.2, 0.9, 1.0)
    print(f"{'p  /  q':>10}" + "".join(f"{q:>10g}" for q in grid))
    for p in grid:
        cells = []
        for q in grid:
            truth = max(0.0, math.log(p / q))
            with np.errstate(divide="ignore"):
                bounds = np.maximum(0.0, np.log(low)[:, None] - np.log(high)[None, :])
            weight = np.outer(binom.pmf(counts, rounds, p), binom.pmf(counts, rounds, q))
            cells.append(float(weight[bounds > truth + 1e-12].sum()))
        print(f"{p:>10g}" + "".join(f"{cell:>10.5f}" for cell in cells))


def epsilon_lower_parts(hits: int, rounds: int) -> tuple[float, float]:
    """Return the two ends that a lower bound on epsilon is made of."""
    from dpaudit.sample.lower import clopper_pearson

    return (
        clopper_pearson(hits, rounds, ERROR / 2)[0],
        clopper_pearson(hits, rounds, ERROR / 2)[1],
    )


if __name__ == "__main__":
    start = time.perf_counter()
    coverage()
    print()
    calibration(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    print(f"{time.perf_counter() - start:.0f} s")

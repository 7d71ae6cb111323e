"""Three arms: accuracy and reach of the exact engines against the horizon.

    python benchmarks/exact_three_arms.py                     # the table
    python benchmarks/exact_three_arms.py 32 adap_ucb 3       # one climb, of this width

Exhaustive lines enclose epsilon* over every path; `ball` is certified, one path at a time. A climb
follows the steepest prefixes only: its loss is attained. The last columns are seconds of processor
time per likelihood and in all.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from fractions import Fraction

import numpy as np

from dpaudit.core.algorithms import load
from dpaudit.errors import Unsupported
from dpaudit.exact import worst_loss
from dpaudit.exact.climb import climb
from dpaudit.exact.likelihood import enclosed
from dpaudit.exact.paths import all_paths, path_through
from dpaudit.exact.region import region_of


def paths(name: str, horizon: int) -> int:
    """Count the decision paths."""
    return sum(1 for _ in all_paths(load(name, arms=3), horizon))


def each(name: str, horizon: int) -> float:
    """Return the processor time of one likelihood, over a few random paths."""
    algorithm, rng = load(name, arms=3), np.random.default_rng(1)
    began, count = time.process_time(), 6
    for _ in range(count):
        region = region_of(path_through(algorithm, horizon, rng.integers(0, 3, horizon).tolist()))
        with suppress(Unsupported):  # too unlikely for doubles, which takes as long to find out
            enclosed(
                region, {i: Fraction(len(it)) for i, it in enumerate(region.episodes)}, "float"
            )
    return (time.process_time() - began) / count


def exhaustive(name: str, horizon: int) -> str:
    """Enclose the largest loss over all paths, in balls."""
    began = time.process_time()
    found = worst_loss(load(name, arms=3), horizon)
    used = time.process_time() - began
    return (
        f"{name:<11}{horizon:>4}{found.paths:>8}  ball   "
        f"[{found.loss.lower:.9f}, {found.loss.upper:.9f}]{'':>8}{used:>9.1f}"
    )


def climbed(name: str, horizon: int, width: int) -> str:
    """Climb to a large loss."""
    once = each(name, horizon)
    began = time.process_time()
    found = climb(load(name, arms=3), horizon, width)
    used = time.process_time() - began
    return (
        f"{name:<11}{horizon:>4}{paths(name, horizon):>8}  climb  "
        f"{found.attained:.9f}{'':>13}{once:>8.3f}{used:>9.1f}"
    )


def main() -> None:
    """Print the table."""
    print("algorithm    T   paths  search epsilon* (epsilon = 1)      s each    cpu s")
    if len(sys.argv) > 1:
        horizon, name, width = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
        print(climbed(name, horizon, width))
        return
    for horizon in (4, 5, 6, 7):
        print(exhaustive("adap_ucb", horizon), flush=True)
    for name, horizons in (("adap_ucb", (6, 8, 12, 16)), ("adap_klucb", (6, 8))):
        for horizon in horizons:
            print(climbed(name, horizon, 3), flush=True)


if __name__ == "__main__":
    main()

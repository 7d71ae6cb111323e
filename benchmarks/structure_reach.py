"""How far the structure check reaches: public states and seconds of the walk and of the chains.

Run `python benchmarks/structure_reach.py [SECONDS]`; a walk that needs more than SECONDS (default
20) is cut off and its line says how far it came.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from dpaudit.core.algorithms import load
from dpaudit.structure.chain import framed, longest_chains
from dpaudit.structure.tree import deepest_row, is_tree
from dpaudit.structure.walk import OutOfBudget, Walk

CASES = [
    ("adap_klucb", 2, (10**3, 10**5, 10**7)),
    ("adap_klucb", 3, (10**3, 10**5, 10**7)),
    ("adap_klucb", 5, (32, 128, 1024, 10**7)),
    ("dp_se", 5, (10**5, 10**7)),
    ("dp_ucb", 2, (32, 1024, 10**7)),
]


def main(seconds: float) -> None:
    """Print one line per algorithm, number of arms and horizon."""
    print(f"{'algorithm':<12}{'K':>3}{'T':>10}{'states':>9}{'walk':>9}{'covered':>10}{'by arm':>9}")
    for name, arms, horizons in CASES:
        for horizon in horizons:
            known = {"horizon": horizon} if name in ("dp_se", "dp_ucb") else {}
            algorithm = load(name, arms=arms, **known)
            start = time.perf_counter()
            walk = Walk(algorithm, horizon)
            with suppress(OutOfBudget):
                walk.run(float("inf"), time.monotonic() + seconds)
            middle = time.perf_counter()
            by_arm = "-"
            if is_tree(algorithm, horizon):
                deepest_row(algorithm, horizon)
                by_arm = f"{time.perf_counter() - middle:.2f} s"
            elif framed(algorithm):
                longest_chains(algorithm, horizon, float("inf"))
                by_arm = f"{time.perf_counter() - middle:.2f} s"
            covered = "all" if not walk.pending else f"T={walk.covered}"
            print(
                f"{name:<12}{arms:>3}{horizon:>10}{len(walk.seen):>9}"
                f"{middle - start:>7.2f} s{covered:>10}{by_arm:>9}"
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)

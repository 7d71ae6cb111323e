"""Merged against unmerged walks on random small policies: never below, and how often looser.

Run `python benchmarks/symbolic_merging.py --policies 200`. The policies and the brute-force oracle
are those of tests/symbolic.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "symbolic"))

from random_policies import ROUNDS, oracle, text_of  # noqa: E402

from dpaudit.symbolic.subject import CodeTarget, subject_of  # noqa: E402
from dpaudit.symbolic.walk import SymbolicWalk  # noqa: E402

ENOUGH = Fraction(10**6)


def charge(target: CodeTarget, **how: bool) -> float:
    """Return the charge of a walk, infinite where it fails."""
    walk = SymbolicWalk(subject_of(target), target.horizon, ENOUGH, time.monotonic() + 60, **how)
    found = walk.explore()
    return float("inf") if found.failure is not None else float(found.charge)


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=16)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    below = looser = finite = published = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.policies):
            file = Path(folder) / f"p{number}.py"
            file.write_text(text_of(rng))
            target = CodeTarget(f"{file}:Policy", 2, ROUNDS + 1, 1.0)
            wanted = oracle(subject_of(target), ROUNDS)
            merged = charge(target, apart=False)
            unmerged = charge(target, apart=False, merging=False)
            eager = charge(target, apart=True)
            below += merged < unmerged - 1e-9 or unmerged < wanted - 1e-7 or eager < wanted - 1e-7
            finite += bool(np.isfinite(wanted))
            looser += bool(np.isfinite(wanted)) and merged > unmerged + 1e-9
            published += bool(np.isfinite(wanted)) and eager > wanted + 1e-7
    print(f"{arguments.policies} policies, {finite} of finite charge; charged below: {below}")
    print(f"merged looser than unmerged: {looser}; published apart looser than exact: {published}")


if __name__ == "__main__":
    main()

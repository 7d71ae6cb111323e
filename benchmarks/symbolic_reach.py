"""How far the code check gets with right policies: horizon, stretches of paths and their times.

Run `python benchmarks/symbolic_reach.py --seconds 60`. Each policy is walked until the time is
over, for two and three arms, without the side-by-side runs. Times are of the process on its core.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk

HERE = Path(__file__).resolve().parent
RIGHT = HERE / "faults" / "right.py"
HANDWRITTEN = HERE.parent / "dpaudit" / "core" / "handwritten.py"
POLICIES = (
    (RIGHT, "Doubling"),
    (RIGHT, "Local"),
    (HERE / "faults" / "epochs.py", "Epochs"),
    (HANDWRITTEN, "Elimination"),
    (HANDWRITTEN, "Tree"),
    (RIGHT, "Batches"),
    (RIGHT, "Commit"),
    (RIGHT, "Clipped"),
    (RIGHT, "Halves"),
)
FARTHEST = 20_000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=FARTHEST, help="how far at most")
    parser.add_argument("--only", default="", help="NAME:ARMS,... of the table")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",") if arguments.only else ()
    print("| policy | arms | rounds proved | stretches | ms per stretch | CPU s |")
    print("|---|---|---|---|---|---|")
    for path, name in POLICIES:
        for arms in (2, 3):
            if chosen and f"{name}:{arms}" not in chosen:
                continue
            target = CodeTarget(f"{path}:{name}", arms, arguments.rounds, 1.0)
            start = time.process_time()
            subject = subject_of(target)
            end = start + arguments.seconds
            walk = SymbolicWalk(subject, target.horizon, Fraction(1), end, clock=time.process_time)
            found = walk.explore()
            spent = time.process_time() - start
            rounds = found.horizon if found.failure is None else 0
            each = 1000 * spent / max(found.stretches, 1)
            row = (name, arms, f"{rounds:,}", f"{found.stretches:,}", f"{each:.2f}", f"{spent:.0f}")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()

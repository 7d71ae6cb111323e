"""How far the code check gets: horizon, states and milliseconds per state of right policies.

Run `python benchmarks/symbolic_reach.py --seconds 60`. Each policy is walked until the time is
over, for two and three arms, without the side-by-side runs. Times are of one process.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

from dpaudit.symbolic.subject import Target, subject_of
from dpaudit.symbolic.walk import Walk

HERE = Path(__file__).resolve().parent
RIGHT = HERE / "faults" / "right.py"
HANDWRITTEN = HERE.parent / "dpaudit" / "core" / "handwritten.py"
POLICIES = (
    (RIGHT, "Doubling"),
    (RIGHT, "Clipped"),
    (RIGHT, "Halves"),
    (RIGHT, "Batches"),
    (RIGHT, "Commit"),
    (RIGHT, "Local"),
    (HANDWRITTEN, "Tree"),
    (HANDWRITTEN, "Elimination"),
)
FARTHEST = 20_000
WHOLE = 3_000  # a function of the whole stream has no shorter runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    print(
        "| policy | arms | rounds proved | states | ms per state | s |\n|---|---|---|---|---|---|"
    )
    for path, name in POLICIES:
        for arms in (2, 3):
            horizon = WHOLE if name == "Elimination" else FARTHEST
            target = Target(f"{path}:{name}", arms, horizon, 1.0)
            start = time.monotonic()
            subject = subject_of(target)
            found = Walk(subject, horizon, Fraction(1), start + arguments.seconds).explore()
            spent = time.monotonic() - start
            rounds = found.horizon if found.failure is None else 0
            each = 1000 * spent / max(found.states, 1)
            row = (name, arms, f"{rounds:,}", f"{found.states:,}", f"{each:.2f}", f"{spent:.0f}")
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()

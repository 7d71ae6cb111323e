"""What a learned classifier adds at equal runs, on a leak that is spread over many rounds.

The target is `examples/whispering_bandit.py`: a hundred draws that lean by 6 % each. Lower bounds
with frequency tables alone and with the classifier, where the pair is known and where it is sought.

    python benchmarks/sample_learned.py [runs ...]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import file_box
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair, Stream, candidates

HORIZON, ERROR, SEEDS = 100, 1e-3, 3
TARGET = Path(__file__).parent.parent / "examples" / "whispering_bandit.py"


def main(sizes: list[int]) -> None:
    """Print the table."""
    box = file_box(f"{TARGET}:Whispers", 2, HORIZON, 1.0, 60.0)
    known = (Pair("first reward", Stream.constant(0.0, HORIZON), 0, 1.0),)
    sought = tuple(candidates(2, HORIZON, [0, 2]))
    print(f"epsilon >= at error {ERROR:g}; medians of {SEEDS} audits")
    print(f"{'runs':>8}{'pairs':>7}{'tables':>9}{'learned':>9}{'CPU s':>8}{'CPU s':>8}")
    for runs in sizes:
        for pairs in (known, sought):
            bounds, seconds = [], []
            for events in ("tables", "learned"):
                start = time.process_time()
                # a claim far above the bounds lets every run be spent on them
                plans = [
                    AuditPlan(box, 20.0, ERROR, runs, seed, pairs, events=events)
                    for seed in range(SEEDS)
                ]
                bounds.append(sorted(audit(plan).lower for plan in plans)[SEEDS // 2])
                seconds.append((time.process_time() - start) / SEEDS)
            row = f"{bounds[0]:9.3f}{bounds[1]:9.3f}{seconds[0]:8.1f}{seconds[1]:8.1f}"
            print(f"{runs:8}{len(pairs):7}{row}", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [5_000, 20_000])

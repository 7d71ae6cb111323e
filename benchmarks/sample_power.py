"""How small a flaw is found: noise scaled by 0.5 to 0.99. Runs are medians over audits.

python benchmarks/sample_power.py [audits]
"""

from __future__ import annotations

import statistics as stats
import sys
import time
from typing import Any

from sample_boxes import LessNoise, RandomisedResponse

from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair, Stream
from dpaudit.verdict import Status

RATIOS, ERROR, EPSILON = (0.5, 0.8, 0.9, 0.95, 0.99), 0.05, 1.0


def targets(ratio: float) -> list[tuple[str, Any, tuple[Pair, ...], int]]:
    """Return mechanisms whose true epsilon is 1 / ratio, their pairs and the runs to spend."""
    response = RandomisedResponse(EPSILON / ratio)
    box = DeclaredBox(LessNoise(arms=2, epsilon=EPSILON, alpha=1.0, ratio=ratio), 6)
    # the third reward is an episode of its own: its release is the tight one
    pair = Pair("all 0", Stream.constant(0.0, 6), 2, 1.0)
    return [
        ("randomised response", response, response.pairs[:1], 40_000),
        ("adap_klucb, alpha 1", box, (pair,), 19_000),
    ]


def main(audits: int) -> None:
    """Print the table."""
    print(f"{audits} audits per cell, error {ERROR}, epsilon {EPSILON}")
    print(f"{'mechanism':22}{'noise':>7}{'most runs':>11}{'refuted':>12}{'median runs':>13}")
    for ratio in RATIOS:
        for name, box, pairs, runs in targets(ratio):
            used, found = [], 0
            for seed in range(audits):
                plan = AuditPlan(box, EPSILON, ERROR, runs, seed, pairs)
                report = audit(plan)
                found += report.status is Status.REFUTED
                used.append(report.runs)
            print(
                f"{name:22}{ratio:7}{runs:11}{found / audits:12.2f}{stats.median(used):13.0f}",
                flush=True,
            )


if __name__ == "__main__":
    start = time.process_time()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    print(f"{time.process_time() - start:.0f} s of CPU")

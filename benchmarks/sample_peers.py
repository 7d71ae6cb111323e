"""Lower bounds at equal sample budgets on small targets with a known truth.

The table shows this auditor alone, at 2 x 200,000 runs per target, a budget at which other auditors
report theirs; it runs none of them.

    python benchmarks/sample_peers.py [runs]
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from sample_boxes import NoisyMax, NoisyValue, RandomisedResponse, Redrawn

from dpaudit.sample.audit import audit
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair

ERROR = 1e-3


def targets() -> list[tuple[str, Any, tuple[Pair, ...], float]]:
    """Return name, box, pairs and the true epsilon."""
    redrawn = Redrawn()
    loss, pair = redrawn.worst
    response, value, largest = RandomisedResponse(1.0), NoisyValue(1.0), NoisyMax(1.0)
    return [
        ("noise redrawn, K = 2, T = 8", redrawn, (pair,), loss),
        ("randomised response", response, response.pairs[:1], 1.0),
        ("Laplace, 10 bins", value, value.pairs, 1.0),
        ("noisy max, 5 arms", largest, largest.pairs, 0.5),
    ]


def main(runs: int) -> None:
    """Print the table; a claim far above the truth lets every run be spent on the bound."""
    print(f"{runs} runs each, error {ERROR}")
    print(f"{'target':30}{'truth':>8}{'lower':>8}{'part':>7}{'seconds':>9}")
    for name, box, pairs, truth in targets():
        start = time.perf_counter()
        report = audit(AuditPlan(box, 20.0, ERROR, runs, 1, pairs))
        seconds = time.perf_counter() - start
        assert report.lower <= truth or math.isclose(report.lower, truth)
        print(f"{name:30}{truth:8.4f}{report.lower:8.4f}{report.lower / truth:7.2f}{seconds:9.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)

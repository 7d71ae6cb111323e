"""Full-size runs per second, against the reference runner in the same process, and flat memory.

python benchmarks/sample_throughput.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sample_boxes import RandomisedResponse

from dpaudit.core.algorithms import load
from dpaudit.core.stream import interpret
from dpaudit.sample.audit import audit
from dpaudit.sample.lockstep import CumulativeRewards, run_many
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Stream
from dpaudit.sample.workers import resident


def rate(function: Any, runs: int) -> float:
    """Return runs per second after a warm-up."""
    function(min(runs, 2))
    start = time.perf_counter()
    function(runs)
    return runs / (time.perf_counter() - start)


def speed() -> None:
    """Print runs per second of the fast runners and of the reference interpreter."""
    print(f"{'algorithm':14}{'arms':>6}{'horizon':>10}{'runs/s':>10}{'reference':>11}{'ratio':>8}")
    for name, arms, horizon, runs, few in (
        ("adap_klucb", 5, 10**7, 2000, 20),
        ("adap_ucb", 5, 10**7, 2000, 20),
        ("dp_ucb", 5, 10**5, 40, 1),
    ):
        values = {"horizon": horizon} if name == "dp_ucb" else {}
        algorithm = load(name, arms=arms, epsilon=1.0, **values)
        stream = Stream.constant(0.0, horizon).replaced(7, 1.0)
        rng = np.random.default_rng(0)

        def fast(count: int, a: Any = algorithm, s: Stream = stream, g: Any = rng) -> None:
            run_many(a, s, count, g)

        def slow(count: int, a: Any = algorithm, s: Stream = stream, g: Any = rng) -> None:
            for _ in range(count):
                interpret(a, s.horizon, CumulativeRewards(s, a.arms), g)

        quick = rate(fast, runs)
        start = time.perf_counter()
        slow(few)
        base = few / (time.perf_counter() - start)
        print(f"{name:14}{arms:6}{horizon:10}{quick:10.0f}{base:11.2f}{quick / base:8.0f}")


def memory() -> None:
    """Print the growth of this process over audits of 10^4 to 10^6 runs."""
    box = RandomisedResponse(1.0)
    audit(AuditPlan(box, 1.0, 1e-3, 2000, 0, box.pairs))
    print(f"\n{'runs':>10}{'peak growth, MB':>17}{'seconds':>9}")
    for runs in (10**4, 10**5, 10**6):
        before, peak = resident(), resident()

        def heard(*state: float) -> None:
            nonlocal peak
            peak = max(peak, resident())

        start = time.perf_counter()
        audit(AuditPlan(box, 1.0, 1e-3, runs, 0, box.pairs), heard=heard)
        seconds = time.perf_counter() - start
        print(f"{runs:10}{(peak - before) / 1e6:17.1f}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    speed()
    memory()

"""Full-size runs per second of CPU, against the reference runner in one process; flat memory; what
guards and repeated runs add to foreign code.

python benchmarks/sample_throughput.py
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sample_boxes import RandomisedResponse

from dpaudit.core.algorithms import load
from dpaudit.core.stream import interpret
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import file_box
from dpaudit.sample.lockstep import CumulativeRewards, run_many
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Stream, candidates
from dpaudit.sample.workers import resident


def rate(function: Any, runs: int) -> float:
    """Return runs per second of CPU after a warm-up."""
    function(min(runs, 2))
    start = time.process_time()
    function(runs)
    return runs / (time.process_time() - start)


def speed() -> None:
    """Print runs per second of the fast runners and of the reference interpreter."""
    print(
        f"{'algorithm':14}{'arms':>6}{'horizon':>10}{'runs/CPU s':>12}{'reference':>11}{'ratio':>8}"
    )
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
        start = time.process_time()
        slow(few)
        base = few / (time.process_time() - start)
        print(f"{name:14}{arms:6}{horizon:10}{quick:12.0f}{base:11.2f}{quick / base:8.0f}")


def memory() -> None:
    """Print the memory of this process over audits of 10^4 to 4 x 10^6 runs.

    What grows at first are the tables that teach, which end after a number of rounds.
    """
    box = RandomisedResponse(1.0)
    audit(AuditPlan(box, 1.0, 1e-3, 2000, 0, box.pairs))
    print(f"\n{'runs':>10}{'peak, MB':>10}{'growth, MB':>12}{'bytes/run':>11}{'CPU s':>7}")
    begun = resident()
    for runs in (10**4, 10**5, 10**6, 4 * 10**6):
        peak = begun

        def heard(*state: float) -> None:
            nonlocal peak
            peak = max(peak, resident())

        start = time.process_time()
        audit(AuditPlan(box, 1.0, 1e-3, runs, 0, box.pairs), heard=heard)
        seconds, growth = time.process_time() - start, peak - begun
        row = f"{runs:10}{peak / 1e6:10.1f}{growth / 1e6:12.1f}{growth / runs:11.1f}{seconds:7.1f}"
        print(row, flush=True)


QUICK = """
def policy(stream, rng):
    noisy = float(stream[:3].sum()) + rng.laplace(0, 1)
    sum(range({work}))
    return [0] * 3 + [int(noisy > 1.5)] * (len(stream) - 3)
"""


def foreign_seconds(runs: int, horizon: int = 10) -> tuple[float, float]:
    """Return the CPU of a run of a quick policy by itself, and in an audit, children included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quick.py"
        path.write_text(QUICK.format(work=3000))
        box = file_box(f"{path}:policy", 2, horizon, 1.0, 60.0)
        pairs = tuple(candidates(2, horizon, [0, 2]))
        rewards, rng = pairs[0].stream.array(), np.random.default_rng(0)
        policy = box.build(rng)
        bare = 1 / rate(lambda count: [policy(rewards, rng) for _ in range(count)], 5000)
        start = _cpu()
        audit(AuditPlan(box, 1.0, 1e-3, runs, 0, pairs))
        return bare, (_cpu() - start) / runs


def foreign(runs: int = 20_000) -> None:
    """Print the CPU of an audit of a quick policy against its bare runs."""
    bare, each = (f"{1e6 * seconds:.0f} us" for seconds in foreign_seconds(runs))
    print(f"\nforeign code: {bare} a run by itself, {each} in an audit of {runs:,} runs")


def _cpu() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(it.ru_utime + it.ru_stime for it in map(resource.getrusage, both))


if __name__ == "__main__":
    speed()
    memory()
    foreign()

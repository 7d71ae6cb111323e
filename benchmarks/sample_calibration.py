"""False alarms of audits of exactly tight mechanisms, with and without a holdout.

At error 0.05, 3,000 audits may raise at most 188 false alarms (150 expected at worst, plus 3.2
standard deviations). Beside it, as a warning, what happens without a holdout: the best of all
events is judged on the very runs that it was chosen on. Audits run in batches; with a log, a killed
benchmark goes on where it stopped.

    python benchmarks/sample_calibration.py [--audits 3000] [--jobs 1] [--log FILE]
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from sample_boxes import RandomisedResponse

from dpaudit.core.algorithms import load
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.events import statistics
from dpaudit.sample.log import BlockLog
from dpaudit.sample.lower import epsilon_lower
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.workers import Workers
from dpaudit.verdict import Status

ERROR, RUNS, EPSILON, BATCH = 0.05, 800, 1.0, 25


def targets() -> dict[str, tuple[Any, tuple[Pair, ...], str]]:
    """Return the tight mechanisms: randomised response, and adap_klucb at T = 4 to 8.

    With alpha 1 the tight outcome of adap_klucb has probability 0.27; with 3.1 it has 0.02. Two of
    them are audited with a learned classifier as well.
    """
    response, coins = RandomisedResponse(EPSILON), RandomisedResponse(EPSILON, horizon=12)
    found: dict[str, tuple[Any, tuple[Pair, ...], str]] = {
        "randomised response": (response, response.pairs, "tables"),
        "  and ten coins": (coins, coins.pairs, "tables"),
        "  and ten coins, learned": (coins, coins.pairs, "learned"),
    }
    for horizon, alpha, events in (
        (4, 1.0, "tables"),
        (6, 1.0, "tables"),
        (8, 1.0, "tables"),
        (8, 1.0, "learned"),
        (8, 3.1, "tables"),
    ):
        box = DeclaredBox(load("adap_klucb", arms=2, epsilon=EPSILON, alpha=alpha), horizon)
        zeros, ones = Stream.constant(0.0, horizon), Stream.constant(1.0, horizon)
        # the third reward is an episode of its own: its release is the tight one
        pairs = (Pair("all 0", zeros, 2, 1.0), Pair("all 1", ones, 2, 0.0))
        suffix = "" if events == "tables" else f", {events}"
        found[f"adap_klucb, T = {horizon}, alpha {alpha:g}{suffix}"] = (box, pairs, events)
    return found


def without_holdout(box: Any, pair: Pair, seed: int) -> bool:
    """Judge the best set of values of any statistic on the very runs that it was chosen on."""
    rounds = RUNS // 4
    sides = [
        box.run(stream, rounds, np.random.SeedSequence(seed, spawn_key=(9, side)))
        for side, stream in enumerate((pair.stream, pair.neighbour))
    ]
    for statistic in statistics(box.arms, box.horizon, pair.position):
        values = np.concatenate([statistic(runs) for runs in sides])
        inverse = np.unique(values, return_inverse=True)[1]
        here = np.bincount(inverse[:rounds], minlength=inverse.max() + 1)
        there = np.bincount(inverse[rounds:], minlength=inverse.max() + 1)
        for more, less in ((here, there), (there, here)):
            order = np.argsort(-(more + 0.1) / (less + 0.1), kind="stable")
            hits, others = np.cumsum(more[order]), np.cumsum(less[order])
            bounds = {(int(k), int(m)) for k, m in zip(hits, others, strict=True)}
            if any(epsilon_lower(k, m, rounds, ERROR) > EPSILON for k, m in bounds):
                return True
    return False


def batch(name: str, first: int, count: int) -> list[int]:
    """Return how often audits alarm, bounds exceed the truth, and audits without holdout alarm."""
    box, pairs, events = targets()[name]
    wrong = above = naive = 0
    for seed in range(first, first + count):
        report = audit(AuditPlan(box, EPSILON, ERROR, RUNS, seed, pairs, events=events))
        wrong += report.status is Status.REFUTED
        above += report.lower >= EPSILON
        naive += any(without_holdout(box, pair, seed) for pair in pairs)
    return [wrong, above, naive]


def main(audits: int, jobs: int, path: str | None) -> None:
    """Print the table of false alarms."""
    identity = {"benchmark": "calibration", "runs": RUNS, "error": ERROR}
    log = BlockLog.nowhere()
    if path is not None:
        log = (BlockLog.resume if Path(path).exists() else BlockLog.start)(path, identity)
    names = list(targets())
    share = audits // len(names) // BATCH * BATCH
    tasks = [(name, first, BATCH) for name in names for first in range(0, share, BATCH)]
    missing = [task for task in tasks if str(task) not in log.done]
    with Workers(jobs).open() as run:
        for task, result in zip(missing, run((batch, task) for task in missing), strict=True):
            log.record(str(task), result)
            log.done[str(task)] = result
    print(f"{'mechanism':36}{'audits':>8}{'alarms':>8}{'bound >= truth':>15}{'no holdout':>12}")
    total = np.zeros(3, dtype=int)
    for name in names:
        counts = np.sum([log.done[str(task)] for task in tasks if task[0] == name], axis=0)
        total += counts
        print(f"{name:36}{share:8}{counts[0]:8}{counts[1]:15}{counts[2]:12}")
    done = share * len(names)
    limit = math.floor(done * ERROR + 3.2 * math.sqrt(done * ERROR * (1 - ERROR)))
    print(f"{'all':36}{done:8}{total[0]:8}{total[1]:15}{total[2]:12}")
    print(f"at most {limit} alarms allowed: {bool(total[0] <= limit)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log")
    given = parser.parse_args()
    start = time.process_time()
    main(given.audits, given.jobs, given.log)
    print(f"{time.process_time() - start:.0f} s of CPU")

"""False alarms of audits of exactly tight mechanisms, and of audits with a broken martingale.

At error 0.05, 3,000 audits may raise at most 188 false alarms (150 expected at worst, plus 3.2
standard deviations). Beside it the same audits, of the first seeds, with bets that have seen the
block that they are placed on: this table has to catch them. Audits run in batches; with a log, a
killed benchmark goes on where it stopped. Exit 1 if there are too many alarms or too few broken.

    python benchmarks/sample_calibration.py [--audits 3000] [--jobs 1] [--log FILE]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sample_boxes import RandomisedResponse

from dpaudit.core.algorithms import load
from dpaudit.sample.audit import audit
from dpaudit.sample.bets import Prospect, Wealth
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.log import BlockLog
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.workers import Workers
from dpaudit.verdict import Status

ERROR, RUNS, EPSILON, BATCH = 0.05, 800, 1.0, 25
PEEKING = 25  # seeds of every mechanism that the broken martingale is tried with
PEEK = 20  # times that a broken bettor believes the block before it is played


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


class Peeking(Wealth):
    """A broken wealth, to be caught: its bets have seen the very block that they are placed on."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.asked: dict[int, tuple[Any, ...]] = {}

    def prospect(self, counts: Any, sizes: Any, left: int, caution: float) -> Prospect | None:
        """Return bets as they should be, and remember what they were asked for."""
        found = super().prospect(counts, sizes, left, caution)
        self.asked[id(found)] = counts, sizes, left, caution
        return found

    def update(self, prospect: Prospect | None, pieces: Any, left: int) -> None:
        """Bet on a block in the knowledge of its outcome."""
        if prospect is not None:
            known, *rest = self.asked[id(prospect)]
            prospect = super().prospect(known + PEEK * pieces.sum(axis=0), *rest)
        super().update(prospect, pieces, left)


# what a report says of the files of its target takes as long as these audits, and is not looked at
@patch("dpaudit.sample.boxes._rests_on", lambda text, source: {})
def batch(name: str, first: int, count: int) -> list[int]:
    """Return alarms, bounds above the truth, and alarms of broken audits, of how many."""
    box, pairs, events = targets()[name]
    wrong = above = broken = tried = 0
    for seed in range(first, first + count):
        plan = AuditPlan(box, EPSILON, ERROR, RUNS, seed, pairs, events=events)
        report = audit(plan)
        wrong += report.status is Status.REFUTED
        above += report.lower >= EPSILON
        if seed < PEEKING:
            tried += 1
            with patch("dpaudit.sample.progress.Wealth", Peeking):
                broken += audit(plan).status is Status.REFUTED
    return [wrong, above, broken, tried]


def most_alarms(audits: int) -> int:
    """Return how many alarms are to be expected at worst, plus 3.2 standard deviations."""
    return math.floor(audits * ERROR + 3.2 * math.sqrt(audits * ERROR * (1 - ERROR)))


def _of(counts: Any) -> str:
    return f"{counts[2]} of {counts[3]}"


def main(audits: int, jobs: int, path: str | None) -> bool:
    """Print the table of false alarms; return whether it is as it should be."""
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
    print(f"{'mechanism':36}{'audits':>8}{'alarms':>8}{'bound >= truth':>15}{'broken':>12}")
    total = np.zeros(4, dtype=int)
    for name in names:
        counts = np.sum([log.done[str(task)] for task in tasks if task[0] == name], axis=0)
        total += counts
        print(f"{name:36}{share:8}{counts[0]:8}{counts[1]:15}{_of(counts):>12}")
    done = share * len(names)
    print(f"{'all':36}{done:8}{total[0]:8}{total[1]:15}{_of(total):>12}")
    sound, caught = total[0] <= most_alarms(done), total[2] > most_alarms(int(total[3]))
    print(
        f"at most {most_alarms(done)} alarms allowed: {bool(sound)}; broken caught: {bool(caught)}"
    )
    return bool(sound and caught)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--audits", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log")
    given = parser.parse_args()
    start = time.process_time()
    shown = main(given.audits, given.jobs, given.log)
    print(f"{time.process_time() - start:.0f} s of CPU")
    sys.exit(not shown)

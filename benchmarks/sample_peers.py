"""Lower bounds at equal sample budgets on small targets with a known truth.

The first target is a bandit with K = 2 and T = 8 whose noise is drawn again at every round: each
decision spends epsilon anew, and its true loss is found by enumeration. The exact-score audit takes
the event {log-ratio of the sequence >= c} from the exact law, so that all 2 x 200,000 runs judge
it; the whole audit has to find its event first.

No peer can be run beside it: the public package index has no distribution under dp-auditorium,
dp_auditorium, dp-sniper, dpsniper, statdp, dp-finder, dpfinder, delta-siege, deltasiege,
privacy-auditing or dp-recorder. The rows "single output" are our own rendering of the idea of
StatDP (Ding et al. 2018), not that program: half of the runs choose the one output that tells most,
the other half bounds epsilon by Clopper and Pearson.

    python benchmarks/sample_peers.py [runs]
"""

from __future__ import annotations

import sys
import time
from itertools import product
from typing import Any

import numpy as np
from sample_boxes import NoisyMax, NoisyValue, RandomisedResponse, Redrawn
from scipy.special import betaincinv

from dpaudit.sample.audit import audit
from dpaudit.sample.block import judge
from dpaudit.sample.events import OneOf
from dpaudit.sample.lower import epsilon_lower, promised
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.streams import Pair

ERRORS, SEEDS = (0.05, 1e-3), 5


def targets() -> list[tuple[str, Any, tuple[Pair, ...], float]]:
    """Return name, box, pairs and the true epsilon."""
    redrawn = Redrawn(epsilon=0.25)
    loss, pair = redrawn.worst
    response, value, largest = RandomisedResponse(1.0), NoisyValue(1.0), NoisyMax(1.0)
    return [
        ("noise redrawn, K = 2, T = 8", redrawn, (pair,), loss),
        ("randomised response", response, response.pairs[:1], 1.0),
        ("Laplace, 10 bins", value, value.pairs, 1.0),
        ("noisy max, 5 arms", largest, largest.pairs, 0.5),
    ]


def exact_event(box: Redrawn, pair: Pair, rounds: int, error: float) -> tuple[OneOf, bool]:
    """Return the event of the exact log-ratio with the best bound to expect; and its direction."""
    rest = list(product((0, 1), repeat=box.horizon - 2))
    logs = [
        np.array([box.log_likelihood(actions, side.array()) for actions in rest])
        for side in (pair.stream, pair.neighbour)
    ]
    history = History(0, box.horizon)
    keys = history(Runs.of_actions(np.array([(0, 1, *actions) for actions in rest])))
    best: tuple[float, OneOf, bool] | None = None
    for swapped in (False, True):
        likely, other = logs[::-1] if swapped else logs
        order = np.argsort(other - likely, kind="stable")
        p, q = np.cumsum(np.exp(likely[order])), np.cumsum(np.exp(other[order]))
        promise = promised(p, q, rounds, error)
        cut = int(np.argmax(promise))
        event = OneOf(history, tuple(int(key) for key in np.sort(keys[order[: cut + 1]])))
        if best is None or promise[cut] > best[0]:
            best = float(promise[cut]), event, swapped
    assert best is not None
    return best[1], best[2]


def judged_counts(
    box: Any, pair: Pair, event: OneOf, rounds: int, key: tuple[int, ...], seed: int
) -> tuple[int, int]:
    """Return how often an event occurred on the stream and on the neighbour."""
    [[[[_, hits], [_, other]]]] = judge(box, pair, (event,), rounds, key, seed).counts
    return hits, other


def careful(hits: Any, other: Any, rounds: int, later: int, error: float) -> Any:
    """Return the bound to expect from estimates that are one standard deviation off."""
    low = betaincinv(hits + 0.5, rounds - hits + 0.5, 0.16)
    high = betaincinv(other + 0.5, rounds - other + 0.5, 0.84)
    return promised(low, high, later, error)


def exact_scores(box: Redrawn, pair: Pair, runs: int, error: float, seed: int) -> float:
    """Return the lower bound of an audit whose one event comes from the exact law."""
    rounds = runs // 2
    event, swapped = exact_event(box, pair, rounds, error)
    hits, other = judged_counts(box, pair, event, rounds, (8,), seed)[:: -1 if swapped else 1]
    return epsilon_lower(hits, other, rounds, error)


def single_output(box: Any, pairs: tuple[Pair, ...], runs: int, error: float, seed: int) -> float:
    """Return the lower bound from the one output that told most on half of the runs."""
    history, judged = History(0, box.horizon), runs // 4
    rounds = judged // len(pairs)
    best: tuple[float, Pair, int, int] | None = None
    for number, pair in enumerate(pairs):
        seeds = [np.random.SeedSequence(seed, spawn_key=(10, number, side)) for side in (0, 1)]
        streams = zip((pair.stream, pair.neighbour), seeds, strict=True)
        sides = [history(box.run(stream, rounds, each)) for stream, each in streams]
        keys, inverse = np.unique(np.concatenate(sides), return_inverse=True)
        counts = [np.bincount(half, minlength=len(keys)) for half in np.split(inverse, 2)]
        for swapped in (0, 1):
            promise = careful(counts[swapped], counts[1 - swapped], rounds, judged, error)
            top = int(np.argmax(promise))
            if best is None or promise[top] > best[0]:
                best = float(promise[top]), pair, swapped, int(keys[top])
    assert best is not None
    _, pair, swapped, key = best
    event = OneOf(history, (key,))
    hits, other = judged_counts(box, pair, event, judged, (11,), seed)[:: -1 if swapped else 1]
    return epsilon_lower(hits, other, judged, error)


def bounds(kind: str, box: Any, pairs: tuple[Pair, ...], runs: int, error: float) -> list[float]:
    """Return the lower bounds of audits with several seeds, sorted.

    A claim above the truth lets every run be spent on the bound.
    """
    if kind == "exact scores":
        return sorted(exact_scores(box, pairs[0], runs, error, seed) for seed in range(SEEDS))
    if kind == "single output":
        return sorted(single_output(box, pairs, runs, error, seed) for seed in range(SEEDS))
    plans = (AuditPlan(box, 2.0, error, runs, seed, pairs) for seed in range(SEEDS))
    return sorted(audit(plan).lower for plan in plans)


def main(runs: int) -> None:
    """Print the table."""
    print(f"{runs} runs each; medians of {SEEDS} audits")
    print(f"{'target':30}{'audit':14}{'error':>7}{'truth':>8}{'lower':>8}{'part':>7}{'CPU s':>7}")
    for name, box, pairs, truth in targets():
        exact = ("exact scores",) if isinstance(box, Redrawn) else ()
        for kind in (*exact, "whole audit", "single output"):
            for error in ERRORS:
                start = time.process_time()
                found = bounds(kind, box, pairs, runs, error)
                seconds = (time.process_time() - start) / SEEDS
                middle = found[SEEDS // 2]
                print(
                    f"{name:30}{kind:14}{error:7g}{truth:8.4f}{middle:8.4f}"
                    f"{middle / truth:7.3f}{seconds:7.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)

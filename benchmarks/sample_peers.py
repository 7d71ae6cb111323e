"""Lower bounds at equal sample budgets on small targets with a known truth.

The first target is a bandit with K = 2 and T = 8 whose noise is drawn again at every round: each
decision spends epsilon anew, and its true loss is found by enumeration. The exact-score audit takes
the event {log-ratio of the sequence >= c} from the exact law, so that all 2 x 200,000 runs judge
it; the whole audit has to find its event first.

No peer can be run beside it: the public package index has no distribution under dp-auditorium,
dp_auditorium, dp-sniper, dpsniper, statdp, dp-finder, dpfinder, delta-siege, deltasiege,
privacy-auditing or dp-recorder. Three rows are our own renderings of ideas, not those programs:

- "single output" (StatDP, Ding et al. 2018): half of the runs choose the one output that tells
  most, the other half bounds epsilon by Clopper and Pearson.
- "MMD e-process" (Gonzalez et al. 2025): rounds bet that a witness function of norm 1, learned from
  earlier rounds, has means that differ by more than any epsilon-private target's can. Sequences are
  equal or not (the identity kernel), so that the largest difference is sqrt(2) tanh(epsilon / 2).
- "one-run" (Steinke et al. 2023): every reward of every run is a coin, whatever the pair; half of
  the runs teach which sequence tells which reward, the guesses on the other half are counted.

    python benchmarks/sample_peers.py [runs]
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sample_boxes import NoisyMax, NoisyValue, RandomisedResponse, Redrawn
from scipy.special import betaincinv

from dpaudit.sample.audit import audit
from dpaudit.sample.block import judge
from dpaudit.sample.events import OneOf
from dpaudit.sample.lower import epsilon_lower, promised
from dpaudit.sample.onerun import lower_bound
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.rounds import run_rounds
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.streams import Pair, Stream

ERRORS, SEEDS = (0.05, 1e-3), 5
TRIED = np.linspace(0.01, 2.0, 200)  # levels of the MMD e-process


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


def mmd_process(box: Any, pairs: tuple[Pair, ...], runs: int, error: float, seed: int) -> float:
    """Return the highest level at which the mean wealth of all pairs ever reaches 1 / error."""
    history, whole = History(0, box.horizon), runs // (2 * len(pairs))
    furthest = math.sqrt(2) * np.tanh(TRIED / 2)
    logs, peak = np.zeros((len(pairs), len(TRIED))), np.zeros(len(TRIED))
    sides = [
        [history(it) for it in run_rounds(box, each, whole, seed, (12, number))]
        for number, each in enumerate(pairs)
    ]
    coded = [np.unique(np.concatenate(it), return_inverse=True)[1].reshape(2, -1) for it in sides]
    begun, size = 64, 64
    while begun < whole:
        for number, codes in enumerate(coded):
            known = np.array([np.bincount(it[:begun], minlength=codes.max() + 1) for it in codes])
            chances = known / begun
            witness = (apart := chances[0] - chances[1]) / max(np.linalg.norm(apart), 1e-12)
            mean = apart @ witness - furthest
            spread = chances.sum(axis=0) @ witness**2 - (chances @ witness) @ (chances @ witness)
            least = witness.max() - witness.min() + furthest
            stake = np.clip(mean / (spread + mean**2), 0.0, 0.5 / least)
            given = codes[:, begun : begun + size]
            gains = (witness[given[0]] - witness[given[1]])[:, None] - furthest
            logs[number] += np.log1p(stake * gains).sum(axis=0)
        peak = np.maximum(peak, np.logaddexp.reduce(logs, axis=0) - math.log(len(pairs)))
        begun, size = begun + size, max(64, begun // 10)
    count = int((np.minimum.accumulate(peak) >= math.log(1 / error)).sum())
    return float(TRIED[count - 1]) if count else 0.0


def one_run(box: Any, runs: int, error: float, seed: int) -> float:
    """Return the bound from guesses of coins, in as many runs as others have."""
    history, rows = History(0, box.horizon), np.array(list(product((0, 1), repeat=box.horizon)))
    rng = np.random.default_rng([seed, 13])
    halves = []
    for half in (0, 1):
        counts = rng.multinomial(runs // 2, np.full(len(rows), 1 / len(rows)))
        seeds = [np.random.SeedSequence(seed, spawn_key=(13, half, n)) for n in range(len(rows))]
        made = [
            history(box.run(Stream.of(row.astype(float)), int(count), own))
            for row, count, own in zip(rows, counts, seeds, strict=True)
            if count
        ]
        halves.append((np.concatenate(made), np.repeat(rows, counts, axis=0)))
    (taught, bits), (keys, hidden) = halves
    kinds, codes = np.unique(taught, return_inverse=True)
    ones = np.array([np.bincount(codes, row, len(kinds)) for row in bits.T])
    every = np.bincount(codes, minlength=len(kinds))
    odds = np.log((ones + 0.5) / (every - ones + 0.5))
    doubt = np.sqrt(1 / (ones + 0.5) + 1 / (every - ones + 0.5))
    odds = np.sign(odds) * np.maximum(np.abs(odds) - doubt, 0.0)
    right = np.where(odds > 0, ones, every - ones)
    promise = {
        least: lower_bound(int(right[sure].sum()), int((sure * every).sum()), error)
        for least in np.linspace(0.02, 2.0, 100)
        if (sure := np.abs(odds) >= least).any()
    }
    least = max(promise, key=lambda it: promise[it], default=math.inf)
    place = np.minimum(np.searchsorted(kinds, keys), len(kinds) - 1)
    found = np.where(kinds[place] == keys, odds[:, place], 0.0).T
    guessed = np.abs(found) >= least
    correct = int(((found > 0) == hidden)[guessed].sum())
    return lower_bound(correct, int(guessed.sum()), error)


def bounds(kind: str, box: Any, pairs: tuple[Pair, ...], runs: int, error: float) -> list[float]:
    """Return the lower bounds of audits with several seeds, sorted.

    A claim above the truth lets every run be spent on the bound.
    """
    audits: dict[str, Callable[[int], float]] = {
        "exact scores": lambda seed: exact_scores(box, pairs[0], runs, error, seed),
        "single output": lambda seed: single_output(box, pairs, runs, error, seed),
        "MMD e-process": lambda seed: mmd_process(box, pairs, runs, error, seed),
        "one-run": lambda seed: one_run(box, runs, error, seed),
        "whole audit": lambda seed: audit(AuditPlan(box, 2.0, error, runs, seed, pairs)).lower,
    }
    return sorted(audits[kind](seed) for seed in range(SEEDS))


def main(runs: int) -> None:
    """Print the table."""
    print(f"{runs} runs each; medians of {SEEDS} audits")
    print(f"{'target':30}{'audit':14}{'error':>7}{'truth':>8}{'lower':>8}{'part':>7}{'CPU s':>7}")
    for name, box, pairs, truth in targets():
        exact = ("exact scores",) if isinstance(box, Redrawn) else ()
        for kind in (*exact, "whole audit", "single output", "MMD e-process", "one-run"):
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

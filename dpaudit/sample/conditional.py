"""Scores of whole action sequences by conditional Monte Carlo, for any number of arms.

A changed reward enters one release. Given every other register of a run, the decisions that read
that release come out as they did iff its value lies in an interval, whose probability w is a
difference of two distribution functions. Over the runs that show as one action sequence,
half of them on each stream, the average of w / (w + w') has the mean
P(sequence | r) / (P(sequence | r) + P(sequence | r')), so its log-odds estimate the log-ratio of
the sequence: what happened before the release cancels. Scores choose events on training runs; an
error in them costs power, never soundness.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.lockstep import decisions
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import DRAWS
from dpaudit.sample.runs import History
from dpaudit.sample.streams import Pair
from dpaudit.sample.transcript import Numbers, Transcripts, transcripts

SAMPLE = 300
READINGS = 6  # decisions after the release that a score looks at
REACH = 60.0


def scorable(algorithm: Algorithm, horizon: int) -> bool:
    """Return whether registers decide alone: draws of a rule's own, or coins, have no interval."""
    climbing = decisions(algorithm, horizon)
    if isinstance(algorithm, PerStep) or climbing is None:
        return False
    first = climbing.numbers_of(np.ones((1, algorithm.arms), dtype=np.int64))[0]
    if climbing.coins[first] is not None or climbing.due[first] >= 0:
        return False
    return not isinstance(climbing.places[first].rule, DRAWS)


def log_ratios(told: Transcripts, pair: Pair) -> Numbers:
    """Return log(w / w') of every run: 0 where the changed reward is never released."""
    runs, position = told.runs, pair.position
    place = (runs.starts <= position).sum(axis=1) - 1
    everyone = np.arange(len(told))
    begun, ended = runs.starts[everyone, place], told.ends[everyone, place]
    spread, divisor = told.spread[everyone, place], told.divisor[everyone, place]
    arm = runs.arms[everyone, place].astype(np.int64)
    own = told.register[everyone, place] - told.kept[everyone, place]
    low, high = np.full(len(told), -np.inf), np.full(len(told), np.inf)
    reading = ~np.isnan(own)
    # the first pull of every arm is no decision
    first = np.maximum(place + 1, told.algorithm.arms)
    for ahead in range(READINGS):
        play = np.minimum(first + ahead, runs.arms.shape[1] - 1)
        reading &= (first + ahead == play) & (runs.starts[everyone, play] < runs.horizon)
        for number in np.unique(play[reading]).tolist():
            some = np.flatnonzero(reading & (play == number))
            held = told.before(number, some)[0][np.arange(len(some)), arm[some]]
            reach = REACH * spread[some]
            edge = told.threshold(number, arm[some], some, held - reach, held + reach)
            edge -= held - own[some]
            won = runs.arms[some, number] == arm[some]
            low[some] = np.where(won, np.maximum(low[some], edge), low[some])
            high[some] = np.where(won, high[some], np.minimum(high[some], edge))
            # an overwritten register is read no more; one that adds up goes on to be
            forgotten = won & (told.kept[some, number] == 0)
            reading[some[forgotten]] = False
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = []
        for stream in (pair.stream, pair.neighbour):
            centre = (stream.cumulative(ended) - stream.cumulative(begun)) / divisor
            left, right = (low - centre) / spread, (high - centre) / spread
            # both ends on the same side: the smaller tails do not cancel
            tails = told.unit.cdf(-left) - told.unit.cdf(-right)
            heads = told.unit.cdf(right) - told.unit.cdf(left)
            logs.append(np.log(np.where(left > 0, tails, heads)))
        return np.asarray(np.clip(np.nan_to_num(logs[0] - logs[1], nan=0.0), -30.0, 30.0))


def sampled(algorithm: Algorithm, pair: Pair, seed: list[int]) -> list[Transcripts]:
    """Return runs with their registers on the stream and as many on the neighbour."""
    return [
        transcripts(algorithm, stream, SAMPLE, np.random.default_rng([*seed, side]))
        for side, stream in enumerate((pair.stream, pair.neighbour))
    ]


def sampled_scores(
    sides: list[Transcripts], pair: Pair, histories: list[History]
) -> list[dict[int, float]]:
    """Return, for every history, the scores of the keys that these runs show."""
    ratios = np.concatenate([log_ratios(told, pair) for told in sides])
    return [_average(history, sides, ratios) for history in histories]


def _average(
    history: History, sides: list[Transcripts], ratios: NDArray[np.float64]
) -> dict[int, float]:
    keys = np.concatenate([history(told.runs) for told in sides])
    distinct, inverse = np.unique(keys, return_inverse=True)
    likely = np.bincount(inverse, weights=1 / (1 + np.exp(-ratios)))
    unlikely = np.bincount(inverse, weights=1 / (1 + np.exp(ratios)))
    odds = np.log(likely) - np.log(unlikely)
    return dict(zip(distinct.tolist(), odds.tolist(), strict=True))

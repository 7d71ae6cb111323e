"""The law of action sequences on both streams of a pair, foreseen by conditional Monte Carlo.

A changed reward enters one release. Given every other register of a run, the decisions that read
that release come out as they did iff its value lies in an interval, whose probability w is a
difference of two distribution functions. Over the runs that show as one action sequence,
half of them on each stream, the average of w / (w + w') has the mean
P(sequence | r) / (P(sequence | r) + P(sequence | r')): what happened before the release cancels,
and a few hundred runs tell ratios that counting would need thousands for. The registers of a
declared algorithm are known, so all of this is known before the first run that is bet on: it
chooses the pair and is the first belief of bettors. An error in it costs power, never soundness.
"""

from __future__ import annotations

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.lockstep import decisions
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import DRAWS
from dpaudit.sample.cells import Foreseen, Table
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.streams import Pair
from dpaudit.sample.transcript import Numbers, Transcripts, transcripts

READINGS = 6  # decisions after the release that are looked at
STEPS = 4  # decisions after the changed reward that parts of a sequence reach to
REACH = 60.0
WORTH = 16  # runs that would have to be counted to know as much as of one with its registers


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


def decision_steps(runs: Runs, position: int) -> list[int]:
    """Return the steps after a changed reward at which many runs begin a play: the first ones."""
    begun = runs.starts[(runs.starts > position) & (runs.starts < runs.horizon)]
    steps, counts = np.unique(begun, return_counts=True)
    return [int(step) for step in steps[counts >= len(runs) / 20][:STEPS]]


def foreseen(algorithm: Algorithm, pair: Pair, count: int, seed: list[int]) -> list[Foreseen]:
    """Return the law of whole sequences of a `scorable` algorithm, and of their parts.

    From `count` runs with their registers on the stream and as many on the neighbour.
    """
    sides = [
        transcripts(algorithm, stream, count, np.random.default_rng([*seed, side]))
        for side, stream in enumerate((pair.stream, pair.neighbour))
    ]
    ratios = np.concatenate([log_ratios(told, pair) for told in sides])
    steps = decision_steps(sides[0].runs, pair.position)
    starts = (0, pair.position, pair.position + 1)
    histories = {History(start, step + 1) for step in steps for start in starts}
    return [
        Foreseen(history, _law(history, sides, ratios))
        for history in sorted({History(0, pair.stream.horizon), *histories})
    ]


def _law(history: History, sides: list[Transcripts], ratios: Numbers) -> Table:
    """Return the counts to expect on both streams of as many rounds as there are runs on each."""
    keys = np.concatenate([history(told.runs) for told in sides])
    distinct, inverse = np.unique(keys, return_inverse=True)
    counts, rounds = np.zeros((4, len(distinct))), WORTH * (len(keys) // 4)
    for half in (0, 1):
        for side, sign in enumerate((1, -1)):
            likely = 1 / (1 + np.exp(-sign * ratios[half::2]))
            np.add.at(counts[2 * half + side], inverse[half::2], rounds * likely / likely.sum())
    return Table(distinct, np.rint(counts).astype(np.int64), rounds)

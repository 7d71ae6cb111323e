"""Exact scores: the log-likelihood ratio of a run's first actions between neighbouring streams.

The sets {ratio >= c} are the best events there are (Neyman & Pearson). The ratio comes from the
exact engine, once per decision path. Scores only order the keys that an event is made of: an error
in them costs power, never soundness.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Rows
from dpaudit.core.perstep import PerStep
from dpaudit.errors import Unsupported
from dpaudit.exact.likelihood import log_likelihood
from dpaudit.exact.paths import Decided, Path, Played
from dpaudit.exact.region import Region, region_of
from dpaudit.sample.runs import History, Keys, Runs
from dpaudit.sample.streams import Pair, Stream

PREFIX = 8  # steps whose decision paths are few and cheap enough to be scored one by one


def path_of_plays(
    algorithm: Algorithm, arms: NDArray[Any], starts: NDArray[Any], horizon: int
) -> Path:
    """Return the decision path of one run from its plays."""
    events: list[Any] = []
    pulls = [0] * algorithm.arms
    state, time = algorithm.start(), 0
    while True:
        step = algorithm.step(state)
        match step.request:
            case Play(arm, rounds):
                rounds = min(rounds, horizon - time)
                rows = Rows(arm, pulls[arm], pulls[arm] + rounds)
                events.append(Played(rows, time))
                pulls[arm] += rounds
                time += rounds
                if time == horizon:
                    return Path(tuple(events), horizon)
                answer: Any = rows
            case Release():
                events.append(step.request)
                answer = None
            case Choose():
                answer = int(arms[int(np.searchsorted(starts, time, side="right")) - 1])
                events.append(Decided(step.request, answer))
            case _:
                raise Unsupported("exact scores need choices between registers.")
        state = step.then(answer)


def episode_means(region: Region, stream: Stream) -> NDArray[np.float64]:
    """Return the centre of every release of a region on a stream given in pieces."""
    totals = [
        sum(
            float(np.diff(stream.cumulative(np.array([part.start, part.stop])))[0])
            for part in episode.steps
        )
        for episode in region.episodes
    ]
    return np.asarray(region.means(np.array(totals)))


@dataclass(frozen=True)
class ScoredHistory:
    """Key: the first `stop` actions; every key it has met is scored exactly and remembered."""

    algorithm: Algorithm
    pair: Pair
    stop: int
    known: dict[int, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def history(self) -> History:
        """The statistic that an event is made of: the scores only choose its keys."""
        return History(0, self.stop)

    def __call__(self, runs: Runs) -> Keys:
        """Return one key per run; equal prefixes are scored once."""
        values = self.history(runs)
        keys, first = np.unique(values, return_index=True)
        for key, index in zip(keys.tolist(), first.tolist(), strict=True):
            if key not in self.known:
                self.known[key] = self.score(*runs.plays(index))
        return values

    def score(self, arms: NDArray[Any], starts: NDArray[Any]) -> float:
        """Return log P(actions | stream) - log P(actions | neighbour) of one run's prefix."""
        region = region_of(path_of_plays(self.algorithm, arms, starts, self.stop))
        if not region.decisions:
            return 0.0
        sides = (self.pair.stream, self.pair.neighbour)
        left, right = (log_likelihood(region, episode_means(region, side)) for side in sides)
        return float(left - right)


def scored_histories(algorithm: Algorithm, pair: Pair) -> list[ScoredHistory]:
    """Return the exact scores that are cheap for this algorithm: two arms, one register each."""
    if algorithm.arms != 2 or isinstance(algorithm, PerStep):
        return []
    stop = min(PREFIX, pair.stream.horizon)
    if pair.position >= stop - 1:
        return []
    scored = ScoredHistory(algorithm, pair, stop)
    try:
        scored.score(np.arange(2, dtype=np.int16), np.arange(2, dtype=np.int64))
    except Unsupported:
        return []
    return [scored]

"""Exact scores: the log-likelihood ratio of a run's actions between two neighbouring streams.

The sets {ratio >= c} are the best events there are (Neyman & Pearson). The ratio is computed by the
exact engine from the run's plays: a stream enters only through the sums of the run's episodes, so
ten million steps cost as much as their few dozen decisions. Scores only choose events: an error in
them costs power, never soundness.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Rows
from dpaudit.core.perstep import PerStep
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path, Played
from dpaudit.sample.runs import History, Runs
from dpaudit.sample.streams import Pair, Stream

PREFIX = 16  # steps whose decision paths are few enough to be scored once and remembered


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


def episode_means(region: Any, stream: Stream) -> NDArray[np.float64]:
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
class LikelihoodRatio:
    """Number: log P(first `stop` actions | stream) - log P(the same | neighbour), exactly."""

    algorithm: Algorithm
    pair: Pair
    stop: int
    known: dict[int, float] = field(default_factory=dict, compare=False, repr=False)
    plain_fields: ClassVar[tuple[str, ...]] = ("stop",)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        """Return one score per run; equal prefixes are scored once."""
        keys, first, inverse = np.unique(
            History(0, self.stop)(runs), return_index=True, return_inverse=True
        )
        for key, index in zip(keys.tolist(), first.tolist(), strict=True):
            if key not in self.known:
                self.known[key] = self.score(*runs.plays(index))
        return np.array([self.known[key] for key in keys.tolist()])[inverse]

    def score(self, arms: NDArray[Any], starts: NDArray[Any]) -> float:
        """Return the log-likelihood ratio of one run."""
        from dpaudit.exact.chain import (  # type: ignore[import-not-found,unused-ignore]
            chain_of,
            log_likelihood,
        )
        from dpaudit.exact.region import region_of  # type: ignore[import-not-found,unused-ignore]

        region = region_of(path_of_plays(self.algorithm, arms, starts, self.stop))
        if not region.decisions:
            return 0.0
        chain = chain_of(region)
        sides = (self.pair.stream, self.pair.neighbour)
        left, right = (log_likelihood(chain, episode_means(region, side)) for side in sides)
        return float(left - right)

    def __str__(self) -> str:
        return f"exact log-likelihood ratio of steps 1..{self.stop}"


def likelihood_ratios(algorithm: Algorithm, pair: Pair) -> list[LikelihoodRatio]:
    """Return the exact scores that are cheap for this algorithm: two arms, one register each."""
    if algorithm.arms != 2 or isinstance(algorithm, PerStep):
        return []
    stop = min(PREFIX, pair.stream.horizon)
    if pair.position >= stop:
        return []
    ratio = LikelihoodRatio(algorithm, pair, stop)
    try:
        arms = np.arange(2, dtype=np.int16)
        ratio.score(arms, np.arange(2, dtype=np.int64))
    except (Unsupported, ImportError):
        return []
    return [ratio]

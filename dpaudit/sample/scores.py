"""Scores: the log-likelihood ratio of a run's actions between neighbouring streams.

The sets {ratio >= c} are the best events there are (Neyman & Pearson). The ratio of a sequence, of
any length, comes from the exact engine or from conditional Monte Carlo. Scores only order the keys
that an event is made of: an error in them costs power, never soundness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose
from dpaudit.core.perstep import PerStep
from dpaudit.core.walk import Place
from dpaudit.errors import Unsupported
from dpaudit.sample.conditional import sampled, sampled_scores
from dpaudit.sample.runs import History, Keys, Runs
from dpaudit.sample.streams import Pair, Stream

if TYPE_CHECKING:  # the exact engine takes longer to import than a black box to audit
    from dpaudit.exact.paths import Path
    from dpaudit.exact.region import Region

PREFIX = 8  # steps that tell whether the exact engine scores an algorithm
STEPS = 4  # decisions after the changed reward that parts of a sequence reach to


def path_of_plays(
    algorithm: Algorithm, arms: NDArray[Any], starts: NDArray[Any], horizon: int
) -> Path:
    """Return the decision path of one run from its plays."""
    from dpaudit.exact.paths import path_along

    def chosen(place: Place) -> int:
        if not isinstance(place.request, Choose):
            raise Unsupported("exact scores need choices between registers.")
        return int(arms[int(np.searchsorted(starts, place.time, side="right")) - 1])

    path = path_along(algorithm, horizon, chosen)
    if any(isinstance(event, Accumulate) for event in path.events):
        raise Unsupported("exact scores need registers that hold a single release.")
    return path


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
    """Key: the actions of a history; `known` are the scores that order its keys."""

    history: History
    known: Mapping[int, float]

    def __call__(self, runs: Runs) -> Keys:
        """Return one key per run."""
        return self.history(runs)


def exact_score(
    algorithm: Algorithm, pair: Pair, stop: int, arms: NDArray[Any], starts: NDArray[Any]
) -> float:
    """Return log P(actions | stream) - log P(actions | neighbour) of the first actions of a run."""
    from dpaudit.exact.likelihood import log_likelihood
    from dpaudit.exact.region import region_of

    region = region_of(path_of_plays(algorithm, arms, starts, stop))
    if not region.decisions:
        return 0.0
    sides = (pair.stream, pair.neighbour)
    left, right = (log_likelihood(region, episode_means(region, side)) for side in sides)
    return float(left - right)


def exactly_scorable(algorithm: Algorithm, pair: Pair) -> bool:
    """Return whether the exact engine scores sequences of this algorithm one by one."""
    if algorithm.arms != 2 or isinstance(algorithm, PerStep):
        return False
    try:
        first = np.arange(2, dtype=np.int16), np.arange(2, dtype=np.int64)
        exact_score(algorithm, pair, min(PREFIX, pair.stream.horizon), *first)
    except Unsupported:
        return False
    return True


def decision_steps(runs: Runs, position: int) -> list[int]:
    """Return the steps after a changed reward at which many runs begin a play: the first ones."""
    if runs.per_step:
        return []
    begun = runs.starts[(runs.starts > position) & (runs.starts < runs.horizon)]
    steps, counts = np.unique(begun, return_counts=True)
    return [int(step) for step in steps[counts >= len(runs) / 20][:STEPS]]


def sequence_scores(
    algorithm: Algorithm, pair: Pair, seed: list[int], exact: int
) -> list[ScoredHistory]:
    """Return scores of whole action sequences and of their parts, learned on runs of their own.

    Conditional Monte Carlo (of a `scorable` algorithm) scores every sequence that it meets; the
    `exact` most frequent whole sequences are scored by the exact engine, where it knows the
    algorithm.
    """
    horizon = pair.stream.horizon
    whole = History(0, horizon)
    sides = sampled(algorithm, pair, seed)
    runs = sides[0].runs
    steps = decision_steps(runs, pair.position)
    starts = (0, pair.position, pair.position + 1)
    parts = {History(start, step + 1) for step in steps for start in starts}
    histories = [whole, *sorted(parts - {whole})]
    found = dict(zip(histories, sampled_scores(sides, pair, histories), strict=True))
    if exact and exactly_scorable(algorithm, pair):
        keys, first, counts = np.unique(whole(runs), return_index=True, return_counts=True)
        for place in np.argsort(-counts, kind="stable")[:exact].tolist():
            plays = runs.plays(int(first[place]))
            found[whole][int(keys[place])] = exact_score(algorithm, pair, horizon, *plays)
    return [ScoredHistory(history, known) for history, known in found.items()]

"""The oracle: every stream of a finite reward grid, every decision path, no theorem.

Likelihoods are computed once per path and vector of episode sums, since a path knows a stream by
these sums alone; everything else is brute force over streams, positions and grid values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import noiseless
from dpaudit.exact.clock import ENDLESS, Clock, OutOfTime
from dpaudit.exact.likelihood import exact_sum, log_likelihood, measured_error
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

_MOST_STREAMS = 200_000
COINS_ERROR = 1e-12  # of the logarithm of a coin's chances, in doubles


@dataclass(frozen=True)
class Enumerated:
    """The largest loss over all pairs of grid streams, and the pair that attains it."""

    loss: float
    pair: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None
    logs: tuple[float, float]
    paths: int
    complete: bool
    by_likelihood: tuple[tuple[float, float], ...]
    error: float  # of every log-likelihood; 0 where all of them are exact

    def above(self, floor: float) -> float:
        """Return the largest loss among action sequences whose likelier side reaches a floor."""
        level = math.log(floor)
        return max((loss for high, loss in self.by_likelihood if high >= level), default=0.0)


def worst_pair(
    algorithm: Algorithm, horizon: int, grid: Sequence[float], *, budget: float | None = None
) -> Enumerated:
    """Return the largest loss over all pairs of streams with rewards in a grid."""
    if len(grid) ** horizon > _MOST_STREAMS:
        most = int(math.log(_MOST_STREAMS) / math.log(len(grid)))
        rule = f"must be at most {most}: {len(grid)}^T streams have to be enumerated."
        raise InvalidArgument("horizon", horizon, rule)
    clock = Clock.of(budget)
    streams = np.array(list(product(grid, repeat=horizon)), dtype=float)
    by_actions: dict[bytes, list[Path]] = {}
    paths = 0
    try:
        for path in all_paths(algorithm, horizon, clock):
            by_actions.setdefault(path.actions.tobytes(), []).append(path)
            paths += 1
    except OutOfTime:  # sums over some of their paths say nothing of the actions
        return Enumerated(0.0, None, (0.0, 0.0), 0, False, (), math.inf)
    best: tuple[float, int, int, Path] | None = None
    logs = (0.0, 0.0)
    table: list[tuple[float, float]] = []
    complete, error = True, 0.0
    for group in by_actions.values():
        exact_zero_one = all(noiseless.applies(region_of(path)) for path in group)
        try:
            tables = [
                log_table(region_of(path), streams, clock) + _log(path.chance) for path in group
            ]
        except OutOfTime:
            complete = False
            break
        if not exact_zero_one:
            error = max(error, *(measured_error(region_of(path)) for path in group))
        if any(path.chance != 1 for path in group):
            error = max(error, COINS_ERROR)
        values = np.logaddexp.reduce(tables)
        for loss, top, bottom in _steepest(values.reshape((len(grid),) * horizon)):
            if loss == math.inf and not exact_zero_one:
                raise Unsupported("A likelihood is too small for doubles.")
            table.append((float(values[top]), loss))
            if best is None or loss > best[0]:
                best = (loss, top, bottom, group[0])
                logs = (float(values[top]), float(values[bottom]))
    pair = None
    if best is not None and best[1] != best[2]:
        actions = tuple(int(arm) for arm in best[3].actions)
        pair = (tuple(streams[best[1]].tolist()), tuple(streams[best[2]].tolist()), actions)
    return Enumerated(best[0] if best else 0.0, pair, logs, paths, complete, tuple(table), error)


def _steepest(cube: np.ndarray) -> Iterator[tuple[float, int, int]]:
    """Yield for every position of a stream the largest loss of its change, and both streams."""
    for axis in range(cube.ndim):
        lines = np.moveaxis(cube, axis, 0)
        high, low = lines.max(0), lines.min(0)
        with np.errstate(invalid="ignore"):
            losses = np.where(np.isneginf(high), 0.0, high - low)
        best = int(np.argmax(losses))
        place = tuple(map(int, np.unravel_index(best, losses.shape)))
        line = lines.reshape(len(lines), -1)[:, best]
        ends = []
        for chosen in (np.argmax(line), np.argmin(line)):
            index = (*place[:axis], int(chosen), *place[axis:])
            ends.append(int(np.ravel_multi_index(index, cube.shape)))
        yield float(losses.flat[best]), ends[0], ends[1]


def _log(chance: Fraction) -> float:
    return math.log(chance.numerator) - math.log(chance.denominator)


def log_table(region: Region, streams: np.ndarray, clock: Clock = ENDLESS) -> np.ndarray:
    """Return the log-likelihood of a region on every stream (rows)."""
    clock()
    if not region.decisions:
        return np.zeros(len(streams))
    if noiseless.applies(region):
        totals = ([exact_sum(stream, e.steps) for e in region.episodes] for stream in streams)
        happens = [noiseless.happens(region, sums) for sums in totals]
        return np.where(happens, 0.0, -np.inf)
    sums = np.stack(
        [
            sum(streams[:, part.start : part.stop].sum(1) for part in episode.steps)
            for episode in region.episodes
        ],
        axis=1,
    )
    distinct, inverse = np.unique(np.round(sums, 12), axis=0, return_inverse=True)
    values = [log_likelihood(region, row, clock) for row in region.means(distinct)]
    return np.array(values)[np.ravel(inverse)]


def enumerated(asked: Question, reason: Unsupported) -> WorstLoss:
    """Return what a grid of streams shows where extremal streams do not apply, and why not."""
    grid = (0.0, 1.0) if asked.whole else (0.0, 0.5, 1.0)
    try:
        found = worst_pair(asked.algorithm, asked.horizon, grid, budget=asked.clock.left)
    except InvalidArgument as error:
        raise Unsupported(f"{reason} Enumeration instead is out of reach: {error}") from None
    slack = 2 * found.error
    covered = asked.whole and found.complete
    high = found.loss + slack if covered or found.loss == math.inf else math.inf
    names = "{0,1}" if asked.whole else "{0,1/2,1}"
    covers = f"every action sequence and every pair of streams in {names}^T. {reason}"
    if not asked.whole and found.loss < math.inf:
        covers += " For rewards in [0, 1] this is a lower bound."
    if not found.complete:
        covers = f"part of the streams in {names}^T, until the budget ran out. {reason}"
    witness = None
    if found.pair is not None:
        stream, neighbour, actions = found.pair
        witness = witness_of(asked.algorithm, actions, stream, neighbour, "float")
    return asked.answer(
        Enclosure(max(0.0, found.loss - slack), high, found.error == 0.0),
        witness,
        found.paths,
        method=f"enumeration over {names}^T",
        covers=covers,
        complete=found.complete,
        loss_above_floor=found.above(asked.floor),
        proved=found.complete,
    )

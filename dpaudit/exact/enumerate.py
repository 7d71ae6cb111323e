"""The oracle: every stream of a finite reward grid, every decision path, no theorem.

Likelihoods are computed once per path and vector of episode sums, since a path knows a stream by
these sums alone; everything else is brute force over streams, positions and grid values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import noiseless
from dpaudit.exact.clock import ENDLESS, Clock, OutOfTime
from dpaudit.exact.likelihood import COMPILING, exact_sum, log_likelihoods
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.region import Region, region_of

_MOST_STREAMS = 200_000
_AT_ONCE = 64  # vectors of sums between two looks at the clock


@dataclass(frozen=True)
class Enumerated:
    """The largest loss over all pairs of grid streams, and the pair that attains it."""

    loss: float
    pair: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None
    logs: tuple[float, float]
    paths: int
    complete: bool
    by_likelihood: tuple[tuple[float, float], ...]

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
        return Enumerated(0.0, None, (0.0, 0.0), 0, False, ())
    best: tuple[float, int, int, Path] | None = None
    logs = (0.0, 0.0)
    table: list[tuple[float, float]] = []
    complete = True
    hurried = budget is not None and budget < COMPILING
    for group in by_actions.values():
        exact_zero_one = all(noiseless.applies(region_of(path)) for path in group)
        try:
            tables = [log_table(region_of(path), streams, hurried, clock) for path in group]
        except OutOfTime:
            complete = False
            break
        values = np.logaddexp.reduce(tables)
        cube = values.reshape((len(grid),) * horizon)
        for axis in range(horizon):
            lines = np.moveaxis(cube, axis, 0)
            high, low = lines.max(0), lines.min(0)
            with np.errstate(invalid="ignore"):
                losses = np.where(np.isneginf(high), 0.0, high - low)
            if np.isinf(losses).any() and not exact_zero_one:
                raise Unsupported("A likelihood is too small for doubles.")
            place = np.unravel_index(int(np.argmax(losses)), losses.shape)
            loss = float(losses[place])
            table.append((float(high[place]), loss))
            if best is None or loss > best[0]:
                line = lines[(slice(None), *place)]
                top, bottom = (
                    np.ravel_multi_index((*place[:axis], int(chosen), *place[axis:]), cube.shape)
                    for chosen in (np.argmax(line), np.argmin(line))
                )
                best = (loss, int(top), int(bottom), group[0])
                logs = (float(values[top]), float(values[bottom]))
    pair = None
    if best is not None and best[1] != best[2]:
        actions = tuple(int(arm) for arm in best[3].actions)
        pair = (tuple(streams[best[1]].tolist()), tuple(streams[best[2]].tolist()), actions)
    return Enumerated(best[0] if best else 0.0, pair, logs, paths, complete, tuple(table))


def log_table(
    region: Region, streams: np.ndarray, hurried: bool = False, clock: Clock = ENDLESS
) -> np.ndarray:
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
    parts = []
    for first in range(0, len(distinct), _AT_ONCE):
        clock()
        some = distinct[first : first + _AT_ONCE]
        parts.append(log_likelihoods(region, region.means(some), hurried, clock))
    return np.concatenate(parts)[np.ravel(inverse)]

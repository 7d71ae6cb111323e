"""Neighbouring pairs that attain the largest loss of one action sequence.

By the extremal-streams corollary the pair differs in one episode e, whose own sum moves between p
and q <= p + 1, while every other episode is at all-1 (the likelihood rises with the sum) or at
all-0 (it falls). Which p and q:

- binary rewards: q = p + 1, every integer p; where the region is convex the log-likelihood is
  concave in the own sum, and the first and the last step suffice;
- rewards in [0, 1], convex region: 0 -> min(1, arg max) and n -> max(n - 1, arg max). Proved;
- rewards in [0, 1], one reward in the episode, monotone: 0 -> 1. Proved;
- rewards in [0, 1], otherwise: a scan of the own sum, refined around its best step. The scan is a
  lower bound that is measured, not proved, to be the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dpaudit.exact.conditions import Conditions, monotone
from dpaudit.exact.region import Region

Array = NDArray[np.float64]
Streams = Literal["real", "binary"]
LogLikelihood = Callable[[Region, Array], float]

_SCAN = 8  # own sums tried per unit step, before refinement


@dataclass(frozen=True)
class Step:
    """A move of one episode's sum with all the others at `background`, and the log-likelihoods.

    `high` is the log-likelihood at `better`, `low` at `worse`; their difference is the loss.
    """

    episode: int
    background: int
    better: float
    worse: float
    high: float
    low: float
    proved: bool

    @property
    def loss(self) -> float:
        """The log ratio."""
        return self.high - self.low


def steps(
    region: Region, conditions: Conditions, streams: Streams, log_likelihood: LogLikelihood
) -> Iterator[Step]:
    """Yield, for every episode and direction, the step with the largest loss."""
    lengths = np.array([float(len(episode)) for episode in region.episodes])
    for index in range(len(region.episodes)):
        for background in (0, 1):
            base = lengths * background

            def own(s: float, index: int = index, base: Array = base) -> float:
                sums = base.copy()
                sums[index] = s
                return log_likelihood(region, region.means(sums))

            yield _best(own, region, conditions, index, background, streams)


def _best(
    own: Callable[[float], float],
    region: Region,
    conditions: Conditions,
    index: int,
    background: int,
    streams: Streams,
) -> Step:
    length = len(region.episodes[index])
    cache: dict[float, float] = {}

    def phi(s: float) -> float:
        if s not in cache:
            cache[s] = own(s)
        return cache[s]

    # with the others at all-1 a larger sum is the better one, with all-0 a smaller
    sign = 1.0 if background == 1 else -1.0
    proved = True
    if streams == "binary":
        starts = [0] if background == 1 else [length]
        if not conditions.convex:
            starts = list(range(length) if background == 1 else range(1, length + 1))
        moves = [(float(s), s + sign) for s in starts]
    elif conditions.convex:
        start = 0.0 if background == 1 else float(length)
        moves = [(start, start + sign * _longest(lambda h: phi(start + sign * h)))]
    elif length == 1 and monotone(region, index):
        start = 0.0 if background == 1 else 1.0
        moves = [(start, start + sign)]
    else:
        moves = _scan(phi, length, sign, monotone(region, index))
        proved = False
    worse, better = max(moves, key=lambda move: _gain(phi(move[0]), phi(move[1])))
    return Step(index, background, better, worse, phi(better), phi(worse), proved)


def _gain(low: float, high: float) -> float:
    """Return a difference of logarithms; 0 where both are those of nothing."""
    return float(high) - float(low) if high > -np.inf else 0.0


def polish(
    region: Region,
    conditions: Conditions,
    index: int,
    background: int,
    move: tuple[float, float],
    log_likelihood: LogLikelihood,
) -> Step:
    """Evaluate a step (worse, better) accurately and improve it locally."""
    base = np.array([float(len(episode)) for episode in region.episodes]) * background
    length = len(region.episodes[index])
    cache: dict[float, float] = {}

    def phi(s: float) -> float:
        if s not in cache:
            sums = base.copy()
            sums[index] = s
            cache[s] = log_likelihood(region, region.means(sums))
        return cache[s]

    worse, better = move
    if conditions.convex:
        sign = 1.0 if background == 1 else -1.0
        worse = 0.0 if background == 1 else float(length)
        better = worse + sign * _longest(lambda h: phi(worse + sign * h))
    elif (
        length > 1
        and abs(better - worse) == 1
        and phi(better) - phi(worse) < _enough(region, index)
    ):
        low = max(0.0, min(move) - 0.5)
        high = min(length - 1.0, min(move) + 0.5)
        shift = better - worse
        offset = 0.0 if shift > 0 else 1.0
        found = minimize_scalar(
            lambda s: phi(float(s) + offset) - phi(float(s) + offset + shift),
            bounds=(low, high),
            method="bounded",
            options={"maxiter": 8},
        )
        start = float(found.x) + offset
        if phi(start + shift) - phi(start) > phi(better) - phi(worse):
            worse, better = start, start + shift
    return Step(index, background, better, worse, phi(better), phi(worse), conditions.convex)


def _enough(region: Region, index: int) -> float:
    """Return the charge of a unit step, which no loss of this release can exceed, less a hair."""
    episode = region.episodes[index]
    return float(episode.noise.charge(1 / episode.divisor)) - 1e-10


def _longest(rise: Callable[[float], float]) -> float:
    """Return the h in [0, 1] at which a concave function is largest."""
    if rise(1.0) >= rise(1.0 - 2.0**-20):
        return 1.0
    found = minimize_scalar(lambda h: -rise(float(h)), bounds=(0.0, 1.0), method="bounded")
    best = float(found.x)
    return best if rise(best) > rise(0.0) else 0.0


def _scan(
    phi: Callable[[float], float], length: int, sign: float, full: bool
) -> list[tuple[float, float]]:
    """Return candidate moves: a grid of own sums, then the best one refined."""
    grid = np.linspace(0.0, length, _grid_size(length))
    values = np.array([phi(float(s)) for s in grid])
    if np.isneginf(values).all():
        return [(0.0, 1.0) if sign > 0 else (1.0, 0.0)]
    best, move = -np.inf, (0.0, 0.0)
    for i, s in enumerate(grid):
        inside = (sign * (grid - s) >= 0) & (np.abs(grid - s) <= 1.0 + 1e-12)
        j = int(np.argmax(np.where(inside, values, -np.inf)))
        if values[j] - values[i] > best:
            best, move = float(values[j] - values[i]), (float(s), float(grid[j]))
    moves = [move]
    spacing = float(grid[1] - grid[0])
    reach = 1.0 if full else abs(move[1] - move[0])
    low = max(0.0 if sign > 0 else reach, move[0] - spacing)
    high = min(length - reach if sign > 0 else float(length), move[0] + spacing)
    if high > low and reach > 0:
        found = minimize_scalar(
            lambda s: phi(float(s)) - phi(float(s) + sign * reach),
            bounds=(low, high),
            method="bounded",
            options={"maxiter": 12},
        )
        start = float(found.x)
        moves.append((start, min(max(start + sign * reach, 0.0), float(length))))
    return moves


def _grid_size(length: int) -> int:
    """A grid with all integers and halves: 8 points per unit for short episodes, fewer for long."""
    return length * max(1, min(_SCAN, 64 // length)) + 1

"""Pairs that put a decision on the edge, so that one changed reward sways it.

On most streams every decision is nearly certain and no number of runs shows a loss. So, for an
episode on the likeliest path of a declared algorithm, the episode's own rewards are set so that the
next decision is in the tail of the noise, where a step of one reward changes its odds by almost as
much as the claim allows. Given the other registers (from transcripts) the probability that the arm
wins is a closed form in the sum of its episode, so the best sum is found without further runs:
conditional Monte Carlo. This aims; what is concluded rests on fresh runs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.lockstep import ladder
from dpaudit.core.perstep import PerStep
from dpaudit.core.stream import interpret
from dpaudit.sample.lower import promised
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.transcript import Transcripts, transcripts

SAMPLE = 300
REACH = 60.0  # noise scales within which a threshold is sought
OFFSETS = np.linspace(-8.0, 8.0, 65)
BANDS = 3
PLANNED_ERROR = 1e-4


@dataclass(frozen=True)
class Aim:
    """An episode (its first step and the step after its last), the sum to give it, the promise."""

    begun: int
    ended: int
    total: float
    promise: float

    def pair(self, base: Stream, name: str) -> Pair:
        """Return the pair: ones, a fraction, zeros in the episode; its last reward is changed."""
        ones, part = int(self.total), self.total - int(self.total)
        rest = self.ended - self.begun - ones
        pieces = [(1.0, ones), (part, 1), (0.0, rest - 1)] if part else [(1.0, ones), (0.0, rest)]
        step = self.ended - 1
        label = f"steered{name}, step {step}: 0 to 1"
        return Pair(label, base.spliced(self.begun, pieces), step, 1.0)


class _Silence:
    """A generator whose noise is zero and whose draws are their means."""

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return loc

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return loc

    def beta(self, a: Any, b: Any) -> Any:
        return a / (a + b)


class _ArmRewards:
    """Every arm pays a reward of its own."""

    def __init__(self, values: tuple[float, ...]) -> None:
        self.values = values

    def play(self, arm: int, rounds: int) -> None:
        """Nothing needs to be kept."""

    def total(self, rows: Rows) -> float:
        return self.values[rows.arm] * len(rows)


def along_a_path(algorithm: Algorithm, horizon: int, values: tuple[float, ...]) -> Stream:
    """Return the stream that pays each arm its own reward on the path without noise."""
    path = interpret(algorithm, horizon, _ArmRewards(values), _Silence())
    return Stream(tuple(values[arm] for arm in path.arms), path.rounds)


def profiles(arms: int, low: float, high: float) -> dict[str, tuple[float, ...]]:
    """Return what the arms pay on the paths that are tried: equal rewards, or one good arm."""
    rest = (low,) * (arms - 1)
    return {
        f" among {low:g}": (low, *rest),
        f" among {high:g}": (high,) * arms,
        ", arm 0 good": (high, *rest),
        f", arm {arms - 1} good": (*rest, high),
    }


def steered(
    algorithm: Algorithm,
    horizon: int,
    seed: list[int],
    later: int,
    count: int = 4,
    rewards: tuple[float, ...] = (0.0, 1.0),
) -> list[Pair]:
    """Return the most promising steered pairs, best first; none where runs are not in lockstep.

    `later` are the rounds that will judge them. The best of the early, the middle and the late
    episodes are among them, so that a flaw of some episodes only is not overlooked.
    """
    if isinstance(algorithm, PerStep) or ladder(algorithm, horizon) is None:
        return []
    found: list[tuple[Aim, Stream, str]] = []
    kinds = profiles(algorithm.arms, min(rewards), max(rewards))
    for number, (name, values) in enumerate(kinds.items()):
        rng = np.random.default_rng([*seed, number])
        base = along_a_path(algorithm, horizon, values)
        told = transcripts(algorithm, base, SAMPLE, rng)
        found += [(aim, base, name) for aim in _aims(told, later, len(rewards) == 2)]
    found.sort(key=lambda item: -item[0].promise)
    edges = np.exp(np.linspace(0, np.log(horizon), BANDS + 1))
    bands = np.searchsorted(edges[1:-1], [aim.ended for aim, _, _ in found])
    first = [int(np.flatnonzero(bands == band)[0]) for band in np.unique(bands)]
    order = [*first, *(i for i in range(len(found)) if i not in first)][:count]
    return [found[i][0].pair(*found[i][1:]) for i in sorted(order)]


def _aims(told: Transcripts, later: int, whole: bool) -> Iterator[Aim]:
    """Yield the best aim of every episode on the likeliest path."""
    runs, ends = told.runs, told.ends
    path = np.arange(len(told))
    for play in range(runs.arms.shape[1] - 1):
        votes = np.bincount(runs.arms[path, play], minlength=told.algorithm.arms)
        path = path[runs.arms[path, play] == int(votes.argmax())]
        begun, ended = int(runs.starts[path[0], play]), int(ends[path[0], play])
        if len(path) < 20 or ended >= runs.horizon:
            return
        if play + 1 >= told.algorithm.arms and ended - begun >= 1:
            aim = _best(told, play, path, later, whole)
            if aim is not None:
                yield aim


def _best(
    told: Transcripts, play: int, path: NDArray[np.int64], later: int, whole: bool
) -> Aim | None:
    """Return the sum of an episode that makes the next decision tell most about one reward."""
    first = path[0]
    begun, ended = int(told.runs.starts[first, play]), int(told.ends[first, play])
    length = ended - begun
    spread, divisor = told.spread[first, play], told.divisor[first, play]
    kept, arm = told.kept[path, play], told.runs.arms[path, play].astype(np.int64)
    low, high = kept - REACH * spread, kept + length / divisor + REACH * spread
    edge = told.threshold(play + 1, arm, path, low, high) - kept
    totals = (float(np.median(edge)) - OFFSETS * spread) * divisor
    totals = np.clip(totals, 0.0, length - 1.0)
    # sums that print shortly, and whole ones where rewards are 0 and 1
    totals = np.unique(np.round(totals) if whole else np.floor(totals * 64) / 64)

    def wins(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        beyond = (edge[:, None] - sums / divisor) / spread
        return np.asarray(told.unit.cdf(-beyond).mean(axis=0))

    share = len(path) / len(told)
    lower, upper = wins(totals) * share, wins(totals + 1) * share
    promise = np.maximum(
        promised(upper, lower, later, PLANNED_ERROR),
        promised(share - lower, share - upper, later, PLANNED_ERROR),
    )
    best = int(np.argmax(promise))
    return Aim(begun, ended, float(totals[best]), float(promise[best]))

"""Pairs that put a decision on the edge, so that one changed reward sways it.

On most streams every decision is nearly certain and no number of runs shows a loss. So, for an
episode on a likely path of a declared algorithm, the episode's own rewards are set so that the next
decision is in the tail of the noise (`aim`). The paths that are tried pay each arm its own reward.
This aims; what is concluded rests on fresh runs alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Rows
from dpaudit.core.lockstep import decisions
from dpaudit.core.perstep import PerStep
from dpaudit.core.stream import interpret
from dpaudit.core.walk import begin
from dpaudit.sample.aim import Aim, AimedEpisode
from dpaudit.sample.streams import Pair, Stream
from dpaudit.sample.transcript import Transcripts, transcripts

SAMPLE = 200
FEWEST = 20  # runs that have an episode, below which it is not aimed at
REACH = 60.0  # noise scales within which a threshold is sought
BANDS = 3


class _Silence:
    """A generator whose noise is zero and whose draws are their means."""

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return loc

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return loc

    def beta(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def random(self, size: Any = None) -> Any:
        """Return a uniform number of the last side: where a rule is asked, it is."""
        return np.nextafter(1.0, 0.0)

    def integers(self, high: int, size: Any = None) -> Any:
        """Return seeds for the generator of a rule of one's own."""
        return np.zeros(size, dtype=np.int64)


class _ArmRewards:
    """Every arm pays a reward of its own."""

    def __init__(self, values: tuple[float, ...]) -> None:
        self.values = values

    def play(self, arm: int, rounds: int) -> None:
        """Nothing needs to be kept."""

    def total(self, rows: Rows) -> float:
        return self.values[rows.arm] * len(rows)

    def steps(self, rows: Rows, grid: int, rounding: str, rng: Any) -> int:
        return round(self.total(rows) * grid)


def along_a_path(algorithm: Algorithm, horizon: int, values: tuple[float, ...]) -> Stream:
    """Return the stream that pays each arm its own reward on the path without noise."""
    quiet = replace(algorithm, grid=None, rounding=None) if algorithm.grid else algorithm
    path = interpret(quiet, horizon, _ArmRewards(values), _Silence())
    return Stream(tuple(values[arm] for arm in path.arms), path.rounds)


def profiles(arms: int, low: float, high: float) -> dict[str, tuple[float, ...]]:
    """Return what the arms pay on the paths that are tried: equal rewards, or one good arm."""
    rest = (low,) * (arms - 1)
    return {
        f"all {low:g}": (low, *rest),
        f"all {high:g}": (high,) * arms,
        f"arm 0 pays {high:g}, others {low:g}": (high, *rest),
        f"arm {arms - 1} pays {high:g}, others {low:g}": (*rest, high),
    }


def steered(
    algorithm: Algorithm,
    horizon: int,
    seed: list[int],
    later: int,
    count: int = 4,
    rewards: tuple[float, ...] = (0.0, 1.0),
    deadline: float = math.inf,
) -> list[Pair]:
    """Return the most promising steered pairs, best first; none where no way to aim is known.

    `later` are the rounds that will judge them. The best of the early, the middle and the late
    episodes are among them, so that a flaw of some episodes only is not overlooked. No episode is
    aimed at after the deadline (of `time.monotonic`).
    """
    whole = len(rewards) == 2
    found: list[tuple[Aim, Stream, str]] = []
    for target, base, name in targets(algorithm, horizon, seed, (min(rewards), max(rewards))):
        if time.monotonic() > deadline:
            break
        found.append((target.aim(later, whole), base, name))
    found.sort(key=lambda item: -item[0].promise)
    edges = np.exp(np.linspace(0, np.log(horizon), BANDS + 1))
    bands = np.searchsorted(edges[1:-1], [aim.ended for aim, _, _ in found])
    first = [int(np.flatnonzero(bands == band)[0]) for band in np.unique(bands)]
    order = [*first, *(i for i in range(len(found)) if i not in first)][:count]
    return [found[i][0].pair(*found[i][1:]) for i in sorted(order)]


def targets(
    algorithm: Algorithm, horizon: int, seed: list[int], ends: tuple[float, float]
) -> Iterator[tuple[AimedEpisode, Stream, str]]:
    """Yield episodes to aim at, with the stream that they are on and its name."""
    if isinstance(algorithm, PerStep):
        return
    if decisions(algorithm, horizon) is None:
        base = Stream.constant(ends[0], horizon)
        for target in first_elimination(algorithm, horizon, ends[0], seed):
            yield target, base, f" among {ends[0]:g}"
        return
    for number, (name, values) in enumerate(profiles(algorithm.arms, *ends).items()):
        rng = np.random.default_rng([*seed, number])
        base = along_a_path(algorithm, horizon, values)
        for target in episode_targets(transcripts(algorithm, base, SAMPLE, rng)):
            yield target, base, name


def episode_targets(told: Transcripts) -> Iterator[AimedEpisode]:
    """Yield the episodes that many runs have in common, with the edge of the decision after each.

    Only the episode's steps are common: arms that stand alike may take their turns in any order.
    """
    runs, ends = told.runs, told.ends
    for play in range(told.algorithm.arms - 1, runs.arms.shape[1] - 1):
        spans = np.stack((runs.starts[:, play], ends[:, play]), axis=1)
        kinds, inverse, counts = np.unique(spans, axis=0, return_inverse=True, return_counts=True)
        most = int(counts.argmax())
        begun, ended = (int(step) for step in kinds[most])
        if counts[most] < FEWEST or ended >= runs.horizon:
            continue
        some = np.flatnonzero(inverse.ravel() == most)
        arm, first = runs.arms[some, play].astype(np.int64), some[0]
        spread, divisor = float(told.spread[first, play]), float(told.divisor[first, play])
        kept = told.kept[some, play]
        low = kept - REACH * spread
        high = kept + (ended - begun) / divisor + REACH * spread
        edge = told.threshold(play + 1, arm, some, low, high) - kept
        yield AimedEpisode(begun, ended, divisor, spread, told.unit, edge, len(some) / len(told))


def first_elimination(
    algorithm: Algorithm, horizon: int, filler: float, seed: list[int]
) -> Iterator[AimedEpisode]:
    """Yield the last arm's first batch, on the edge of dropping one other arm or all others.

    What an elimination algorithm does before its first `Keep` is certain, so nothing is sampled but
    the noise of the other arms.
    """
    begun: dict[Any, int] = {}
    releases: dict[Any, Release] = {}
    place = begin(algorithm)
    while True:
        answer: Any = None
        match place.request:
            case Play(_, rounds) if place.time + rounds < horizon:
                answer = place.rows(horizon)
                begun[answer] = place.time
            case Release(register, rows) as request if rows in begun:
                releases[register] = request
            case Keep(_, registers, _, None) if all(group[0] in releases for group in registers):
                break
            case _:
                return
        place = place.after(answer)
    rng = np.random.default_rng(seed)
    *others, own = (releases[group[0]] for group in registers)
    shown = [
        filler * len(other.rows) / float(other.divisor) + other.noise.draw(rng, SAMPLE)
        for other in others
    ]
    for near in (np.max(shown, axis=0), np.min(shown, axis=0)):
        start = begun[own.rows]
        edge = near + place.width.mean()
        noise, divisor = own.noise, float(own.divisor)
        yield AimedEpisode(
            start, start + len(own.rows), divisor, noise.spread(), noise.unit(), edge
        )

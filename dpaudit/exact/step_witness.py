"""The pair of streams behind a step, and its witness.

A step moves the own sum of one episode, every other reward at b; the two streams that show it
differ in one reward of that episode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.exact.pairs import Step
from dpaudit.exact.paths import Path
from dpaudit.exact.region import Region
from dpaudit.verdict import Enclosure, Witness


def fill(region: Region, horizon: int, background: int, episode: int, s: float) -> list[float]:
    """Return a stream with one episode's sum at `s` and every other reward at `background`."""
    stream = [float(background)] * horizon
    rows = [t for part in region.episodes[episode].steps for t in part]
    whole = math.floor(s)
    for place, t in enumerate(rows):
        stream[t] = 1.0 if place < whole else 0.0
    if whole < len(rows):
        stream[rows[whole]] = s - whole
    return stream


def pair_of_step(path: Path, region: Region, step: Step) -> tuple[list[float], list[float]]:
    """Return the likelier stream and its neighbour: they differ in one reward of the episode."""
    low, high = sorted((step.better, step.worse))
    rows = [t for part in region.episodes[step.episode].steps for t in part]
    stream = fill(region, path.horizon, step.background, step.episode, low)
    # the moving reward is the one after the whole ones; raise it as far as it goes, and let the
    # next one hold the fraction where a step crosses an integer
    whole = math.floor(low)
    moving = rows[min(whole, len(rows) - 1)]
    rest = low - whole
    if rest + (high - low) > 1.0 and whole + 1 < len(rows):
        stream[rows[whole + 1]], stream[moving] = rest, 0.0
    neighbour = list(stream)
    neighbour[moving] = min(1.0, stream[moving] + (high - low))
    return (neighbour, stream) if step.better > step.worse else (stream, neighbour)


def witness_of_step(
    algorithm: Algorithm, path: Path, region: Region, step: Step, error: float
) -> Witness:
    """Return the witness behind a step; its log-likelihoods are off by at most `error`."""
    stream, neighbour = pair_of_step(path, region, step)
    actions = tuple(int(arm) for arm in path.actions)
    return make_witness(algorithm, actions, stream, neighbour, step.high, step.low, error)


def make_witness(
    algorithm: Algorithm,
    actions: Sequence[int],
    stream: Sequence[float],
    neighbour: Sequence[float],
    high: float,
    low: float,
    slack: float,
) -> Witness:
    """Return a witness from log-likelihoods with an error of `slack`; `stream` is the likelier."""
    certified = slack == 0.0
    position = next(t for t, (a, b) in enumerate(zip(stream, neighbour, strict=True)) if a != b)
    difference = high - low if low > -math.inf else math.inf
    spread = 2 * slack if math.isfinite(difference) else 0.0
    return Witness(
        target=algorithm.name,
        parameters=parameters(algorithm),
        actions=tuple(int(a) for a in actions),
        stream=tuple(float(r) for r in stream),
        neighbour=tuple(float(r) for r in neighbour),
        position=position,
        likelihood=_probability(high, slack, certified),
        likelihood_neighbour=_probability(low, slack, certified),
        loss=Enclosure(difference - spread, difference + spread, certified),
        epsilon=_claimed(algorithm),
    )


def _probability(log_value: float, slack: float, certified: bool) -> Enclosure:
    low, high = math.exp(log_value - slack), min(1.0, math.exp(log_value + slack))
    if slack:
        low, high = math.nextafter(low, 0.0), min(1.0, math.nextafter(high, 1.0))
    return Enclosure(low, high, certified)


def _claimed(algorithm: Algorithm) -> float:
    return math.inf if algorithm.claim.epsilon is None else algorithm.claim.epsilon


def parameters(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters that rebuild an algorithm."""
    values = {field.name: getattr(algorithm, field.name) for field in fields(algorithm)}
    return {name: value for name, value in values.items() if value is not None}

"""Importance sampling: one set of runs for both sides, where the transcript density is known.

A changed reward enters one release of an episode algorithm. Given the release's noise z and the
shift d of its centre, the weight f(z - d) / f(z) turns a run on the stream into a run on the
neighbour: P(E | r') = E[1_E w | r]. So log P(E | r) - log P(E | r') = -log E[w | E, r], a mean of
bounded weights over the runs in E, with an empirical Bernstein interval (Maurer & Pontil 2009).
This trusts the declared density: it measures the declaration, not the code that ships.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.lockstep import Releases, decisions
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported, require_integer
from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.events import Event
from dpaudit.sample.lockstep import run_episodes
from dpaudit.sample.rounds import seed_of
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair

BLOCK = 1000


@dataclass(frozen=True)
class Weighted:
    """Both probabilities of an event from runs on one stream, and an interval for their log-ratio.

    The interval holds with probability at least 1 - error.
    """

    runs: int
    hits: int
    probability: float
    probability_neighbour: float
    loss_lower: float
    loss_upper: float


def weighted_runs(
    algorithm: Algorithm, pair: Pair, runs: int, rng: np.random.Generator
) -> tuple[Runs, NDArray[np.float64], float]:
    """Return runs on the stream, their weights, and a bound on any |log-weight|."""
    climbing = decisions(algorithm, pair.stream.horizon)
    known = climbing is not None and isinstance(climbing.climb.unit, Laplace)
    if climbing is None or not known or climbing.climb.grid:
        raise Unsupported("importance sampling needs episodes with Laplace noise.")
    climb = climbing.climb
    change = pair.value - pair.stream.at(pair.position)
    log_weight = np.zeros(runs)
    # a bound known before any run: the interval's range must not be read off the sample
    largest = float(np.max(abs(change) / (climb.divisor * climb.spread)))

    def released(turn: Releases) -> None:
        inside = (turn.begun <= pair.position) & (pair.position < turn.ended)
        if inside.any():
            z, b, d = turn.noise[inside], turn.spread[inside], change / turn.divisor[inside]
            log_weight[turn.runs[inside]] = (np.abs(z) - np.abs(z - d)) / b

    found = run_episodes(climbing, pair.stream, runs, rng, released)
    return found, np.exp(log_weight), largest


def importance(
    algorithm: Algorithm, pair: Pair, event: Event, runs: int, seed: int, error: float
) -> Weighted:
    """Estimate P(E | stream), P(E | neighbour) and the log of their ratio from one set of runs."""
    require_integer("runs", runs, 2)
    share = float(ErrorBudget(error))
    hits, largest, weights = 0, 0.0, []
    for number, begun in enumerate(range(0, runs, BLOCK)):
        count = min(BLOCK, runs - begun)
        rng = np.random.default_rng(seed_of(seed, 7, number))
        found, weight, charge = weighted_runs(algorithm, pair, count, rng)
        inside = event(found)
        hits += int(inside.sum())
        weights.append(weight[inside])
        largest = max(largest, charge)
    inside_weights = np.concatenate(weights)
    mean = float(inside_weights.mean()) if hits else math.nan
    low, high = _bernstein(inside_weights, math.exp(-largest), math.exp(largest), share)
    return Weighted(
        runs,
        hits,
        hits / runs,
        float(inside_weights.sum()) / runs if hits else 0.0,
        -math.log(high),
        -math.log(low) if hits and mean > 0 else largest,
    )


def _bernstein(
    values: NDArray[np.float64], least: float, most: float, error: float
) -> tuple[float, float]:
    """Return an interval for the mean of values in [least, most], wrong at most with `error`."""
    n = len(values)
    if n < 2:
        return least, most
    log_term = math.log(4 / error)
    spread = math.sqrt(2 * float(values.var(ddof=1)) * log_term / n)
    width = spread + 7 * (most - least) * log_term / (3 * (n - 1))
    mean = float(values.mean())
    return max(least, mean - width), min(most, mean + width)

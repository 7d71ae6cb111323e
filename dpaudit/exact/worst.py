"""The largest privacy loss of an algorithm at a horizon, with the pair and actions that attain it.

epsilon*(T) is the largest |log ratio| of likelihoods over all action sequences of length T and all
pairs of streams in [0, 1]^T that differ in one reward. Where the conditions of the extremal-streams
theorem hold (`conditions.py` checks every path), the streams are gone and only decision paths are
left to enumerate. Where they do not, the streams of a finite grid are enumerated: that is a lower
bound for rewards in [0, 1], and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact.climb import climbed_loss
from dpaudit.exact.clock import Clock, OutOfTime
from dpaudit.exact.likelihood import MEASURED_ERROR, Engine, require_engine
from dpaudit.exact.loss_search import LossSearch
from dpaudit.exact.pairs import Step, Streams
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of
from dpaudit.exact.step_witness import witness_of_step
from dpaudit.exact.witness import remeasured
from dpaudit.exact.worst_result import DEFAULT_FLOOR, EXTREMAL, WorstLoss, everything

DEFAULT_MARGIN = 1e-12
LONGEST = 10_000_000  # rounds of a witness that still fits into memory
_WALKED = 100  # paths of three or more arms that are walked one by one; beyond, a climb


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    *,
    streams: Streams = "real",
    engine: Engine = "ball",
    budget: float | None = None,
    floor: float | None = None,
    margin: float = DEFAULT_MARGIN,
) -> WorstLoss:
    """Return an enclosure of the largest loss at a horizon; a budget in seconds may cut it short.

    When the budget ends the search, `complete` is False and the enclosure's upper end infinite.
    The floating-point search of two arms leaves out releases whose charge is within `margin` of a
    loss that it has already found, and says so; with margin -inf it searches everything.
    """
    require_engine(engine)
    require_integer("horizon", horizon, 1)
    if budget is not None and not budget >= 0:
        raise InvalidArgument("budget", budget, "must be at least 0 seconds.")
    if floor is not None and not 0 < floor <= 1:
        raise InvalidArgument("floor", floor, "must be above 0 and at most 1.")
    if math.isnan(margin):
        raise InvalidArgument("margin", margin, "must be a number.")
    if streams not in ("real", "binary"):
        raise InvalidArgument("streams", streams, "must be real or binary.")
    if horizon > LONGEST:
        raise InvalidArgument("horizon", horizon, f"must be at most {LONGEST:,}: pairs are listed.")
    clock = Clock.of(budget)
    least = DEFAULT_FLOOR if floor is None else floor
    if algorithm.arms > 2 and _many(algorithm, horizon, clock):
        climbed = climbed_loss(algorithm, horizon, streams, clock.left, least)
        if climbed is not None:
            return climbed
    if engine == "ball":
        found = _certified(algorithm, horizon, streams, clock, least)
        if found is not None:
            return found
    return LossSearch(algorithm, horizon, streams, clock.left, least, margin).run()


def _many(algorithm: Algorithm, horizon: int, clock: Clock) -> bool:
    """Return whether there are more paths than are walked one by one, or than time to count."""
    try:
        return any(islice(all_paths(algorithm, horizon, clock), _WALKED, None))
    except OutOfTime:
        return True


def _certified(
    algorithm: Algorithm, horizon: int, streams: Streams, clock: Clock, floor: float
) -> WorstLoss | None:
    """Ask the certified engine; None where it does not cover the algorithm."""
    from dpaudit.exact import ball

    try:
        found = ball.worst_loss(algorithm, horizon, streams, clock.left)
    except Unsupported:
        return None
    region = region_of(found.path)
    episode = next(i for i, it in enumerate(region.episodes) if it.rows == found.release.rows)
    better, worse = float(found.neighbour), float(found.own)
    step = Step(episode, found.background, better, worse, 0.0, -found.loss.lower, proved=True)
    witness = None
    if better != worse:  # otherwise no reward changes anything, and there is no pair to show
        drawn = witness_of_step(algorithm, found.path, region, step, MEASURED_ERROR)
        witness = remeasured(drawn, algorithm, clock)
    return WorstLoss(
        loss=found.loss,
        witness=witness,
        method=EXTREMAL,
        covers=everything(streams)
        if found.complete
        else "part of the decision paths, until the budget ran out",
        streams=streams,
        paths=found.paths,
        horizon=horizon,
        complete=found.complete,
        floor=floor,
        loss_above_floor=None,
        seconds=found.seconds,
    )


def loss_by_horizon(
    algorithm: Algorithm, horizons: Sequence[int], **options: Any
) -> dict[int, WorstLoss]:
    """Return the largest loss at each horizon (an anytime algorithm's is non-decreasing)."""
    return {horizon: worst_loss(algorithm, horizon, **options) for horizon in horizons}

"""The largest loss against the horizon, and by the position of the changed reward."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import WorstLoss, likelihood, worst_loss
from dpaudit.exact.clock import Clock, OutOfTime
from dpaudit.exact.horizons import sizes, upper_bound
from dpaudit.exact.witness import loss_between
from dpaudit.exact.worst import every_step
from dpaudit.particulars import LossAt, PositionLosses
from dpaudit.verdict import Witness

Build = Callable[[int], Algorithm]
LARGEST = 4096  # rounds; beyond, a page shows nothing more
GROWTH = 2.0  # how much longer the next horizon may take, at a guess
LONGEST_ACTIONS = 64


def by_horizon(build: Build, arms: int, limit: int, deadline: float) -> tuple[list[WorstLoss], str]:
    """Return the largest loss at growing horizons until the deadline, and what ended it.

    Binary streams: they reach furthest, and what they show is a lower bound for rewards in [0, 1].
    """
    found: list[WorstLoss] = []
    for horizon in sizes(arms, min(limit, LARGEST)):
        left = deadline - time.monotonic()
        if left <= (GROWTH * found[-1].seconds if found else 0.0):
            return found, f"The budget ended before T = {horizon:,}."
        try:
            algorithm = build(horizon)
            result = worst_loss(algorithm, horizon, streams="binary", budget=left)
        except (InvalidArgument, Unsupported) as error:
            return found, f"T = {horizon}: {error}"
        if not result.complete:
            return found, f"The budget ended during T = {horizon:,}."
        found.append(result)
    return found, ""


def points(found: Sequence[WorstLoss], anytime: bool) -> tuple[LossAt, ...]:
    """Return what a page shows of the losses.

    A run of an anytime algorithm contains every shorter one, so its lower ends never fall.
    """
    shown: list[LossAt] = []
    for one in found:
        lower, certified = one.loss.lower, one.loss.certified
        if anytime and shown and shown[-1].lower > lower:
            lower, certified = shown[-1].lower, shown[-1].certified
        shown.append(LossAt(one.horizon, lower, upper_bound(one), certified, one.covers))
    return tuple(shown)


def by_position(
    build: Build, horizons: Sequence[int], witness: Witness | None, deadline: float
) -> tuple[PositionLosses | None, str]:
    """Return the largest loss by the position of the changed reward, and why if there is none.

    Over every action sequence and every binary pair where the extremal-streams theorem applies, at
    the largest horizon that the deadline allows. Otherwise, or where a violation is longer than
    that, along one action sequence.
    """
    along: PositionLosses | None = None
    best: PositionLosses | None = None
    reason = "No horizon within the budget."
    if witness is not None and witness.loss.lower > witness.epsilon:
        along, _ = _along(build(len(witness.actions)), witness, deadline)
    began = time.monotonic()
    for horizon in horizons:
        start = time.monotonic()
        if best is not None and deadline - start < GROWTH * (start - began):
            break
        try:
            losses = _every_pair(build(horizon), horizon, deadline)
        except (InvalidArgument, Unsupported) as error:
            reason = str(error)
            break
        if losses is None:
            break
        covers = f"every action sequence and every pair of binary streams of {horizon:,} rounds"
        best = PositionLosses(losses, covers)
    if along is not None and (best is None or len(best.losses) < len(along.losses)):
        return along, ""
    if best is None and witness is not None:
        best, reason = _along(build(len(witness.actions)), witness, deadline)
    return best, "" if best else reason


def _every_pair(algorithm: Algorithm, horizon: int, deadline: float) -> tuple[float, ...] | None:
    """Return the largest loss of every position, or None if the deadline comes first."""
    best = [0.0] * horizon
    try:
        for _, region, episode, loss in every_step(algorithm, horizon, "binary", Clock(deadline)):
            for part in region.episodes[episode].steps:
                for position in part:
                    best[position] = max(best[position], loss)
    except OutOfTime:
        return None
    return tuple(best)


def _along(
    algorithm: Algorithm, witness: Witness, deadline: float
) -> tuple[PositionLosses | None, str]:
    """Return the loss of one action sequence for a change of each reward of one stream."""
    length = len(witness.actions)
    if length > LONGEST_ACTIONS:
        return None, f"The action sequence of {length} rounds is too long to change every reward."
    losses = []
    try:
        base = likelihood(algorithm, witness.actions, witness.stream, "float")
        for position in range(length):
            if time.monotonic() > deadline:
                return None, "The budget ended before every reward had been changed."
            neighbour = list(witness.stream)
            neighbour[position] = 0.0 if neighbour[position] > 0.5 else 1.0
            other = likelihood(algorithm, witness.actions, neighbour, "float")
            losses.append(loss_between(base, other).lower)
    except (InvalidArgument, Unsupported) as error:
        return None, str(error)
    covers = "the worst action sequence, with one reward after the other changed to 0 or 1"
    return PositionLosses(tuple(losses), covers), ""

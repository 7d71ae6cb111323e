"""The exact check within a budget: the largest loss at larger and larger horizons.

Each horizon is judged whole before the next one begins. The certified engine speaks first; floating
point then goes on to horizons that certainty does not reach in time. A violation ends the search:
its witness is shrunk and computed again from scratch, certified where that is possible.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Literal

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import exact
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import WorstLoss, recompute, shrink, worst_loss
from dpaudit.exact.pairs import Streams
from dpaudit.verdict import Enclosure, Finding, Status, Witness

Build = Callable[[int], Algorithm]
Engine = Literal["ball", "float"]
CERTIFIED_SHARE = 0.5
QUICK = 8


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what had been found until then."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__()
        self.findings = findings


@dataclass(frozen=True)
class Reached:
    """How far one engine came: the last horizon that it covered, and why it went no further."""

    loss: WorstLoss | None
    stopped: str
    interrupted: bool = False


def sizes(arms: int, limit: int) -> Iterator[int]:
    """Yield the horizons up to 8 that have a decision, then 12, 16, 24, 32, ..., up to a limit."""
    yield from range(arms + 1, min(8, limit) + 1)
    power = 4
    while 3 * power <= limit:
        yield from (size for size in (3 * power, 4 * power) if max(arms, 8) < size <= limit)
        power *= 2


def judge(build: Build, epsilon: float, horizons: list[int], budget: float) -> list[Finding]:
    """Return what exact likelihoods say: one finding per engine that had something to say.

    Raises `Interrupted` with the findings so far on Ctrl-C.
    """
    start = time.monotonic()
    first = _search(build, epsilon, horizons, "ball", budget)
    findings = [_finding(build, epsilon, first, horizons, time.monotonic() - start)]
    interrupted, reached = first.interrupted, first.loss
    certain = reached is not None and reached.loss.certified
    if reached and certain and not interrupted and findings[0].status is not Status.REFUTED:
        rest = list(dropwhile(lambda size: size <= reached.horizon, horizons))
        again = time.monotonic()
        second = _search(build, epsilon, rest, "float", budget - (again - start))
        interrupted = second.interrupted
        if second.loss is not None and (second.loss.complete or violates(second.loss, epsilon)):
            findings.append(_finding(build, epsilon, second, rest, time.monotonic() - again))
    if interrupted:
        raise Interrupted(findings)
    return findings


def _search(
    build: Build, epsilon: float, horizons: list[int], engine: Engine, budget: float
) -> Reached:
    best: WorstLoss | None = None
    every_reward = True
    start, seconds = time.monotonic(), 0.0
    for horizon in horizons:
        # Binary streams are a small part of [0, 1]^T that shows most violations sooner.
        both = horizon <= QUICK or len(horizons) == 1
        kinds: tuple[Streams, ...] = ("binary", "real") if both else ("real",)
        for streams in kinds if every_reward else ("binary",):
            shared = best is not None and best.loss.certified and engine == "ball"
            left = start + budget * (CERTIFIED_SHARE if shared else 1.0) - time.monotonic()
            if best is not None and left <= seconds:
                return Reached(best, f"The budget ended before T = {horizon}.")
            try:
                found = worst_loss(
                    build(horizon), horizon, streams=streams, engine=engine, budget=left
                )
            except (InvalidArgument, Unsupported) as error:
                return Reached(best, str(error))
            except KeyboardInterrupt:
                return Reached(best, f"Interrupted during T = {horizon}.", interrupted=True)
            if violates(found, epsilon):
                return Reached(found, "")
            if not found.complete:
                return Reached(best or found, f"The budget ended during T = {horizon}.")
            if streams == "real" and found.loss.upper == math.inf:
                every_reward = False  # no theorem covers [0, 1]^T; binary streams reach further
            if streams == "real" or not every_reward or best is None:
                best, seconds = found, found.seconds
    return Reached(best, "")


def violates(found: WorstLoss, epsilon: float) -> bool:
    """Tell whether a loss is above epsilon for certain, or beyond the measured error."""
    return found.witness is not None and found.loss.lower > epsilon


def upper_bound(found: WorstLoss) -> float:
    """Return the upper end for rewards in [0, 1], infinite where not every pair is covered.

    Binary streams, an unfinished search and a scan that is measured but not proved cover less.
    """
    whole = found.complete and found.streams == "real" and "not proved" not in found.covers
    return found.loss.upper if whole or found.loss.lower == math.inf else math.inf


def _finding(
    build: Build, epsilon: float, reached: Reached, horizons: list[int], seconds: float
) -> Finding:
    found = reached.loss
    if found is None:
        size = horizons[0] if horizons else 0
        arms = build(size).arms if horizons else 0
        reason = reached.stopped or "No horizon to judge."
        return Finding("exact", Status.SILENT, reason, arms=arms, horizon=size, seconds=seconds)
    algorithm = build(found.horizon)
    witness, status, upper = None, Status.SILENT, upper_bound(found)
    if violates(found, epsilon):
        assert found.witness is not None
        witness = fresh(shrink(replace(found.witness, epsilon=epsilon), algorithm), algorithm)
        status = Status.REFUTED if witness.loss.lower > epsilon else Status.SILENT
    elif upper < math.inf and exact(upper) <= exact(epsilon):
        status = Status.HOLDS
    return Finding(
        check="exact",
        status=status,
        reason=_reason(reached, found, witness, epsilon),
        epsilon_lower=found.loss.lower if witness is None else witness.loss.lower,
        epsilon_upper=upper if witness is None else math.inf,
        certified=found.loss.certified if witness is None else witness.loss.certified,
        arms=algorithm.arms,
        horizon=found.horizon if witness is None else len(witness.actions),
        streams=found.covers,
        witness=witness,
        seconds=seconds,
    )


def _reason(reached: Reached, found: WorstLoss, witness: Witness | None, epsilon: float) -> str:
    certified = found.loss.certified if witness is None else witness.loss.certified
    engine = "certified" if certified else "floating point"
    if witness is not None:
        return (
            f"A pair of streams and an action sequence that violate it follow ({engine}). "
            f"The largest loss found at T = {found.horizon} is {found.loss.lower:.9g}."
        )
    covers = found.covers.rstrip(".")
    covers = covers[:1].upper() + covers[1:]
    paths = f"{found.paths:,} path{'s' * (found.paths != 1)}"
    reason = f"{covers} ({engine}, {found.method}, {paths})."
    if found.loss.lower <= epsilon < upper_bound(found) < math.inf:
        reason += " The loss is too close to epsilon for this arithmetic to decide."
    return f"{reason} {reached.stopped}".strip()


def fresh(witness: Witness, algorithm: Algorithm) -> Witness:
    """Return a witness with all its numbers computed from scratch by the best engine there is."""
    check = recompute(witness, algorithm, "ball")
    before, after = check.likelihood, check.likelihood_neighbour
    return replace(
        witness,
        likelihood=Enclosure(before.lower, before.upper, before.certified),
        likelihood_neighbour=Enclosure(after.lower, after.upper, after.certified),
        loss=check.loss,
    )

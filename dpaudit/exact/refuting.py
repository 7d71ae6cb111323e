"""The exact check of a notion other than pure epsilon for one reward: it refutes, or shows a bound.

At larger and larger horizons every pair of binary streams is looked at and the best one climbed in
[0, 1]; then single sequences of more rounds are tried as events (`sequences`). What a pair attains,
certified, is a lower bound on the number that is claimed; above the claim it refutes it. It never
holds: rewards between 0 and 1 are searched, not exhausted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import exact
from dpaudit.core.notions import Kind, Notion
from dpaudit.deadline import Expired
from dpaudit.deadline import deadline as alarm
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.attained import Attained, Pairs, shortcut
from dpaudit.exact.sequences import first_decision, sequences
from dpaudit.verdict import Bracket, Finding, Status

MOST_STREAMS = 2**10
BINARY_SHARE, CLIMB_SHARE, SEQUENCE_SHARE = 0.45, 0.6, 0.85  # of the budget, up to their ends
GROWTH = 4  # how much longer the next horizon may take


def judge(
    build: Callable[[int], Algorithm],
    claimed: Algorithm,
    notion: Notion,
    horizons: list[int],
    budget: float,
) -> list[Finding]:
    """Return what pairs of streams attain, in one finding, at the largest horizon that was done."""
    start = time.monotonic()
    best, stopped = _over_binary(build, notion, horizons, start, budget)
    longest = max(horizons, default=0)
    if best is None:
        reason, seconds = stopped or "No horizon to judge.", time.monotonic() - start
        return [Finding("exact", Status.SILENT, reason, arms=claimed.arms, seconds=seconds)]
    pairs, found, whole = best
    pairs.deadline = start + CLIMB_SHARE * budget
    found = pairs.climbed(found)
    shown = found, f"{_told(pairs, found, whole)} {stopped}".rstrip()

    def tried() -> Iterator[tuple[Attained, str]]:
        for way, one in sequences(build, notion, longest, start + SEQUENCE_SHARE * budget):
            if _violates(shown[0], notion):
                return
            yield one, f", on one event: {way}"
        if not shown[0].value.lower > 0:
            for one in first_decision(build, notion, longest, start + budget):
                yield one, ""

    with suppress(Expired), alarm(start + budget):  # one likelihood may take all there is
        for one, way in tried():
            if one.value.lower > shown[0].value.lower:
                shown = one, f"{_attained(one, notion)}{way}."
    found, told = shown
    lower, sure, horizon = found.value.lower, found.value.certified, len(found.stream)
    other = build(horizon) is not claimed
    told += f" This is the instance built for {horizon:,} rounds." * other
    return [
        Finding(
            "exact",
            Status.REFUTED if _violates(found, notion) else Status.SILENT,
            told,
            certified=sure,
            arms=claimed.arms,
            horizon=horizon,
            instance=horizon if other else None,
            streams="pairs of streams that were looked at",
            seconds=time.monotonic() - start,
            bracket=Bracket(notion.measure, lower, math.inf, sure),
        )
    ]


def _over_binary(
    build: Callable[[int], Algorithm],
    notion: Notion,
    horizons: list[int],
    start: float,
    budget: float,
) -> tuple[tuple[Pairs, Attained, bool] | None, str]:
    """Return the best pair of binary streams, whether all were looked at, and what ended it."""
    best: tuple[Pairs, Attained, bool] | None = None
    spent, end = 0.0, start + BINARY_SHARE * budget
    for horizon in horizons:
        began = time.monotonic()
        if best is not None and 2**horizon > MOST_STREAMS:
            return best, f"Binary streams of {horizon} rounds are too many to list."
        if best is not None and began + GROWTH * spent > end:
            return best, f"The budget ended before T = {horizon:,}."
        pairs = Pairs(build(horizon), horizon, notion, "ball", end)
        try:
            found, whole = pairs.binary()
        except (InvalidArgument, Unsupported) as error:
            return best, str(error)
        if found is not None and (best is None or found.value.lower >= best[1].value.lower):
            best = pairs, found, whole
        spent = time.monotonic() - began
        if best is not None and _violates(best[1], notion):
            break
        if not whole:
            return best, f"The budget ended during T = {horizon:,}."
    return best, ""


def _violates(found: Attained, notion: Notion) -> bool:
    lower = found.value.lower
    return found.value.certified and (lower == math.inf or exact(lower) > exact(notion.bound))


def _attained(found: Attained, notion: Notion) -> str:
    at = f" at epsilon = {notion.level:g}" if notion.kind is Kind.APPROXIMATE else ""
    kind = "certified" if found.value.certified else "floating point"
    return f"Attained{at} ({kind}) by {found}"


def _told(pairs: Pairs, found: Attained, whole: bool) -> str:
    """Return which pair attains it, how it was found, and where extremal streams fall short."""
    if not found.value.lower > 0:
        return f"No pair of streams of {pairs.horizon} rounds that was looked at shows anything."
    looked = "all pairs" if whole else "some pairs"
    searched = f"{looked} of binary streams were tried, then values in between"
    reason = f"{_attained(found, pairs.notion)}; {searched}."
    if pairs.notion.unit == 1 and pairs.notion.kind not in (Kind.PURE, Kind.LOCAL):
        short = shortcut(pairs).value
        if short.upper < found.value.lower:
            reason += (
                f" All other rewards at 0, or all at 1, reach {short.upper:.6g} only: extremal "
                "streams are no shortcut here."
            )
    return reason

"""The exact check of a notion other than pure epsilon for one reward: it refutes, or shows a bound.

At larger and larger horizons every pair of binary streams is looked at and the best one climbed in
[0, 1]. What a pair attains, certified, is a lower bound on the number that is claimed; above the
claim it refutes it. It never holds: rewards between 0 and 1 are searched, not exhausted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import exact
from dpaudit.core.notions import Kind, Notion
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.attained import Attained, Pairs, shortcut
from dpaudit.verdict import Bracket, Finding, Status

MOST_STREAMS = 2**10
BINARY_SHARE = 0.6  # of the budget; the rest is for the climb
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
    best: tuple[Pairs, Attained, bool] | None = None
    stopped, spent = "", 0.0
    for horizon in horizons:
        began = time.monotonic()
        late = began + GROWTH * spent > start + BINARY_SHARE * budget
        if best is not None and (2**horizon > MOST_STREAMS or late):
            stopped = f"The budget ended before T = {horizon}."
            break
        pairs = Pairs(build(horizon), horizon, notion, "ball", start + BINARY_SHARE * budget)
        try:
            found, whole = pairs.binary()
        except (InvalidArgument, Unsupported) as error:
            stopped = str(error)
            break
        if found is not None and (best is None or found.value.lower >= best[1].value.lower):
            best = pairs, found, whole
        spent = time.monotonic() - began
        if best is not None and _violates(best[1], notion):
            break
        if not whole:
            stopped = f"The budget ended during T = {horizon}."
            break
    if best is not None:
        best[0].deadline = start + budget
        best = best[0], best[0].climbed(best[1]), best[2]
    seconds = time.monotonic() - start
    if best is None:
        reason = stopped or "No horizon to judge."
        return [Finding("exact", Status.SILENT, reason, arms=claimed.arms, seconds=seconds)]
    pairs, found, whole = best
    horizon, told = pairs.horizon, _told(pairs, found, whole)
    lower, sure = found.value.lower, found.value.certified
    other = build(horizon) is not claimed
    return [
        Finding(
            "exact",
            Status.REFUTED if _violates(found, notion) else Status.SILENT,
            f"{told} {stopped}".rstrip(),
            certified=sure,
            arms=claimed.arms,
            horizon=horizon,
            instance=horizon if other else None,
            streams="pairs of binary streams, the best of them climbed in [0, 1]",
            seconds=seconds,
            bracket=Bracket(notion.measure, lower, math.inf, sure),
        )
    ]


def _violates(found: Attained, notion: Notion) -> bool:
    lower = found.value.lower
    return found.value.certified and (lower == math.inf or exact(lower) > exact(notion.bound))


def _told(pairs: Pairs, found: Attained, whole: bool) -> str:
    """Return which pair attains it, how it was found, and where extremal streams fall short."""
    if not found.value.lower > 0:
        return f"No pair of streams of {pairs.horizon} rounds that was looked at shows anything."
    kind = "certified" if found.value.certified else "floating point"
    looked = "all pairs" if whole else "some pairs"
    at = f" at epsilon = {pairs.notion.level:g}" if pairs.notion.kind is Kind.APPROXIMATE else ""
    reason = f"Attained{at} ({kind}) by {found}; {looked} of binary streams, then climbed."
    if pairs.notion.unit == 1 and pairs.notion.kind not in (Kind.PURE, Kind.LOCAL):
        short = shortcut(pairs).value
        if short.upper < found.value.lower:
            reason += (
                f" All other rewards at 0, or all at 1, reach {short.upper:.6g} only: extremal "
                "streams are no shortcut here."
            )
    return reason

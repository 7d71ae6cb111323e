"""What the first decision attains: all sequences at the first horizon that has more than one.

Eliminations, and indices after a forced beginning, decide nothing for many rounds: all sequences of
a few rounds tell nothing, and just after the first decision there is a handful of them, so that
their whole law is cheap. The streams put the comparison at a quantile of its noise: the changed
arm's rewards are 0, and as many of the other one's are 1 as give the actions that no reward gives
about that probability.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice, product

from dpaudit.core.algorithm import Algorithm, Disclosure
from dpaudit.core.notions import Notion
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.attained import Attained, Stream, attained
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.profile import law

MOST_PATHS = 8
LONGEST = 1 << 17
QUANTILES = (0.5, 0.1, 0.9, 1e-3, 0.999)


def first_decision(
    build: Callable[[int], Algorithm], notion: Notion, longest: int, deadline: float
) -> Iterator[Attained]:
    """Yield what pairs attain by the first decision, until the deadline; nothing if it is late."""
    low, high = 2, 4
    while len(_paths(build(high), high)) < 2:
        low, high = high, 2 * high
        if high > min(longest, LONGEST) or time.monotonic() > deadline:
            return
    while high - low > 1:
        middle = (low + high) // 2
        few = len(_paths(build(middle), middle)) < 2
        low, high = (middle, high) if few else (low, middle)
    algorithm = build(high)
    paths = _paths(algorithm, high)
    if algorithm.arms != 2 or len(paths) > MOST_PATHS:
        return
    path = paths[0]
    with suppress(Unsupported, InvalidArgument):
        for arm, target in product((0, 1), QUANTILES):
            if time.monotonic() > deadline:
                return
            stream, neighbour = _pair(algorithm, path, arm, target, notion.unit)
            one, other = law(algorithm, stream), law(algorithm, neighbour)
            yield Attained(stream, neighbour, attained(one, other, notion))
            yield Attained(neighbour, stream, attained(other, one, notion))


def _paths(algorithm: Algorithm, horizon: int) -> list[Path]:
    return list(islice(all_paths(algorithm, horizon), MOST_PATHS + 1))


def _pair(
    algorithm: Algorithm, path: Path, arm: int, target: float, unit: int
) -> tuple[Stream, Stream]:
    """Return the streams whose comparison of an arm with the other one lies at a quantile."""
    first: dict[int, list[int]] = {}
    for event in path.events:
        if isinstance(event, Disclosure):
            steps = [step for part in path.steps(event.rows) for step in part]
            first.setdefault(event.rows.arm, steps)
    if first.keys() != {0, 1}:
        raise Unsupported("An arm is not released before the first decision.")

    def stream(ones: int, changed: int = 0) -> Stream:
        rewards = [0.0] * path.horizon
        for step in (*first[1 - arm][:ones], *first[arm][:changed]):
            rewards[step] = 1.0
        return tuple(rewards)

    before = law(algorithm, stream(0))
    common = max(before.probabilities, key=lambda it: before.probabilities[it].lower)
    low, high = 0, len(first[1 - arm])
    while high - low > 1:
        middle = (low + high) // 2
        if law(algorithm, stream(middle)).probabilities[common].lower > target:
            low = middle
        else:
            high = middle
    return stream(high), stream(high, unit)

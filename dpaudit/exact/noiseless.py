"""Algorithms without noise: a path happens or it does not, decided in exact arithmetic.

Registers hold exact rationals and `exact_order.py` compares their scores. Two neighbouring streams
with different actions make the loss infinite.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Accumulate, Algorithm, Play, Release, Respond, Stop, Toss
from dpaudit.core.noise import NoNoise
from dpaudit.core.walk import begin
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.exact_order import winner
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.known import require_known
from dpaudit.exact.paths import Decided, Event, Path, Played, recommended
from dpaudit.exact.region import Region


def applies(region: Region) -> bool:
    """Return whether a region has releases, none of which carries noise."""
    noises = [episode.noise for episode in region.episodes]
    return bool(noises) and all(isinstance(noise, NoNoise) for noise in noises)


def happens(region: Region, sums: Sequence[Fraction]) -> bool:
    """Return whether these sums of the episodes lead down a path; if so, with probability 1."""
    values = [total / e.divisor for total, e in zip(sums, region.episodes, strict=True)]
    for decision in region.decisions:
        shown = [sum((values[i] for i in group), Fraction(0)) for group in decision.shown]
        if winner(decision.request, shown) != decision.outcome:
            return False
    return True


Pair = tuple[list[float], list[float]]


def differing(
    algorithm: Algorithm, horizon: int, clock: Clock = ENDLESS
) -> tuple[Path, Pair] | None:
    """Look for one reward that matters, the others all 0 or all 1: the path of the first stream."""
    for background in (0, 1):
        plain = [Fraction(background)] * horizon
        path = follow(algorithm, plain, clock)
        for position in range(horizon):
            stream = list(plain)
            stream[position] = Fraction(1 - background)
            if not np.array_equal(follow(algorithm, stream, clock).actions, path.actions):
                return path, ([float(r) for r in plain], [float(r) for r in stream])
    return None


def follow(algorithm: Algorithm, stream: Sequence[Fraction], clock: Clock = ENDLESS) -> Path:
    """Return the path that a noiseless algorithm takes on a stream; raise where it adds noise."""
    registers: dict[Hashable, Fraction] = {}
    pulls: dict[int, list[Fraction]] = {arm: [] for arm in range(algorithm.arms)}
    events: list[Event] = []
    place = begin(algorithm)
    while True:
        clock()
        request = place.request
        answer: Any = None
        if isinstance(request, Play):
            answer = place.rows(len(stream))
            stop = place.time + len(answer)
            pulls[request.arm] += stream[place.time : stop]
            events.append(Played(answer, place.time))
            if stop == len(stream):
                return Path(tuple(events), stop)
        elif isinstance(request, Release | Accumulate):
            require_known(request)
            if not isinstance(request.noise, NoNoise):
                raise Unsupported("A stream leads to a release with noise.")
            rows = request.rows
            total = sum(pulls[rows.arm][rows.first : rows.stop], Fraction(0))
            kept = registers.get(request.register) if isinstance(request, Accumulate) else None
            registers[request.register] = (kept or Fraction(0)) + total / Fraction(request.divisor)
            events.append(request)
        elif isinstance(request, Stop):
            events.append(recommended(place, request, len(stream)))
            return Path(tuple(events), len(stream))
        elif isinstance(request, Toss | Respond):
            raise Unsupported("A coin or a randomised response is no certain event.")
        else:
            require_known(request)
            values = [sum((registers[name] for name in g), Fraction(0)) for g in request.registers]
            answer = winner(request, values)
            events.append(Decided(request, answer))
        place = place.after(answer)

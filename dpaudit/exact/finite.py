"""Paths whose releases take few values: exact probabilities, no integral.

A release without noise has one value, a randomised response two, of rational probability. So a
path's probability is a sum over the values that lead down it, each decision settled in exact
arithmetic (`balls/exact_order.py`). Where nothing is random, two neighbouring streams with
different actions make the loss infinite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Register,
    Release,
    Respond,
)
from dpaudit.core.noise import NoNoise
from dpaudit.core.walk import Place
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.exact_order import winner
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.known import require_alike, require_known
from dpaudit.exact.paths import Decided, Event, Path, Played, path_along

Held = tuple[tuple[Register, Any], ...]  # what the registers hold


def applies(path: Path) -> bool:
    """Return whether a path decides, and only by responses and releases without noise."""
    plain = (
        isinstance(event, Respond) or isinstance(event.noise, NoNoise) for _, event in path.reads
    )
    return bool(path.reads) and all(plain)


def probability(path: Path, stream: Sequence[Any]) -> Any:
    """Return the probability that the decisions come out as on a path, without its coins.

    Rewards are fractions, or, where all is responses, arrays of doubles 0 and 1: of many streams at
    once, in doubles.
    """
    require_alike(path.requests)
    read = dict(path.reads)
    # what the values were is forgotten as soon as they are added up
    weights: dict[Held, Any] = {(): 1}
    for number, event in enumerate(path.events):
        release = read.get(number)
        if release is not None:
            after: dict[Held, Any] = {}
            values = _values(path, release, stream)
            for (held, weight), (value, chance) in product(weights.items(), values):
                registers = dict(held)
                registers[release.register] = _written(release, registers, value)
                key = tuple(registers.items())
                after[key] = after.get(key, 0) + weight * chance
            weights = after
        elif isinstance(event, Decided):
            request, shown = event.request, {held: _shown(event.request, held) for held in weights}
            best = {it: winner(request, [*map(Fraction, it)]) for it in {*shown.values()}}
            weights = {h: w for h, w in weights.items() if best[shown[h]] == event.outcome}
    return sum(weights.values())


def _values(path: Path, event: Disclosure, stream: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return what a release may write or add, and how likely; impossible values are left out."""
    rewards = [stream[step] for part in path.steps(event.rows) for step in part]
    if not isinstance(event, Respond):
        require_known(event)
        return [(sum(rewards, Fraction(0)) / Fraction(event.divisor), 1)]
    (reward,) = rewards
    if isinstance(reward, np.ndarray):  # each chance is rounded by itself
        ends = (1 - event.one, 1 - event.zero), (event.one, event.zero)
        zero, one = (np.where(reward == 1, *map(float, pair)) for pair in ends)
    else:
        one = event.zero + (event.one - event.zero) * reward
        zero = 1 - one
    return [(bit, chance) for bit, chance in ((0, zero), (1, one)) if np.any(chance)]


def _written(event: Disclosure, registers: Mapping[Register, Any], value: Any) -> Any:
    """Return what a register holds once a value is written or added."""
    return value if isinstance(event, Release) else registers.get(event.register, 0) + value


def _shown(request: Choose | Keep, held: Held) -> tuple[Any, ...]:
    """Return what the arms show to a decision."""
    require_known(request)
    registers = dict(held)
    return tuple(sum(registers[name] for name in group) for group in request.registers)


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
    registers: dict[Register, Fraction] = {}
    pulls: dict[int, list[Fraction]] = {arm: [] for arm in range(algorithm.arms)}

    def hear(event: Event) -> None:
        clock()
        if isinstance(event, Played):
            pulls[event.rows.arm] += stream[event.start : event.start + len(event.rows)]
        elif isinstance(event, Release | Accumulate):
            require_known(event)
            if not isinstance(event.noise, NoNoise):
                raise Unsupported("A stream leads to a release with noise.")
            rows = event.rows
            total = sum(pulls[rows.arm][rows.first : rows.stop], Fraction(0))
            value = total / Fraction(event.divisor)
            registers[event.register] = _written(event, registers, value)
        elif isinstance(event, Respond):
            raise Unsupported("A randomised response is no certain event.")

    def decide(place: Place) -> int:
        request = place.request
        assert isinstance(request, Choose | Keep)
        return winner(request, _shown(request, (*registers.items(),)))

    return path_along(algorithm, len(stream), decide, hear)

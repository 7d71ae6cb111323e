"""Paths on which every release is a randomised response: exact probabilities, no integral.

The answers are bits of rational probability, so a path's probability is a sum over the bits that
lead down it, each decision settled in exact arithmetic (`balls/exact_order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Register, Release, Respond
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.exact_order import winner
from dpaudit.exact.known import require_alike, require_known
from dpaudit.exact.paths import Decided, Path


def applies(path: Path) -> bool:
    """Return whether a path holds a randomised response."""
    return any(isinstance(event, Respond) for event in path.events)


def probability(path: Path, stream: Sequence[Fraction]) -> Fraction:
    """Return the probability that the decisions come out as on a path, without its coins."""
    steps = [positions(path, event) for event in path.events if isinstance(event, Respond)]

    def chance(number: int, request: Respond) -> Fraction:
        return request.zero + (request.one - request.zero) * stream[steps[number]]

    # what the bits were is forgotten as soon as they are added up
    weights: dict[Any, Fraction] = {(): Fraction(1)}
    for number, request, along in _along(path):
        after: dict[Any, Fraction] = {}
        for held, weight in weights.items():
            one = chance(number, request)
            for bit, share in ((0, 1 - one), (1, one)):
                added = along(held, bit) if share else None
                if added is not None:
                    after[added] = after.get(added, Fraction(0)) + weight * share
        weights = after
    return sum(weights.values(), Fraction(0))


def positions(path: Path, request: Respond) -> int:
    """Return the step of the stream that a response is about."""
    return path.steps(request.rows)[0].start


Held = tuple[tuple[Register, int], ...]


def _along(path: Path) -> Iterator[tuple[int, Respond, Callable[[Held, int], Held | None]]]:
    """Yield every response of a path, and how its bit moves the registers.

    None where one of the decisions before the next response comes out otherwise.
    """
    require_alike(path, set())
    parts: list[tuple[Respond, list[Decided]]] = []
    for event in path.events:
        if isinstance(event, Release | Accumulate):
            raise Unsupported("Randomised response and noise on one path have no exact sum.")
        if isinstance(event, Respond):
            parts.append((event, []))
        elif isinstance(event, Decided):
            require_known(event.request)
            parts[-1][1].append(event)
    known: dict[Any, int] = {}
    for number, (request, decisions) in enumerate(parts):

        def along(
            held: Held,
            bit: int,
            register: Register = request.register,
            decisions: list[Decided] = decisions,
        ) -> Held | None:
            registers = dict(held)
            registers[register] = registers.get(register, 0) + bit
            for decided in decisions:
                groups = decided.request.registers
                values = tuple(sum(registers[name] for name in group) for group in groups)
                key = id(decided), values
                if key not in known:
                    known[key] = winner(decided.request, [Fraction(value) for value in values])
                if known[key] != decided.outcome:
                    return None
            return tuple(registers.items())

        yield number, request, along


def on_binary_streams(path: Path) -> tuple[NDArray[Any], list[int]]:
    """Return a path's probability by the rewards (0 or 1) that its responses are about, and where.

    Unlike `probability`, it lists the bits that lead down the path and turns them into
    probabilities for all rewards at once, one response after the other.
    """
    requests: list[Respond] = []
    reached: list[tuple[tuple[int, ...], Held]] = [((), ())]
    for _, request, along in _along(path):
        requests.append(request)
        reached = [
            ((*bits, bit), after)
            for bits, held in reached
            for bit in (0, 1)
            if (after := along(held, bit)) is not None
        ]
    table = np.full((2,) * len(requests), Fraction(0), dtype=object)
    for bits, _ in reached:
        table[bits] = path.chance
    for axis, request in enumerate(requests):
        nothing, something = np.moveaxis(table, axis, 0)
        sides = [(1 - p) * nothing + p * something for p in (request.zero, request.one)]
        table = np.stack(sides, axis=axis) if np.ndim(nothing) else np.array(sides, dtype=object)
    return table, [positions(path, request) for request in requests]

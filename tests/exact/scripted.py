"""Tiny declarations from a list of requests, for claims that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Request, Rows, Step
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine

CHOSEN = "play the arm that was chosen last"


def largest(m: Any) -> Affine:
    """The larger register wins, the earlier arm on a tie."""
    return Affine(m.number(np.zeros(2)))


def choose(*registers: Any) -> Choose:
    """A choice between two arms by the sums of their registers."""
    groups = tuple(it if isinstance(it, tuple) else (it,) for it in registers)
    return Choose((0, 1), groups, largest)


def show(arm: int, number: int, scale: Any = 1, register: Any = None) -> Release:
    """Release one reward of an arm into the arm's register."""
    rows = Rows(arm, number, number + 1)
    return Release(arm if register is None else register, rows, Laplace(scale))


def scripted(*requests: Request | str | Callable[[int], Request]) -> Algorithm:
    """An algorithm that makes these requests in order, and then plays arm 0 for ever.

    A function is asked for the request, given the arm that was chosen last.
    """

    @dataclass(frozen=True, kw_only=True)
    class Scripted(Algorithm):
        epsilon: float = 1.0

        def start(self) -> Any:
            return (0, 0)

        def step(self, state: Any) -> Step:
            place, chosen = state
            request = requests[place] if place < len(requests) else Play(0, 1)
            if request == CHOSEN:
                request = Play(chosen, 1)
            elif callable(request):
                request = request(chosen)
            if isinstance(request, Choose):
                return Step(request, lambda arm: (place + 1, arm))
            return Step(request, lambda _: (min(place + 1, len(requests)), chosen))

    return Scripted(arms=2)


BOTH: Sequence[Request] = (Play(0, 1), Play(1, 1), show(0, 0), show(1, 0))

"""A directed search for violations on long runs, where enumerating every path is out of reach.

A release with too little noise shows only where another release of at least as little noise is
weighed against it: otherwise the other one's noise hides it. So both arms are played up to a level,
one with rewards 0 and the other with rewards 1, and then the one without reward is chosen again.
The level doubles. Each candidate costs the likelihood of one action sequence; a loss above epsilon
on any of them refutes the claim, and nothing else is ever concluded.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Keep, Play, Release, Stop, Toss
from dpaudit.core.walk import begin
from dpaudit.errors import DpauditError
from dpaudit.exact.clock import Clock
from dpaudit.exact.likelihood import likelihood
from dpaudit.exact.paths import paths_of
from dpaudit.exact.witness import loss_between, witness_of
from dpaudit.verdict import Witness

LONGEST = 5000


def hunt(algorithm: Algorithm, horizon: int, epsilon: float, deadline: float) -> Witness | None:
    """Return the first candidate whose loss is above epsilon, or None; two arms only."""
    if algorithm.arms != 2:
        return None
    level = 1
    while time.monotonic() < deadline:
        actions = against_the_odds(algorithm, level, min(horizon, LONGEST))
        if actions is None:
            return None
        try:
            found = _worst(algorithm, actions, epsilon, deadline)
        except DpauditError:
            return None
        if found is not None:
            return found
        level *= 2
    return None


def against_the_odds(algorithm: Algorithm, level: int, limit: int) -> list[int] | None:
    """Return the actions that bring arm 0 above a level of pulls, then arm 1, and end on arm 0.

    None where they do not fit into `limit` rounds, or the declaration decides in another way.
    """
    actions: list[int] = []
    place = begin(algorithm)
    while place.time < limit:
        answer: Any = None
        match place.request:
            case Play(arm):
                answer = place.rows(limit)
                actions += [arm] * len(answer)
                if place.time + len(answer) == limit:
                    return None
            case Choose((0, 1)):
                behind = [arm for arm in (0, 1) if place.pulls[arm] <= level]
                if not behind:
                    return [*actions, 0]
                answer = behind[0]
            case Keep() | Toss() | Stop():
                return None
        place = place.after(answer)
    return None


def _worst(
    algorithm: Algorithm, actions: list[int], epsilon: float, deadline: float
) -> Witness | None:
    """Return a violation among the pairs that change one reward of each arm's last release."""
    stream = [float(arm) for arm in actions]
    base = None
    clock = Clock(deadline)
    for position in _positions(algorithm, actions, clock):
        neighbour = [1.0 - r if t == position else r for t, r in enumerate(stream)]
        base = base or likelihood(algorithm, actions, stream, "float", clock)
        other = likelihood(algorithm, actions, neighbour, "float", clock)
        if loss_between(base, other).lower > epsilon:
            found = witness_of(algorithm, actions, stream, neighbour, "float", clock)
            return replace(found, epsilon=epsilon)
    return None


def _positions(algorithm: Algorithm, actions: list[int], clock: Clock) -> list[int]:
    """Return, for each arm, the first step of the rows that its last release reads."""
    paths = paths_of(algorithm, actions, clock)
    if len(paths) != 1:
        return []
    last = {
        event.rows.arm: event.rows
        for event in paths[0].events
        if isinstance(event, Release | Accumulate) and len(event.rows)
    }
    return [paths[0].steps(rows)[0][0] for rows in last.values()]

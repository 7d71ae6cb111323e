"""Charges phase by phase, for declarations in the frame of `Phases`.

The frame asks for the length, the noise and the width of a phase by its number and by how many
survivors there are, and passes nothing else; it releases the rows of the phase alone. So a row is
released once at most, and what it is charged depends on (number, survivors) alone, whoever survived
and whatever was played before. One walk over these pairs replaces that over all histories of
survivors. A pair is reached no earlier than by the quickest way there, which is what the horizon
is compared with; every pair that may be reached is asked for twice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.core.algorithm import Keep, Play, Release, Rows
from dpaudit.core.canonical import Distrust, canonical, parameters
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.phases import Phase, Phases
from dpaudit.core.walk import Place
from dpaudit.structure.ledger import Row, charge_of


def asked(
    algorithm: Phases, number: int, survivors: int, tariff: Tariff = PURE
) -> tuple[dict[int, Row], int, Any]:
    """Return what a phase charges after so many of its rounds, its rounds, all that it asked for.

    The rows are counted from 0, as if nothing had been played before.
    """
    arms = tuple(range(survivors))
    place = Place(algorithm, Phase(number, arms), (0,) * algorithm.arms)
    charged: dict[int, Row] = {}
    shown: list[Any] = []
    while not isinstance(place.request, Keep):
        request, answer = place.request, None
        if isinstance(request, Play):
            answer = Rows(request.arm, 0, request.rounds)
            shown.append(("play", request.arm, request.rounds))
            if survivors == 1:
                return charged, request.rounds, tuple(shown)
        elif isinstance(request, Release):
            charge = charge_of(request, tariff)
            charged[place.time] = Row(charge, request.rows.arm, 0)
            shown.append(("release", request.rows.arm, len(request.rows), charge))
        place = place.after(answer)
    shown.append(("keep", canonical(place.request.arms), tuple(place.width)))
    return charged, place.time, tuple(shown)


def largest_charge(
    algorithm: Phases,
    horizon: int,
    deadline: float,
    tariff: Tariff = PURE,
    heard: Callable[[Any], Any] = lambda shown: None,
) -> tuple[Row, int]:
    """Return the row that is charged most, and the rounds up to which every phase was asked for.

    `heard` is told all that each phase asked for.
    """
    before, worst, covered = parameters(algorithm), Row(Fraction(0), 0, 0), horizon
    seen: list[tuple[int, int, Any]] = []
    earliest, number = {algorithm.arms: (0, 0)}, 1  # by survivors: rounds, and pulls of each
    while earliest and covered == horizon:
        following: dict[int, tuple[int, int]] = {}
        for survivors, (begun, pulls) in sorted(earliest.items(), reverse=True):
            if time.monotonic() > deadline:
                covered = min(horizon, min(earliest.values())[0])
                break
            charged, rounds, shown = asked(algorithm, number, survivors, tariff)
            seen.append((number, survivors, shown))
            heard(shown)
            for after, row in charged.items():
                if begun + after < horizon and row.charge > worst.charge:
                    worst = replace(row, number=pulls)
            if survivors == 1 or begun + rounds >= horizon:
                continue
            reached = begun + rounds, pulls + rounds // survivors
            for fewer in range(1, survivors + 1):
                following[fewer] = min(following.get(fewer, reached), reached)
        earliest, number = following, number + 1
        if worst.charge == math.inf:
            return worst, 0
    for place in reversed(seen):
        if asked(algorithm, place[0], place[1], tariff)[2] != place[2]:
            raise Distrust(f"phase {place[0]} of {place[1]} answered differently when asked again")
    if parameters(algorithm) != before:
        raise Distrust("the algorithm's parameters changed while it was walked")
    return worst, covered

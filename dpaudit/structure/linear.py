"""Charges of linear phased elimination: one law for every release, whoever survives.

**Theorem.** Let `start` and `step` of a declaration be the very functions of `LinearPhases`. Then
on every transcript, of any length, a reward enters one release at most, with divisor 1 and the
noise `law()`, and is charged what that release charges.

*Proof.* By induction over the steps of the frame. `Sampling.played` holds the answers to the plays
of its phase, in order: receipts of rewards that no earlier play had, so disjoint from all others.
A release is asked for in `ReleasingSums(phase, i)` alone; it reads `phase.played[i]` whole, divides
by 1, and is followed by `ReleasingSums(phase, i + 1)`; after the last one a phase begins whose
`played` is empty. So every receipt is released once at most. `law` takes no argument and is pure,
so that it is one law. QED.

Which arms are played how long, with which weights and widths they are compared, and which survive,
enters no charge: `plan` and `width` are not told what registers hold. What the theorem says is
compared with some paths, walked twice: no arm is ever dropped, or half of them are each time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from dpaudit.core.algorithm import Keep, Play, Release, Rows
from dpaudit.core.canonical import Distrust, canonical, parameters
from dpaudit.core.linear import LinearPhases, ReleasingSums, Sampling
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.walk import Place, begin
from dpaudit.structure.ledger import Row, Runs, add, charge_of

SLOWEST = 0.2  # of the time left, for the paths


def charge_of_law(algorithm: LinearPhases, tariff: Tariff = PURE) -> Row:
    """Return what no reward of a run is charged more than."""
    rows = Rows(0, 0, max(2, tariff.unit))  # a longer release charges a row no more
    played = ReleasingSums(Sampling(1, (0,), (rows,)))
    place = Place(algorithm, played, (len(rows),) + (0,) * (algorithm.arms - 1), len(rows))
    return Row(charge_of(place.request, tariff), 0, 0)  # type: ignore[arg-type]


def compare(algorithm: LinearPhases, horizon: int, row: Row, tariff: Tariff, ends: float) -> int:
    """Walk some paths twice; return their number, or distrust what they charge or answer."""
    before, walked = parameters(algorithm), 0
    ends = time.monotonic() + SLOWEST * (ends - time.monotonic())
    for dropped in (0, 1, -1):
        found = [tuple(_path(algorithm, horizon, row, tariff, dropped)) for _ in range(2)]
        if found[0] != found[1]:
            raise Distrust("step answered differently when called again")
        walked += 1
        if time.monotonic() > ends:
            break
    if parameters(algorithm) != before:
        raise Distrust("the algorithm's parameters changed while it was walked")
    return walked


def _path(
    algorithm: LinearPhases, horizon: int, row: Row, tariff: Tariff, dropped: int
) -> Iterator[Any]:
    """Yield what is asked for on the path that drops no arm, or the first or the last half."""
    charges: list[Runs] = [()] * algorithm.arms
    place = begin(algorithm)
    while True:
        answer: Any = None
        match place.request:
            case Play(arm, rounds):
                yield arm, rounds
                answer = place.rows(horizon)
                if place.time + len(answer) >= horizon:
                    return
            case Release(register, rows) as request:
                charge = charge_of(request, tariff)
                yield canonical(register), canonical(rows), charge
                charges[rows.arm], largest, _ = add(charges[rows.arm], rows, charge)
                if largest > row.charge:
                    raise Distrust(f"by its law {row}; on a path, {largest}")
            case Keep(arms, registers, _, weights):
                yield canonical((arms, registers, weights)), tuple(place.width)
                half = len(arms) // 2
                answer = (arms, arms[half:], arms[: len(arms) - half])[dropped]
            case _:
                raise Distrust(f"a linear elimination asks for a {type(place.request).__name__}")
        place = place.after(answer)

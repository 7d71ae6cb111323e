"""The nearest known flaw: what a refuted declaration has in common with a mutant.

Both are walked along the same few short decision paths, and what their releases have in common is
compared: the kind of noise, how often one reward is released, what one release costs in units of
the claimed epsilon, and by what the released sum is divided. This is a hint for a person who looks
for a bug, no evidence: a charge is an upper bound, and two bugs can look alike. A target that is
charged no more than it claims, or that resembles no mutant, gets none; so does undeclared code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import cycle, islice
from typing import Any

from dpaudit.core.algorithm import (
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Play,
    Request,
    Respond,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.response import response_charge
from dpaudit.core.walk import begin, outcomes

REQUESTS = 64
HORIZON = 1_000_000
FAR = math.log(1.5)


@dataclass(frozen=True)
class ReleaseProfile:
    """What the releases on some paths look like, in units of the claimed epsilon."""

    noise: frozenset[str]
    times: int
    """The most releases that contain one reward."""
    once: float
    """The largest charge of one release on one reward."""
    total: float
    """The largest charge of all releases on one reward."""
    weights: frozenset[Fraction]
    """(rewards released) / divisor, of the releases that cost most: 1 for a mean."""
    decisions: frozenset[str]
    """How it decides: by choosing an arm, or by keeping several."""

    def distance(self, other: ReleaseProfile) -> float:
        """Return how unlike two profiles are; infinite where they differ in kind."""
        if self.noise != other.noise or (self.times > 1) != (other.times > 1):
            return math.inf
        apart = sum(
            0.0 if a == b else abs(math.log(a / b)) if 0 < min(a, b) <= max(a, b) < math.inf else 1
            for a, b in ((self.once, other.once), (self.total, other.total))
        )
        return (
            apart
            + 0.1 * (self.weights != other.weights)
            + 0.1 * (self.decisions != other.decisions)
        )


def nearest_flaw(algorithm: Any, epsilon: float) -> str | None:
    """Return the flaw of the mutant whose releases look most like these, or None.

    `algorithm` is what was refuted, `epsilon` what it was refuted at.
    """
    own = profile(algorithm, epsilon) if isinstance(algorithm, Algorithm) else None
    if own is None or own.total <= 1:
        return None
    from dpaudit.core.mutants import find

    best = min(
        ((own.distance(other), name) for name, other in _known(algorithm.arms, _end(algorithm))),
        default=(math.inf, ""),
    )
    return find(best[1]).flaw if best[0] <= FAR else None


@cache
def _known(arms: int, horizon: int) -> tuple[tuple[str, ReleaseProfile], ...]:
    from dpaudit.core.algorithms import build, parameters
    from dpaudit.core.mutants import find, names

    found = []
    for mutant in (find(name) for name in names()):
        if not mutant.declared:
            continue
        values = {"arms": arms, "epsilon": mutant.epsilon, "horizon": horizon}
        accepted = parameters(mutant.source)
        algorithm = build(
            mutant.source, mutant.name, **{k: v for k, v in values.items() if k in accepted}
        )
        seen = profile(algorithm, mutant.epsilon)
        if seen is not None:
            found.append((mutant.name, seen))
    return tuple(found)


def _end(algorithm: Algorithm) -> int:
    """Return the horizon: an algorithm's own if it knows it, otherwise beyond what is walked."""
    return int(algorithm.__dict__["horizon"]) if algorithm.told() else HORIZON


def profile(algorithm: Algorithm, epsilon: float) -> ReleaseProfile | None:
    """Return the profile of an algorithm on short paths; None where nothing is released."""
    every = range(algorithm.arms)
    turns = [*([*every[first:], *every[:first]] for first in every), *([arm] for arm in every)]
    paths = [list(_requests(algorithm, turn)) for turn in turns]
    profiles = [found for path in paths if (found := _of(path, epsilon)) is not None]
    if not profiles:
        return None
    once = max(each.once for each in profiles)
    return ReleaseProfile(
        noise=frozenset().union(*(each.noise for each in profiles)),
        times=max(each.times for each in profiles),
        once=once,
        total=max(each.total for each in profiles),
        weights=frozenset().union(*(each.weights for each in profiles if each.once == once)),
        decisions=frozenset().union(*(each.decisions for each in profiles)),
    )


def _of(path: list[Request], epsilon: float) -> ReleaseProfile | None:
    releases = [r for r in path if isinstance(r, Disclosure) and len(r.rows)]
    if not releases:
        return None
    charges = [float(_charge(r)) / epsilon for r in releases]
    once = max(charges)
    # The row that is charged most is the first of some release.
    covered = [
        [charge for r, charge in zip(releases, charges, strict=True) if _holds(r.rows, start)]
        for start in {(r.rows.arm, r.rows.first) for r in releases}
    ]
    return ReleaseProfile(
        noise=frozenset(type(getattr(r, "noise", r)).__name__ for r in releases),
        times=max(map(len, covered)),
        once=once,
        total=max(map(sum, covered)),
        weights=frozenset(
            len(r.rows) / Fraction(getattr(r, "divisor", 1))
            for r, charge in zip(releases, charges, strict=True)
            if charge == once
        ),
        decisions=frozenset(type(r).__name__ for r in path if isinstance(r, Choose | Keep)),
    )


def _charge(request: Disclosure) -> Fraction | float:
    if isinstance(request, Respond):
        return response_charge(request.one, request.zero)
    return request.noise.charge(1 / Fraction(request.divisor))


def _holds(rows: Rows, place: tuple[int, int]) -> bool:
    return rows.arm == place[0] and rows.first <= place[1] < rows.stop


def _requests(algorithm: Algorithm, turn: list[int]) -> Iterator[Request]:
    """Yield the requests on the path that chooses some arms in turn, as far as they may be."""
    wanted, end = cycle(turn), _end(algorithm)
    place = begin(algorithm)
    for _ in range(REQUESTS):
        if place.time >= end:
            return
        yield place.request
        answer: Any = None
        match place.request:
            case Play():
                answer = place.rows(end)
            case Choose(arms):
                answer = next((arm for arm in islice(wanted, len(turn)) if arm in arms), arms[0])
            case Keep(arms):
                answer = arms
            case Stop():
                return
            case Toss() as coin:
                *_, answer = outcomes(coin)
        place = place.after(answer)

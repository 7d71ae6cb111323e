"""One long action sequence as an event: what a pair attains where all sequences are too many.

Whether a run was this one sequence is a bit, a post-processing of the actions, so what the two laws
of the bit attain is a lower bound. The likelihood of one sequence is cheap at horizons at which all
of them cannot be listed. Two kinds are tried, on two arms:

- one arm wins a few decisions and the other one all that follow: the first arm's last release is
  compared with ever more precise ones, which is a threshold far in its tail, where Renyi
  divergences of Gaussian noise are nearly attained;
- one arm wins until its register is precise, then the other one always, although its first rewards
  are behind: every release that its first reward enters is compared with nearly the same number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from dpaudit.core.algorithm import Algorithm, Choose, Disclosure
from dpaudit.core.notions import Notion
from dpaudit.core.walk import Place
from dpaudit.errors import Unsupported
from dpaudit.exact.attained import Attained, Stream, attained
from dpaudit.exact.likelihood import Likelihood, likelihood
from dpaudit.exact.paths import Path, path_along
from dpaudit.exact.profile import Law

SHORT, LONG, LONGEST = 33, 129, 1025


@dataclass(frozen=True)
class Steered:
    """A sequence: `arm` wins `wins` decisions, then the other one all; and whose reward changes."""

    horizon: int
    arm: int
    wins: int
    changed: int
    behind: int
    """How many first rewards of the changed arm are the other way round."""

    def __str__(self) -> str:
        times = "once" if self.wins == 1 else f"{self.wins} times"
        return f"arm {self.arm} wins {times}, then the other one always"

    def decide(self) -> Callable[[Place], int]:
        """Return what answers the decisions of the path."""
        made = [0]

        def decide(place: Place) -> int:
            if not isinstance(place.request, Choose):
                raise Unsupported("One sequence is steered through choices alone.")
            made[0] += 1
            return self.arm if made[0] <= self.wins else 1 - self.arm

        return decide


TRIED = (
    *(Steered(t, arm, n, arm, t) for t, n, arm in product((SHORT, LONG), (1, 2), (0, 1))),
    *(Steered(LONG, arm, 6, 1 - arm, 2) for arm in (0, 1)),
    *(Steered(LONGEST, arm, 9, 1 - arm, 4) for arm in (0, 1)),
)


def sequences(
    build: Callable[[int], Algorithm], notion: Notion, longest: int, deadline: float
) -> Iterator[tuple[Steered, Attained]]:
    """Yield what sequences attain, until the deadline; nothing where they have no likelihood.

    None is begun that would end after the deadline if it took twice as long as the slowest before.
    """
    slowest, began = 0.0, time.monotonic()
    for steered in TRIED:
        if steered.horizon > longest:
            continue
        algorithm = build(steered.horizon)
        if algorithm.arms != 2:
            return
        with suppress(Unsupported):
            for found in attained_by(algorithm, steered, notion):
                yield steered, found
                slowest = max(slowest, time.monotonic() - began)
                began = time.monotonic()
                if began + 2 * slowest > deadline:
                    return


def attained_by(algorithm: Algorithm, steered: Steered, notion: Notion) -> Iterator[Attained]:
    """Yield what pairs attain by the bit of one sequence; raise `Unsupported` if there is none."""
    path = path_along(algorithm, steered.horizon, steered.decide())
    for stream, neighbour in _pairs(path, steered, notion.unit):
        with suppress(Unsupported):  # too unlikely on one of the streams, say
            yield _by_one(algorithm, path, stream, neighbour, notion)


def _pairs(path: Path, steered: Steered, unit: int) -> Iterator[tuple[Stream, Stream]]:
    """Yield pairs that differ in the first rewards of the changed arm's last release."""
    arm = steered.changed
    own = [it for it in path.events if isinstance(it, Disclosure) and it.rows.arm == arm]
    if not own:
        return
    changed = [step for part in path.steps(own[-1].rows) for step in part][:unit]
    for base, value in product((0.0, 1.0), repeat=2):
        own_rows = iter(range(len(path.actions)))
        stream = [
            1 - base if action == arm and next(own_rows) < steered.behind else base
            for action in path.actions
        ]
        other = list(stream)
        for step in changed:
            stream[step], other[step] = value, 1 - value
        yield tuple(stream), tuple(other)


def _by_one(
    algorithm: Algorithm, path: Path, stream: Stream, neighbour: Stream, notion: Notion
) -> Attained:
    """Return what the bit of one sequence attains."""
    laws = []
    for rewards in (stream, neighbour):
        one = likelihood(algorithm, path.actions, rewards)
        rest = [math.log1p(-end) if end < 1 else -math.inf for end in (one.upper, one.lower)]
        low, high = math.nextafter(rest[0], -math.inf), min(math.nextafter(rest[1], 1.0), 0.0)
        laws.append(Law({(0,): one, (1,): Likelihood(low, high, one.certified)}))
    return Attained(stream, neighbour, attained(laws[0], laws[1], notion))

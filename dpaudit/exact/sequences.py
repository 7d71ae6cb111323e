"""Events of longer runs: what a pair attains where all sequences are too many, or tell nothing.

**One long sequence.** Whether a run was this one sequence is a bit, a post-processing of the
actions, so what the two laws of the bit attain is a lower bound. The likelihood of one sequence is
cheap at horizons at which all of them cannot be listed. Two kinds are tried, on two arms:

- one arm wins a few decisions and the other one all that follow: the first arm's last release is
  compared with ever more precise ones, which is a threshold far in its tail, where Renyi
  divergences of Gaussian noise are nearly attained;
- one arm wins until its register is precise, then the other one always, although its first rewards
  are behind: every release that its first reward enters is compared with nearly the same number.

**The first decision.** Eliminations, and indices after a forced beginning, decide nothing for many
rounds: all sequences of a few rounds tell nothing, and just after the first decision there is a
handful of them, so that their whole law is cheap. The streams put the comparison at a quantile of
its noise: the changed arm's rewards are 0, and as many of the other one's are 1 as give the actions
that no reward gives about that probability.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Algorithm, Choose, Disclosure
from dpaudit.core.notions import Notion
from dpaudit.core.walk import Place
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact.attained import PRECISION, Attained, Pairs, Stream, attained
from dpaudit.exact.likelihood import between, likelihood
from dpaudit.exact.paths import Path, all_paths, path_along
from dpaudit.exact.profile import Law

SHORT, LONG, LONGEST = 33, 129, 1025
MOST_PATHS, LATEST = 8, 1 << 17  # just after a first decision, and when it may come
QUANTILES = (0.5, 0.1, 0.9, 1e-3, 0.999)


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
    behind = np.flatnonzero(path.actions == arm)[: steered.behind]
    changed = [step for part in path.steps(own[-1].rows) for step in part][:unit]
    for base, value in product((0.0, 1.0), repeat=2):
        stream = np.full(path.horizon, base)
        stream[behind] = 1 - base
        other = stream.copy()
        stream[changed], other[changed] = value, 1 - value
        yield tuple(stream.tolist()), tuple(other.tolist())


def _by_one(
    algorithm: Algorithm, path: Path, stream: Stream, neighbour: Stream, notion: Notion
) -> Attained:
    """Return what the bit of one sequence attains."""
    laws = []
    for rewards in (stream, neighbour):
        one = likelihood(algorithm, path.actions, rewards)
        with ctx.workprec(PRECISION):
            least, most = (1 - arb(end).exp() for end in (one.log_upper, one.log_lower))
            laws.append(Law({(0,): one, (1,): between(least, most, one.certified)}))
    return Attained(stream, neighbour, attained(laws[0], laws[1], notion))


def first_decision(
    build: Callable[[int], Algorithm], notion: Notion, longest: int, deadline: float
) -> Iterator[Attained]:
    """Yield what pairs attain by the first decision, until the deadline; nothing if it is late."""

    def decided(horizon: int) -> bool:
        return len(_paths(build(horizon), horizon)) > 1

    high = 4
    while not decided(high):
        high *= 2
        if high > min(longest, LATEST) or time.monotonic() > deadline:
            return
    high = bisect_left(range(high), True, lo=high // 2, key=decided)
    algorithm = build(high)
    paths = _paths(algorithm, high)
    if algorithm.arms != 2 or len(paths) > MOST_PATHS:
        return
    pairs = Pairs(algorithm, high, notion, "ball")
    with suppress(Unsupported, InvalidArgument):
        for arm, target in product((0, 1), QUANTILES):
            if time.monotonic() > deadline:
                return
            stream, neighbour = _at_quantile(pairs, paths[0], arm, target)
            yield pairs.look(stream, neighbour)
            yield pairs.look(neighbour, stream)


def _paths(algorithm: Algorithm, horizon: int) -> list[Path]:
    return list(islice(all_paths(algorithm, horizon), MOST_PATHS + 1))


def _at_quantile(pairs: Pairs, path: Path, arm: int, target: float) -> tuple[Stream, Stream]:
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

    before = pairs.law(stream(0)).probabilities
    common = max(before, key=lambda actions: before[actions].lower)

    def reached(ones: int) -> bool:
        return not pairs.law(stream(ones)).probabilities[common].lower > target

    ones = bisect_left(range(len(first[1 - arm])), True, lo=1, key=reached)
    return stream(ones), stream(ones, pairs.notion.unit)

"""The search for the largest loss over all paths, releases, backgrounds and steps.

By the extremal-streams corollary the pair differs in one episode, whose own sum moves by at most 1,
while every other episode is at all-1 (the likelihood rises with the sum) or at all-0 (it falls).
Every candidate is enclosed. The lower end of the result is the best lower end that is attained, the
upper end the largest upper end of any candidate; passes over the candidates that could still raise
it grow finer until the two are near.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.canonical import Distrust
from dpaudit.exact.algebra import Bounds, Curve, Imprecise
from dpaudit.exact.clock import GRACE, Clock, OutOfTime
from dpaudit.structure.prove import bound
from dpaudit.verdict import Enclosure, Witness

Streams = Literal["real", "binary"]
EXTREMAL = "extremal streams"
LEDGER_SECONDS = 10.0


@dataclass(frozen=True)
class WorstLoss:
    """An enclosure of epsilon*(T), its witness, and what exactly was covered.

    `charge` is the largest sum of charges of one reward, exact, where the structure of the noise
    was followed: no loss exceeds it, whatever was computed. `doubt` is why nothing was certified.
    """

    loss: Enclosure
    witness: Witness | None
    method: str
    covers: str
    streams: Streams
    paths: int
    horizon: int
    complete: bool
    seconds: float
    charge: Fraction | None = None
    doubt: str = ""


@dataclass
class Question:
    """What is asked: the largest loss of an algorithm at a horizon, within a budget."""

    algorithm: Algorithm
    horizon: int
    streams: Streams
    clock: Clock
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    @property
    def whole(self) -> bool:
        """Whether steps of own sums are whole, as between binary streams."""
        return self.streams == "binary"

    @property
    def everything(self) -> str:
        """The words for a complete search."""
        kind = "binary streams" if self.whole else "streams in [0,1]^T"
        return f"every action sequence and every pair of {kind} of length T"

    @cached_property
    def charge(self) -> Fraction | None:
        """Return the largest charge of a reward; None where the structure does not tell."""
        left = self.clock.left
        seconds = LEDGER_SECONDS if left is None else max(left, 0.1)
        with suppress(Distrust):
            found = bound(self.algorithm, self.horizon, min(seconds, LEDGER_SECONDS))
            if found.complete and isinstance(found.charge, Fraction):
                return found.charge
        return None

    def answer(
        self,
        loss: Enclosure,
        witness: Witness | None,
        paths: int,
        method: str = EXTREMAL,
        covers: str = "",
        complete: bool = True,
    ) -> WorstLoss:
        """Return what was found; by default a complete search by extremal streams."""
        return WorstLoss(
            loss=loss,
            witness=witness,
            method=method,
            covers=covers or self.everything,
            streams=self.streams,
            paths=paths,
            horizon=self.horizon,
            complete=complete,
            seconds=time.monotonic() - self.began,
        )


class Pass(Protocol):
    """One look at some paths with some technology at some resolution."""

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Curve]]:
        """Yield the episodes of a path and their likelihoods by own sum, the others fixed."""


@dataclass(frozen=True)
class Candidate:
    """A step: the path, its odd episode, where all others are, and what is known of its loss."""

    path: int
    episode: int
    background: int
    bounds: Bounds


@dataclass
class Candidates:
    """What a search knows: every candidate, and whether none is missing.

    `best` is the first candidate with the largest lower end.
    """

    known: dict[tuple[int, int, int], Candidate] = field(default_factory=dict)
    complete: bool = False
    best: Candidate | None = None

    @property
    def lower(self) -> float:
        """The largest loss that is attained."""
        return max(self.best.bounds.lower, 0.0) if self.best else 0.0

    @property
    def upper(self) -> float:
        """What no candidate exceeds; infinite while some are missing."""
        if not self.complete:
            return math.inf
        return max([self.lower, *(item.bounds.upper for item in self.known.values())])

    def add(self, item: Candidate) -> None:
        """Take a candidate over: the better lower end, the lower upper end."""
        key = (item.path, item.episode, item.background)
        old = self.known.get(key, item)
        kept = item if item.bounds.lower >= old.bounds.lower else old
        upper = min(item.bounds.upper, old.bounds.upper)
        self.known[key] = replace(kept, bounds=replace(kept.bounds, upper=upper))
        if self.best is None or kept.bounds.lower > self.best.bounds.lower:
            self.best = kept


# what opens the next pass over some paths: given by how much the last one's width is too large
# (None at first, infinite where it was imprecise); None where there is nothing finer
Open = Callable[[list[int], float | None], Pass | None]


def search(
    paths: Iterable[int],
    opened: Open,
    whole: bool,
    clock: Clock,
    width: float,
    working: Callable[[Pass], AbstractContextManager[Any]] = lambda _: nullcontext(),
    leader_first: bool = False,
    found: Candidates | None = None,
) -> Candidates:
    """Search paths until the enclosure is `width` wide, finest, or the clock is late.

    Where finer passes cost more than coarse ones, the path of the largest loss so far is looked at
    more closely before all the others that could still exceed it: that may make them needless.
    What was `found` of other paths before is added to.
    """
    found = Candidates() if found is None else found
    chosen = set(paths)
    active = {(number, background) for number in chosen for background in (1, 0)}
    excess: float | None = None
    leading = False
    while True:
        now = opened(sorted({number for number, _ in active}), excess)
        if now is None and not leading:
            return found
        try:
            if now is not None:
                with working(now):
                    _look(now, active, whole, clock, found, width)
        except OutOfTime:
            if not found.known:
                raise
            found.complete = False
            return found
        except Imprecise:
            excess = math.inf
            continue
        found.complete = True
        leader, limit = found.best, found.lower + width
        above = [c for c in found.known.values() if c.path in chosen and c.bounds.upper > limit]
        if not above or leader is None:
            return found
        excess = max(c.bounds.upper - found.lower for c in above) / width
        leading = leader_first and not leading
        rivals = {(c.path, c.background) for c in above}
        active = {(leader.path, leader.background)} if leading else rivals


def _look(
    now: Pass,
    active: set[tuple[int, int]],
    whole: bool,
    clock: Clock,
    found: Candidates,
    width: float,
) -> None:
    """Go through the active paths once; raise `OutOfTime` where the clock is late."""
    late = clock.later(GRACE)
    for number, background in sorted(active, key=lambda pair: (-pair[1], pair[0])):
        (clock if found.known else late)()
        for episode, curve in now.curves(number, background):
            cap = curve.cap
            # what cannot exceed what is known, but for the width, need not be looked at
            bounds = Bounds(0.0, cap, Fraction(0), Fraction(0))
            if cap > found.lower + (width if found.known else 0.0):
                bounds = curve.largest(background == 1, whole)
            found.add(Candidate(number, episode, background, bounds))

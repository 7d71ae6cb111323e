"""A large loss at horizons too long to walk every path: steep prefixes, and a directed hunt.

For an anytime declaration a prefix of a path is a path of a shorter horizon, so the loss of a step
(one release, its own sum moved by one reward, all others at all-0 or all-1) can be followed while
the path grows. Of all the steps on prefixes of equally many decisions the `width` largest are
extended by every outcome. What is found is attained, hence a lower bound of epsilon*; nothing says
that no other path does better. The charges that the structure check counts bound it from above.

`hunt` looks for a violation in one direction. A release with too little noise shows only where
another release of at least as little noise is weighed against it: otherwise the other one's noise
hides it. So both arms are played up to a level, one with rewards 0 and the other with rewards 1,
and then the one without reward is chosen again. The level doubles. Each candidate costs the
likelihood of one action sequence; a loss above epsilon on any of them refutes the claim, and
nothing else is ever concluded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Release
from dpaudit.core.conversions import double_above
from dpaudit.core.walk import Place
from dpaudit.errors import DpauditError, Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.clock import ENDLESS, Clock, OutOfTime
from dpaudit.exact.likelihood import Likelihood, enclosed, likelihood
from dpaudit.exact.paths import Path, Undecided, path_along, path_through, require_shown
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import loss_between, pair_of_step, witness_of
from dpaudit.verdict import Enclosure, Witness


@dataclass(frozen=True)
class Climbed:
    """A step that is attained on a path: its episode, where all others are, its log-likelihoods."""

    path: Path
    region: Region
    decisions: tuple[int, ...]
    episode: int
    background: int
    high: Likelihood
    low: Likelihood
    prefixes: int

    @property
    def attained(self) -> float:
        """The log ratio, less what the likelihoods may be off by."""
        return self.high.log_lower - self.low.log_upper


@dataclass
class Climb:
    """Prefixes of a declaration up to a horizon, and how many were looked at."""

    algorithm: Algorithm
    horizon: int
    clock: Clock
    prefixes: int = 0

    def run(self, width: int) -> Iterator[Climbed]:
        """Yield the steepest step on the prefixes of one decision, of two, and so on."""
        beam: list[Climbed] = []
        prefixes: list[tuple[int, ...]] = [()]
        while prefixes and not self.clock.late:
            found: list[Climbed] = []
            for decisions in prefixes:
                # up to ties, paths that differ in the names of their arms are equally likely
                for arm in range(min(self.algorithm.arms, max(decisions, default=-1) + 2)):
                    wanted = {(s.episode, s.background) for s in beam if s.decisions == decisions}
                    found += self._extended((*decisions, arm), wanted)
            beam = sorted(found, key=lambda step: step.attained, reverse=True)[:width]
            yield from beam[:1]
            kept = {step.decisions: step.path.horizon for step in beam}
            prefixes = [decisions for decisions, stop in kept.items() if stop < self.horizon]

    def _longest(self, decisions: tuple[int, ...]) -> Path:
        """Return the path of the longest horizon that needs no further decision."""
        try:
            return path_through(self.algorithm, self.horizon, decisions)
        except Undecided as more:
            return path_through(self.algorithm, max(more.time, 1), decisions)

    def _extended(self, decisions: tuple[int, ...], wanted: set[tuple[int, int]]) -> list[Climbed]:
        path = self._longest(decisions)
        require_shown(self.algorithm, path)
        region = region_of(path)
        if len(region.decisions) < len(decisions):
            raise Unsupported("A decision follows another without a play between them.")
        self.prefixes += 1
        conditions.require_extremal(region)
        before = region.decisions[-2].shown if len(region.decisions) > 1 else ()
        known = {i for group in before for i in group}
        fresh = {i for group in region.decisions[-1].shown for i in group} - known
        found = []
        for index, background in sorted(wanted | {(i, b) for i in fresh for b in (0, 1)}):
            sums = {i: Fraction(len(it) * background) for i, it in enumerate(region.episodes)}
            moves = ({**sums, index: own} for own in _move(region, index, background))
            with suppress(Unsupported):  # too unlikely for doubles: not followed further
                low, high = (enclosed(region, it, "float", self.clock) for it in moves)
                at = (path, region, decisions, index, background)
                if low.log_lower > -math.inf:
                    found.append(Climbed(*at, high, low, self.prefixes))
        return found


def _move(region: Region, index: int, background: int) -> tuple[Fraction, Fraction]:
    length = Fraction(len(region.episodes[index]))
    return (Fraction(0), Fraction(1)) if background == 1 else (length, length - 1)


def climb(algorithm: Algorithm, horizon: int, width: int = 4, clock: Clock = ENDLESS) -> Climbed:
    """Return the largest loss found by extending the steepest prefixes up to the horizon."""
    found: list[Climbed] = []
    with suppress(OutOfTime):
        for step in Climb(algorithm, horizon, clock).run(width):
            found.append(step)
    if not found:
        raise Unsupported("No release enters a decision within the horizon, or in time.")
    return max(found, key=lambda step: step.attained)


def climbed_loss(asked: Question) -> WorstLoss | None:
    """Enclose epsilon* between a climb and the ledger's charges; None where there is no climb."""
    charge = asked.charge  # before the climb, which may take all the time there is
    try:
        found = climb(asked.algorithm, asked.horizon, clock=asked.clock)
    except Unsupported:
        return None
    upper = math.inf if charge is None else double_above(charge)
    worse, better = _move(found.region, found.episode, found.background)
    at = (found.path, found.region, found.episode, found.background)
    pair = pair_of_step(*at, float(better), float(worse))
    low = max(found.attained, 0.0)
    return asked.answer(
        Enclosure(low, max(upper, low), certified=False),
        witness_of(asked.algorithm, found.path.actions, *pair, "float"),
        found.prefixes,
        method="climb",
        covers="steps on the steepest prefixes, attained; above, the charges of all releases",
        complete=charge is not None,
    )


LONGEST = 5000  # rounds of a hunted run


def hunt(algorithm: Algorithm, horizon: int, epsilon: float, deadline: float) -> Witness | None:
    """Return the first candidate whose loss is above epsilon, or None; two arms only."""
    if algorithm.arms != 2:
        return None
    level = 1
    while time.monotonic() < deadline:
        path = against_the_odds(algorithm, level, min(horizon, LONGEST))
        if path is None:
            return None
        try:
            found = _worst(algorithm, path, epsilon, Clock(deadline))
        except DpauditError:
            return None
        if found is not None:
            return found
        level *= 2
    return None


def against_the_odds(algorithm: Algorithm, level: int, limit: int) -> Path | None:
    """Return the path that brings arm 0 above a level of pulls, then arm 1, and ends on arm 0.

    None where it does not fit into `limit` rounds, or the declaration decides in another way.
    """

    def decide(place: Place) -> int:
        request = place.request
        if not isinstance(request, Choose) or request.arms != (0, 1):
            raise Unsupported("The hunt is for choices between two arms.")
        behind = [arm for arm in (0, 1) if place.pulls[arm] <= level]
        if not behind:
            raise Undecided(place.time)
        return behind[0]

    with suppress(Unsupported):
        try:
            path_along(algorithm, limit, decide)
        except Undecided as reached:
            end = reached.time
            return path_along(algorithm, end + 1, lambda at: decide(at) if at.time < end else 0)
    return None


def _worst(algorithm: Algorithm, path: Path, epsilon: float, clock: Clock) -> Witness | None:
    """Return a violation among the pairs that change one reward of each arm's last release."""
    actions, stream = path.actions, path.actions.astype(float).tolist()
    events = (event for event in path.events if isinstance(event, Release | Accumulate))
    last = {event.rows.arm: event.rows for event in events if len(event.rows)}
    base = likelihood(algorithm, actions, stream, "float", clock)
    for position in (path.steps(rows)[0][0] for rows in last.values()):
        neighbour = [1.0 - r if t == position else r for t, r in enumerate(stream)]
        other = likelihood(algorithm, actions, neighbour, "float", clock)
        if loss_between(base, other).lower > epsilon:
            found = witness_of(algorithm, actions, stream, neighbour, "float", clock)
            return replace(found, epsilon=epsilon)
    return None

"""The exact check within a budget: the largest loss at larger and larger horizons.

A directed search for a violation goes first (`hunt`), because it is cheap. Then each horizon is
judged whole before the next one begins, certified where that is possible. A violation ends the
search: its witness is shrunk and computed again from scratch.

The loss of one instance does not fall with the horizon, because a run contains every shorter one. A
result that says otherwise is discarded; after that the engine's upper ends are not believed, and
the reason says so. An algorithm that is built for its horizon is another instance at every one:
findings name it where it is not the claimed one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import exact
from dpaudit.core.conversions import double_above
from dpaudit.deadline import Expired
from dpaudit.deadline import deadline as alarm
from dpaudit.errors import BadDeclaration, InvalidArgument, Unsupported
from dpaudit.exact import WorstLoss, recompute, shrink, worst_loss
from dpaudit.exact.climb import hunt
from dpaudit.exact.clock import GRACE
from dpaudit.exact.paths import Decided, all_paths
from dpaudit.exact.search import Streams
from dpaudit.structure.ledger import show
from dpaudit.verdict import Finding, Status, Witness

Build = Callable[[int], Algorithm]
QUICK = 8
HUNT_SHARE = 0.25
COUNTED = 1000  # paths of a horizon that is leapt to
MARGIN = 1.2  # how much longer than a shorter horizon's decisions they may take
ENOUGH = 16  # rounds, from which on a search ends where a proof closes it
CLOSED = 1e-6
SHRUNK = 64  # rounds; shrinking tries every shorter run, so a longer one takes minutes


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with what had been found until then."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__()
        self.findings = findings


class SearchEnds(Exception):
    """A search goes no further; the message says why."""


class Refused(SearchEnds):
    """A horizon that the engine does not answer."""


def sizes(arms: int, limit: int) -> Iterator[int]:
    """Yield the horizons up to 8 that have a decision, then 12, 16, 24, 32, ..., and the limit."""
    yield from range(arms + 1, min(QUICK, limit) + 1)
    power, last = QUICK // 2, max(arms, QUICK)
    while 3 * power < limit:
        for size in (3 * power, 4 * power):
            if last < size < limit:
                yield size
        power *= 2
    if limit > last:
        yield limit


def judge(
    build: Build,
    claimed: Algorithm,
    epsilon: float,
    horizons: list[int],
    budget: float,
    hunting: float = HUNT_SHARE,
    ceiling: float = math.inf,
) -> list[Finding]:
    """Return what exact likelihoods say, in one finding; raise `Interrupted` with it on Ctrl-C.

    `build(horizon)` is the `claimed` instance itself, or another one; `hunting` is the share of the
    budget for a directed search. What is proved not to exceed a `ceiling` needs none, and is not
    searched further once a loss is as good as there.
    """
    start = time.monotonic()
    deadline = start + budget
    if ceiling > epsilon:
        end = start + hunting * budget
        # a likelihood that it begins in time may take all the time of the search
        with suppress(Expired), alarm(end + GRACE):
            if hunted := _hunted(claimed, epsilon, max(horizons, default=0), end):
                return hunted
    search = Search(build, claimed, epsilon, horizons, ceiling, start)
    search.run(deadline)
    return [search.finding()]


def _hunted(algorithm: Algorithm, epsilon: float, horizon: int, deadline: float) -> list[Finding]:
    """Look for a violation that shows without a full search, on runs up to the last horizon."""
    if not horizon or algorithm.told():
        return []
    start = time.monotonic()
    witness = hunt(algorithm, horizon, epsilon, deadline)
    if witness is None:
        return []
    found = Finding(
        check="exact",
        status=Status.SILENT,
        reason="A directed search on long runs.",
        epsilon_lower=witness.loss.lower,
        arms=algorithm.arms,
        horizon=len(witness.actions),
        streams="one pair of streams, one action sequence",
        seconds=time.monotonic() - start,
    )
    refuted = _refuted(found, witness, algorithm)
    return [refuted] if refuted.status is Status.REFUTED else []


@dataclass
class Search:
    """Growing horizons: the last result that stands, and why it is the last."""

    build: Build
    claimed: Algorithm
    epsilon: float
    horizons: list[int]
    ceiling: float = math.inf
    began: float = field(default_factory=time.monotonic)
    seen: list[WorstLoss] = field(default_factory=list)
    best: WorstLoss | None = None
    stopped: str = ""
    every_reward: bool = True
    stage: str = "before the first horizon"
    discarded: list[int] = field(default_factory=list)

    def run(self, deadline: float) -> None:
        """Judge horizon after horizon until one violates epsilon or something ends the search.

        Raise `Interrupted` with what it concludes on Ctrl-C.
        """
        horizon, place, leaps = 0, 0, True
        try:
            while place < len(self.horizons):
                if self._closed():
                    raise SearchEnds("A proof leaves less than 1e-6 above it: it ended here.")
                furthest = self._furthest(place, deadline) if leaps else place
                horizon = self.horizons[furthest]
                try:
                    for streams in self._kinds(horizon):
                        self._try(horizon, streams, deadline)
                except Refused:
                    if furthest == place:
                        raise
                    leaps = False  # a longer run may fit no theorem
                else:
                    place = furthest + 1
                    self.stage = f"after T = {horizon:,}"
        except SearchEnds as stop:
            self.stopped = str(stop)
        except KeyboardInterrupt:
            self.stopped = "Interrupted before the next horizon."
            raise Interrupted([self.finding()]) from None
        except Expired:
            self.stopped = f"The budget ended {self.stage}."

    def _closed(self) -> bool:
        """Tell whether a proof leaves next to nothing above what a long enough run has shown."""
        best = self.best
        long = best is not None and best.horizon >= ENOUGH and not self.discarded
        return best is not None and long and best.loss.lower >= self.ceiling - CLOSED

    def _kinds(self, horizon: int) -> tuple[Streams, ...]:
        """Binary streams, a small part of [0, 1]^T, go first where it is not covered whole."""
        if not self.every_reward:
            return ("binary",)
        if self.best is not None and upper_bound(self.best) < math.inf:
            return ("real",)
        return ("binary", "real") if horizon <= QUICK or len(self.horizons) == 1 else ("real",)

    def _furthest(self, place: int, deadline: float) -> int:
        """Return the last of the next horizons that fits well into the time left.

        It contains those before it: the loss of one instance does not fall with the horizon.
        """
        best = self.best
        if best is None or upper_bound(best) == math.inf or not best.paths:
            return place
        each = MARGIN * best.seconds / max(_decisions(self.claimed, best.horizon), 1)
        for further in range(place + 1, len(self.horizons)):
            horizon = self.horizons[further]
            if self.build(horizon) is not self.claimed:
                break
            if self.ceiling <= self.epsilon and self.horizons[place] >= ENOUGH:
                break  # it may be closed by then
            if not _decisions(self.claimed, horizon) * each <= deadline - time.monotonic():
                break
            place = further
        return place

    def _try(self, horizon: int, streams: Streams, deadline: float) -> None:
        left = deadline - time.monotonic()
        what = f"T = {horizon:,}"
        if self.best is not None and self.best.horizon == horizon:
            what = f"the other streams of {what}"  # its binary streams are done
        if self.best is not None and left <= self.best.seconds:
            raise SearchEnds(f"The budget ended before {what}.")
        self.stage = f"during {what}"
        algorithm = self.build(horizon)
        try:
            found = worst_loss(
                algorithm,
                horizon,
                streams=streams,
                budget=max(left, 0.0),
                epsilon=self.epsilon,
            )
        except (InvalidArgument, Unsupported) as error:
            raise Refused(str(error)) from None
        except BadDeclaration:
            raise
        except Exception as error:
            # One engine that breaks must not take the other checks down with it.
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise SearchEnds(f"A bug in dpaudit ended it at T = {horizon:,} ({said}).") from None
        if self._falls(found, algorithm is self.claimed):
            self.discarded.append(horizon)
            return
        if violates(found, self.epsilon):
            self.best = found
            raise SearchEnds("")
        if not found.complete:
            self.best = self.best or found
            raise SearchEnds(f"The budget ended {self.stage}.")
        if streams == "real" and found.loss.upper == math.inf:
            self.every_reward = False  # no theorem covers [0, 1]^T; binary streams reach further
        if streams == "real" or not self.every_reward or self.best is None:
            self.best = found

    def _falls(self, found: WorstLoss, claimed: bool) -> bool:
        """Tell whether a result is below what is known of shorter horizons or fewer streams."""
        fewer = [it for it in self.seen if it.streams in ("binary", found.streams)] * claimed
        self.seen = [*self.seen, found] if claimed else [found]
        return any(found.loss.upper < it.loss.lower for it in fewer)

    def finding(self) -> Finding:
        """Return what the search concludes."""
        found, seconds = self.best, time.monotonic() - self.began
        if self.discarded:
            sizes = ", ".join(map(str, dict.fromkeys(self.discarded)))
            doubt = f"T = {sizes} fell below shorter horizons: upper ends are not believed."
            self.stopped = f"{doubt} {self.stopped}".strip()
        if found is None:
            reason, arms = self.stopped or "No horizon to judge.", self.claimed.arms
            return Finding("exact", Status.SILENT, reason, arms=arms, seconds=seconds)
        algorithm = self.build(found.horizon)
        upper = upper_bound(found) if not self.discarded else math.inf
        said, charge = "", found.charge
        if charge is not None and self.epsilon < upper < math.inf and found.loss.lower <= charge:
            said = (
                f"The upper end is the charge: no reward is charged more than {show(charge)}, "
                f"exactly; computed, it is {upper:.12g}."
            )
            upper = min(upper, double_above(charge))
        elif found.loss.lower <= self.epsilon < upper_bound(found) < math.inf:
            said = "The loss is too close to epsilon for this arithmetic to decide."
        elif upper == math.inf and found.complete and not violates(found, self.epsilon):
            said = _open(found)
        other = algorithm is not self.claimed
        if other:
            self.stopped = (
                f"This is the instance built for {found.horizon:,} rounds. {self.stopped}"
            )
        plain = Finding(
            check="exact",
            status=Status.SILENT,
            reason=_reason(found, said, self.stopped),
            epsilon_lower=found.loss.lower,
            epsilon_upper=upper,
            certified=found.loss.certified,
            arms=algorithm.arms,
            horizon=found.horizon,
            instance=found.horizon if other else None,
            streams=found.covers,
            seconds=seconds,
        )
        if found.witness is not None and violates(found, self.epsilon):
            return _refuted(plain, replace(found.witness, epsilon=self.epsilon), algorithm)
        if upper < math.inf and exact(upper) <= exact(self.epsilon):
            return replace(plain, status=Status.HOLDS)
        return plain


def _decisions(algorithm: Algorithm, horizon: int) -> float:
    """Return how many decisions the paths of a horizon have, infinite where they are many."""
    listed = list(islice(all_paths(algorithm, horizon), COUNTED))
    made = sum(isinstance(event, Decided) for path in listed for event in path.events)
    return made if len(listed) < COUNTED else math.inf


def violates(found: WorstLoss, epsilon: float) -> bool:
    """Tell whether a loss is above epsilon for certain, or beyond the measured error."""
    return found.witness is not None and found.loss.lower > epsilon


def upper_bound(found: WorstLoss) -> float:
    """Return the upper end for rewards in [0, 1], infinite where not every pair is covered.

    Binary streams and an unfinished search cover less; a maximum found in floating point may have
    missed a larger one, so only a certified upper end is believed.
    """
    whole = found.loss.certified and found.complete and found.streams == "real"
    return found.loss.upper if whole or found.loss.lower == math.inf else math.inf


def _refuted(plain: Finding, witness: Witness, algorithm: Algorithm) -> Finding:
    """Return the refutation by a shrunk witness, or silence if it does not stand recomputing."""
    short = len(witness.actions) <= SHRUNK
    again = recompute(shrink(witness, algorithm) if short else witness, algorithm)
    if not again.loss.lower > witness.epsilon:
        reason = f"A loss of {plain.epsilon_lower:.9g} was seen and not confirmed. {plain.reason}"
        return replace(plain, reason=reason, epsilon_lower=again.loss.lower)
    engine = "certified" if again.loss.certified else "floating point"
    largest = max(plain.epsilon_lower, again.loss.lower)
    other = plain.instance is not None
    built = f" This is the instance built for {plain.horizon:,} rounds." * other
    return replace(
        plain,
        status=Status.REFUTED,
        reason=f"A pair of streams and an action sequence that violate it follow ({engine}). "
        f"The largest loss seen up to T = {plain.horizon:,} is {largest:.9g}.{built}",
        epsilon_lower=again.loss.lower,
        epsilon_upper=math.inf,
        certified=again.loss.certified,
        horizon=len(again.actions),
        witness=again,
    )


def _open(found: WorstLoss) -> str:
    """Return why a complete search states no upper end, where what it covers does not say so."""
    if found.streams == "binary":
        return "Such streams are a part of [0,1]^T, so no upper end is stated."
    if found.loss.certified:
        return ""
    doubt = f" ({found.doubt.rstrip('.')})" * bool(found.doubt)
    return f"Not certified{doubt}, so no upper end is stated."


def _reason(found: WorstLoss, said: str, stopped: str) -> str:
    covers = found.covers.rstrip(".")
    paths = f"{found.paths:,} path{'s' * (found.paths != 1)}"
    engine = "certified" if found.loss.certified else "floating point"
    reason = f"{covers[:1].upper()}{covers[1:]} ({engine}, {found.method}, {paths})."
    return " ".join(part for part in (reason, said, stopped) if part)

"""A large loss at horizons too long to walk every path: prefixes extended, the best ones kept.

For an anytime declaration a prefix of a path is a path of a shorter horizon, so the loss of a step
(one release, its own sum moved by one reward, all others at all-0 or all-1) can be followed while
the path grows. Of all the steps on prefixes of equally many decisions the `width` largest are
extended by every outcome. What is found is attained, hence a lower bound of epsilon*; nothing says
that no other path does better. Beside it stands the largest charge of a release that was met,
1 / (divisor scale): where no release of any path charges more, as the structure check tells, no
loss can exceed it, and the two enclose epsilon*.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.likelihood import estimate
from dpaudit.exact.paths import Path, path_through, require_shown
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.result import Streams, WorstLoss
from dpaudit.exact.step_witness import pair_of_step
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

_LEDGER_SECONDS = 10.0


@dataclass(frozen=True)
class Climbed:
    """A step that was attained, and the largest charge of the releases met on the way."""

    high: float  # the log-likelihoods of the step, larger and smaller
    low: float
    error: float  # of either
    charge: float
    decisions: tuple[int, ...]
    episode: int
    background: int
    path: Path
    region: Region
    prefixes: int

    @property
    def loss(self) -> float:
        """The log ratio."""
        return self.high - self.low


@dataclass(frozen=True)
class _Step:
    high: float
    low: float
    error: float
    decisions: tuple[int, ...]
    episode: int
    background: int

    @property
    def attained(self) -> float:
        """The loss less what its log-likelihoods may be off by."""
        return self.high - self.low - 2 * self.error


def climb(
    algorithm: Algorithm, horizon: int, width: int = 4, budget: float | None = None
) -> Climbed:
    """Return the largest loss found by extending the steepest prefixes up to the horizon."""
    return _Climb(algorithm, horizon, width, budget).run()


class _Climb:
    def __init__(
        self, algorithm: Algorithm, horizon: int, width: int, budget: float | None
    ) -> None:
        self.algorithm, self.horizon, self.width = algorithm, horizon, width
        self.deadline = None if budget is None else time.perf_counter() + budget
        self.visited = 0
        self.charge = 0.0

    def run(self) -> Climbed:
        beam: list[_Step] = []
        best: _Step | None = None
        prefixes: list[tuple[int, ...]] = [()]
        while prefixes and not self._late():
            found: dict[tuple[object, ...], _Step] = {}
            for decisions in prefixes:
                # up to ties, paths that differ in the names of their arms are equally likely
                for arm in range(min(self.algorithm.arms, max(decisions, default=-1) + 2)):
                    longer = (*decisions, arm)
                    wanted = {(s.episode, s.background) for s in beam if s.decisions == decisions}
                    for step in self._extended(longer, wanted):
                        found[step.decisions, step.episode, step.background] = step
            steps = sorted(found.values(), key=lambda step: step.attained, reverse=True)
            beam = steps[: self.width]
            if beam and (best is None or beam[0].attained > best.attained):
                best = beam[0]
            kept = dict.fromkeys(step.decisions for step in beam)
            prefixes = [decisions for decisions in kept if self._goes_on(decisions)]
        if best is None:
            raise Unsupported("No release enters a decision within the horizon.")
        path = path_through(self.algorithm, self._stop(best.decisions), best.decisions)
        region = region_of(path)
        return Climbed(
            best.high,
            best.low,
            best.error,
            self.charge,
            best.decisions,
            best.episode,
            best.background,
            path,
            region,
            self.visited,
        )

    def _late(self) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline

    def _stop(self, decisions: tuple[int, ...]) -> int:
        """Return the longest horizon that needs no further decision."""
        low, high = self.algorithm.arms, self.horizon
        while low < high:
            middle = (low + high + 1) // 2
            try:
                path_through(self.algorithm, middle, decisions)
                low = middle
            except StopIteration:
                high = middle - 1
        return low

    def _goes_on(self, decisions: tuple[int, ...]) -> bool:
        return self._stop(decisions) < self.horizon

    def _extended(self, decisions: tuple[int, ...], wanted: set[tuple[int, int]]) -> list[_Step]:
        path = path_through(self.algorithm, self._stop(decisions), decisions)
        require_shown(self.algorithm, path)
        region = region_of(path)
        if len(region.decisions) < len(decisions):
            raise Unsupported("A decision follows another without a play between them.")
        self.visited += 1
        check = conditions.check(region)
        if not check.hold:
            raise Unsupported(check.reason)
        before = region.decisions[-2].shown if len(region.decisions) > 1 else ()
        known = {i for group in before for i in group}
        fresh = {i for group in region.decisions[-1].shown for i in group} - known
        pairs = wanted | {(index, background) for index in fresh for background in (0, 1)}
        found = []
        for index, background in sorted(pairs):
            episode = region.episodes[index]
            # what it charges for one reward
            self.charge = max(self.charge, float(episode.noise.charge(1 / episode.divisor)))
            try:
                low, high, error = self._logs(region, index, background)
            except Unsupported:  # too unlikely for doubles: not followed further
                continue
            found.append(_Step(high, low, error, decisions, index, background))
        return found

    def _logs(self, region: Region, index: int, background: int) -> tuple[float, float, float]:
        """Return the log-likelihoods before and after the step, and the larger of their errors."""
        lengths = np.array([float(len(episode)) for episode in region.episodes])
        sums = lengths * background
        found = []
        for s in _move(region, index, background):
            sums[index] = s
            found.append(estimate(region, region.means(sums)))
        (low, low_error), (high, high_error) = found
        return low, high, max(low_error, high_error)


def _move(region: Region, index: int, background: int) -> tuple[float, float]:
    length = float(len(region.episodes[index]))
    return (0.0, 1.0) if background == 1 else (length, length - 1)


def climbed_loss(
    algorithm: Algorithm, horizon: int, streams: Streams, budget: float | None, floor: float
) -> WorstLoss | None:
    """Enclose epsilon* between a climb and the ledger's charges; None where there is no climb."""
    from dpaudit.core.canonical import Distrust
    from dpaudit.structure.ledger import rounded_up
    from dpaudit.structure.prove import bound

    began = time.perf_counter()
    try:
        found = climb(algorithm, horizon, budget=budget)
    except Unsupported:
        return None
    upper, complete = math.inf, False
    with suppress(Distrust):
        ledger = bound(algorithm, horizon, _LEDGER_SECONDS)
        complete = ledger.complete
        upper = rounded_up(ledger.charge) if complete else math.inf
    worse, better = _move(found.region, found.episode, found.background)
    at = (found.path, found.region, found.episode, found.background)
    pair = pair_of_step(*at, better, worse)
    low = max(found.loss - 2 * found.error, 0.0)
    return WorstLoss(
        loss=Enclosure(low, max(upper, low), certified=False),
        witness=witness_of(algorithm, found.path.actions, *pair, "float"),
        method="climb",
        covers="steps on the steepest prefixes, attained; above, the charges of all releases",
        streams=streams,
        paths=found.prefixes,
        horizon=horizon,
        complete=complete,
        floor=floor,
        loss_above_floor=None,
        seconds=time.perf_counter() - began,
        proved=complete,
    )

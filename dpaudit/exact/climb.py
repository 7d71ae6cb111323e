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

import time
from dataclasses import dataclass

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.likelihood import log_likelihood, measured_error
from dpaudit.exact.paths import Path, path_through
from dpaudit.exact.region import Region, region_of


@dataclass(frozen=True)
class Climbed:
    """A step that was attained, and the largest charge of the releases met on the way."""

    loss: float
    charge: float
    error: float
    decisions: tuple[int, ...]
    episode: int
    background: int
    path: Path
    region: Region
    evaluations: int


@dataclass(frozen=True)
class _Step:
    loss: float
    decisions: tuple[int, ...]
    episode: int
    background: int


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
        self.evaluations = 0
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
            steps = sorted(found.values(), key=lambda step: step.loss, reverse=True)
            beam = steps[: self.width]
            if beam and (best is None or beam[0].loss > best.loss):
                best = beam[0]
            kept = dict.fromkeys(step.decisions for step in beam)
            prefixes = [decisions for decisions in kept if self._goes_on(decisions)]
        if best is None:
            raise Unsupported("No release enters a decision within the horizon.")
        path = self._path(best.decisions, self.horizon)
        region = region_of(path)
        error = 2 * measured_error(region)
        place = best.episode, best.background
        return Climbed(
            best.loss, self.charge, error, best.decisions, *place, path, region, self.evaluations
        )

    def _late(self) -> bool:
        return self.deadline is not None and time.perf_counter() > self.deadline

    def _path(self, decisions: tuple[int, ...], horizon: int) -> Path:
        """Return the path that stops one round after the last of these decisions, at the latest."""
        try:
            return path_through(self.algorithm, horizon, decisions)
        except StopIteration:
            return path_through(self.algorithm, self._stop(decisions), decisions)

    def _stop(self, decisions: tuple[int, ...]) -> int:
        """Return the horizon one round after the last decision."""
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
        region = region_of(path_through(self.algorithm, self._stop(decisions), decisions))
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
            loss = self._loss(region, index, background)
            found.append(_Step(loss, decisions, index, background))
        return found

    def _loss(self, region: Region, index: int, background: int) -> float:
        lengths = np.array([float(len(episode)) for episode in region.episodes])
        sums = lengths * background
        own = (0.0, 1.0) if background == 1 else (lengths[index], lengths[index] - 1)
        values = []
        for s in own:
            sums[index] = s
            values.append(log_likelihood(region, region.means(sums)))
            self.evaluations += 1
        return values[1] - values[0]

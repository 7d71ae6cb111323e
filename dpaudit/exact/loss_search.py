"""The floating-point search for the largest loss: all paths of two arms at once, or path by path.

Two arms whose public states form a lattice are searched at once (`meeting.py`), and the most
promising steps are then evaluated one by one on their own paths. Other algorithms are walked path
by path. Where a path breaks the conditions of extremal streams, a grid of streams is enumerated.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import conditions as checks
from dpaudit.exact import noiseless
from dpaudit.exact.best_steps import KEPT, Candidate
from dpaudit.exact.clock import GRACE, Clock, OutOfTime
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.lattice import Vertex, count_paths, lattice
from dpaudit.exact.likelihood import (
    MEASURED_ERROR,
    RELATIVE_ERROR,
    estimate,
    log_likelihood,
    log_likelihoods,
    measured_error,
)
from dpaudit.exact.meeting import Meeting, explored
from dpaudit.exact.pairs import Step, Streams, polish, steps
from dpaudit.exact.paths import Decided, Path, all_paths, path_through, require_shown
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.step_witness import make_witness, witness_of_step
from dpaudit.exact.worst_result import EXTREMAL, WorstLoss, everything
from dpaudit.verdict import Enclosure, Witness

_PROBE = 32  # the horizon whose worst step is followed before a longer one is searched
_FILLER = (0,) * 128
_TIE, _CLOSE = 1e-10, 1e-9


class LossSearch:
    """Walks the paths of one algorithm and keeps the worst step."""

    def __init__(
        self,
        algorithm: Algorithm,
        horizon: int,
        streams: Streams,
        budget: float | None,
        floor: float,
        margin: float,
    ) -> None:
        self.algorithm, self.horizon, self.streams = algorithm, horizon, streams
        self.floor, self.margin = floor, margin
        self.began, self.clock = time.perf_counter(), Clock.of(budget)
        self.paths = 0
        self.proved = True
        self.complete = True
        self.best: tuple[Step, Path, Region] | None = None
        self.above_floor = 0.0
        self.error = MEASURED_ERROR  # of the worst step's log-likelihoods
        self.bound = 0.0  # of all steps that were evaluated one by one
        self.crowded = False
        self.spared = False

    def run(self) -> WorstLoss:
        """Search until everything is covered or the budget ends."""
        try:
            vertices = lattice(self.algorithm, self.horizon, self.clock)
            self.paths = count_paths(vertices)
            self._by_meeting(vertices)
        except OutOfTime:
            self.complete = False
        except Unsupported:
            self.paths, self.best, self.proved, self.spared = 0, None, True, False
            return self._by_path()
        return self._extremal()

    def _by_meeting(self, vertices: list[Vertex]) -> None:
        """All paths at once; then the most promising steps, one by one."""
        if self.margin > -math.inf and self.horizon > _PROBE:
            self._probe()
        bar = self.best[0].loss + self.margin if self.best else -math.inf
        laws = [law for vertex in vertices for law in vertex.laws]
        charges = {1 / (law.scale * law.divisor) for law in laws}
        self.spared = any(charge <= bar for charge in charges)
        if vertices and all(charge <= bar for charge in charges):
            return
        for background in (0, 1) if vertices else ():
            candidates: list[Candidate] = []
            above: list[Candidate] = []
            try:
                search = Meeting(
                    vertices, background, self.streams, math.log(self.floor), bar, self.clock
                )
                self.proved &= search.steps.suffice(max(law.length for law in laws))
                for found, likely in explored(search):
                    candidates += found
                    above += [] if likely is None else [likely]
            finally:
                for some in (candidates, above):
                    if not all(math.isfinite(item.loss) for item in some):
                        raise Unsupported("A likelihood is too small for doubles.")
                    some.sort(key=lambda item: (-round(item.loss / _TIE), -item.log_likelihood))
                grace = self.clock.later(GRACE)
                for candidate in candidates[:KEPT]:
                    if not (self.best and grace.late):
                        self._polish(candidate)
                for candidate in above[:1] if not grace.late else ():
                    self.above_floor = max(self.above_floor, self._polish(candidate).loss)
            best = self.best[0].loss if self.best else 0.0
            self.crowded |= len(candidates) > KEPT and candidates[KEPT].loss > best + _CLOSE

    def _probe(self) -> None:
        """Follow the worst step of a short horizon: some way to go on loses no less."""
        left = self.clock.left
        short = LossSearch(self.algorithm, _PROBE, self.streams, left, self.floor, -math.inf)
        short.run()
        if short.best is None:
            return
        step, path, region = short.best
        rows = region.episodes[step.episode].rows
        decisions = [event.outcome for event in path.events if isinstance(event, Decided)]
        while True:
            self.clock()
            found = self._followed(decisions, rows, step)
            if len(found[2].decisions) == len(decisions):
                require_shown(self.algorithm, found[1])
                self.best, self.error = found, measured_error(found[2])
                return
            ways = [self._followed([*decisions, way], rows, step) for way in (0, 1)]
            decisions.append(int(ways[1][0].loss > ways[0][0].loss))

    def _followed(self, decisions: list[int], rows: Rows, step: Step) -> tuple[Step, Path, Region]:
        """Return a path with these first decisions, and what a step loses on them alone."""
        path = path_through(self.algorithm, self.horizon, [*decisions, *_FILLER])
        region = region_of(path)
        index = next(i for i, episode in enumerate(region.episodes) if episode.rows == rows)
        part = Region(region.episodes, region.decisions[: len(decisions)])
        sums = np.array([[float(len(e)) for e in region.episodes]] * 2) * step.background
        sums[:, index] = step.better, step.worse
        high, low = (float(v) for v in log_likelihoods(part, region.means(sums)))
        moved = Step(index, step.background, step.better, step.worse, high, low, step.proved)
        return moved, path, region

    def _polish(self, candidate: Candidate) -> Step:
        """Evaluate a step on its own path, improve it locally, and keep it if it is the worst."""
        path = path_through(self.algorithm, self.horizon, candidate.decisions)
        require_shown(self.algorithm, path)
        region = region_of(path)
        found = checks.check(region)
        if not found.hold:
            raise Unsupported(f"A path breaks a condition that its graph kept. {found.reason}")
        index = region.decisions[candidate.introduced].shown[candidate.arm][0]
        move = (candidate.worse, candidate.better)
        if self.streams == "binary":
            found = checks.Conditions(True)
            sums = np.array([float(len(e)) for e in region.episodes]) * candidate.background
            values = []
            for s in move:
                sums[index] = s
                values.append(log_likelihood(region, region.means(sums)))
            step = Step(index, candidate.background, move[1], move[0], values[1], values[0], True)
        else:
            step = polish(region, found, index, candidate.background, move, log_likelihood)
        _require_finite(step)
        if self.best is None or step.loss > self.best[0].loss:
            self.best, self.error = (step, path, region), measured_error(region)
        return step

    def _by_path(self) -> WorstLoss:
        try:
            for path in all_paths(self.algorithm, self.horizon, self.clock):
                region = region_of(path)
                try:
                    require_shown(self.algorithm, path, self.clock)
                    found = checks.check(region)
                except Unsupported as hidden:
                    found = checks.Conditions(False, str(hidden))
                if not found.hold:
                    return self._enumerate(region, found.reason)
                self.paths += 1
                self._visit(path, region, found)
        except OutOfTime:
            self.complete = False
        return self._extremal()

    def _visit(self, path: Path, region: Region, found: checks.Conditions) -> None:
        errors = [measured_error(region)]

        def log_value(region: Region, means: NDArray[np.float64]) -> float:
            self.clock()
            value, error = estimate(region, means, self.clock)
            errors.append(error)
            return value

        for step in list(steps(region, found, self.streams, log_value)):
            if step.high == -math.inf:  # no noise takes this path
                continue
            _require_finite(step)
            self.proved = self.proved and step.proved
            self.bound = max(self.bound, step.loss + 2 * max(errors))
            if self.best is None or step.loss > self.best[0].loss:
                self.best, self.error = (step, path, region), max(errors)
            if step.high >= math.log(self.floor):
                self.above_floor = max(self.above_floor, step.loss)

    def _extremal(self) -> WorstLoss:
        covers = everything(self.streams)
        if not self.proved:
            covers += "; own sums of episodes scanned on a grid and refined, measured not proved"
        if self.crowded:
            covers += "; more steps may be as bad than were evaluated one by one, not proved"
        if self.spared:
            covers += (
                "; bound by the charge: releases whose charge the loss found attains"
                f" within {self.margin:g} were not searched, as no step loses more than its charge"
            )
        if not self.complete:
            covers = f"the first {self.paths} decision paths, until the budget ran out"
        if self.best is None:
            none = Enclosure(0.0, math.inf if not self.complete else 0.0, self.complete)
            return self._result(none, None, EXTREMAL, covers)
        step, path, region = self.best
        loss = max(step.loss, 0.0)
        error = 2 * (self.error + RELATIVE_ERROR * abs(step.low))
        low = max(0.0, loss - error)
        spared = max(self.margin, 0.0) if self.spared else 0.0
        most = max(loss, self.bound - 2 * self.error)
        high = most + spared + error if self.complete else math.inf
        witness = witness_of_step(self.algorithm, path, region, step, self.error)
        return self._result(Enclosure(low, high, False), witness, EXTREMAL, covers)

    def _enumerate(self, region: Region, reason: str) -> WorstLoss:
        grid = (0.0, 1.0) if self.streams == "binary" else (0.0, 0.5, 1.0)
        try:
            found = worst_pair(self.algorithm, self.horizon, grid, budget=self.clock.left)
        except InvalidArgument as error:
            raise Unsupported(f"{reason} Enumeration instead is out of reach: {error}") from None
        self.paths, self.complete = found.paths, found.complete
        self.above_floor = found.above(self.floor)
        exact_zero_one = noiseless.applies(region)
        slack = 0.0 if exact_zero_one else 2 * measured_error(region)
        low = max(0.0, found.loss - slack)
        covered = self.streams == "binary" and found.complete
        high = found.loss + slack if covered or found.loss == math.inf else math.inf
        names = "{0,1}" if len(grid) == 2 else "{0,1/2,1}"
        covers = f"every action sequence and every pair of streams in {names}^T. {reason}"
        if self.streams == "real" and found.loss < math.inf:
            covers += " For rewards in [0, 1] this is a lower bound."
        if not found.complete:
            covers = f"part of the streams in {names}^T, until the budget ran out. {reason}"
        witness = None
        if found.pair is not None:
            stream, neighbour, actions = found.pair
            logs = found.logs
            witness = make_witness(
                self.algorithm, actions, stream, neighbour, logs[0], logs[1], slack / 2
            )
        enclosure = Enclosure(low, high, exact_zero_one)
        return self._result(enclosure, witness, f"enumeration over {names}^T", covers)

    def _result(
        self, loss: Enclosure, witness: Witness | None, method: str, covers: str
    ) -> WorstLoss:
        return WorstLoss(
            loss=loss,
            witness=witness,
            method=method,
            covers=covers,
            streams=self.streams,
            paths=self.paths,
            horizon=self.horizon,
            complete=self.complete,
            floor=self.floor,
            loss_above_floor=None if self.spared else self.above_floor,
            seconds=time.perf_counter() - self.began,
            proved=self.proved and self.complete and not self.crowded,
        )


def _require_finite(step: Step) -> None:
    """Raise where one likelihood is too small for doubles: no noise makes a loss infinite."""
    if step.low == -math.inf < step.high:
        raise Unsupported("A likelihood is too small for doubles.")

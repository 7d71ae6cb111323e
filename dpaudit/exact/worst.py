"""The largest privacy loss of an algorithm at a horizon, with the pair and actions that attain it.

epsilon*(T) is the largest |log ratio| of likelihoods over all action sequences of length T and all
pairs of streams in [0, 1]^T that differ in one reward. Where the conditions of the extremal-streams
theorem hold (`conditions.py` checks every path), the streams are gone and only decision paths are
left to enumerate. Where they do not, the streams of a finite grid are enumerated: that is a lower
bound for rewards in [0, 1], and says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact import conditions as checks
from dpaudit.exact import noiseless
from dpaudit.exact.climb import climbed_loss
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.lattice import Vertex, count_paths, lattice
from dpaudit.exact.likelihood import (
    MEASURED_ERROR,
    RELATIVE_ERROR,
    Engine,
    estimate,
    log_likelihood,
    log_likelihoods,
    measured_error,
    require_engine,
)
from dpaudit.exact.meeting import KEPT, Candidate, Meeting, explored
from dpaudit.exact.pairs import Step, Streams, polish, steps
from dpaudit.exact.paths import Decided, Path, all_paths, path_through
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.witness import remeasured
from dpaudit.verdict import Enclosure, Witness

DEFAULT_FLOOR = 1e-6
EXTREMAL = "extremal streams"
DEFAULT_MARGIN = 1e-12
COMPILING = 120.0  # seconds that the first floating-point search of two arms may take to compile
_WALKED = 100  # paths of three or more arms that are walked one by one; beyond, a climb
_PROBE = 32  # the horizon whose worst step is followed before a longer one is searched
_FILLER = (0,) * 128
_TIE, _CLOSE = 1e-10, 1e-9


@dataclass(frozen=True)
class WorstLoss:
    """An enclosure of epsilon*(T), its witness, and what exactly was covered."""

    loss: Enclosure
    witness: Witness | None
    method: str
    covers: str
    streams: Streams
    paths: int
    horizon: int
    complete: bool
    floor: float
    loss_above_floor: float | None
    seconds: float
    proved: bool = True  # whether the cover is proved; if not, the upper end is only measured


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    *,
    streams: Streams = "real",
    engine: Engine = "ball",
    budget: float | None = None,
    floor: float | None = None,
    margin: float = DEFAULT_MARGIN,
) -> WorstLoss:
    """Return an enclosure of the largest loss at a horizon; a budget in seconds may cut it short.

    When the budget ends the search, `complete` is False and the enclosure's upper end infinite.
    The floating-point search of two arms leaves out releases whose charge is within `margin` of a
    loss that it has already found, and says so; with margin -inf it searches everything.
    """
    require_engine(engine)
    require_integer("horizon", horizon, 1)
    if streams not in ("real", "binary"):
        raise InvalidArgument("streams", streams, "must be real or binary.")
    if algorithm.arms > 2 and any(islice(all_paths(algorithm, horizon), _WALKED, None)):
        climbed = climbed_loss(algorithm, horizon, streams, budget, floor or DEFAULT_FLOOR)
        if climbed is not None:
            return climbed
    if engine == "ball":
        found = _certified(algorithm, horizon, streams, budget, floor)
        if found is not None:
            return found
    least = DEFAULT_FLOOR if floor is None else floor
    return _Search(algorithm, horizon, streams, budget, least, margin).run()


def _certified(
    algorithm: Algorithm, horizon: int, streams: Streams, budget: float | None, floor: float | None
) -> WorstLoss | None:
    """Ask the certified engine; None where it does not cover the algorithm."""
    from dpaudit.exact import ball

    try:
        found = ball.worst_loss(algorithm, horizon, streams, budget)
    except Unsupported:
        return None
    region = region_of(found.path)
    episode = next(i for i, it in enumerate(region.episodes) if it.rows == found.release.rows)
    better, worse = float(found.neighbour), float(found.own)
    step = Step(episode, found.background, better, worse, 0.0, -found.loss.lower, proved=True)
    drawn = witness_of_step(algorithm, found.path, region, step, MEASURED_ERROR)
    return WorstLoss(
        loss=found.loss,
        witness=remeasured(drawn, algorithm),
        method=EXTREMAL,
        covers=f"every action sequence and every pair of {_words(streams)} of length T"
        if found.complete
        else "part of the decision paths, until the budget ran out",
        streams=streams,
        paths=found.paths,
        horizon=horizon,
        complete=found.complete,
        floor=DEFAULT_FLOOR if floor is None else floor,
        loss_above_floor=None,
        seconds=found.seconds,
    )


def _claimed(algorithm: Algorithm) -> float:
    return math.inf if algorithm.claim.epsilon is None else algorithm.claim.epsilon


class OutOfTime(Exception):
    """The budget ended a search."""


class _Search:
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
        self.floor, self.budget, self.margin = floor, budget, margin
        self.began = time.perf_counter()
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
        try:
            vertices = lattice(self.algorithm, self.horizon)
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
                    vertices, background, self.streams, math.log(self.floor), bar, self._clock
                )
                self.proved &= search.steps.suffice(max(law.length for law in laws))
                for found, likely in explored(search):
                    candidates += found
                    above += [] if likely is None else [likely]
            finally:
                for some in (candidates, above):
                    some.sort(key=lambda item: (-round(item.loss / _TIE), -item.log_likelihood))
                for candidate in candidates[:KEPT]:
                    self._polish(candidate)
                for candidate in above[:1]:
                    self.above_floor = max(self.above_floor, self._polish(candidate).loss)
            best = self.best[0].loss if self.best else 0.0
            self.crowded |= len(candidates) > KEPT and candidates[KEPT].loss > best + _CLOSE

    def _clock(self) -> None:
        if self._late():
            raise OutOfTime

    def _probe(self) -> None:
        """Follow the worst step of a short horizon: some way to go on loses no less."""
        short = _Search(self.algorithm, _PROBE, self.streams, self.budget, self.floor, -math.inf)
        short.run()
        if short.best is None:
            return
        step, path, region = short.best
        rows = region.episodes[step.episode].rows
        decisions = [event.outcome for event in path.events if isinstance(event, Decided)]
        while True:
            self.best = self._followed(decisions, rows, step)
            if len(self.best[2].decisions) == len(decisions):
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
        if self.best is None or step.loss > self.best[0].loss:
            self.best = (step, path, region)
        return step

    def _by_path(self) -> WorstLoss:
        paths = all_paths(self.algorithm, self.horizon)
        shown: set[bytes] = set()
        for path in paths:
            if self._late():
                self.complete = False
                break
            region = region_of(path)
            actions = path.actions.tobytes()
            found = checks.check(region)
            if actions in shown:
                found = checks.Conditions(False, "Several decision paths show as the same actions.")
            if not found.hold:
                return self._enumerate(region, found.reason)
            shown.add(actions)
            self.paths += 1
            self._visit(path, region, found)
        return self._extremal()

    def _late(self) -> bool:
        return self.budget is not None and time.perf_counter() - self.began > self.budget

    def _visit(self, path: Path, region: Region, found: checks.Conditions) -> None:
        errors = [measured_error(region)]

        def log_value(region: Region, means: NDArray[np.float64]) -> float:
            value, error = estimate(region, means)
            errors.append(error)
            return value

        for step in list(steps(region, found, self.streams, log_value)):
            self.proved = self.proved and step.proved
            self.bound = max(self.bound, step.loss + 2 * max(errors))
            if self.best is None or step.loss > self.best[0].loss:
                self.best, self.error = (step, path, region), max(errors)
            if step.high >= math.log(self.floor):
                self.above_floor = max(self.above_floor, step.loss)

    def _extremal(self) -> WorstLoss:
        covers = f"every action sequence and every pair of {_words(self.streams)} of length T"
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
        budget = None
        if self.budget is not None:
            budget = max(0.0, self.budget - (time.perf_counter() - self.began))
        try:
            found = worst_pair(self.algorithm, self.horizon, grid, budget=budget)
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


def _words(streams: Streams) -> str:
    return "streams in [0,1]^T" if streams == "real" else "binary streams"


def fill(region: Region, horizon: int, background: int, episode: int, s: float) -> list[float]:
    """Return a stream with one episode's sum at `s` and every other reward at `background`."""
    stream = [float(background)] * horizon
    rows = [t for part in region.episodes[episode].steps for t in part]
    whole = math.floor(s)
    for place, t in enumerate(rows):
        stream[t] = 1.0 if place < whole else 0.0
    if whole < len(rows):
        stream[rows[whole]] = s - whole
    return stream


def pair_of_step(path: Path, region: Region, step: Step) -> tuple[list[float], list[float]]:
    """Return the likelier stream and its neighbour: they differ in one reward of the episode."""
    low, high = sorted((step.better, step.worse))
    rows = [t for part in region.episodes[step.episode].steps for t in part]
    stream = fill(region, path.horizon, step.background, step.episode, low)
    # the moving reward is the one after the whole ones; raise it as far as it goes, and let the
    # next one hold the fraction where a step crosses an integer
    whole = math.floor(low)
    moving = rows[min(whole, len(rows) - 1)]
    rest = low - whole
    if rest + (high - low) > 1.0 and whole + 1 < len(rows):
        stream[rows[whole + 1]], stream[moving] = rest, 0.0
    neighbour = list(stream)
    neighbour[moving] = min(1.0, stream[moving] + (high - low))
    return (neighbour, stream) if step.better > step.worse else (stream, neighbour)


def witness_of_step(
    algorithm: Algorithm, path: Path, region: Region, step: Step, error: float
) -> Witness:
    """Return the witness behind a step; its log-likelihoods are off by at most `error`."""
    stream, neighbour = pair_of_step(path, region, step)
    actions = tuple(int(arm) for arm in path.actions)
    return make_witness(algorithm, actions, stream, neighbour, step.high, step.low, error)


def make_witness(
    algorithm: Algorithm,
    actions: Sequence[int],
    stream: Sequence[float],
    neighbour: Sequence[float],
    high: float,
    low: float,
    slack: float,
) -> Witness:
    """Return a witness from log-likelihoods with an error of `slack`; `stream` is the likelier."""
    certified = slack == 0.0
    position = next(t for t, (a, b) in enumerate(zip(stream, neighbour, strict=True)) if a != b)
    difference = high - low if low > -math.inf else math.inf
    spread = 2 * slack if math.isfinite(difference) else 0.0
    return Witness(
        target=algorithm.name,
        parameters=parameters(algorithm),
        actions=tuple(int(a) for a in actions),
        stream=tuple(float(r) for r in stream),
        neighbour=tuple(float(r) for r in neighbour),
        position=position,
        likelihood=_probability(high, slack, certified),
        likelihood_neighbour=_probability(low, slack, certified),
        loss=Enclosure(difference - spread, difference + spread, certified),
        epsilon=_claimed(algorithm),
    )


def _probability(log_value: float, slack: float, certified: bool) -> Enclosure:
    low, high = math.exp(log_value - slack), min(1.0, math.exp(log_value + slack))
    if slack:
        low, high = math.nextafter(low, 0.0), min(1.0, math.nextafter(high, 1.0))
    return Enclosure(low, high, certified)


def parameters(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters that rebuild an algorithm."""
    values = {field.name: getattr(algorithm, field.name) for field in fields(algorithm)}
    return {name: value for name, value in values.items() if value is not None}


def loss_by_horizon(
    algorithm: Algorithm, horizons: Sequence[int], **options: Any
) -> dict[int, WorstLoss]:
    """Return the largest loss at each horizon (an anytime algorithm's is non-decreasing)."""
    return {horizon: worst_loss(algorithm, horizon, **options) for horizon in horizons}

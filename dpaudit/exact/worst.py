"""The largest privacy loss of an algorithm at a horizon, with the pair and actions that attain it.

epsilon*(T) is the largest |log ratio| of likelihoods over all action sequences of length T and all
pairs of streams in [0, 1]^T that differ in one reward. Where the conditions of the extremal-streams
theorem hold (`conditions.py` checks every path), the streams are gone and only decision paths are
left to search. Where they do not, the streams of a finite grid are enumerated: that is a lower
bound for rewards in [0, 1], and says so. The charges of the releases bound every loss from above,
exactly, whoever computes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from dpaudit.core.algorithm import Algorithm, Keep
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact import conditions, finite
from dpaudit.exact.balls.cells import Cells, Known, impossible
from dpaudit.exact.balls.certified import (
    Gridded,
    Precise,
    affine,
    bounded_by_lines,
    many_arms,
)
from dpaudit.exact.balls.exponentials import Exponentials, Polytopes
from dpaudit.exact.balls.net import Nets
from dpaudit.exact.climb import climbed_loss
from dpaudit.exact.clock import ENDLESS, GRACE, Clock, OutOfTime
from dpaudit.exact.enumerate import enumerated, finitely_many
from dpaudit.exact.floats.panels import MeasuredPass, Panels
from dpaudit.exact.known import require_alike
from dpaudit.exact.likelihood import (
    RELATIVE_ERROR,
    Engine,
    log_likelihood,
    measured_error,
    require_engine,
)
from dpaudit.exact.paths import NOT_SHOWN, Path, all_paths, require_no_coin
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.schedule import Chain, chain_of
from dpaudit.exact.search import (
    DEFAULT_FLOOR,
    Candidates,
    Pass,
    Question,
    Shared,
    Streams,
    WorstLoss,
    search,
)
from dpaudit.exact.witness import pair_of_step, witness_of
from dpaudit.verdict import Enclosure, Witness

LONGEST = 10_000_000  # rounds of a witness that still fits into memory
WALKED = {2: 1000}  # paths that are searched one by one; beyond, a climb
MANY = 100  # of more than two arms
NET_PASS = (300, 16)  # cells and mesh of the first pass over nets
WIDTH = 1e-6  # of a certified enclosure that is narrow enough


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    *,
    streams: Streams = "real",
    engine: Engine = "ball",
    budget: float | None = None,
    floor: float | None = None,
    epsilon: float = 0.0,
) -> WorstLoss:
    """Return an enclosure of the largest loss at a horizon; a budget in seconds may cut it short.

    When the budget ends the search, `complete` is False and the enclosure's upper end infinite. A
    witness is computed where the loss exceeds `epsilon`.
    """
    require_engine(engine)
    require_integer("horizon", horizon, 1)
    if budget is not None and not budget >= 0:
        raise InvalidArgument("budget", budget, "must be at least 0 seconds.")
    if floor is not None and not 0 < floor <= 1:
        raise InvalidArgument("floor", floor, "must be above 0 and at most 1.")
    if streams not in ("real", "binary"):
        raise InvalidArgument("streams", streams, "must be real or binary.")
    if horizon > LONGEST:
        raise InvalidArgument("horizon", horizon, f"must be at most {LONGEST:,}: pairs are listed.")
    clock = Clock.of(budget)
    asked = LossSearch(algorithm, horizon, streams, clock, floor or DEFAULT_FLOOR, epsilon)
    found: WorstLoss | None = None
    if finitely_many(asked):
        found = enumerated(asked)
    elif asked.many():
        found = climbed_loss(asked)
    if found is None and engine == "ball":
        with suppress(Unsupported, OutOfTime):
            found = asked.certified()
    found = asked.measured() if found is None else found
    return replace(found, charge=asked.charge)


class LossSearch(Question):
    """A question that chooses who answers it."""

    def many(self) -> bool:
        """Return whether there are more paths than are searched, or than time to count."""
        most = WALKED.get(self.algorithm.arms, MANY)
        try:
            return any(islice(all_paths(self.algorithm, self.horizon, self.clock), most, None))
        except OutOfTime:
            return self.algorithm.arms > 2

    def certified(self) -> WorstLoss:
        """Search in balls; raise `Unsupported` where they do not cover the algorithm.

        Raise `OutOfTime` if the budget ends before the first pair is certified.
        """
        # a search that is listed in time states a lower end, however little budget is left for it
        listing = self.clock.later(GRACE)
        paths: list[Path] = []
        alike: set[int] = set()
        for path in all_paths(self.algorithm, self.horizon, listing):
            listing()
            require_no_coin(path)
            if finite.applies(path):
                if not paths:
                    return self._noiseless()
                raise Unsupported(
                    "Without noise the loss is 0 or infinite: look for two streams that differ."
                )
            require_alike(path, alike)
            paths.append(path)
        regions = [region_of(path) for path in paths]
        opened: Precise | Gridded
        groups = _by_actions(paths)
        if any(isinstance(d.request, Keep) for region in regions for d in region.decisions):
            for region in regions:
                conditions.require_single_use(region)
        else:
            if len(groups) < len(paths):
                raise Unsupported(NOT_SHOWN)
            for region in regions:
                conditions.require_extremal(region)
        if any(bounded_by_lines(region) for region in regions):
            polytopes = Polytopes([[regions[i] for i in group] for group in groups])
            opened = Precise(lambda *_: polytopes, narrows=False)
        elif any(map(many_arms, regions)):
            opened = Gridded(
                lambda active, cells, mesh: Nets(
                    {i: regions[i] for i in active}, cells, mesh, self.clock.later(GRACE)
                ),
                self.whole,
                first=NET_PASS,
            )
        else:
            opened = self._chained([chain_of(region) for region in regions])
        said: dict[str, Any] = {"leader_first": True}
        if isinstance(opened, Precise):
            said = {"working": opened.working}
        found = search(len(groups), opened, self.whole, self.clock, WIDTH, **said)
        if found.best is None:
            raise Unsupported("No release enters a decision within the horizon.")
        loss = Enclosure(found.lower, found.upper, certified=True)
        owners = [group[0] for group in groups]
        return self._result(loss, found, paths, [regions[i] for i in owners], owners, "ball")

    def _chained(self, chains: list[Chain]) -> Precise | Gridded:
        if all(affine(chain) for chain in chains):
            return Precise(
                lambda active, narrow: Shared(
                    Exponentials([chains[i] for i in active], narrow),
                    {i: chains[i] for i in active},
                ),
                narrows=not self.whole,
            )
        # a path that no noise can take has no likelihoods to compare
        known = Known()
        taken = [Chain(c.episodes, ()) if impossible(c, known) else c for c in chains]

        def opened(active: list[int], cells: int, mesh: int) -> Pass:
            chosen = {number: taken[number] for number in active}
            return Shared(Cells(chosen.values(), cells, mesh, known=known), chosen)

        return Gridded(opened, self.whole)

    def measured(self) -> WorstLoss:
        """Search in doubles, or enumerate streams where a path breaks the conditions."""
        found = Candidates()
        paths: list[Path] = []
        regions: list[Region] = []
        with suppress(OutOfTime):
            try:
                paths, regions = self.extremal()
            except Unsupported as failure:
                return enumerated(self, reason=str(failure))
            found = self.searched(regions)
        best = found.best
        if best is None:
            none = Enclosure(0.0, 0.0 if found.complete else math.inf, found.complete)
            return self._result(none, found, paths, regions, [], "float")
        error = measured_error(regions[best.path])
        error = 2 * (error + RELATIVE_ERROR * abs(best.bounds.log_likelihood - found.lower))
        loss = Enclosure(max(0.0, found.lower - error), found.upper + error, certified=False)
        owners = list(range(len(paths)))
        return self._result(loss, found, paths, regions, owners, "float")

    def extremal(self) -> tuple[list[Path], list[Region]]:
        """List the paths and their regions; raise `Unsupported` where a condition fails."""
        paths = []
        for path in all_paths(self.algorithm, self.horizon, self.clock):
            require_no_coin(path)
            conditions.require_extremal(region_of(path))
            paths.append(path)
        if len(_by_actions(paths)) < len(paths):
            raise Unsupported(NOT_SHOWN)
        return paths, [region_of(path) for path in paths]

    def searched(self, regions: list[Region]) -> Candidates:
        """Search in doubles."""
        for region in regions:
            measured_error(region)  # raises where doubles are too coarse
        now: Shared | MeasuredPass
        try:
            chains = [chain_of(region) for region in regions]
            if all(affine(chain) for chain in chains):  # closed forms are faster than panels
                opened = self._chained(chains)
                assert isinstance(opened, Precise)
                return search(len(chains), opened, self.whole, self.clock, WIDTH, opened.working)
            now = Shared(Panels(chains), dict(enumerate(chains)))
        except Unsupported:
            now = MeasuredPass(regions, partial(log_likelihood, clock=self.clock))

        def once(_: list[int], excess: float | None) -> Pass | None:
            return now if excess is None else None

        return search(len(regions), once, self.whole, self.clock, math.inf)

    def _result(
        self,
        loss: Enclosure,
        found: Candidates,
        paths: Sequence[Path],
        regions: Sequence[Region],
        owners: Sequence[int],
        engine: Engine,
    ) -> WorstLoss:
        measured = engine == "float" and not self.whole
        witness: Witness | None = None
        best = found.best
        moves = best is not None and best.bounds.own != best.bounds.other
        if best is not None and moves and loss.lower >= self.epsilon:
            path = paths[owners[best.path]]
            sums = float(best.bounds.other), float(best.bounds.own)
            pair = pair_of_step(path, regions[best.path], best.episode, best.background, *sums)
            with suppress(OutOfTime):
                late = self.clock.later(GRACE)
                witness = witness_of(self.algorithm, path.actions, *pair, engine, late)
        said: dict[str, Any] = {
            "complete": found.complete,
            "loss_above_floor": found.above(math.log(self.floor)),
            "proved": not measured and found.complete,
        }
        given = self.answer(loss, witness, len(paths), **said)
        if not found.complete:
            return replace(given, covers="part of the decision paths, until the budget ran out")
        scanned = "; own sums of episodes scanned on a grid and refined, measured not proved"
        return replace(given, covers=given.covers + scanned * (measured and not loss.certified))

    def _noiseless(self) -> WorstLoss:
        """One reward that changes the actions makes the loss infinite; finding none says naught."""
        found = finite.differing(self.algorithm, self.horizon, self.clock)
        if found is None:
            raise Unsupported("No single reward on an all-0 or all-1 stream changes the actions.")
        path, pair = found
        endless = Enclosure(math.inf, math.inf, certified=True)
        witness = witness_of(self.algorithm, path.actions, *pair, "ball", self.clock)
        return self.answer(endless, witness, 1, loss_above_floor=math.inf)


def every_step(
    algorithm: Algorithm, horizon: int, streams: Streams, clock: Clock = ENDLESS
) -> Iterator[tuple[Path, Region, int, float]]:
    """Yield every path and episode with its largest loss, in doubles.

    Raise `Unsupported` where the extremal-streams theorem does not apply, `OutOfTime` if late.
    """
    asked = LossSearch(algorithm, horizon, streams, clock, DEFAULT_FLOOR)
    paths, regions = asked.extremal()
    found = asked.searched(regions)
    clock()
    for item in found.known.values():
        yield paths[item.path], regions[item.path], item.episode, item.bounds.lower


def _by_actions(paths: Sequence[Path]) -> list[list[int]]:
    groups: dict[bytes, list[int]] = {}
    for number, path in enumerate(paths):
        groups.setdefault(path.actions.tobytes(), []).append(number)
    return list(groups.values())

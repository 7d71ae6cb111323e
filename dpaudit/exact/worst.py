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
from dataclasses import dataclass, field, replace
from itertools import islice

from dpaudit.core.algorithm import Algorithm, Keep, require_algorithm
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact import conditions, finite
from dpaudit.exact.algebra import Sharing
from dpaudit.exact.balls import gaussians
from dpaudit.exact.balls.certified import (
    Gridded,
    Precise,
    affine,
    as_forest,
    bounded_by_lines,
    gridded,
)
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.balls.exponentials import Exponentials, Polytopes
from dpaudit.exact.balls.integrals import Nets
from dpaudit.exact.climb import climbed_loss
from dpaudit.exact.clock import ENDLESS, GRACE, Clock, OutOfTime
from dpaudit.exact.enumerate import enumerated, finitely_many
from dpaudit.exact.floats.own import MeasuredDuels
from dpaudit.exact.known import OWN_ERROR, require_alike
from dpaudit.exact.likelihood import own_error
from dpaudit.exact.paths import NOT_SHOWN, Path, all_paths, by_actions
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import (
    Candidates,
    Pass,
    Question,
    Streams,
    WorstLoss,
    search,
)
from dpaudit.exact.trees import Forest, forest_of
from dpaudit.exact.witness import pair_of_step, witness_of
from dpaudit.verdict import Enclosure, Witness

LONGEST = 10_000_000  # rounds of a witness that still fits into memory
WALKED = {2: 1000}  # paths that are searched one by one; beyond, a climb
MANY = 100  # of more than two arms
NET_PASS = (300, 16)  # cells and mesh of the first pass over nets
WIDTH, LOOK = 1e-6, 1e-4  # of an enclosure that is narrow enough; to be looked at


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    *,
    streams: Streams = "real",
    budget: float | None = None,
    epsilon: float = 0.0,
) -> WorstLoss:
    """Return an enclosure of the largest loss at a horizon; a budget in seconds may cut it short.

    When the budget ends the search, `complete` is False and the enclosure's upper end infinite. A
    witness is computed where the loss exceeds `epsilon`.
    """
    require_algorithm(algorithm)
    require_integer("horizon", horizon, 1)
    if budget is not None and not budget >= 0:
        raise InvalidArgument("budget", budget, "must be at least 0 seconds.")
    if streams not in ("real", "binary"):
        raise InvalidArgument("streams", streams, "must be real or binary.")
    if horizon > LONGEST:
        raise InvalidArgument("horizon", horizon, f"must be at most {LONGEST:,}: pairs are listed.")
    clock = Clock.of(budget)
    asked = LossSearch(algorithm, horizon, streams, clock, epsilon)
    found: WorstLoss | None = None
    if finitely_many(asked):
        found = enumerated(asked)
    elif asked.many():
        found = climbed_loss(asked)
    found = asked.answered() if found is None else found
    return replace(found, charge=asked.charge)


@dataclass
class Searched:
    """The paths of a search, in groups of the same actions, and what it found.

    `error` is what doubles may add to the bounds, `doubt` why they were asked.
    """

    groups: list[list[Path]] = field(default_factory=list)
    found: Candidates = field(default_factory=Candidates)
    certified: bool = False
    error: float = 0.0
    doubt: str = ""

    @property
    def paths(self) -> list[Path]:
        """The paths of all groups."""
        return [path for group in self.groups for path in group]

    @property
    def kept(self) -> bool:
        """Whether some decision is an elimination, whose outcomes are refined."""
        return any(map(_kept, self.paths))

    def at(self, group: int) -> tuple[Path, Region]:
        """Return a group's first path, and its region."""
        path = self.groups[group][0]
        return path, region_of(path)


class LossSearch(Question):
    """A question that chooses who answers it."""

    def many(self) -> bool:
        """Return whether there are more paths than are searched, or than time to count."""
        most = WALKED.get(self.algorithm.arms, MANY)
        try:
            return any(islice(all_paths(self.algorithm, self.horizon, self.clock), most, None))
        except OutOfTime:
            return self.algorithm.arms > 2

    def answered(self) -> WorstLoss:
        """Search few streams; where a condition fails, or nobody answers, enumerate them all."""
        try:
            return self._result(self.searched(self.listed()))
        except Unsupported as failure:
            return self._noiseless() or enumerated(self, reason=str(failure))
        except OutOfTime:
            return self._result(Searched())

    def certified(self) -> WorstLoss:
        """Search in balls; raise `Unsupported` where they do not cover the algorithm.

        Raise `OutOfTime` if the budget ends before the first pair is certified.
        """
        return self._result(self.enclosed(self.listed()))

    def listed(self) -> Searched:
        """List the paths; raise `Unsupported` where a condition of the theorem fails."""
        # a search that is listed in time states a lower end, however little budget is left for it
        paths = []
        for path in all_paths(self.algorithm, self.horizon, self.clock.later(GRACE)):
            if path.chance != 1:  # what else it is likely by is not all
                raise Unsupported("A public coin mixes decision paths.")
            if _kept(path):
                conditions.require_single_use(region_of(path))
            else:
                conditions.require_extremal(region_of(path))
            paths.append(path)
        found = Searched(by_actions(paths))
        if len(found.groups) < len(paths) and not found.kept:
            raise Unsupported(NOT_SHOWN)
        return found

    def searched(self, listed: Searched, width: float = WIDTH) -> Searched:
        """Search in balls where they cover the paths, else by scores that nobody has proved."""
        try:
            return self.enclosed(listed, width)
        except Unsupported as refusal:
            if listed.kept:
                raise
            return replace(self.measured(listed, width), doubt=str(refusal))

    def enclosed(self, listed: Searched, width: float = WIDTH) -> Searched:
        """Enclose every candidate; raise `Unsupported` where balls do not cover the paths."""
        require_alike(request for path in listed.paths for request in path.requests)
        regions, kept = [*map(region_of, listed.paths)], listed.kept
        if not kept and all(map(gaussians.applies, regions)):
            trees = dict(enumerate(map(forest_of, regions)))
            shared = Sharing(gaussians.Normals(), trees)
            found = self._precisely(len(regions), Precise(lambda *_: shared, False), width)
        elif kept or any(map(bounded_by_lines, regions)):
            polytopes = Polytopes([[*map(region_of, group)] for group in listed.groups])
            found = self._precisely(len(listed.groups), Precise(lambda *_: polytopes, False), width)
        else:
            found = self._bending(regions, Known(), width)
        return replace(listed, found=found, certified=True)

    def _bending(
        self,
        regions: Sequence[Region],
        known: Known,
        width: float,
    ) -> Candidates:
        """Search paths as trees; as nets, release by release, where some are none."""
        trees = [tree for region in regions if (tree := region.prepared(as_forest)) is not None]
        if len(trees) == len(regions):
            return self._trees(trees, known, width)
        late = self.clock.later(GRACE)

        def build(active: list[int], cells: int, mesh: int) -> Pass:
            return Nets({i: regions[i] for i in active}, known, (cells, mesh), late)

        found = Candidates()
        for number in range(len(regions)):
            # one after the other: a path that loses what a release can makes all others needless
            opened = Gridded(build, self.whole, first=NET_PASS)
            search([number], opened, self.whole, self.clock, width, found=found)
            if not found.complete:
                break
        return found

    def _precisely(self, count: int, opened: Precise, width: float) -> Candidates:
        return search(range(count), opened, self.whole, self.clock, width, opened.working)

    def _trees(self, trees: list[Forest], known: Known, width: float) -> Candidates:
        """Search trees, in closed form where there is one, on cells otherwise."""
        if known.certain and all(map(affine, trees)):

            def build(active: list[int], narrow: bool) -> Pass:
                chosen = {i: trees[i] for i in active}
                return Sharing(Exponentials(chosen.values(), narrow), chosen)

            return self._precisely(len(trees), Precise(build, narrows=not self.whole), width)
        opened = gridded(trees, self.whole, known)
        return search(range(len(trees)), opened, self.whole, self.clock, width, leader_first=True)

    def measured(self, listed: Searched, width: float) -> Searched:
        """Search what is not certified: by scores in doubles."""
        regions = [*map(region_of, listed.paths)]
        if any(map(gaussians.applies, regions)):
            raise Unsupported("A likelihood is too small for the panels of Gaussian noise.")
        errors = [own_error(region) for region in regions]
        found = self._bending(regions, MeasuredDuels(), width)
        return replace(listed, found=found, error=2 * max(errors, default=OWN_ERROR))

    def _result(self, searched: Searched) -> WorstLoss:
        found, best = searched.found, searched.found.best
        if best is None:
            loss = Enclosure(0.0, 0.0 if found.complete else math.inf, found.complete)
        else:
            ends = max(0.0, found.lower - searched.error), found.upper + searched.error
            loss = Enclosure(*ends, searched.certified)
        witness: Witness | None = None
        moves = best is not None and best.bounds.own != best.bounds.other
        if best is not None and moves and loss.lower >= self.epsilon:
            path, region = searched.at(best.path)
            sums = float(best.bounds.other), float(best.bounds.own)
            pair = pair_of_step(path, region, best.episode, best.background, *sums)
            with suppress(OutOfTime):
                late = self.clock.later(GRACE)
                witness = witness_of(self.algorithm, path.actions, *pair, "ball", late)
        part = "part of the decision paths, until the budget ran out"
        covers = self.everything if found.complete else part
        given = self.answer(loss, witness, len(searched.paths), covers=covers)
        return replace(given, complete=found.complete, doubt=searched.doubt)

    def _noiseless(self) -> WorstLoss | None:
        """Return an infinite loss if one reward changes what a run without noise does."""
        found = None
        with suppress(Unsupported, OutOfTime):  # there is noise
            found = finite.differing(self.algorithm, self.horizon, self.clock)
        if found is None:
            return None
        path, pair = found
        endless = Enclosure(math.inf, math.inf, certified=True)
        witness = witness_of(self.algorithm, path.actions, *pair, "ball", self.clock)
        return self.answer(endless, witness, 1)


def every_step(
    algorithm: Algorithm, horizon: int, streams: Streams, clock: Clock = ENDLESS
) -> Iterator[tuple[Path, Region, int, float]]:
    """Yield every path and episode with its largest loss, as far as it is attained.

    Raise `Unsupported` where the extremal-streams theorem does not apply, `OutOfTime` if late.
    """
    asked = LossSearch(algorithm, horizon, streams, clock)
    searched = asked.searched(asked.listed(), LOOK)
    clock()
    for item in searched.found.known.values():
        yield *searched.at(item.path), item.episode, item.bounds.lower


def _kept(path: Path) -> bool:
    """Tell whether some decision of a path is an elimination."""
    return any(isinstance(request, Keep) for request in path.requests)

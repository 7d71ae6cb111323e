"""Every stream of a finite reward grid, every decision path, no theorem about streams.

Log-likelihoods of an action sequence are tabulated over all streams, each between two ends, and
computed once for every vector of the sums that are released, since a path knows a stream by these
alone; sums over the bits of randomised responses, which are about one reward each, for all streams
at once. The rest is brute force over streams, positions and grid values.

**All of [0, 1]^T from binary streams, for responses.** Where no path responds to a reward twice,
the probability f(r) of an action sequence is affine in each reward: a sum over paths and bits of
products of chances zero + (one - zero) r_t, with each r_t in one factor at most. For streams that
differ in r_i the ratio f(r) / f(r') is a ratio of two affine functions of any other r_j, hence
monotone in it, and monotone in r_i and in r'_i; so its supremum is attained where all of them are
0 or 1. On a lattice the grid of rewards is all that a release tells apart. For other paths a grid
gives a lower bound for rewards in [0, 1], and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Release, Respond
from dpaudit.core.arithmetic import exact
from dpaudit.core.lattice import Lattice
from dpaudit.errors import Contradiction, InvalidArgument, Unsupported
from dpaudit.exact import finite
from dpaudit.exact.balls.interval import Array, Interval
from dpaudit.exact.clock import GRACE, Clock, OutOfTime
from dpaudit.exact.lattice_sums import whole_sums
from dpaudit.exact.likelihood import Engine, Likelihood, of_paths
from dpaudit.exact.paths import Path, all_paths, by_actions
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

MOST_STREAMS, MOST_ROUNDS = 200_000, 12  # of a grid; of sums over responses or a lattice
MOST_SUMS = 4_000  # combinations on a lattice, of all paths, before [0, 1] is left for {0, 1}
SMALLEST = 1e-290
NEAR = 1e-6  # by which the largest loss may be unknown
ROUNDED = 1e-9  # what exponentials of doubles and their sums may lose
FINEST = 2**40


@dataclass
class Enumerated:
    """The largest loss over all pairs of grid streams, and the pair and actions that attain it."""

    grid: tuple[float, ...]
    loss: float = 0.0
    most: float = 0.0  # what no pair exceeds
    pair: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None = None
    certified: bool = True
    paths: int = 0
    complete: bool = True

    def see(
        self, actions: NDArray[np.int64], logs: Interval, certified: bool = True
    ) -> tuple[NDArray[np.bool_], float]:
        """Look at all neighbouring streams of an action sequence, by its log-likelihoods on each.

        Return the streams of pairs that may raise the largest loss by more than `NEAR`, and what
        none of the pairs exceeds. Where all is `certified`, -inf is impossible, not too small to
        tell.
        """
        shape = (len(self.grid),) * len(actions)
        most = 0.0
        rivals = np.zeros(shape, dtype=bool)
        for axis in range(len(actions)):
            low, high, mine = (
                np.moveaxis(part.reshape(shape), axis, 0) for part in (logs.lo, logs.hi, rivals)
            )
            for ours, theirs in permutations(range(len(self.grid)), 2):
                never = np.isneginf(high[ours])
                with np.errstate(invalid="ignore"):
                    least = np.where(never, 0.0, low[ours] - high[theirs])
                    upper = np.where(never, 0.0, high[ours] - low[theirs])
                endless = np.isinf(upper)
                if np.any(endless & ~np.isposinf(least)) or (endless.any() and not certified):
                    raise Unsupported("A likelihood is too small for doubles.")
                most = max(most, float(upper.max()))
                if least.max() > self.loss:
                    self.loss = float(least.max())
                    rest = [int(i) for i in np.unravel_index(int(least.argmax()), least.shape)]
                    one, two = (
                        tuple(self.grid[i] for i in (*rest[:axis], value, *rest[axis:]))
                        for value in (ours, theirs)
                    )
                    self.pair = one, two, tuple(int(arm) for arm in actions)
                for side in (ours, theirs):
                    mine[side] |= upper > self.loss + NEAR
        return rivals.ravel(), most


def worst_pair(
    algorithm: Algorithm,
    horizon: int,
    grid: Sequence[float],
    *,
    budget: float | None = None,
) -> Enumerated:
    """Return the largest loss over all pairs of streams with rewards in a grid.

    Likelihoods get a quick look; those of pairs that may exceed what was attained, a closer one.
    """
    if len(grid) ** horizon > MOST_STREAMS:
        most = int(math.log(MOST_STREAMS) / math.log(len(grid)))
        rule = f"must be at most {most}: {len(grid)}^T streams have to be enumerated."
        raise InvalidArgument("horizon", horizon, rule)
    clock = Clock.of(budget)
    streams = np.array(list(product(grid, repeat=horizon)), dtype=float)
    found = Enumerated(tuple(map(float, grid)))
    sums = np.zeros((2, len(streams)))
    try:
        groups = by_actions(all_paths(algorithm, horizon, clock))
        found.paths = sum(map(len, groups))
        while groups:  # what was built for a path goes with it
            logs = _seen(found, groups.pop(0), streams, clock)
            sums += np.exp((logs.lo, logs.hi))
    except OutOfTime:  # sums over some of their paths say nothing of the actions
        found.complete = False
    if found.complete and np.any((sums[0] - ROUNDED > 1) | (sums[1] + ROUNDED < 1)):
        wrong = Contradiction if found.certified else Unsupported  # doubles may be worse than told
        raise wrong("Likelihoods of all action sequences do not add up to 1.")
    return found


def _seen(found: Enumerated, group: Sequence[Path], streams: Array, clock: Clock) -> Interval:
    """Look at an action sequence, the sum over the paths that show as it; return its logarithms."""
    actions, reads = group[0].actions, [event for path in group for _, event in path.reads]
    if reads and all(isinstance(event, Respond) for event in reads):
        logs = _responded(group, streams, clock)
        found.most = max(found.most, found.see(actions, logs)[1])
        return logs
    sums = [np.zeros(len(streams), np.int64), *(it for p in group for it in _sums(p, streams))]
    table = np.stack(sums, axis=1)
    _, first, alike = np.unique(table, axis=0, return_index=True, return_inverse=True)
    known: dict[int, Likelihood] = {}
    wanted = np.arange(len(first))
    engine: Engine
    for engine in ("float", "ball"):
        for number in wanted.tolist():
            clock()
            known[number] = of_paths(group, streams[first[number]], engine, clock)
        ends = np.array([(known[i].log_lower, known[i].log_upper) for i in range(len(first))])
        logs = Interval(*ends[np.ravel(alike)].T)
        sure = all(it.certified for it in known.values())
        rivals, most = found.see(actions, logs, sure)
        found.certified = found.certified and sure
        wanted = np.unique(np.ravel(alike)[rivals])
        if not len(wanted):
            break
    found.most = max(found.most, most)
    return logs


def _sums(path: Path, streams: Array) -> Iterator[NDArray[np.int64]]:
    """Yield the sums of what is released on every stream, in whole steps."""
    steps = math.lcm(*(exact(float(reward)).denominator for reward in np.unique(streams)))
    for _, event in path.reads:
        cells = steps
        if not isinstance(event, Respond) and isinstance(event.noise, Lattice):
            cells = int(event.noise.cells(event.divisor))
        if cells > FINEST:
            raise Unsupported("Rewards of so many digits have no sums in whole steps.")
        yield whole_sums(path, event.rows, streams, cells)


def _responded(group: Sequence[Path], streams: Array, clock: Clock) -> Interval:
    """Tabulate sums over responses on binary streams, all at once and in doubles.

    All terms are positive, so that each rounding is worth 2^-53 of the sum at most: three of them
    for every response of a term, and one for every term.
    """
    if streams.shape[1] > MOST_ROUNDS or not np.all((streams == 0) | (streams == 1)):
        rule = f"binary streams of up to {MOST_ROUNDS} rounds"
        raise Unsupported(f"Sums over responses are listed for {rule}.")
    found, roundings = np.zeros(len(streams)), len(group)
    for path in group:
        clock()
        asked = [event for _, event in path.reads if isinstance(event, Respond)]
        chances = [c for it in asked for one in (it.one, it.zero) for c in (one, 1 - one) if c]
        coins = float(path.chance)
        if coins * float(min(chances, default=1)) ** len(asked) < SMALLEST:
            raise Unsupported("A likelihood is too small for doubles.")
        found += coins * finite.probability(path, list(streams.T))
        roundings += 2 + 3 * len(asked) + 2 ** len(asked)
    error = roundings * 2.0**-52
    logs = Interval(found * (1 - error), found * (1 + error)).log()
    return Interval(logs.lo, np.minimum(logs.hi, 0.0))


def finitely_many(asked: Question) -> bool:
    """Return whether a declaration rounds to a grid, or its first path holds a response.

    False where there is no time to tell: the other searches refuse a response by name.
    """
    if asked.algorithm.grid is not None:
        return True
    with suppress(OutOfTime):
        first = islice(all_paths(asked.algorithm, asked.horizon, asked.clock), 1)
        return any(isinstance(event, Respond) for path in first for event in path.events)
    return False


def enumerated(asked: Question, reason: str = "") -> WorstLoss:
    """Return what a grid of streams shows; without a `reason`, by sums over responses or a lattice.

    The reason is why no theorem spares the enumeration.
    """
    if not reason and asked.horizon > MOST_ROUNDS:
        rule = f"must be at most {MOST_ROUNDS}: 2^T streams have to be listed."
        raise Unsupported(f"horizon={asked.horizon} {rule}")
    try:
        cells, every = _grid(asked, reason)
    except OutOfTime:
        raise Unsupported("The budget ended before every path was listed.") from None
    try:
        levels = [k / cells for k in range(cells + 1)]
        found = worst_pair(asked.algorithm, asked.horizon, levels, budget=asked.clock.left)
    except InvalidArgument as error:
        raise Unsupported(f"{reason} Enumeration instead is out of reach: {error}") from None
    known = ((asked.whole or every) and found.complete) or found.loss == math.inf
    # differences of doubles are within the next ones
    lower = found.loss if found.loss == math.inf else max(0.0, math.nextafter(found.loss, 0.0))
    most = math.nextafter(found.most, math.inf)
    witness = None
    if found.pair is not None and lower >= asked.epsilon:
        stream, neighbour, actions = found.pair
        late = asked.clock.later(GRACE)
        with suppress(OutOfTime):
            witness = witness_of(asked.algorithm, actions, stream, neighbour, "ball", late)
    names = "{0,1}" if cells == 1 else "{0,1/2,1}"
    summed = "sums over responses" if asked.algorithm.grid is None else "sums over a lattice"
    return asked.answer(
        Enclosure(lower, most if known else math.inf, found.certified),
        witness,
        found.paths,
        method=f"enumeration over {names}^T" if reason else summed,
        covers=_covers(asked, reason, found, every, names),
        complete=found.complete,
    )


def _grid(asked: Question, reason: str) -> tuple[int, bool]:
    """Return into how many steps rewards are cut, and if this covers all of them in [0, 1]."""
    if reason:
        return (1 if asked.whole else 2), False
    paths = list(all_paths(asked.algorithm, asked.horizon, asked.clock))
    grid = asked.algorithm.grid
    if grid is None:
        return 1, all(map(_asked_once, paths))
    sums = sum(math.prod(len(it.rows) * grid + 1 for _, it in path.reads) for path in paths)
    few = sums <= MOST_SUMS and (grid + 1) ** asked.horizon <= MOST_STREAMS
    every = few and not asked.whole and all(_on_grid(path, grid) for path in paths)
    return (grid if every else 1), every


def _on_grid(path: Path, grid: int) -> bool:
    """Tell whether all that a path releases is rounded to the nearest points of a grid."""
    return all(
        isinstance(it, Release | Accumulate)
        and isinstance(it.noise, Lattice)
        and it.noise.cells(it.divisor) == grid
        and it.noise.rounding == "nearest"
        for _, it in path.reads
    )


def _asked_once(path: Path) -> bool:
    """Tell whether responses are all that a path's decisions read, each to another reward.

    The path's likelihood is then linear in every reward, and so binary streams lose most.
    """
    asked = {event.rows for _, event in path.reads if isinstance(event, Respond)}
    return len(asked) == len(path.reads)


def _covers(asked: Question, reason: str, found: Enumerated, every: bool, names: str) -> str:
    """Say which pairs of streams were looked at."""
    if not found.complete:
        part = f"streams in {names}^T" if reason else "action sequences"
        return f"part of the {part}, until the budget ran out. {reason}".rstrip()
    whole = asked.whole or every
    if reason:
        said = f"every action sequence and every pair of streams in {names}^T. {reason}"
        plain = whole or found.loss == math.inf
        return said if plain else f"{said} For rewards in [0, 1] this is a lower bound."
    said = (asked if whole else replace(asked, streams="binary")).everything
    if asked.algorithm.grid is not None:
        said += ", of the program as it runs"
    if whole:
        return said
    why = "Not every reward is responded to once: f" if asked.algorithm.grid is None else "F"
    return f"{said}. {why}or rewards in [0, 1] this is a lower bound"

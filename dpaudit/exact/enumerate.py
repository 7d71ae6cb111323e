"""Every stream of a finite reward grid, every decision path, no theorem about streams.

Log-likelihoods of an action sequence are tabulated over all streams, each between two ends: sums
over the bits of randomised responses are enclosed, what happens without noise is 0 or minus
infinity, and what is integrated is computed in doubles, once for every vector of episode sums,
since a path knows a stream by these sums alone. The rest is brute force over streams,
positions and grid values.

**All of [0, 1]^T from binary streams, for responses.** Where no path responds to a reward twice,
the probability f(r) of an action sequence is affine in each reward: a sum over paths and bits of
products of chances zero + (one - zero) r_t, with each r_t in one factor at most. For streams that
differ in r_i the ratio f(r) / f(r') is a ratio of two affine functions of any other r_j, hence
monotone in it, and monotone in r_i and in r'_i; so its supremum is attained where all of them are
0 or 1. For other paths a grid gives a lower bound for rewards in [0, 1], and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Respond
from dpaudit.errors import Contradiction, InvalidArgument, Unsupported
from dpaudit.exact import noiseless, responses
from dpaudit.exact.balls.certified import closed
from dpaudit.exact.balls.interval import Array, Interval
from dpaudit.exact.clock import ENDLESS, GRACE, Clock, OutOfTime
from dpaudit.exact.likelihood import (
    Engine,
    Likelihood,
    exact_sum,
    log_likelihood,
    measured_error,
    path_likelihood,
    total,
)
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import DEFAULT_FLOOR, Question, WorstLoss
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

MOST_STREAMS, MOST_ROUNDS = 200_000, 12  # in doubles; of sums over responses
SMALLEST = 1e-290
ROUNDED = 1e-9  # what exponentials of doubles and their sums may lose
COINS_ERROR = 1e-12  # of the logarithm of a coin's chances, in doubles
RESPONSES = "sums over responses"


@dataclass(frozen=True)
class Tabulated:
    """Log-likelihoods between two ends, an axis for each number in which neighbours may differ."""

    low: Array
    high: Array
    error: float = 0.0  # of either end
    certified: bool = True  # so that -inf is impossible, not too small to tell


@dataclass(frozen=True)
class Flip:
    """A step in a table: the smaller index, the axis, how far it moves, if up is likelier."""

    index: tuple[int, ...]
    axis: int
    moved: int
    up: bool

    @property
    def ends(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The likelier index and the other one."""
        other = list(self.index)
        other[self.axis] += self.moved
        return (tuple(other), self.index) if self.up else (self.index, tuple(other))


@dataclass
class Steepest:
    """The largest loss between neighbours of the tables seen, and where it is."""

    log_floor: float
    loss: float = 0.0
    most: float = 0.0  # what no neighbours exceed
    likely: float = 0.0  # the largest loss whose likelier side reaches the floor
    where: tuple[bytes, Flip] | None = None
    error: float = 0.0  # of every log-likelihood
    certified: bool = True

    def see(self, key: bytes, table: Tabulated, reach: Sequence[int]) -> None:
        """Look at all neighbours that differ along one axis, by up to its reach."""
        self.error = max(self.error, table.error)
        self.certified = self.certified and table.certified
        for axis, furthest in enumerate(reach):
            low, high = (np.moveaxis(part, axis, 0) for part in (table.low, table.high))
            for moved, up in product(range(1, furthest + 1), (True, False)):
                ours, theirs = (slice(moved, None), slice(None, -moved))[:: 1 if up else -1]
                never = np.isneginf(high[ours])
                with np.errstate(invalid="ignore"):
                    least = np.where(never, 0.0, low[ours] - high[theirs])
                    upper = np.where(never, 0.0, high[ours] - low[theirs])
                endless = np.isinf(upper)
                if np.any(endless & ~np.isposinf(least)) or (endless.any() and not table.certified):
                    raise Unsupported("A likelihood is too small for doubles.")
                self.most = max(self.most, float(upper.max()))
                likely = least[high[ours] >= self.log_floor]
                self.likely = max(self.likely, float(likely.max(initial=0.0)))
                if least.max() > self.loss:
                    self.loss = float(least.max())
                    at, *rest = map(int, np.unravel_index(int(least.argmax()), least.shape))
                    index = (*rest[:axis], at, *rest[axis:])
                    self.where = key, Flip(index, axis, moved, up)


@dataclass
class Enumerated(Steepest):
    """The largest loss over all pairs of grid streams, and the pair and actions that attain it."""

    pair: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None = None
    paths: int = 0
    complete: bool = True


def worst_pair(
    algorithm: Algorithm,
    horizon: int,
    grid: Sequence[float],
    *,
    budget: float | None = None,
    floor: float = DEFAULT_FLOOR,
) -> Enumerated:
    """Return the largest loss over all pairs of streams with rewards in a grid."""
    if len(grid) ** horizon > MOST_STREAMS:
        most = int(math.log(MOST_STREAMS) / math.log(len(grid)))
        rule = f"must be at most {most}: {len(grid)}^T streams have to be enumerated."
        raise InvalidArgument("horizon", horizon, rule)
    clock = Clock.of(budget)
    streams = np.array(list(product(grid, repeat=horizon)), dtype=float)
    groups: dict[bytes, list[Path]] = {}
    found = Enumerated(math.log(floor))
    sums = np.zeros((2, len(streams)))
    try:
        for path in all_paths(algorithm, horizon, clock):
            groups.setdefault(path.actions.tobytes(), []).append(path)
        for key, group in groups.items():
            table = _table(group, streams, clock)
            sums += np.exp((table.low - table.error, table.high + table.error))
            low, high = (part.reshape((len(grid),) * horizon) for part in (table.low, table.high))
            found.see(key, replace(table, low=low, high=high), (len(grid) - 1,) * horizon)
    except OutOfTime:  # sums over some of their paths say nothing of the actions
        found.complete = False
    if found.complete and np.any((sums[0] - ROUNDED > 1) | (sums[1] + ROUNDED < 1)):
        wrong = Contradiction if found.certified else Unsupported  # doubles may be worse than told
        raise wrong("Likelihoods of all action sequences do not add up to 1.")
    if found.where is not None:
        key, place = found.where
        one, two = (tuple(float(grid[i]) for i in end) for end in place.ends)
        found.pair = one, two, tuple(int(arm) for arm in groups[key][0].actions)
    found.paths = sum(map(len, groups.values()))
    return found


def _table(group: Sequence[Path], streams: Array, clock: Clock) -> Tabulated:
    """Tabulate an action sequence, the sum over the paths that show as it."""
    if any(responses.applies(path) for path in group):
        if streams.shape[1] > MOST_ROUNDS or not np.all((streams == 0) | (streams == 1)):
            rule = f"binary streams of up to {MOST_ROUNDS} rounds"
            raise Unsupported(f"Sums over responses are listed for {rule}.")
        rational = np.sum([_responded(path, streams, clock) for path in group], axis=0)
        near = rational.astype(float)  # nearest doubles; 0 is 0 itself
        if np.any((rational > 0) & (near < SMALLEST)):
            raise Unsupported("A likelihood is too small for doubles.")
        ends = np.nextafter(near, 0.0), np.where(near > 0, np.nextafter(near, np.inf), 0.0)
        logs = Interval(*ends).log()
        return Tabulated(logs.lo, logs.hi)
    regions = [region_of(path) for path in group]
    if all(closed(region) for region in regions):
        return _enclosed(group, regions, streams, clock)
    exact = all(noiseless.applies(region) for region in regions)
    error = 0.0 if exact else max(measured_error(region) for region in regions)
    if any(path.chance != 1 for path in group):
        error = max(error, COINS_ERROR)
    coins = [math.log(p.chance.numerator) - math.log(p.chance.denominator) for p in group]
    logs_of = [log_table(region, streams, clock) for region in regions]
    values = np.logaddexp.reduce([a + b for a, b in zip(logs_of, coins, strict=True)])
    return Tabulated(values, values, error, exact)


def _enclosed(
    group: Sequence[Path], regions: Sequence[Region], streams: Array, clock: Clock
) -> Tabulated:
    """Tabulate an action sequence in balls, once for every vector of episode sums."""
    episodes = [episode for region in regions for episode in region.episodes]
    sums = [tuple(exact_sum(stream, e.steps) for e in episodes) for stream in streams]
    known: dict[tuple[Fraction, ...], Likelihood] = {}
    for key, stream in zip(sums, streams, strict=True):
        if key not in known:
            clock()
            known[key] = total([path_likelihood(path, stream, "ball", clock) for path in group])
    rows = [known[key] for key in sums]
    low, high = np.array([(row.log_lower, row.log_upper) for row in rows]).T
    return Tabulated(low, high, 0.0, certified=all(row.certified for row in rows))


def _responded(path: Path, streams: Array, clock: Clock) -> NDArray[Any]:
    """Return a path's probability on every binary stream, as rationals."""
    clock()
    table, steps = responses.on_binary_streams(path)
    bits = streams.astype(np.int64)
    values = table[tuple(bits[:, step] for step in steps)] if steps else path.chance
    return np.asarray(np.full(len(streams), Fraction(0)) + values)


def log_table(region: Region, streams: Array, clock: Clock = ENDLESS) -> Array:
    """Return the log-likelihood of a region on every stream (rows)."""
    clock()
    if not region.decisions:
        return np.zeros(len(streams))
    if noiseless.applies(region):
        totals = ([exact_sum(stream, e.steps) for e in region.episodes] for stream in streams)
        happens = [noiseless.happens(region, sums) for sums in totals]
        return np.where(happens, 0.0, -np.inf)
    sums = np.stack(
        [
            sum(streams[:, part.start : part.stop].sum(1) for part in episode.steps)
            for episode in region.episodes
        ],
        axis=1,
    )
    distinct, inverse = np.unique(np.round(sums, 12), axis=0, return_inverse=True)
    values = [log_likelihood(region, row, clock) for row in region.means(distinct)]
    return np.array(values)[np.ravel(inverse)]


def responds(asked: Question) -> bool:
    """Return whether the first decision path of a declaration holds a randomised response.

    False where there is no time to tell: the other searches refuse a response by name.
    """
    with suppress(OutOfTime):
        first = islice(all_paths(asked.algorithm, asked.horizon, asked.clock), 1)
        return any(responses.applies(path) for path in first)
    return False


def enumerated(asked: Question, reason: str = "") -> WorstLoss:
    """Return what a grid of streams shows; without a `reason`, by sums over responses."""
    summed = not reason
    binary = asked.whole or summed
    if summed and asked.horizon > MOST_ROUNDS:
        rule = f"must be at most {MOST_ROUNDS}: 2^T streams have to be listed."
        raise Unsupported(f"horizon={asked.horizon} {rule}")
    grid, names = ((0.0, 1.0), "{0,1}") if binary else ((0.0, 0.5, 1.0), "{0,1/2,1}")
    given: dict[str, Any] = {"budget": asked.clock.left, "floor": asked.floor}
    try:
        found = worst_pair(asked.algorithm, asked.horizon, grid, **given)
    except InvalidArgument as error:
        raise Unsupported(f"{reason} Enumeration instead is out of reach: {error}") from None
    affine = summed and found.complete and not _asked_twice(asked)
    whole = asked.whole or affine
    known = (whole and found.complete) or found.loss == math.inf
    # differences of doubles are within the next ones
    least = found.loss if found.loss == math.inf else math.nextafter(found.loss, 0.0)
    lower = max(0.0, least - 2 * found.error)
    most = math.nextafter(found.most, math.inf) + 2 * found.error
    witness = None
    if found.pair is not None and lower >= asked.epsilon:
        stream, neighbour, actions = found.pair
        engine: Engine = "ball" if found.certified else "float"
        late = asked.clock.later(GRACE)
        witness = witness_of(asked.algorithm, actions, stream, neighbour, engine, late)
    return asked.answer(
        Enclosure(lower, most if known else math.inf, found.certified),
        witness,
        found.paths,
        method=RESPONSES if summed else f"enumeration over {names}^T",
        covers=_covers(asked, reason, found, whole, names),
        complete=found.complete,
        loss_above_floor=found.likely,
        proved=found.complete,
    )


def _asked_twice(asked: Question) -> bool:
    """Tell whether some path responds to a reward twice."""
    for path in all_paths(asked.algorithm, asked.horizon):
        found = [responses.positions(path, e) for e in path.events if isinstance(e, Respond)]
        if len(set(found)) < len(found):
            return True
    return False


def _covers(asked: Question, reason: str, found: Enumerated, whole: bool, names: str) -> str:
    """Say which pairs of streams were looked at."""
    if not found.complete:
        part = f"streams in {names}^T" if reason else "action sequences"
        return f"part of the {part}, until the budget ran out. {reason}".rstrip()
    if reason:
        said = f"every action sequence and every pair of streams in {names}^T. {reason}"
        plain = whole or found.loss == math.inf
        return said if plain else f"{said} For rewards in [0, 1] this is a lower bound."
    if whole:
        return asked.everything
    said = replace(asked, streams="binary").everything
    twice = "A reward is responded to twice: for rewards in [0, 1] this is a lower bound"
    return f"{said}. {twice}"

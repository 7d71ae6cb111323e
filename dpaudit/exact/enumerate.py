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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm, Respond
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import noiseless, responses
from dpaudit.exact.balls.interval import Array, Interval
from dpaudit.exact.clock import ENDLESS, GRACE, Clock, OutOfTime
from dpaudit.exact.likelihood import Engine, exact_sum, log_likelihood, measured_error
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import DEFAULT_FLOOR, Question, WorstLoss
from dpaudit.exact.witness import witness_of
from dpaudit.verdict import Enclosure

MOST_STREAMS, MOST_ROUNDS = 200_000, 12  # in doubles; of sums over responses
SMALLEST = 1e-290
COINS_ERROR = 1e-12  # of the logarithm of a coin's chances, in doubles
RESPONSES = "sums over responses"


@dataclass(frozen=True)
class Tabulated:
    """Log-likelihoods on every stream between two ends, and how far off those may be."""

    low: Array
    high: Array
    error: float
    certified: bool  # so that -inf is impossible, not too small to tell


@dataclass(frozen=True)
class Enumerated:
    """The largest loss over all pairs of grid streams, and the pair that attains it."""

    loss: float
    most: float  # what no pair exceeds
    pair: tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]] | None
    paths: int
    complete: bool
    above_floor: float
    error: float  # of every log-likelihood; 0 where all of them are enclosed
    certified: bool


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
    found = Enumerated(0.0, 0.0, None, 0, True, 0.0, 0.0, certified=True)
    try:
        for path in all_paths(algorithm, horizon, clock):
            groups.setdefault(path.actions.tobytes(), []).append(path)
        for group in groups.values():
            table = _table(group, streams, clock)
            for step in _steepest(table, (len(grid),) * horizon, math.log(floor)):
                found = _taken(found, step, group[0], streams)
            found = replace(
                found,
                error=max(found.error, table.error),
                certified=found.certified and table.certified,
            )
    except OutOfTime:  # sums over some of their paths say nothing of the actions
        found = replace(found, complete=False)
    return replace(found, paths=sum(map(len, groups.values())))


@dataclass(frozen=True)
class Flip:
    """The steepest change of one reward: its loss, what bounds all of them, and both streams."""

    loss: float
    most: float
    likely: float  # the largest loss among those whose likelier side reaches a floor
    top: int
    bottom: int


def _taken(found: Enumerated, step: Flip, path: Path, streams: Array) -> Enumerated:
    found = replace(
        found,
        most=max(found.most, step.most),
        above_floor=max(found.above_floor, step.likely),
    )
    if not step.loss > found.loss:
        return found
    actions = tuple(int(arm) for arm in path.actions)
    pair = tuple(streams[step.top].tolist()), tuple(streams[step.bottom].tolist()), actions
    return replace(found, loss=step.loss, pair=pair)


def _steepest(table: Tabulated, shape: tuple[int, ...], log_floor: float) -> Iterator[Flip]:
    """Yield for every position of a stream the steepest change of its reward."""
    low, high = table.low.reshape(shape), table.high.reshape(shape)
    for axis in range(len(shape)):
        least, most = np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0)
        top = most.max(0)
        with np.errstate(invalid="ignore"):
            losses = np.where(np.isneginf(top), 0.0, least.max(0) - most.min(0))
            upper = np.where(np.isneginf(top), 0.0, top - least.min(0))
        endless = np.isinf(upper)
        if np.any(endless & ~np.isposinf(losses)) or (endless.any() and not table.certified):
            raise Unsupported("A likelihood is too small for doubles.")
        best = int(np.argmax(losses))
        place = tuple(map(int, np.unravel_index(best, losses.shape)))
        columns = (part.reshape(len(part), -1)[:, best] for part in (least, most))
        ends = [int(pick(c)) for pick, c in zip((np.argmax, np.argmin), columns, strict=True)]
        at = [np.ravel_multi_index((*place[:axis], end, *place[axis:]), shape) for end in ends]
        likely = float(losses[top >= log_floor].max(initial=0.0))
        yield Flip(float(losses.flat[best]), float(upper.max()), likely, int(at[0]), int(at[1]))


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
        return Tabulated(logs.lo, logs.hi, 0.0, certified=True)
    regions = [region_of(path) for path in group]
    exact = all(noiseless.applies(region) for region in regions)
    error = 0.0 if exact else max(measured_error(region) for region in regions)
    if any(path.chance != 1 for path in group):
        error = max(error, COINS_ERROR)
    coins = [math.log(p.chance.numerator) - math.log(p.chance.denominator) for p in group]
    logs_of = [log_table(region, streams, clock) for region in regions]
    values = np.logaddexp.reduce([a + b for a, b in zip(logs_of, coins, strict=True)])
    return Tabulated(values, values, error, exact)


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
    lower, slack = max(0.0, found.loss - 2 * found.error), 2 * found.error
    witness = None
    if found.pair is not None and lower >= asked.epsilon:
        stream, neighbour, actions = found.pair
        engine: Engine = "ball" if summed else "float"
        late = asked.clock.later(GRACE)
        witness = witness_of(asked.algorithm, actions, stream, neighbour, engine, late)
    return asked.answer(
        Enclosure(lower, found.most + slack if known else math.inf, found.certified),
        witness,
        found.paths,
        method=RESPONSES if summed else f"enumeration over {names}^T",
        covers=_covers(asked, reason, found, whole, names),
        complete=found.complete,
        loss_above_floor=found.above_floor,
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

"""The largest loss where every release is a randomised response: a maximum over binary streams.

**All of [0, 1]^T from binary streams.** Where no path responds to a reward twice, the probability
f(r) of an action sequence is affine in each reward: a sum over paths and bits of products of
chances zero + (one - zero) r_t, with each r_t in one factor at most. For streams that differ in r_i
the ratio f(r) / f(r') is a ratio of two affine functions of any other r_j, hence monotone in it,
and monotone in r_i and in r'_i; so its supremum is attained where all of them are 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.interval import above as upwards
from dpaudit.exact.balls.interval import below
from dpaudit.exact.clock import Clock, OutOfTime
from dpaudit.exact.paths import all_paths
from dpaudit.exact.responses import applies, on_binary_streams
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import witness_of_flip
from dpaudit.verdict import Enclosure

Array = NDArray[np.float64]
Flip = tuple[tuple[int, ...], int, int]  # the other bits, the position, its likelier bit
MOST_ROUNDS = 12
SMALLEST = 1e-290
ROUNDING = 1e-15  # of a ratio of two doubles that are each nearest to a rational


def responds(algorithm: Algorithm, horizon: int, clock: Clock) -> bool:
    """Return whether the first decision path of a declaration holds a randomised response.

    False where there is no time to tell: the other searches refuse a response by name.
    """
    try:
        return any(applies(path) for path in islice(all_paths(algorithm, horizon, clock), 1))
    except OutOfTime:
        return False


def largest_loss(asked: Question) -> WorstLoss:
    """Return an enclosure of the largest loss; raise `Unsupported` where noise is added as well."""
    algorithm, horizon, clock = asked.algorithm, asked.horizon, asked.clock
    if horizon > MOST_ROUNDS:
        rule = f"must be at most {MOST_ROUNDS}: 2^T streams have to be listed."
        raise Unsupported(f"horizon={horizon} {rule}")
    paths, twice = 0, False
    every = np.array(list(product((0, 1), repeat=horizon)), dtype=np.int64)
    totals: dict[bytes, Any] = {}
    best: tuple[float, tuple[bytes, tuple[int, ...], int, int] | None] = (1.0, None)
    above = 1.0
    complete = True
    try:
        for path in all_paths(algorithm, horizon, clock):
            clock()
            table, steps = on_binary_streams(path)
            twice = twice or len(set(steps)) < len(steps)
            values = table[tuple(every[:, step] for step in steps)] if steps else path.chance
            key = path.actions.tobytes()
            totals[key] = totals.get(key, 0) + np.full(len(every), 0) + values
            paths += 1
        for key, rational in totals.items():
            clock()
            if any(0 < value < SMALLEST for value in rational.flat):
                raise Unsupported("A likelihood is too small for doubles.")
            cube = rational.astype(float).reshape((2,) * horizon)
            for ratio, likely_ratio, flip in _flips(cube, asked.floor):
                above = max(above, likely_ratio)
                if ratio > best[0]:
                    best = ratio, (key, *flip)
    except OutOfTime:
        complete = False
    if paths == 0:
        raise Unsupported("The budget ended before the first pair was certified.")
    loss = _enclosed(best[0]) if complete else Enclosure(_enclosed(best[0]).lower, math.inf, True)
    said = {}
    if complete and twice and not asked.whole:
        loss = Enclosure(loss.lower, math.inf, certified=True)
        said["covers"] = replace(asked, streams="binary").everything
        said["covers"] += (
            ". A reward is responded to twice: for rewards in [0, 1] this is a lower bound"
        )
    if not complete:
        said["covers"] = "part of the action sequences, until the budget ran out"
    witness = None
    if best[1] is not None and loss.lower >= asked.epsilon:
        witness = witness_of_flip(algorithm, *best[1], clock)
    return asked.answer(
        loss,
        witness,
        paths,
        method="sums over responses",
        complete=complete,
        loss_above_floor=math.log(above),
        proved=complete,
        **said,
    )


def _flips(cube: Array, floor: float) -> Iterator[tuple[float, float, Flip]]:
    """Yield for every position the largest ratio, that above a floor, and where the first is."""
    for position in range(cube.ndim):
        pair = np.moveaxis(cube, position, 0)
        low, high = pair.min(axis=0), pair.max(axis=0)
        ratio = np.divide(high, low, out=np.full(low.shape, math.inf), where=low > 0)
        ratio[high == 0] = 1.0
        place = int(ratio.argmax())
        likely = int(pair[1].flat[place] >= pair[0].flat[place])
        others = tuple(map(int, np.unravel_index(place, ratio.shape)))
        likeliest = float(ratio[high >= floor].max(initial=1.0))
        yield float(ratio.flat[place]), likeliest, (others, position, likely)


def _enclosed(ratio: float) -> Enclosure:
    """Return an enclosure of the log of a ratio that was divided in doubles."""
    if ratio == math.inf:
        return Enclosure(math.inf, math.inf, certified=True)
    lower = below((arb(ratio) * (1 - arb(ROUNDING))).log())
    return Enclosure(max(lower, 0.0), upwards((arb(ratio) * (1 + arb(ROUNDING))).log()), True)

"""The largest loss of a program whose noise lies on a lattice, over all binary streams.

The extremal-streams theorem is about densities; here every binary stream and every action sequence
is looked at. That is a lower bound for rewards in [0, 1], and the charge bounds it from above.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.exact.clock import OutOfTime
from dpaudit.exact.lattice_sums import Chance, exactly, probability, sums_of
from dpaudit.exact.paths import all_paths
from dpaudit.exact.search import Question, WorstLoss
from dpaudit.exact.witness import witness_of_flip
from dpaudit.verdict import Enclosure

LONGEST = 12


def largest_loss(asked: Question) -> WorstLoss:
    """Return the largest loss over binary streams, with the pair that attains it."""
    horizon, clock = asked.horizon, asked.clock
    if horizon > LONGEST:
        raise Unsupported(f"On a lattice all streams are listed, of up to {LONGEST} rounds.")
    streams = np.array(list(product((0.0, 1.0), repeat=horizon)))
    lows: dict[bytes, np.ndarray] = {}
    highs: dict[bytes, np.ndarray] = {}
    paths, complete, certified = 0, True, True
    try:
        for path in all_paths(asked.algorithm, horizon, clock):
            sums = [sums_of(path, stream) for stream in streams]
            known: dict[tuple[int, ...], Chance] = {}
            for own in set(sums):
                clock()
                known[own] = exactly(path.chance, probability(path, own))
                certified = certified and known[own].certified
            key = path.actions.tobytes()
            lows[key] = lows.get(key, 0.0) + np.array([known[own].lower for own in sums])
            highs[key] = highs.get(key, 0.0) + np.array([known[own].upper for own in sums])
            paths += 1
    except OutOfTime:
        complete = False
    if not paths or not complete:  # some paths of an action sequence say nothing of it
        raise Unsupported("The budget ended before every path was summed.")
    lower, upper, best, above = 0.0, 0.0, None, 0.0
    for key in lows:
        shape = (2,) * horizon
        low, high = lows[key].reshape(shape), highs[key].reshape(shape)
        for position in range(horizon):
            down, up = np.moveaxis(low, position, 0), np.moveaxis(high, position, 0)
            for one in (0, 1):
                if np.any((down[1 - one] <= 0) & (up[one] > 0)):
                    raise Unsupported("A likelihood is too small for doubles.")
                least = np.log(np.maximum(down[one], 5e-324)) - np.log(up[1 - one])
                most = np.log(up[one]) - np.log(down[1 - one])
                upper = max(upper, float(most.max()))
                likely = up[one] >= asked.floor
                above = max(above, float(most[likely].max()) if likely.any() else 0.0)
                if least.max() > lower:
                    lower = float(least.max())
                    others = np.unravel_index(int(least.argmax()), least.shape)
                    best = key, tuple(float(bit) for bit in others), position, one
    slack = 1e-13 * (1 + upper)  # of logarithms and their differences
    lower, upper = max(0.0, lower - slack), upper + slack
    witness = None
    if best is not None and lower >= asked.epsilon:
        witness = witness_of_flip(asked.algorithm, *best, clock)
    covers = replace(asked, streams="binary").everything + ", of the program as it runs"
    if not asked.whole:
        covers += ". For rewards in [0, 1] this is a lower bound"
    return asked.answer(
        Enclosure(lower, upper if asked.whole else math.inf, certified),
        witness,
        paths,
        method="sums over a lattice",
        covers=covers,
        loss_above_floor=above,
        proved=True,
    )

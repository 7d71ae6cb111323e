"""Paths whose noise lies on a lattice: likelihoods of the program that runs, by sums.

The registers are the doubles of the stream runner, and the decisions are its own comparisons of
doubles; only the integers drawn are random. While an arm loses, its register keeps its law given
the decisions so far: a weight for every point of the lattice. The winner's register is summed out,
and must be overwritten before it is read again. So a path costs a few passes over the points.

All terms are positive. A weight is an exponential with relative error below 1e-12 (its exponent is
at most `REACH` and rounded a few times), and each pass of N points adds at most 3 N 2^-53; what
lies more than `REACH` scales out is added to the upper end. Two arms, one release to a register,
scores of one register: for others the sums are of more dimensions, and there is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Choose, Release
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.lattice import DiscreteLaplace, Lattice, rounded
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path

REACH = 50.0  # scales; beyond, less than 2e-22 of the probability
MOST_POINTS = 3_000_000
WEIGHT_ERROR = 1e-12
Array = NDArray[np.float64]


@dataclass
class Held:
    """A register's values, each with the probability of it and of all decisions that it lost."""

    values: Array
    weights: Array


@dataclass(frozen=True)
class Chance:
    """Bounds on a probability."""

    lower: float
    upper: float
    certified: bool


def applies(path: Path) -> bool:
    """Return whether a path holds a release on a lattice."""
    releases = (event for event in path.events if isinstance(event, Release | Accumulate))
    return any(isinstance(event.noise, Lattice) for event in releases)


def sums_of(path: Path, stream: Array) -> tuple[int, ...]:
    """Return the integer sums that the releases of a path add noise to."""
    found = []
    for event in path.events:
        if isinstance(event, Release | Accumulate):
            noise = event.noise
            if not isinstance(noise, Lattice):
                raise Unsupported("Noise on a lattice and on the line have no common sum.")
            grid = int(noise.cells(event.divisor))
            if noise.rounding != "nearest":
                whole = (stream == 0) | (stream == 1)
                if not whole.all():
                    raise Unsupported("Rewards that are rounded by a coin have no exact sum.")
            parts = [stream[part.start : part.stop] for part in path.steps(event.rows)]
            steps = [rounded(part, grid, "nearest", np.random.default_rng(0)) for part in parts]
            found.append(int(sum(int(part.sum()) for part in steps)))
    return tuple(found)


def probability(path: Path, sums: Sequence[int]) -> Chance:
    """Return the probability that the decisions come out as on a path, without its coins."""
    held: dict[Any, Held | None] = {}
    done, points, passes, certified = 1.0, 0, 0, True
    left = iter(sums)
    for event in path.events:
        if isinstance(event, Accumulate):
            raise Unsupported("Registers that add up on a lattice have no sum of one dimension.")
        if isinstance(event, Release):
            before = held.get(event.register)
            if before is not None:
                done *= float(before.weights.sum())
            held[event.register] = _fresh(event, next(left))
            points = max(points, len(held[event.register].values))  # type: ignore[union-attr]
            passes += 1
        elif isinstance(event, Decided):
            certified = _decide(event, held) and certified
            passes += 1
    for register in held.values():
        done *= 1.0 if register is None else float(register.weights.sum())
    relative = passes * (3 * points * 2.0**-53 + WEIGHT_ERROR)
    beyond = passes * 2 * math.exp(-REACH)
    return Chance(
        max(0.0, done * (1 - relative)), min(1.0, done * (1 + relative) + beyond), certified
    )


def _fresh(request: Release, total: int) -> Held:
    """Return a register that has just been written."""
    law = request.noise
    if type(law) is not DiscreteLaplace:
        raise Unsupported(f"{type(law).__name__} noise has no formula in the exact engines.")
    scale, cells = law.steps, 1 / law.step
    reach = math.ceil(REACH * scale)
    if 2 * reach + 1 > MOST_POINTS or (abs(total) + reach) * cells.denominator > 2**53:
        raise Unsupported(f"A lattice of {2 * reach + 1:,} points is too fine for sums.")
    if cells.numerator > 2**53:
        raise Unsupported("A lattice is too fine for doubles.")
    z = np.arange(-reach, reach + 1, dtype=np.int64)
    h = float(1 / scale)
    weights = math.tanh(h / 2) * np.exp(-np.abs(z) * h)
    values = (z + total) * cells.denominator / float(cells.numerator)  # the runner's own doubles
    return Held(values, weights)


def _decide(event: Decided, held: dict[Any, Held | None]) -> bool:
    """Sum the winner out; return whether the decision is the program's to the last bit."""
    request = event.request
    if not isinstance(request, Choose) or len(request.arms) != 2:
        raise Unsupported("Sums over a lattice are for choices between two arms.")
    rule = request.rule(FLOAT)
    if type(rule) not in (Affine, KLBound):
        raise Unsupported(f"{type(rule).__name__} has no sums over a lattice.")
    names = [group[0] for group in request.registers if len(group) == 1]
    if len(names) != 2 or names[0] == names[1]:
        raise Unsupported("An arm shows more than one register.")
    shown = [register for name in names if (register := held[name]) is not None]
    if len(shown) != 2:
        raise Unsupported("A register is read again after its arm has won.")
    scores = []
    for position, register in enumerate(shown):
        score = np.asarray(rule.at(position).compared(register.values))  # type: ignore[attr-defined]
        if np.isnan(score).any() or np.any(score[1:] < score[:-1]):
            raise Unsupported("A computed score falls along the lattice.")
        scores.append(score)
    won = request.arms.index(event.outcome)
    winner, loser = shown[won], shown[1 - won]
    # ties go to the first arm
    side: Literal["left", "right"] = "left" if won == 0 else "right"
    first = np.searchsorted(scores[won], scores[1 - won], side=side)
    beaten = np.append(np.cumsum(winner.weights[::-1])[::-1], 0.0)
    held[names[won]] = None
    held[names[1 - won]] = Held(loser.values, loser.weights * beaten[first])
    return type(rule) is Affine


def exactly(chance: Fraction, part: Chance) -> Chance:
    """Return bounds on a probability times that of public coins."""
    low, high = float(chance) * (1 - 1e-15), float(chance) * (1 + 1e-15)
    return Chance(part.lower * low, part.upper * high, part.certified)

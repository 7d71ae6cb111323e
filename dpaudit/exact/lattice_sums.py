"""Paths whose noise lies on a lattice: likelihoods of the program that runs, by sums.

The registers are the doubles of the stream runner, and the decisions are its own comparisons of
doubles; only the integers drawn are random. While arms lose, their registers keep a law given the
decisions so far: a weight for every combination of lattice points of those that lost to one winner.
The winner's register is summed out, and must be overwritten before it is read again. With two arms
a path costs a few passes over the points, with K arms over their (K - 1)-th power.

All terms are positive. A weight is an exponential with relative error below 1e-12 (its exponent is
at most `REACH` and rounded a few times), and each pass of N points adds at most 3 N 2^-53; what
lies more than `REACH` scales out is added to the upper end. One release to a register, scores of
one register: for others there is no answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Choose, Release, Respond, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.lattice import DiscreteLaplace, Lattice, rounded
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path
from dpaudit.verdict import Enclosure

REACH = 50.0  # scales; beyond, less than 2e-22 of the probability
MOST_POINTS = 3_000_000
WEIGHT_ERROR = 1e-12
Array = NDArray[np.float64]


@dataclass
class Held:
    """Registers' values, and the probability of each combination and of all that it lost."""

    values: dict[Any, Array]
    weights: Array
    """One axis for each register, in their order."""


def applies(path: Path) -> bool:
    """Return whether a path holds a release on a lattice."""
    releases = (event for event in path.events if isinstance(event, Release | Accumulate))
    return any(isinstance(event.noise, Lattice) for event in releases)


def whole_sums(path: Path, rows: Rows, streams: Array, cells: int) -> NDArray[np.int64]:
    """Return the sum of rows on every stream, each reward rounded to the nearest of 0..cells."""
    own = [streams[..., part.start : part.stop] for part in (range(0), *path.steps(rows))]
    whole = rounded(np.concatenate(own, axis=-1), cells, "nearest", np.random.default_rng(0))
    return np.asarray(whole.sum(axis=-1))


def probability(path: Path, stream: Array) -> Enclosure:
    """Return the probability that the decisions come out as on a path, without its coins."""
    held: list[Held] = []
    done, points, passes, certified = 1.0, 0, 0, True
    for event in path.events:
        if isinstance(event, Accumulate):
            raise Unsupported("Registers that add up on a lattice have no sum of one dimension.")
        if isinstance(event, Respond):
            raise Unsupported("A randomised response and noise on one path have no exact sum.")
        if isinstance(event, Release):
            for block in [it for it in held if event.register in it.values]:
                held.remove(block)
                axis = list(block.values).index(event.register)
                values = {n: v for n, v in block.values.items() if n != event.register}
                held.append(Held(values, block.weights.sum(axis=axis)))
            held.append(_fresh(path, event, stream))
        elif isinstance(event, Decided):
            held, exactly_ = _decided(event, held)
            certified = certified and exactly_
        passes += isinstance(event, Release | Decided)
        points = max([points, *(block.weights.size for block in held)])
    for block in held:
        done *= float(block.weights.sum())
    relative = passes * (3 * points * 2.0**-53 + WEIGHT_ERROR)
    beyond = passes * 2 * math.exp(-REACH)
    return Enclosure(
        max(0.0, done * (1 - relative)), min(1.0, done * (1 + relative) + beyond), certified
    )


def _fresh(path: Path, request: Release, stream: Array) -> Held:
    """Return a register that has just been written."""
    law = request.noise
    if not isinstance(law, Lattice):
        raise Unsupported("Noise on a lattice and on the line have no common sum.")
    if type(law) is not DiscreteLaplace:
        raise Unsupported(f"{type(law).__name__} noise has no formula in the exact engines.")
    if law.rounding != "nearest" and not np.all((stream == 0) | (stream == 1)):
        raise Unsupported("Rewards that are rounded by a coin have no exact sum.")
    scale, cells, grid = law.steps, 1 / law.step, int(law.cells(request.divisor))
    reach = math.ceil(REACH * scale)
    most = len(request.rows) * grid + reach
    if 2 * reach + 1 > MOST_POINTS or most * cells.denominator > 2**53:
        raise Unsupported(f"A lattice of {2 * reach + 1:,} points is too fine for sums.")
    if cells.numerator > 2**53:
        raise Unsupported("A lattice is too fine for doubles.")
    total = int(whole_sums(path, request.rows, stream, grid))
    z = np.arange(-reach, reach + 1, dtype=np.int64)
    h = float(1 / scale)
    weights = math.tanh(h / 2) * np.exp(-np.abs(z) * h)
    values = (z + total) * cells.denominator / float(cells.numerator)  # the runner's own doubles
    return Held({request.register: values}, weights)


def _decided(event: Decided, held: list[Held]) -> tuple[list[Held], bool]:
    """Sum the winner out; return also whether the decision is the program's to the last bit."""
    request = event.request
    if not isinstance(request, Choose):
        raise Unsupported("Sums over a lattice are for choices.")
    rule = request.rule(FLOAT)
    if type(rule) not in (Affine, KLBound):
        raise Unsupported(f"{type(rule).__name__} has no sums over a lattice.")
    names = [group[0] for group in request.registers if len(group) == 1]
    if len(set(names)) != len(request.arms):
        raise Unsupported("An arm shows more than one register.")
    shown = {name: values for block in held for name, values in block.values.items()}
    if not shown.keys() >= set(names):
        raise Unsupported("A register is read again after its arm has won.")
    if shown.keys() != set(names):
        raise Unsupported("A choice leaves a register out.")
    scores = []
    for position, name in enumerate(names):
        score = np.asarray(rule.at(position).compared(shown[name]))  # type: ignore[attr-defined]
        if np.isnan(score).any() or np.any(score[1:] < score[:-1]):
            raise Unsupported("A computed score falls along the lattice.")
        scores.append(score)
    return [_beaten(names, scores, held, request.arms.index(event.outcome))], type(rule) is Affine


def _beaten(names: list[Any], scores: list[Array], held: list[Held], won: int) -> Held:
    """Return the law of the losers' registers, with the probability that all of them lose."""
    winner = names[won]
    block = next(it for it in held if winner in it.values)
    others = [it for it in held if it is not block]
    beside = [name for name in block.values if name != winner]
    lost = [*beside, *(name for it in others for name in it.values)]
    values = {name: array for it in held for name, array in it.values.items() if name != winner}
    if math.prod(len(values[name]) for name in lost) > MOST_POINTS:
        raise Unsupported("A lattice of so many points is too fine for sums over several arms.")
    weights = np.moveaxis(block.weights, list(block.values).index(winner), 0)
    tail = np.concatenate((np.cumsum(weights[::-1], axis=0)[::-1], np.zeros_like(weights[:1])))
    need = np.zeros((1,) * len(lost), dtype=np.int64)  # the first point of the winner that beats
    for axis, name in enumerate(lost):
        position = names.index(name)
        # ties go to the first arm
        side: Literal["left", "right"] = "left" if won < position else "right"
        first = np.searchsorted(scores[won], scores[position], side=side)
        need = np.maximum(need, _along(first, axis, len(lost)))
    places = (_along(np.arange(len(values[n])), k, len(lost)) for k, n in enumerate(beside))
    found = tail[(need, *places)]
    axis = len(beside)
    for it in others:
        shape = (1,) * axis + it.weights.shape
        axis += it.weights.ndim
        found = found * it.weights.reshape(shape + (1,) * (len(lost) - axis))
    return Held({name: values[name] for name in lost}, found)


def _along(row: NDArray[Any], axis: int, axes: int) -> NDArray[Any]:
    """Return a row as an array of so many axes, along one of them."""
    return row.reshape((1,) * axis + (-1,) + (1,) * (axes - axis - 1))

"""The best steps of a search, kept in arrays while it runs, compiled.

A step is a path, an odd episode and two own sums of it that are one apart. Losses within a hair of
each other are told apart by the likelihood: of equals the likeliest path is kept.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled
from dpaudit.exact.polynomials import Array

KEPT = 8
_TIE = 1e-10


@dataclass(frozen=True)
class Candidate:
    """A step that may be the worst: all decisions, the odd episode, its own sums."""

    loss: float
    log_likelihood: float
    decisions: tuple[int, ...]
    introduced: int
    arm: int
    background: int
    worse: float
    better: float


class Best(NamedTuple):
    """The best steps so far, the worst of them first; and the best above a likelihood."""

    loss: Array  # KEPT + 1: the last one is the best above the floor
    high: Array
    word: NDArray[np.int64]
    place: NDArray[np.int64]  # vertices before the odd episode's own decision; arm; two own sums
    log_floor: Array


def nothing_yet(log_floor: float) -> Best:
    """Return room for the best steps, with none in it."""
    return Best(
        np.full(KEPT + 1, -math.inf),
        np.full(KEPT + 1, -math.inf),
        np.zeros(KEPT + 1, dtype=np.int64),
        np.zeros((KEPT + 1, 4), dtype=np.int64),
        np.array([log_floor]),
    )


@compiled
def record(
    best: Best,
    logs: Array,
    sums: Array,
    inner: float,
    word: int,
    place: int,
    arm: int,
) -> None:
    """Look at the steps between neighbouring own sums of one odd episode on one path.

    `inner` is what a step shorter than 1 might add at most, where the full one is not the best.
    """
    for i in range(len(sums) - 1):
        if abs(sums[i + 1] - sums[i]) != 1.0:
            continue
        loss, high = logs[i + 1] - logs[i] + inner, logs[i + 1]
        if high >= best.log_floor[0] and loss > best.loss[KEPT]:
            best.loss[KEPT], best.high[KEPT] = loss, high
            _note(best, KEPT, word, place, arm, sums[i], sums[i + 1])
        if loss > best.loss[0] + _TIE or (loss > best.loss[0] - _TIE and high > best.high[0]):
            best.loss[0], best.high[0] = loss, high
            _note(best, 0, word, place, arm, sums[i], sums[i + 1])
            for k in range(KEPT - 1):
                a, b = k, k + 1
                ahead = best.loss[a] > best.loss[b] + _TIE
                tied = best.loss[a] > best.loss[b] - _TIE and best.high[a] > best.high[b]
                if ahead or tied:
                    best.loss[a], best.loss[b] = best.loss[b], best.loss[a]
                    best.high[a], best.high[b] = best.high[b], best.high[a]
                    best.word[a], best.word[b] = best.word[b], best.word[a]
                    for c in range(4):
                        kept = best.place[a, c]
                        best.place[a, c] = best.place[b, c]
                        best.place[b, c] = kept


@compiled
def _note(best: Best, k: int, word: int, place: int, arm: int, worse: float, better: float) -> None:
    best.word[k] = word
    best.place[k, 0], best.place[k, 1] = place, arm
    best.place[k, 2], best.place[k, 3] = round(worse), round(better)


def candidates(best: Best, background: int) -> tuple[list[Candidate], Candidate | None]:
    """Return the best steps, and the best one above the likelihood floor."""
    found = [_candidate(best, k, background) for k in range(KEPT) if best.loss[k] > -math.inf]
    likely = _candidate(best, KEPT, background) if best.loss[KEPT] > -math.inf else None
    return found, likely


def _candidate(best: Best, k: int, background: int) -> Candidate:
    word = int(best.word[k])
    length = word.bit_length() - 1
    decisions = tuple((word >> i) & 1 for i in range(length))
    place = [int(x) for x in best.place[k]]
    return Candidate(
        float(best.loss[k]),
        float(best.high[k]),
        decisions,
        place[0],
        place[1],
        background,
        float(place[2]),
        float(place[3]),
    )

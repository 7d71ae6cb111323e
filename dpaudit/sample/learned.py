"""A learned classifier: which of two neighbouring streams does a run come from?

For a leak that is spread over many rounds every table of frequencies is too small. Fisher's linear
discriminant adds up what each feature says: with means m, m' on the stream and on its neighbour
and the covariance S within both, the weights are (S + ridge)^-1 (m - m'). It is fitted on runs of
its own; the score is then a statistic like any other, whose cells are learned and bet on: a bad
classifier costs power, never soundness.

The same bytes everywhere: features are small whole numbers, so sums over runs are exact in doubles
in any order; the system is solved without a library that may share the work among threads; and
weights are rounded to whole numbers small enough for exact scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.sample.features import BITS, Features
from dpaudit.sample.runs import Runs

Row = NDArray[np.float64]
EXACT = 2.0**50  # no score is larger: whole numbers and their sums are exact in doubles


@dataclass(frozen=True)
class LearnedScore:
    """Number: the weighted sum of a run's features; large where the stream is likelier."""

    arms: int
    horizon: int
    position: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(int(weight) for weight in self.weights))

    @cached_property
    def features(self) -> Features:
        """What the weights belong to."""
        return Features(self.arms, self.horizon, self.position)

    def __call__(self, runs: Runs) -> Row:
        """Return one number per run, exactly."""
        return self.of(self.features(runs))

    def of(self, rows: NDArray[np.int16]) -> Row:
        """Return one number per row of features."""
        if rows.shape[1] != len(self.weights):
            rule = f"must be {rows.shape[1]}, one for each feature."
            raise InvalidArgument("number of weights", len(self.weights), rule)
        return np.asarray(rows.astype(float) @ np.array(self.weights, dtype=float))

    def __str__(self) -> str:
        return f"learned score of {len(self.weights)} features"


class Moments:
    """Number of runs, sums and products of features; exact below 2^23 runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.sums: Any = 0.0
        self.products: Any = 0.0

    def add(self, rows: NDArray[np.int16]) -> None:
        """Count some runs."""
        exact = rows.astype(float)
        self.runs += len(rows)
        self.sums = self.sums + exact.sum(axis=0)
        self.products = self.products + exact.T @ exact

    @property
    def mean(self) -> Row:
        """The mean of each feature."""
        return np.asarray(self.sums / self.runs)

    @property
    def covariance(self) -> Row:
        """The covariance of the features."""
        return np.asarray(self.products / self.runs - np.multiply.outer(self.mean, self.mean))


class Classifier:
    """Learns from runs on a stream and on its neighbour, chunk by chunk, and forgets them."""

    def __init__(self, arms: int, horizon: int, position: int) -> None:
        self.features = Features(arms, horizon, position)
        self.moments = (Moments(), Moments())

    def watch(self, runs: Runs, runs_neighbour: Runs) -> None:
        """Learn from as many runs on either stream."""
        for side, each in enumerate((runs, runs_neighbour)):
            self.moments[side].add(self.features(each))

    def score(self) -> LearnedScore | None:
        """Return the score, or None where both streams look alike."""
        weights = whole_weights(discriminant(*self.moments))
        if not any(weights):
            return None
        kind = self.features
        return LearnedScore(kind.arms, kind.horizon, kind.position, weights)


def discriminant(stream: Moments, neighbour: Moments) -> Row:
    """Return Fisher's weights with a ridge that grows with the features per run.

    Deviations are kept above 1 / sqrt(runs), so that a feature that never varied but tells the
    streams apart has a large weight, not an infinite one.
    """
    within = (stream.covariance + neighbour.covariance) / 2
    deviation = np.sqrt(np.maximum(np.diag(within), 0) + 1 / stream.runs)
    ridge = len(deviation) / stream.runs
    matrix = within / np.multiply.outer(deviation, deviation)
    matrix[np.diag_indices_from(matrix)] += ridge
    return solve(matrix, (stream.mean - neighbour.mean) / deviation) / deviation


def solve(matrix: Row, vector: Row) -> Row:
    """Solve a positive definite system by elimination, one operation after the other."""
    rows = np.column_stack((matrix, vector))
    for k in range(len(rows)):
        rows[k] /= rows[k, k]
        factors = rows[:, k].copy()
        factors[k] = 0.0
        rows -= np.multiply.outer(factors, rows[k])
    return np.asarray(rows[:, -1])


def whole_weights(weights: Row) -> tuple[int, ...]:
    """Return weights as whole numbers, as large as exact scores allow."""
    size = float(np.abs(weights).sum()) * 2.0**BITS
    if not size > 0:
        return (0,) * len(weights)
    return tuple(int(weight) for weight in np.rint(weights * (EXACT / size)))

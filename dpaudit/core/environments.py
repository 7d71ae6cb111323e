"""Environments: the reward laws of the arms, one reward at a time or a whole episode at once.

`rewards` draws single rewards, `totals` draws sums of many, so that an episode costs one draw
whatever its length. The named environments are those of Azize and Basu (2022), Section 6 and
appendix: C1..C4 (from Sajed and Sheffet 2019), and `regimes`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.design import checked_features
from dpaudit.errors import InvalidArgument, UnknownName

Array = NDArray[np.float64]

NAMED: dict[str, tuple[float, ...]] = {
    "C1": (0.75, 0.70, 0.70, 0.70, 0.70),
    "C2": (0.75, 0.625, 0.5, 0.375, 0.25),
    "C3": (0.75, 0.53125, 0.375, 0.28125, 0.25),
    "C4": (0.75, 0.71875, 0.625, 0.46875, 0.25),
    "regimes": (0.8, 0.1, 0.1, 0.1, 0.1),
}

LAWS = ("bernoulli", "beta", "truncated_gaussian")


class Environment(ABC):
    """Independent rewards, one law per arm; rounds and arms may be arrays."""

    means: tuple[float, ...]

    # Blocks of at most this many rewards are drawn one by one where any part may be asked for
    # later; longer ones are drawn whole and divided by `bridge`.
    single_rows: ClassVar[int] = 0

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.means)

    @cached_property
    def gaps(self) -> Array:
        """The largest mean minus the mean of every arm."""
        means = np.array(self.means)
        return np.asarray(means.max() - means)

    @abstractmethod
    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw one reward for every entry of `arm`."""

    @abstractmethod
    def totals(
        self, arm: NDArray[np.int64], rounds: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        """Draw, for every entry, the sum of `rounds` rewards of `arm`."""

    @abstractmethod
    def bridge(
        self, arm: int, total: float, rounds: int, first: int, rng: np.random.Generator
    ) -> float:
        """Draw the sum of the first rewards of an arm, given the total of all `rounds`."""

    def table(self, rounds: int, rng: np.random.Generator) -> Array:
        """Draw rewards[t, arm]: rows are independent; within a row only one entry is ever read."""
        arms = np.broadcast_to(np.arange(self.arms), (rounds, self.arms))
        return self.rewards(arms, rng)


def checked_means(means: Sequence[float]) -> tuple[float, ...]:
    """Return the means of at least two arms, each in [0, 1], or raise."""
    values = tuple(float(mean) for mean in means)
    if len(values) < 2:
        raise InvalidArgument("means", ",".join(map(str, values)), "must name at least two arms.")
    for value in values:
        if not 0 <= value <= 1:
            raise InvalidArgument("means", value, "must lie in [0, 1].")
    return values


@dataclass(frozen=True)
class Bernoulli(Environment):
    """Rewards 0 or 1; a sum of n of them is one Binomial draw, for any n up to 2^53."""

    means: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", checked_means(self.means))

    @cached_property
    def _p(self) -> Array:
        return np.array(self.means)

    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw zeros and ones."""
        return (rng.random(np.shape(arm)) < self._p[arm]).astype(float)

    def table(self, rounds: int, rng: np.random.Generator) -> Array:
        """Draw rewards[t, arm] from one uniform number per round."""
        return (rng.random((rounds, 1)) < self._p).astype(float)

    def totals(
        self, arm: NDArray[np.int64], rounds: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        """Draw Binomial sums."""
        return rng.binomial(rounds, self._p[arm]).astype(float)

    def bridge(
        self, arm: int, total: float, rounds: int, first: int, rng: np.random.Generator
    ) -> float:
        """Draw the hypergeometric share of the first rewards in the total."""
        ones = int(total)
        if rounds < 10**9:
            return float(rng.hypergeometric(ones, rounds - ones, first))
        # NumPy's sampler stops at 1e9 rows; beyond it the matching Gaussian, rounded.
        share = ones / rounds
        variance = first * share * (1 - share) * (rounds - first) / (rounds - 1)
        low, high = max(0, first - (rounds - ones)), min(first, ones)
        return float(np.clip(round(rng.normal(first * share, math.sqrt(variance))), low, high))


def parse_means(text: str) -> tuple[float, ...]:
    """Return the means in a comma-separated text such as `0.9,0.5`."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        rule = "must be numbers separated by commas, such as 0.9,0.5."
        raise InvalidArgument("means", text, rule) from None


def named(name: str, law: str = "bernoulli") -> Environment:
    """Return an environment by name (C1..C4, regimes) or by its means (`0.9,0.5`)."""
    if name in NAMED:
        return of_means(NAMED[name], law)
    if "," in name:
        return of_means(parse_means(name), law)
    raise UnknownName("environment", name, NAMED)


def linear_means(features: Sequence[Sequence[float]], theta: Sequence[float]) -> tuple[float, ...]:
    """Return <a, theta> for the features a of every arm: the means of a linear bandit, or raise."""
    rows = checked_features(features, len(features))
    if len(theta) != len(rows[0]):
        rule = f"must have {len(rows[0])} coordinates, as the features have."
        raise InvalidArgument("theta", ",".join(map(str, theta)), rule)
    means = tuple(math.fsum(x * y for x, y in zip(row, theta, strict=True)) for row in rows)
    for arm, mean in enumerate(means):
        if not 0 <= mean <= 1:
            rule = f"gives arm {arm} the mean {mean:g}; rewards lie in [0, 1]."
            raise InvalidArgument("theta", ",".join(map(str, theta)), rule)
    return means


def of_means(means: tuple[float, ...], law: str = "bernoulli") -> Environment:
    """Return the environment of these mean rewards under a reward law."""
    if law not in LAWS:
        raise UnknownName("reward law", law, LAWS)
    if law == "bernoulli":
        return Bernoulli(means)
    from dpaudit.core import continuous

    return continuous.Beta(means) if law == "beta" else continuous.TruncatedGaussian(means)

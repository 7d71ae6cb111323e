"""Continuous reward laws: Beta and truncated Gaussian on [0, 1], and the Gaussian linear model."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.environments import Array, Environment, checked_means
from dpaudit.errors import InvalidArgument, require_positive

# Sums of at most this many bounded rewards are summed one by one.
EXACT_SUM = 2**14


class Bounded(Environment):
    """Continuous rewards on [0, 1] with known variances.

    Up to `EXACT_SUM` rewards are summed one by one. A longer sum is Gaussian with the same mean
    and variance, clipped to its range. By Berry-Esseen (Shevtsova 2011: C = 0.4748) its
    distribution function is off by at most C rho / (sigma^3 sqrt(n)), and
    rho / sigma^3 <= max(mu, 1 - mu) / sigma.
    """

    single_rows: ClassVar[int] = EXACT_SUM

    @property
    @abstractmethod
    def deviations(self) -> Array:
        """The standard deviation of every arm's reward."""

    def totals(
        self, arm: NDArray[np.int64], rounds: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        """Sum short blocks one by one, draw long ones from the matching Gaussian."""
        arm, rounds = np.broadcast_arrays(np.asarray(arm), np.asarray(rounds))
        mean, n = np.array(self.means)[arm], rounds.astype(float)
        normal = rng.normal(n * mean, np.sqrt(n) * self.deviations[arm])
        result = np.atleast_1d(np.clip(normal, 0.0, n))
        short = np.flatnonzero(np.atleast_1d((rounds <= EXACT_SUM) & (rounds > 0)))
        lengths = np.atleast_1d(rounds)[short]
        singles = self.rewards(np.repeat(np.atleast_1d(arm)[short], lengths), rng)
        if len(short):
            starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            result[short] = np.add.reduceat(singles, starts)
        return np.asarray(result.reshape(np.shape(rounds)))

    def bridge(
        self, arm: int, total: float, rounds: int, first: int, rng: np.random.Generator
    ) -> float:
        """Draw from the Gaussian bridge, which matches the Gaussian totals of long blocks."""
        deviation = self.deviations[arm] * math.sqrt(first * (rounds - first) / rounds)
        low, high = max(0.0, total - (rounds - first)), min(float(first), total)
        return float(np.clip(rng.normal(total * first / rounds, deviation), low, high))


def _inner_means(means: Sequence[float], law: str) -> tuple[float, ...]:
    values = checked_means(means)
    for value in values:
        if not 0 < value < 1:
            raise InvalidArgument("means", value, f"must lie inside (0, 1) for {law} rewards.")
    return values


@dataclass(frozen=True)
class Beta(Bounded):
    """Beta(c mu, c (1 - mu)) rewards of concentration c."""

    means: tuple[float, ...]
    concentration: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", _inner_means(self.means, "Beta"))
        require_positive("concentration", self.concentration)

    @cached_property
    def deviations(self) -> Array:
        """sqrt(mu (1 - mu) / (c + 1))."""
        means = np.array(self.means)
        return np.asarray(np.sqrt(means * (1 - means) / (self.concentration + 1)))

    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw Beta variables."""
        mean = np.array(self.means)[arm]
        return rng.beta(self.concentration * mean, self.concentration * (1 - mean))


@dataclass(frozen=True)
class TruncatedGaussian(Bounded):
    """Gaussian rewards conditioned on [0, 1], located so that the means are as given.

    `deviation` is that of the Gaussian before truncation. A mean so close to 0 or 1 that the
    location would lie more than 30 deviations outside [0, 1] is refused.
    """

    means: tuple[float, ...]
    deviation: float = 0.2
    locations: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from scipy.optimize import brentq

        object.__setattr__(self, "means", _inner_means(self.means, "truncated Gaussian"))
        require_positive("deviation", self.deviation)
        low, high = -30 * self.deviation, 1 + 30 * self.deviation
        locations = []
        for mean in self.means:
            if not self._moments(low)[0] < mean < self._moments(high)[0]:
                rule = f"is too close to 0 or 1 for truncation at deviation {self.deviation}."
                raise InvalidArgument("means", mean, rule)
            excess = lambda location, mean=mean: self._moments(location)[0] - mean  # noqa: E731
            locations.append(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))
        object.__setattr__(self, "locations", np.array(locations))

    def _moments(self, location: float) -> tuple[float, float]:
        # Reflecting to location <= 1/2 keeps both ends in the accurate left tail.
        from scipy.special import ndtr

        centre = min(location, 1 - location)
        a, b = -centre / self.deviation, (1 - centre) / self.deviation
        mass = ndtr(-a) - ndtr(-b)
        density_a, density_b = (math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) for z in (a, b))
        slope = (density_a - density_b) / mass
        variance = self.deviation**2 * (1 + (a * density_a - b * density_b) / mass - slope**2)
        mean = centre + self.deviation * slope
        return (mean if centre == location else 1 - mean), variance

    @cached_property
    def deviations(self) -> Array:
        """The deviations after truncation."""
        return np.sqrt([self._moments(float(location))[1] for location in self.locations])

    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw by inverting the distribution function in the left tail."""
        from scipy.special import ndtr, ndtri

        location = self.locations[arm]
        centre = np.minimum(location, 1 - location)
        low, high = ndtr((centre - 1) / self.deviation), ndtr(centre / self.deviation)
        uniform = low + (high - low) * rng.random(np.shape(arm))
        draw = np.clip(centre - self.deviation * ndtri(uniform), 0.0, 1.0)
        return np.asarray(np.where(centre == location, draw, 1 - draw))


@dataclass(frozen=True)
class GaussianLinear(Environment):
    """Finitely many arms in R^d and rewards <arm, theta> + N(0, deviation^2); not in [0, 1]."""

    features: tuple[tuple[float, ...], ...]
    theta: tuple[float, ...]
    deviation: float = 1.0

    def __post_init__(self) -> None:
        if len(self.features) < 2:
            raise InvalidArgument("features", len(self.features), "must name at least two arms.")
        for feature in self.features:
            if len(feature) != len(self.theta) or not len(feature):
                rule = f"must have the {len(self.theta)} coordinates of theta."
                raise InvalidArgument("features", feature, rule)
        if not np.all(np.isfinite([*self.theta, *np.ravel(self.features)])):
            raise InvalidArgument("theta", self.theta, "and features must be finite.")
        require_positive("deviation", self.deviation)

    @cached_property
    def means(self) -> tuple[float, ...]:  # type: ignore[override]
        """The inner products <arm, theta>."""
        return tuple((np.array(self.features) @ np.array(self.theta)).tolist())

    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw Gaussian rewards."""
        return np.asarray(rng.normal(np.array(self.means)[arm], self.deviation))

    def totals(
        self, arm: NDArray[np.int64], rounds: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        """Draw Gaussian sums, exactly."""
        n = np.asarray(rounds, dtype=float)
        return np.asarray(rng.normal(n * np.array(self.means)[arm], np.sqrt(n) * self.deviation))

    def bridge(
        self, arm: int, total: float, rounds: int, first: int, rng: np.random.Generator
    ) -> float:
        """Draw from the Gaussian bridge, exactly."""
        deviation = self.deviation * math.sqrt(first * (rounds - first) / rounds)
        return float(rng.normal(total * first / rounds, deviation))

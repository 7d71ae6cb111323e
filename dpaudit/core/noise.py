"""Noise laws: what a release adds, and what it charges for each row it covers.

A law is data-independent. `charge(sensitivity)` bounds |log f(x - a) - log f(x - b)| over all x
and all |a - b| <= sensitivity: the loss that one release can put on one row. It is infinite where
no finite bound exists (no noise, Gaussian noise).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import exact
from dpaudit.errors import InvalidArgument, is_positive_double, require_positive


class Randomness(Protocol):
    """What sampling needs from a generator; a `numpy.random.Generator` has it, a tape has it."""

    def laplace(self, loc: float = ..., scale: float = ..., size: Any = ...) -> Any:
        """Draw Laplace variables."""

    def normal(self, loc: float = ..., scale: float = ..., size: Any = ...) -> Any:
        """Draw Gaussian variables."""

    def random(self, size: Any = ...) -> Any:
        """Draw uniform variables."""


class Noise(ABC):
    """A data-independent law on the real line, centred at zero."""

    log_concave: ClassVar[bool]
    full_support: ClassVar[bool]

    @abstractmethod
    def sample(self, rng: Randomness) -> float:
        """Draw one value."""

    def unit(self) -> Noise:
        """Return the law of unit scale whose multiple by `spread()` this law is."""
        return self

    def spread(self) -> float:
        """Return the factor between this law and its unit."""
        return 1.0

    def draw(self, rng: Randomness, size: int) -> NDArray[np.float64]:
        """Draw many values."""
        return np.array([self.sample(rng) for _ in range(size)], dtype=float)

    @abstractmethod
    def charge(self, sensitivity: Fraction) -> Fraction | float:
        """Bound the pure-epsilon loss of one release on a row of this sensitivity."""

    @abstractmethod
    def log_density(self, x: Any) -> Any:
        """Return the log density at `x`, vectorised."""

    @abstractmethod
    def cdf(self, x: Any) -> Any:
        """Return the probability of a value of at most `x`, vectorised."""


@dataclass(frozen=True)
class Laplace(Noise):
    """Laplace law of density exp(-|x| / scale) / (2 scale)."""

    scale: float | Fraction
    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.scale, Fraction):
            if not is_positive_double(self.scale):
                raise InvalidArgument("scale", self.scale, "must be positive, also as a double.")
        else:
            require_positive("scale", self.scale)

    def sample(self, rng: Randomness) -> float:
        """Draw one value."""
        return float(rng.laplace(0.0, float(self.scale)))

    def unit(self) -> Noise:
        """Return Laplace(1)."""
        return Laplace(1)

    def spread(self) -> float:
        """Return the scale."""
        return float(self.scale)

    def draw(self, rng: Randomness, size: int) -> NDArray[np.float64]:
        """Draw many values."""
        return np.asarray(rng.laplace(0.0, float(self.scale), size))

    def charge(self, sensitivity: Fraction) -> Fraction:
        """Return sensitivity / scale, exactly."""
        return sensitivity / exact(self.scale)

    def log_density(self, x: Any) -> Any:
        """Return -|x| / scale - log(2 scale)."""
        scale = float(self.scale)
        return -np.abs(x) / scale - math.log(2.0 * scale)

    def cdf(self, x: Any) -> Any:
        """Return the closed form on each side of zero."""
        scaled = np.asarray(x, dtype=float) / float(self.scale)
        tail = 0.5 * np.exp(-np.abs(scaled))
        return np.where(scaled < 0, tail, 1.0 - tail)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian law; its log-likelihood ratio is unbounded, so its pure charge is infinite."""

    deviation: float
    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive("deviation", self.deviation)

    def sample(self, rng: Randomness) -> float:
        """Draw one value."""
        return float(rng.normal(0.0, self.deviation))

    def unit(self) -> Noise:
        """Return the standard Gaussian."""
        return Gaussian(1.0)

    def spread(self) -> float:
        """Return the deviation."""
        return self.deviation

    def draw(self, rng: Randomness, size: int) -> NDArray[np.float64]:
        """Draw many values."""
        return np.asarray(rng.normal(0.0, self.deviation, size))

    def charge(self, sensitivity: Fraction) -> float:
        """Return infinity unless the row does not matter."""
        return math.inf if sensitivity else 0.0

    def log_density(self, x: Any) -> Any:
        """Return the log density."""
        scaled = np.asarray(x, dtype=float) / self.deviation
        return -0.5 * scaled**2 - math.log(self.deviation * math.sqrt(2 * math.pi))

    def cdf(self, x: Any) -> Any:
        """Return the normal distribution function."""
        from scipy.special import ndtr

        return ndtr(np.asarray(x, dtype=float) / self.deviation)


@dataclass(frozen=True)
class NoNoise(Noise):
    """The point mass at zero: the value itself becomes public."""

    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = False

    def sample(self, rng: Randomness) -> float:
        """Return zero."""
        return 0.0

    def draw(self, rng: Randomness, size: int) -> NDArray[np.float64]:
        """Return zeros."""
        return np.zeros(size)

    def charge(self, sensitivity: Fraction) -> float:
        """Return infinity unless the row does not matter."""
        return math.inf if sensitivity else 0.0

    def log_density(self, x: Any) -> Any:
        """A point mass has no density."""
        raise NotImplementedError("a point mass has no density")

    def cdf(self, x: Any) -> Any:
        """Return the step function at zero."""
        return np.where(np.asarray(x) < 0, 0.0, 1.0)


NOISES = (Laplace, Gaussian, NoNoise)

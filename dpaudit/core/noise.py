"""Noise laws: what a release adds, and what it charges for each row it covers.

A law is data-independent. Its charges bound what one release can tell of a centre that moves by at
most `sensitivity`, under each notion of privacy (`dpaudit.core.notions`), as rationals that are at
least the truth:

| method   | bounds                                                                       |
|----------|------------------------------------------------------------------------------|
| `charge` | epsilon: |log f(x - a) - log f(x - b)| over all x                            |
| `zcdp`   | rho: the Renyi divergence of order alpha is at most alpha rho, all alpha > 1 |
| `gdp`    | mu^2: no test of a against b beats that of N(0, 1) against N(mu, 1)          |
| `delta`  | P(E) - e^epsilon Q(E) over all events, at an epsilon                         |

`charge` is infinite where no finite bound exists (no noise, Gaussian noise). The other three follow
from it unless a law knows better; a law without a finite `charge` must state its own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import conversions
from dpaudit.core.arithmetic import exact
from dpaudit.core.conversions import Rate
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
    def charge(self, sensitivity: Fraction) -> Rate:
        """Bound the pure-epsilon loss of one release on a row of this sensitivity."""

    def zcdp(self, sensitivity: Fraction) -> Rate:
        """Bound the rho of zero-concentrated DP; of a law that says no more, by its `charge`."""
        return conversions.pure_to_zcdp(self.charge(sensitivity))

    def gdp(self, sensitivity: Fraction) -> Rate:
        """Bound mu^2 of Gaussian DP; of a law that says no more, by its `charge`."""
        return conversions.pure_to_gdp(self.charge(sensitivity))

    def delta(self, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
        """Bound the delta at an epsilon; of a law that says no more, by its `charge`."""
        return conversions.pure_to_delta(self.charge(sensitivity), epsilon)

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
        _require_positive("scale", self.scale)

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

    def zcdp(self, sensitivity: Fraction) -> Rate:
        """Return c - 1 + e^-c, the best constant."""
        return conversions.laplace_to_zcdp(self.charge(sensitivity))

    def gdp(self, sensitivity: Fraction) -> Rate:
        """Return mu^2 of Phi(-mu / 2) = e^(-c/2) / 2, the best constant."""
        return conversions.laplace_to_gdp(self.charge(sensitivity))

    def delta(self, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
        """Return 1 - e^((epsilon - c) / 2) below c, exactly up to rounding."""
        return conversions.laplace_to_delta(self.charge(sensitivity), epsilon)

    def log_density(self, x: Any) -> Any:
        """Return -|x| / scale - log(2 scale)."""
        scale = float(self.scale)
        return -np.abs(x) / scale - math.log(2.0 * scale)

    def cdf(self, x: Any) -> Any:
        """Return the closed form on each side of zero."""
        scaled = np.asarray(x, dtype=float) / float(self.scale)
        tail = 0.5 * np.exp(-np.abs(scaled))
        return np.where(scaled < 0, tail, 1.0 - tail)


@dataclass(frozen=True, kw_only=True)
class Gaussian(Noise):
    """Gaussian law; its log-likelihood ratio is unbounded, so its pure charge is infinite.

    It is given by its variance, which a rational can write where the deviation needs a root.
    """

    variance: float | Fraction
    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require_positive("variance", self.variance)

    @property
    def deviation(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.variance)

    def sample(self, rng: Randomness) -> float:
        """Draw one value."""
        return float(rng.normal(0.0, self.deviation))

    def unit(self) -> Noise:
        """Return the standard Gaussian."""
        return Gaussian(variance=1)

    def spread(self) -> float:
        """Return the deviation."""
        return self.deviation

    def draw(self, rng: Randomness, size: int) -> NDArray[np.float64]:
        """Draw many values."""
        return np.asarray(rng.normal(0.0, self.deviation, size))

    def charge(self, sensitivity: Fraction) -> float:
        """Return infinity unless the row does not matter."""
        return math.inf if sensitivity else 0.0

    def zcdp(self, sensitivity: Fraction) -> Fraction:
        """Return sensitivity^2 / (2 variance), exactly."""
        return self.gdp(sensitivity) / 2

    def gdp(self, sensitivity: Fraction) -> Fraction:
        """Return mu^2 = sensitivity^2 / variance, exactly."""
        return sensitivity**2 / exact(self.variance)

    def delta(self, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
        """Return the exact formula of Balle and Wang (2018), rounded up."""
        return conversions.gdp_to_delta(self.gdp(sensitivity), epsilon)

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


def _require_positive(name: str, value: float | Fraction) -> None:
    if not isinstance(value, Fraction):
        require_positive(name, value)
    elif not is_positive_double(value):
        raise InvalidArgument(name, value, "must be positive, also as a double.")


NOISES = (Laplace, Gaussian, NoNoise)

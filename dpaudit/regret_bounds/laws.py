"""Reward laws and their distinguishability gaps: how far a law is from one with a larger mean.

For a law P in a class M and a mean to beat, `best`:

| method                       | infimum over P' in M with mean above `best` of                |
|------------------------------|---------------------------------------------------------------|
| `kl_gap(best)`: d_inf        | KL(P, P')                                                     |
| `tv_gap(best)`: t_inf        | TV(P, P')                                                     |
| `private_gap(best, epsilon)` | d_epsilon(P, P') = inf over Q of epsilon TV(P, Q) + KL(Q, P') |

d_epsilon (arXiv 2505.05613) is at most min(d_inf, epsilon t_inf) and decides the private regret:
KL of the action laws <= sum over arms of E[N_a] d_epsilon(P_a, P'_a). It equals d_inf from
`free_epsilon(best)` on: the oscillation of log(dP/dP'). Where that is unbounded (Gaussian,
exponential, Poisson) privacy costs something at every epsilon.

A class is one-parametric (Bernoulli; Gaussian of known deviation; exponential; Poisson), where the
infimum sits at the mean `best` by monotone likelihood ratios, or every law on a finite support
(`finite.py`). A gap is infinite where no law of the class has a larger mean.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.errors import InvalidArgument, require_positive
from dpaudit.regret_bounds import entropy
from dpaudit.verdict import Enclosure

MOST_EPSILON = 600.0


def point(value: float) -> Enclosure:
    """Return the enclosure of a closed form, exact up to rounding."""
    return Enclosure(value, value, certified=False)


class RewardLaw(ABC):
    """A reward law together with the class that the gaps range over."""

    mean: float

    @abstractmethod
    def kl_gap(self, best: float) -> Enclosure:
        """Return d_inf: 0 if best < mean, infinite if nothing in the class beats `best`."""

    @abstractmethod
    def tv_gap(self, best: float) -> Enclosure:
        """Return t_inf: 0 if best < mean, infinite if nothing in the class beats `best`."""

    @abstractmethod
    def private_gap(self, best: float, epsilon: float) -> Enclosure:
        """Return the infimum of d_epsilon, from the dual below and a feasible pair above."""

    @abstractmethod
    def free_epsilon(self, best: float) -> float:
        """Return the smallest epsilon from which the private gap equals the KL gap."""


def require_mean(value: float, least: float, most: float, rule: str) -> None:
    """Raise unless a mean is a number in [least, most]."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument("mean", value, "must be a number.")
    if not least <= value <= most:
        raise InvalidArgument("mean", value, rule)


@dataclass(frozen=True)
class BernoulliLaw(RewardLaw):
    """Reward 1 with probability `mean`, else 0."""

    mean: float

    def __post_init__(self) -> None:
        require_mean(self.mean, 0.0, 1.0, "must lie in [0, 1].")

    def kl_gap(self, best: float) -> Enclosure:
        """Return d(mean, best)."""
        if best >= 1:
            return point(math.inf)
        return point(entropy.bernoulli(self.mean, best) if best > self.mean else 0.0)

    def tv_gap(self, best: float) -> Enclosure:
        """Return best - mean."""
        return point(math.inf if best >= 1 else max(best - self.mean, 0.0))

    def private_gap(self, best: float, epsilon: float) -> Enclosure:
        """Return the closed form -epsilon mean - log(1 - best + best e^-epsilon), or d."""
        require_positive("epsilon", epsilon)
        if best >= 1:
            return point(math.inf)
        if epsilon >= self.free_epsilon(best):
            return self.kl_gap(best)
        return point(-epsilon * self.mean - math.log1p(best * math.expm1(-epsilon)))

    def free_epsilon(self, best: float) -> float:
        """Return logit(best) - logit(mean)."""
        if best <= self.mean:
            return 0.0
        if self.mean <= 0 or best >= 1:
            return math.inf
        odds = (best - self.mean) / self.mean / (1 - best)
        if odds < 1e8:
            return math.log1p(odds)  # keeps the digits of a tiny gap
        return math.log(best) - math.log(self.mean) + math.log1p(-self.mean) - math.log1p(-best)


class OneParameter(RewardLaw):
    """A natural exponential family in the mean: log(dP/dP') = intercept - slope x, slope > 0."""

    @abstractmethod
    def divergence(self, best: float) -> float:
        """Return KL(P, P') for the member P' with mean `best`."""

    def member(self, mean: float) -> OneParameter:
        """Return the law of the family with another mean."""
        return replace(self, mean=mean)  # type: ignore[type-var]

    @abstractmethod
    def log_ratio(self, best: float) -> tuple[float, float]:
        """Return intercept and slope of log(dP/dP')."""

    @abstractmethod
    def below(self, x: float) -> float:
        """Return P(X <= x)."""

    @abstractmethod
    def above(self, x: float) -> float:
        """Return P(X > x)."""

    @abstractmethod
    def partial_mean(self, x: float) -> float:
        """Return E[X; X <= x]."""

    def kl_gap(self, best: float) -> Enclosure:
        """Return the divergence to the member with mean `best`."""
        return point(self.divergence(best) if best > self.mean else 0.0)

    def tv_gap(self, best: float) -> Enclosure:
        """Return P(X <= x) - P'(X <= x) where the densities cross."""
        if best <= self.mean:
            return point(0.0)
        intercept, slope = self.log_ratio(best)
        crossing = intercept / slope
        other = self.member(best)
        return point(max(self.below(crossing) - other.below(crossing), 0.0))

    def free_epsilon(self, best: float) -> float:
        """Return infinity: the log-likelihood ratio is unbounded."""
        return math.inf if best > self.mean else 0.0

    def private_gap(self, best: float, epsilon: float) -> Enclosure:
        """Solve for the clipped law Q = clip(p, c e^(-epsilon/2) p', c e^(epsilon/2) p').

        Below: the Donsker-Varadhan value of f = clip(log(p/p') - log c), feasible since it
        oscillates by at most epsilon. Above: epsilon TV(P, Q) + KL(Q, P').
        """
        require_positive("epsilon", epsilon)
        if best <= self.mean:
            return point(0.0)
        if epsilon > MOST_EPSILON:  # exponentials overflow; the gap grows with epsilon up to KL
            below = self.private_gap(best, MOST_EPSILON).lower
            return self._enclosure(below, math.inf, best, epsilon)
        from scipy.optimize import brentq

        clip = _Clip(self, self.member(best), *self.log_ratio(best), epsilon / 2)
        shift = brentq(
            lambda t: clip.mass(t) - 1.0,
            -clip.half,
            clip.half,
            xtol=1e-15 * min(epsilon, 1.0),
            rtol=1e-14,
            maxiter=500,
        )
        values = sorted((clip.dual(shift), clip.primal(shift)))
        return self._enclosure(values[0], values[1], best, epsilon)

    def _enclosure(self, lower: float, upper: float, best: float, epsilon: float) -> Enclosure:
        """Close with what holds for every law: d_epsilon <= min(KL, epsilon TV)."""
        upper = min(upper, self.kl_gap(best).upper, epsilon * self.tv_gap(best).upper)
        return Enclosure(min(max(lower, 0.0), upper), upper, certified=False)


@dataclass(frozen=True)
class _Clip:
    """The likelihood ratio of two members, clipped to an interval of length 2 half around t."""

    law: OneParameter
    other: OneParameter
    intercept: float
    slope: float
    half: float

    def pieces(self, t: float) -> tuple[float, float, float, float, float]:
        """Return P and P' left of the clip, P and P' right of it, and E_P[log ratio] between."""
        left = (self.intercept - t - self.half) / self.slope
        right = (self.intercept - t + self.half) / self.slope
        low, high = self.law.below(left), self.law.above(right)
        inside = max(1.0 - low - high, 0.0)
        partial = self.law.partial_mean(right) - self.law.partial_mean(left)
        ratio = self.intercept * inside - self.slope * partial
        return low, self.other.below(left), high, self.other.above(right), ratio

    def mass(self, t: float) -> float:
        """Return the total mass of the clipped law: increasing in t, 1 at the optimum."""
        low, other_low, high, other_high, _ = self.pieces(t)
        left = math.exp(t + self.half) * other_low
        return left + (1 - low - high) + math.exp(t - self.half) * other_high

    def dual(self, t: float) -> float:
        """Return E_P f - log E_P' e^f for f the clipped log ratio minus t."""
        low, _, high, _, ratio = self.pieces(t)
        inside = 1 - low - high
        return self.half * (low - high) + ratio - t * inside - math.log(self.mass(t)) + t

    def primal(self, t: float) -> float:
        """Return 2 half TV(P, Q) + KL(Q, P')."""
        low, other_low, _, other_high, ratio = self.pieces(t)
        left = math.exp(t + self.half) * other_low
        right = math.exp(t - self.half) * other_high
        moved = low - left
        return 2 * self.half * moved + (t + self.half) * left + ratio + (t - self.half) * right


@dataclass(frozen=True)
class GaussianLaw(OneParameter):
    """Normal law of known deviation."""

    mean: float
    deviation: float = 1.0

    def __post_init__(self) -> None:
        limit = 1e300
        require_mean(self.mean, -limit, limit, "must be finite.")
        require_positive("deviation", self.deviation)

    def divergence(self, best: float) -> float:
        """Return (best - mean)^2 / (2 deviation^2)."""
        return ((best - self.mean) / self.deviation) ** 2 / 2

    def tv_gap(self, best: float) -> Enclosure:
        """Return erf((best - mean) / (sqrt(8) deviation))."""
        return point(math.erf(max(best - self.mean, 0.0) / (math.sqrt(8) * self.deviation)))

    def log_ratio(self, best: float) -> tuple[float, float]:
        """Return the line of slope (best - mean) / deviation^2 that is 0 half-way."""
        slope = (best - self.mean) / self.deviation**2
        return slope * (best + self.mean) / 2, slope

    def below(self, x: float) -> float:
        """Return the distribution function."""
        return math.erfc((self.mean - x) / (math.sqrt(2) * self.deviation)) / 2

    def above(self, x: float) -> float:
        """Return the survival function."""
        return math.erfc((x - self.mean) / (math.sqrt(2) * self.deviation)) / 2

    def partial_mean(self, x: float) -> float:
        """Return mean P(X <= x) - deviation^2 density(x)."""
        z = (x - self.mean) / self.deviation
        return self.mean * self.below(x) - self.deviation * math.exp(-z * z / 2) / math.sqrt(
            2 * math.pi
        )


@dataclass(frozen=True)
class Exponential(OneParameter):
    """Exponential law."""

    mean: float

    def __post_init__(self) -> None:
        require_positive("mean", self.mean)

    def divergence(self, best: float) -> float:
        """Return mean/best - 1 - log(mean/best)."""
        return entropy.exponential(self.mean, best)

    def log_ratio(self, best: float) -> tuple[float, float]:
        """Return log(best / mean) and 1/mean - 1/best."""
        gap = best - self.mean
        return math.log1p(gap / self.mean), gap / (self.mean * best)

    def below(self, x: float) -> float:
        """Return 1 - e^(-x / mean) for x > 0."""
        return -math.expm1(-max(x, 0.0) / self.mean)

    def above(self, x: float) -> float:
        """Return e^(-x / mean) for x > 0."""
        return math.exp(-max(x, 0.0) / self.mean)

    def partial_mean(self, x: float) -> float:
        """Return mean - (x + mean) e^(-x / mean) for x > 0."""
        return self.mean - (max(x, 0.0) + self.mean) * self.above(x)


@dataclass(frozen=True)
class Poisson(OneParameter):
    """Poisson law; mean 0 is the point mass at 0."""

    mean: float

    def __post_init__(self) -> None:
        require_mean(self.mean, 0.0, 1e300, "must be finite and not negative.")

    def divergence(self, best: float) -> float:
        """Return best - mean + mean log(mean / best)."""
        return entropy.poisson(self.mean, best)

    def log_ratio(self, best: float) -> tuple[float, float]:
        """Return best - mean and log(best / mean)."""
        return best - self.mean, math.log1p((best - self.mean) / self.mean)

    def tv_gap(self, best: float) -> Enclosure:
        """Return the difference at the crossing; 1 - e^-best from the point mass at 0."""
        if self.mean == 0:
            return point(-math.expm1(-max(best, 0.0)))
        return super().tv_gap(best)

    def private_gap(self, best: float, epsilon: float) -> Enclosure:
        """Return the clipped solution; from the point mass at 0, that of the event X > 0."""
        if self.mean == 0:
            require_positive("epsilon", epsilon)
            return point(-math.log1p(-math.expm1(-max(best, 0.0)) * math.expm1(-epsilon)))
        return super().private_gap(best, epsilon)

    def below(self, x: float) -> float:
        """Return the distribution function."""
        return self._cdf(math.floor(x))

    def above(self, x: float) -> float:
        """Return the survival function."""
        from scipy.special import pdtrc

        return float(pdtrc(math.floor(x), self.mean)) if x >= 0 else 1.0

    def partial_mean(self, x: float) -> float:
        """Return mean P(X <= x - 1)."""
        return self.mean * self._cdf(math.floor(x) - 1)

    def _cdf(self, k: Any) -> float:
        from scipy.special import pdtr

        return float(pdtr(k, self.mean)) if k >= 0 else 0.0

"""Pull counts of a doubling-episode index algorithm, bounded episode by episode.

Let arm 0 be optimal with mean b, and j count the releases of an arm. The release after which an arm
stands at n_j rewards is one random variable Y_j (mean of that episode plus Laplace(1/(epsilon
n_j))), reused until the next; the index is non-decreasing in time. Arm a starts the episode that
follows release j either because its index is at least b, which needs the index of Y_j at time T to
be at least b, or because the index of arm 0 is below b. Hence, without choosing any level:

    E[N_a] <= 1 + sum_j (length of the next episode) P(index of Y_j at T >= b) + optimism,
    optimism = sum over t of P(index of arm 0 < b at the last decision before t).

First sum: with x the value of Y_j at which the index reaches b, P(Y_j >= x) is at most
e^(-r d(y, mean)) + e^(-epsilon n (x - y)) / 2 for every y in [mean, x] (Chernoff, Laplace tail).
Second: the last decision before t lies at some phi >= (t+K)/2, arm 0 is at one of
floor(log2(t-K)) + 1 releases, and the index of a given release grows with time, so that the
smallest phi is the worst: at most (floor(log2(t-K)) + 1)(phi^-h + phi^-l / 2) with h, l the two
confidence exponents. This needs h, l > 1; the paper's union over phi and over all counts needs
alpha > 3.
Since only one arm is played at t, optimism enters the regret once, with the largest gap.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpaudit.bounds import entropy
from dpaudit.core import divergence

EXACT_ROUNDS = 100_000


@cache
def optimism(arms: int, horizon: int, hoeffding: float, laplace: float) -> float:
    """Bound the expected rounds that follow a decision at which arm 0 looks worse than it is.

    Summed for the first 100,000 rounds, then by the integral of (log2 x + 1) x^-h.
    """
    if min(hoeffding, laplace) <= 1:
        return float(horizon)
    last = min(horizon, EXACT_ROUNDS)
    t = np.arange(arms + 1, last + 1, dtype=float)
    phi = np.maximum(np.ceil((t + arms) / 2), arms + 1)
    releases = np.floor(np.log2(t - arms)) + 1
    total = np.minimum(releases * (phi**-hoeffding + phi**-laplace / 2), 1.0).sum()
    if horizon > last:
        for exponent, weight in ((hoeffding, 1.0), (laplace, 0.5)):
            more = exponent - 1
            inner = (math.log2(last) + 1) / more + 1 / (math.log(2) * more**2)
            total += weight * 2**exponent * last**-more * inner
    return float(min(total, horizon))


@dataclass(frozen=True)
class Release:
    """The state of an arm after a release: pulls, rewards in it, the n of the formulas, next."""

    pulls: int
    rewards: int
    n: float
    following: int


class Doubling(ABC):
    """An index on doubling episodes: its schedule, its confidence exponents, its threshold."""

    epsilon: float
    hoeffding: float
    laplace: float

    def releases(self, horizon: int) -> list[Release]:
        """Return the releases after which another episode may start before the horizon."""
        found, pulls = [], 1
        while pulls < horizon:
            half = max(pulls // 2, 1)
            found.append(Release(pulls, half, pulls / 2, min(pulls, horizon - pulls)))
            pulls *= 2
        return found

    @abstractmethod
    def threshold(self, best: float, n: float, log_horizon: float) -> float:
        """Return the least private mean whose index at the horizon is at least `best`."""

    def pulls(self, mean: float, best: float, horizon: int) -> float:
        """Bound E[N_a] of an arm, without the optimism term; at most the horizon."""
        total = 1.0
        for release in self.releases(horizon):
            x = self.threshold(best, release.n, math.log(horizon))
            chance = exceedance(x, mean, release.rewards, self.epsilon * release.n)
            total += release.following * chance
        return min(total, float(horizon))

    def regret(self, means: tuple[float, ...], horizon: int) -> float:
        """Bound the expected regret at the horizon."""
        best = max(means)
        gaps = [best - mean for mean in means]
        lost = optimism(len(means), horizon, self.hoeffding, self.laplace)
        counted = sum(
            gap * self.pulls(mean, best, horizon)
            for mean, gap in zip(means, gaps, strict=True)
            if gap > 0
        )
        return min(counted + max(gaps) * lost, max(gaps) * horizon)


def exceedance(x: float, mean: float, rewards: int, rate: float) -> float:
    """Bound P(mean of `rewards` + Laplace(1 / rate) >= x); any split point y gives a bound."""
    if x <= mean:
        return 1.0
    # exponents r d(y, mean) (rising) and rate (x - y) (falling) are balanced by bisection
    low, high = mean, min(x, 1.0)
    for _ in range(50):
        y = 0.5 * (low + high)
        if rewards * entropy.bernoulli(y, mean) > rate * (x - y):
            high = y
        else:
            low = y
    return min(
        1.0,
        *(
            math.exp(-rewards * entropy.bernoulli(y, mean)) + math.exp(-rate * (x - y)) / 2
            for y in (low, high)
        ),
    )


@dataclass(frozen=True)
class HoeffdingIndex(Doubling):
    """private mean + sqrt(h log t / (2 n)) + l log t / (epsilon n): AdaP-UCB has h = l = alpha."""

    epsilon: float
    hoeffding: float
    laplace: float

    def threshold(self, best: float, n: float, log_horizon: float) -> float:
        """Return best minus the two bonuses."""
        spread = math.sqrt(self.hoeffding * log_horizon / (2 * n))
        return best - spread - self.laplace * log_horizon / (self.epsilon * n)


@dataclass(frozen=True)
class LazyIndex(HoeffdingIndex):
    """The same index on batches of length 1, 2, 4, ...: Lazy-DP-UCB has h = 6, l = 3."""

    def releases(self, horizon: int) -> list[Release]:
        """Return the releases: after the batch of length m an arm has 2 m - 1 pulls."""
        found, batch = [], 1
        while 2 * batch - 1 < horizon:
            pulls = 2 * batch - 1
            found.append(Release(pulls, batch, float(batch), min(2 * batch, horizon - pulls)))
            batch *= 2
        return found


@dataclass(frozen=True)
class KLIndex(Doubling):
    """AdaP-KLUCB: max{q : d(clip(private mean + L / (epsilon n)), q) <= L / n}, L = alpha log t."""

    epsilon: float
    hoeffding: float
    laplace: float

    def threshold(self, best: float, n: float, log_horizon: float) -> float:
        """Return the y below `best` with d(y, best) = L / n, minus the shift; -inf if none."""
        level = self.hoeffding * log_horizon / n
        v = -math.log1p(-best) if best < 1 else math.inf
        if level >= v:  # d(0, best) = v: even a private mean of 0 has index >= best
            return -math.inf
        mean = float(divergence.lower_mean(v, level)) if best < 1 else 1.0
        return mean - self.laplace * log_horizon / (self.epsilon * n)

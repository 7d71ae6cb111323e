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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import divergence

Array = NDArray[np.float64]

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
class DoublingIndex(ABC):
    """An index on doubling episodes: its schedule, its confidence exponents, its threshold."""

    epsilon: float
    hoeffding: float
    laplace: float

    def releases(self, horizon: int) -> Iterator[tuple[float, float, float]]:
        """Yield rewards, the n of the formulas and the next episode's length of every release.

        After each of them another episode may start before the horizon.
        """
        pulls = 1
        while pulls < horizon:
            yield max(pulls // 2, 1), pulls / 2, min(pulls, horizon - pulls)
            pulls *= 2

    @abstractmethod
    def thresholds(self, best: float, n: Array, log_horizon: float) -> Array:
        """Return the least private means whose index at the horizon is at least `best`."""

    def pulls(self, means: Array, best: float, horizon: int) -> Array:
        """Bound E[N_a] of arms with these means, without optimism; at most the horizon."""
        columns = zip(*self.releases(horizon), strict=True)
        rewards, n, following = np.array(list(columns), dtype=float)
        x = self.thresholds(best, n, math.log(horizon))
        chance = exceedance(x, means[:, None], rewards, self.epsilon * n)
        return np.asarray(np.minimum(1.0 + chance @ following, float(horizon)))

    def regret(self, means: tuple[float, ...], horizon: int, costs: Array | None = None) -> float:
        """Bound the expected regret at the horizon; `costs` per pull if not the gaps of the means.

        Arms that cost something must have smaller means than those that do not.
        """
        best = max(means)
        seen = np.array(means)
        worse, gaps = seen[seen < best], (best - seen if costs is None else costs)[seen < best]
        if not len(worse):
            return 0.0
        lost = optimism(len(means), horizon, self.hoeffding, self.laplace)
        counted = float(gaps @ self.pulls(worse, best, horizon))
        return min(counted + float(gaps.max()) * lost, float(gaps.max()) * horizon)


def exceedance(x: Array, mean: Array, rewards: Array, rate: Array) -> Array:
    """Bound P(mean of `rewards` + Laplace(1 / rate) >= x); any split point y gives a bound.

    Bisection balances the exponents rewards d(y, mean), rising, and rate (x - y), falling.
    """
    x, mean, rewards, rate = np.broadcast_arrays(x, mean, rewards, rate)
    low, high = mean.copy(), np.minimum(np.maximum(x, mean), 1.0)
    for _ in range(30):
        y = 0.5 * (low + high)
        steep = rewards * divergence.bernoulli(y, mean) > rate * (x - y)
        low, high = np.where(steep, low, y), np.where(steep, y, high)
    with np.errstate(over="ignore"):
        chances = [
            np.exp(-rewards * divergence.bernoulli(y, mean)) + np.exp(-rate * (x - y)) / 2
            for y in (low, high)
        ]
    return np.asarray(np.where(x <= mean, 1.0, np.minimum(1.0, np.minimum(*chances))))


class HoeffdingIndex(DoublingIndex):
    """private mean + sqrt(h log t / (2 n)) + l log t / (epsilon n): AdaP-UCB has h = l = alpha."""

    def thresholds(self, best: float, n: Array, log_horizon: float) -> Array:
        """Return best minus the two bonuses."""
        spread = np.sqrt(self.hoeffding * log_horizon / (2 * n))
        return np.asarray(best - spread - self.laplace * log_horizon / (self.epsilon * n))


class LazyIndex(HoeffdingIndex):
    """The same index on batches of length 1, 2, 4, ...: Lazy-DP-UCB has h = 6, l = 3."""

    def releases(self, horizon: int) -> Iterator[tuple[float, float, float]]:
        """Yield the releases: after the batch of length m an arm has 2 m - 1 pulls."""
        batch = 1
        while 2 * batch - 1 < horizon:
            yield batch, batch, min(2 * batch, horizon - (2 * batch - 1))
            batch *= 2


class KLIndex(DoublingIndex):
    """AdaP-KLUCB: max{q : d(clip(private mean + L / (epsilon n)), q) <= L / n}, L = alpha log t."""

    def thresholds(self, best: float, n: Array, log_horizon: float) -> Array:
        """Return the y below `best` with d(y, best) = L / n, minus the shift; -inf if none."""
        level = self.hoeffding * log_horizon / n
        reached = np.ones_like(n)
        if best < 1:
            v = -math.log1p(-best)
            some = level < v  # elsewhere d(0, best) = v <= level: every index reaches best
            reached[some] = divergence.lower_mean(np.full(some.sum(), v), level[some])
            reached[~some] = -math.inf
        return np.asarray(reached - self.laplace * log_horizon / (self.epsilon * n))

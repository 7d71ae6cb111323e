"""Aims: the sum of rewards to give an episode, so that the decision after it tells most.

Let the decision turn on whether the episode's release, (sum) / divisor + noise, reaches an edge
that the other registers set. Given a sample of the edge, the probability of reaching it is a
closed form in the sum, averaged: conditional Monte Carlo. In the tail of the noise one reward more
changes it, or its complement, by almost the factor that the claim allows; nearer to the edge there
is more to count. The best sum has the largest lower bound to expect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.noise import Noise
from dpaudit.sample.lower import promised
from dpaudit.sample.streams import Pair, Stream

OFFSETS = np.linspace(-8.0, 8.0, 65)
PLANNED_ERROR = 1e-4


@dataclass(frozen=True)
class Aim:
    """An episode (its first step and the step after its last), the sum to give it, the promise."""

    begun: int
    ended: int
    total: float
    promise: float

    def pair(self, base: Stream, name: str) -> Pair:
        """Return the pair: ones, a fraction, zeros in the episode; its last reward is changed."""
        ones, part = int(self.total), self.total - int(self.total)
        rest = self.ended - self.begun - ones
        pieces = [(1.0, ones), (part, 1), (0.0, rest - 1)] if part else [(1.0, ones), (0.0, rest)]
        step = self.ended - 1
        where = f"rounds {self.begun + 1:,} to {self.ended:,} add"
        if rest + ones == 1:
            where = f"round {self.ended:,} adds"
        label = f"{name}, {where} up to {self.total:,g}, reward {self.ended:,}: 0 to 1"
        return Pair(label, base.spliced(self.begun, pieces), step, 1.0)


@dataclass(frozen=True)
class AimedEpisode:
    """An episode whose release, scaled noise and all, meets a sampled edge on a share of runs."""

    begun: int
    ended: int
    divisor: float
    spread: float
    unit: Noise
    edge: NDArray[np.float64]
    share: float = 1.0

    def reached(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that the release reaches the edge, for each sum."""
        beyond = (self.edge[:, None] - totals / self.divisor) / self.spread
        return np.asarray(self.unit.cdf(-beyond).mean(axis=0) * self.share)

    def aim(self, later: int, whole: bool) -> Aim:
        """Return the best sum for `later` rounds; `whole` where all rewards are 0 or 1."""
        totals = (float(np.median(self.edge)) - OFFSETS * self.spread) * self.divisor
        totals = np.clip(totals, 0.0, self.ended - self.begun - 1.0)
        # sums that print shortly
        totals = np.unique(np.round(totals) if whole else np.floor(totals * 64) / 64)
        low, high = self.reached(totals), self.reached(totals + 1)
        promise = np.maximum(
            promised(high, low, later, PLANNED_ERROR),
            promised(self.share - low, self.share - high, later, PLANNED_ERROR),
        )
        best = int(np.argmax(promise))
        return Aim(self.begun, self.ended, float(totals[best]), float(promise[best]))

"""Likelihoods by own sum that are known by evaluation alone, in doubles.

For paths that are no chain: three arms, registers that add up releases, eliminations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.algebra import Bounds
from dpaudit.exact.conditions import check, monotone
from dpaudit.exact.floats.scanned import steps
from dpaudit.exact.region import Region

Estimate = Callable[[Region, NDArray[np.float64]], tuple[float, float]]


@dataclass(frozen=True)
class Evaluated:
    """A log-likelihood by own sum; `single`: only its first step, whole, can be the worst."""

    log: Callable[[float], float]
    rows: int
    single: bool

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return the largest gain of the steps that are tried."""
        known: dict[float, float] = {}

        def phi(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            for s in sums.tolist():
                if s not in known:
                    known[s] = self.log(s)
            return np.array([known[s] for s in sums.tolist()])

        return steps(phi, self.rows, rising, whole, self.single)


class Measured:
    """A pass over regions by evaluation; `error` is the largest that an evaluation stated."""

    def __init__(self, regions: Sequence[Region], estimate: Estimate) -> None:
        self.regions, self.estimate, self.error = regions, estimate, 0.0

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Evaluated]]:
        """Yield the episodes of a region with their likelihoods by own sum."""
        region = self.regions[number]
        base = np.array([float(len(episode)) for episode in region.episodes]) * background
        convex = check(region).convex
        for index, episode in enumerate(region.episodes):

            def log(s: float, index: int = index) -> float:
                sums = base.copy()
                sums[index] = s
                value, error = self.estimate(region, region.means(sums))
                self.error = max(self.error, error)
                return value

            single = convex or (len(episode) == 1 and monotone(region, index))
            yield index, Evaluated(log, len(episode), single)

"""A loss by evaluation: likelihoods of single sums, where no technology gives a whole curve.

Steps of a release's own sum are tried: all the whole ones, or those on a grid, refined around the
best, whose upper end is then only measured. Three arms and registers that add up are known so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import conditions
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.clock import Clock
from dpaudit.exact.likelihood import Likelihood, enclosed
from dpaudit.exact.region import Region

Array = NDArray[np.float64]
_SCAN = 8  # own sums tried per unit step
_LONG = 64  # rows from which fewer are tried
_FINER = 3
_MOVES = np.linspace(-1, 1, 9)


@dataclass(frozen=True)
class Evaluated:
    """A log-likelihood by own sum; `single`: only its first step, whole, can be the worst.

    It is where the log-likelihood is concave: the step leaves the sum that is farthest from the
    others'.
    """

    likelihood: Callable[[Fraction], Likelihood]
    rows: int
    single: bool
    cap: ClassVar[float] = math.inf

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return the largest gain of the steps that are tried."""
        known: dict[float, tuple[float, float]] = {}

        def phi(sums: Array) -> Array:
            for s in sums.tolist():
                if s not in known:
                    found = self.likelihood(Fraction(s))
                    known[s] = found.log_lower, found.log_upper
            ends = np.array([known[s] for s in sums.tolist()])
            if not np.isfinite(ends).all():
                raise Unsupported("A likelihood is too small for doubles.")
            return np.asarray(ends.mean(axis=1))

        per = 1 if whole else max(1, min(_SCAN, _LONG // max(self.rows, 1)))
        sums = np.arange((1 if self.single else self.rows) * per + 1) / per
        if not rising:
            sums = self.rows - sums
        own, other = self._best(phi, sums, per, rising, whole)
        upper = known[other][1] - known[own][0]
        if whole:
            ends = np.array([known[s] for s in sums.tolist()])
            upper = float((ends[1:, 1] - ends[:-1, 0]).max())
        lower = max(known[other][0] - known[own][1], 0.0)
        steps = Fraction(own), Fraction(other)
        return Bounds(lower, max(upper, lower), *steps, known[other][1])

    def _best(
        self, phi: Callable[[Array], Array], sums: Array, per: int, rising: bool, whole: bool
    ) -> tuple[float, float]:
        """Return the sums before and after the largest gain, the latter first moved within 1."""
        values = phi(sums)
        if whole:
            start = int(np.argmax(values[1:] - values[:-1]))
            return float(sums[start]), float(sums[start + 1])
        window = np.concatenate([values, np.full(per, -np.inf)])
        reach = np.lib.stride_tricks.sliding_window_view(window, per + 1)[: len(values)]
        start = int(np.argmax(reach.max(1) - values))
        stop = start + int(np.argmax(reach[start]))
        own, other, gain = float(sums[start]), float(sums[stop]), values[stop] - values[start]
        spacing = 1 / per
        for _ in range(0 if own == other else _FINER):
            # both ends of the step move, on finer and finer grids
            starts, stops = (np.clip(end + spacing * _MOVES, 0, self.rows) for end in (own, other))
            ahead = (stops - starts[:, None]) * (1 if rising else -1)
            gains = phi(stops) - phi(starts)[:, None]
            gains = np.where((ahead >= 0) & (ahead <= 1), gains, -np.inf)
            one, two = np.unravel_index(int(gains.argmax()), gains.shape)
            if gains[one, two] > gain:
                own, other, gain = float(starts[one]), float(stops[two]), gains[one, two]
            spacing /= 8
        return own, other


@dataclass
class Evaluations:
    """A pass over regions by evaluation; `certain` as long as every likelihood was certified."""

    regions: Sequence[Region]
    clock: Clock
    certain: bool = True

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Evaluated]]:
        """Yield the episodes of a region with their likelihoods by own sum."""
        region = self.regions[number]
        base = {i: Fraction(len(it) * background) for i, it in enumerate(region.episodes)}
        convex = conditions.convex(region)
        for index, episode in enumerate(region.episodes):

            def likelihood(s: Fraction, index: int = index) -> Likelihood:
                found = enclosed(region, base | {index: s}, "float", self.clock)
                self.certain = self.certain and found.certified
                return found

            single = convex or (len(episode) == 1 and conditions.monotone(region, index))
            yield index, Evaluated(likelihood, len(episode), single)

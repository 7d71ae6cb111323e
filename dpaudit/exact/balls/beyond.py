"""The mass of a weight beyond a threshold, as a weight of the register that sets the threshold.

Its derivatives follow from the density that is met at the threshold and from those of the
threshold itself: (M o theta)' = w(theta) theta', (M o theta)'' = w'(theta) theta'^2 + w(theta)
theta''.
"""

from __future__ import annotations

import numpy as np

from dpaudit.exact.balls.interval import Array, Interval, down, up
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.weight import (
    ROUND,
    Indices,
    Lebesgue,
    Masses,
    Part,
    Weight,
    cumulative,
    from_monotone,
    part_of,
    scaled,
    signed,
)


class Beyond:
    """The mass of a weight on one side of a threshold, as a weight of the other register.

    Positions among the cells and masses of parts of cells do not depend on the weight.
    """

    def __init__(self, law: Lebesgue, theta: Theta, below: bool) -> None:
        self.law, self.theta, self.below = law, theta, below
        x = law.grid
        # at theta.lo the mass below is least, the mass above is largest
        self._ends = [self._end(s) for s in (theta.at.lo, theta.at.hi)]
        start = np.clip(np.searchsorted(x, theta.at.lo[:-1], "right") - 1, 0, len(x) - 2)
        stop = np.clip(np.searchsorted(x, theta.at.hi[1:], "right"), start + 1, len(x) - 1)
        self._spans = np.stack([start, stop], axis=1).ravel()

    def _end(self, s: Array) -> tuple[Array, Indices, Interval, Part]:
        x, law = self.law.grid, self.law
        inside = np.clip(s, x[0], x[-1])
        index = np.clip(np.searchsorted(x, inside, "right") - 1, 0, len(x) - 2)
        cell = Interval(x[index], x[index + 1])
        a, b = (cell.lo, inside) if self.below else (inside, cell.hi)
        mass = law.between(a, b, index)
        return s, index, mass, part_of(cell, a, b, law.lean[index], float(law.rate.hi))

    def __call__(self, weight: Weight) -> Weight:
        """Return the mass beyond the threshold at every node of the other register."""
        law, order = self.law, (0, 1) if self.below else (1, 0)
        means = law.means(weight)
        sums, total = law.running(weight, self.below, means), law.total(weight, means)
        low = self._bound(weight, sums.lo, total.lo, self._ends[order[0]], upper=False)
        high = self._bound(weight, sums.hi, total.hi, self._ends[order[1]], upper=True)
        reach, change = (self._along(bound) for bound in law.slopes(weight))
        slope = self.theta.slope
        first = scaled(slope, reach)
        second = scaled(scaled(slope, slope), change) + scaled(reach, self.theta.bend)
        return from_monotone(Interval(np.minimum(low, high), high), self.below, first, second)

    def _along(self, bound: Interval) -> Interval:
        """Return the hull of a bound over the cells that the threshold meets, cell by cell."""
        end = np.zeros((*bound.lo.shape[:-1], 1))
        low, high = (np.concatenate([part, end], axis=-1) for part in (bound.lo, bound.hi))
        return Interval(
            np.minimum.reduceat(low, self._spans, axis=-1)[..., ::2],
            np.maximum.reduceat(high, self._spans, axis=-1)[..., ::2],
        )

    def _bound(
        self,
        weight: Weight,
        sums: Array,
        total: Array,
        end: tuple[Array, Indices, Interval, Part],
        upper: bool,
    ) -> Array:
        s, index, mass, part = end
        ends = weight.at[..., index], weight.at[..., index + 1]
        mean = part.mean(ends, weight.range[..., index], weight.second[..., index])
        x = self.law.grid
        value = sums[..., index if self.below else index + 1]
        value = value + (mass.hi * mean.hi if upper else mass.lo * mean.lo)
        value = value * (1 + ROUND if upper else 1 - ROUND)
        # a finite threshold beyond the grid: the tail there is undivided, so take all or none of it
        sides = (s < x[0], np.isneginf(s)), (s > x[-1], np.isposinf(s))
        (near, nothing), (far, everything) = sides if self.below else sides[::-1]
        value = np.where(nothing if upper else near, 0.0, value)
        return np.where(far if upper else everything, total[..., None], value)


def tail(law: Masses, theta: Theta, below: bool) -> Weight:
    """Return P(value < theta(x)), or P(value > theta(x)), of a Laplace law as a weight of x."""
    z = Interval(
        np.where(np.isinf(theta.at.lo), theta.at.lo, down(theta.at.lo - law.centre)),
        np.where(np.isinf(theta.at.hi), theta.at.hi, up(theta.at.hi - law.centre)),
    )
    density, rise = law.density(Interval(z.lo[:-1], z.hi[1:]))
    slope = theta.slope
    first = scaled(slope, density)
    second = scaled(scaled(slope, slope), signed(density, rise)) + scaled(density, theta.bend)
    at = (cumulative(law.rate * z) if below else cumulative(-(law.rate * z))).times(law.spread)
    return from_monotone(at.clip(0.0, 1.0), below, first, second)

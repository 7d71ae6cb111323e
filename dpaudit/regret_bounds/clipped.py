"""A Gaussian linear bandit as a private index algorithm can play it: rewards clipped to [0, 1].

Pure privacy needs bounded rewards. The policy sees (clip(r, -B, B) + B) / (2 B), a function of each
reward, so an epsilon-DP algorithm for [0, 1] stays epsilon-DP for Gaussian rewards. Clipping keeps
the order of the means (E clip(m + N(0,1)) increases in m), so a consistent algorithm stays
consistent; its regret is counted in the gaps of the linear bandit, not in those of the clipped one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.continuous import Bounded
from dpaudit.core.environments import Array
from dpaudit.regret_bounds.linear import LinearInstance

MARGIN = 4.0


@dataclass(frozen=True)
class ClippedLinear(Bounded):
    """The clipped, rescaled rewards of a linear instance; B is the largest |mean| plus a margin."""

    instance: LinearInstance

    @cached_property
    def limit(self) -> float:
        """B."""
        return float(np.abs(self.instance.environment.means).max()) + MARGIN

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        moments = [_clipped(mean, self.limit) for mean in self.instance.environment.means]
        first, second = np.array(moments).T
        return first, np.sqrt(second - first**2)

    @cached_property
    def means(self) -> tuple[float, ...]:  # type: ignore[override]
        """The mean clipped rewards, in [0, 1]."""
        return tuple(((self._moments[0] + self.limit) / (2 * self.limit)).tolist())

    @property
    def deviations(self) -> Array:
        """The deviations of the clipped rewards."""
        return np.asarray(self._moments[1] / (2 * self.limit))

    def rewards(self, arm: NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw Gaussian rewards, clip and rescale."""
        drawn = self.instance.environment.rewards(arm, rng)
        return np.asarray((np.clip(drawn, -self.limit, self.limit) + self.limit) / (2 * self.limit))


def _clipped(mean: float, limit: float) -> tuple[float, float]:
    """Return the first two moments of N(mean, 1) clipped to [-limit, limit]."""
    a, b = -limit - mean, limit - mean
    low, high = math.erfc(-a / math.sqrt(2)) / 2, math.erfc(b / math.sqrt(2)) / 2
    density_a, density_b = (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (a, b))
    inside = 1 - low - high
    first = limit * (high - low) + mean * inside + density_a - density_b
    second = limit**2 * (high + low) + (mean**2 + 1) * inside
    second += (mean - limit) * density_a - (mean + limit) * density_b
    return first, second

"""lazy_dp_ucb with Gaussian noise of the Laplace scale, sold as pure epsilon-DP."""

from dataclasses import dataclass, replace

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Sample
from dpaudit.core.noise import Gaussian

flaw = "Gaussian noise claimed to be pure: its tails are too light for any epsilon without a delta."
refuted_by = (Sample(horizon=8, runs=60_000),)


@dataclass(frozen=True, kw_only=True)
class GaussianNoise(LazyDPUCB):
    """Lazy-DP-UCB with normal noise in place of Laplace noise."""

    epsilon: float = 4.0

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean with normal noise whose deviation is the Laplace scale."""
        right = super().release(rows)
        return replace(right, noise=Gaussian(variance=exact(right.noise.spread()) ** 2))

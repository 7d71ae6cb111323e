"""lazy_dp_ucb that adds the noise of a mean to a sum and divides afterwards."""

from dataclasses import dataclass, replace
from typing import Any

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.mutant import Exact
from dpaudit.core.scores import Affine, Score

flaw = "Noise scaled for a mean is added to the sum: it is divided by the count twice."
refuted_by = (Exact(horizon=7),)


@dataclass(frozen=True, kw_only=True)
class NoiseOfMeanOnSum(LazyDPUCB):
    """Lazy-DP-UCB that releases sums with noise of scale 1 / (epsilon n)."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the sum with the noise of the mean."""
        return replace(super().release(rows), divisor=1)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the sum divided by its length."""
        n = (pulls + 1) / 2
        width = 3 * m.log(time) / n
        return Affine(m.sqrt(width) + width / m.number(self.epsilon), scale=1 / n)

"""lazy_dp_ucb that releases the sum of all rewards anew after each batch."""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, Score

flaw = "The sum of all rewards is released after each batch, with noise for that batch alone."
refuted_by = (Exact(horizon=7),)


@dataclass(frozen=True, kw_only=True)
class SumsReleased(LazyDPUCB):
    """Lazy-DP-UCB whose register is overwritten with a noisy sum of all rewards."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the sum so far with Laplace noise of scale 1 / epsilon."""
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(1 / exact(self.epsilon)))

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the sum divided by the number of pulls."""
        width = 3 * m.log(time) / pulls
        return Affine(m.sqrt(width) + width / m.number(self.epsilon), scale=1 / pulls)

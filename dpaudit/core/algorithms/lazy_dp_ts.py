"""Lazy-DP-TS (Hu & Hegde 2022): Thompson sampling on doubling batches with forgetting.

m = clip(private mean + 3 log t / (epsilon n)); draw Beta(m n + 1, (1 - m) n + 1) for every arm and
play the largest draw; n rewards in the last batch, Laplace(1 / epsilon) on the batch sum.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.scores import BetaDraw


@dataclass(frozen=True, kw_only=True)
class LazyDPTS(LazyDPUCB):
    """The batches of Lazy-DP-UCB with a Thompson draw in place of the index."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> BetaDraw:  # type: ignore[override]
        """Return Thompson's rule on the shifted, clipped private means."""
        n = (pulls + 1) / 2
        return BetaDraw(n, shift=3 * m.log(time) / (m.number(self.epsilon) * n))

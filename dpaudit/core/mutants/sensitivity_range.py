"""lazy_dp_ucb on rewards in [0, 2] with noise for rewards in [0, 1]."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.mutant import Exact

flaw = "Rewards range over [0, 2], the noise is for [0, 1]: one reward moves a mean twice as far."
refuted_by = (Exact(horizon=3),)


@dataclass(frozen=True, kw_only=True)
class DoubledRange(LazyDPUCB):
    """Lazy-DP-UCB that averages twice the reward of the stream."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean of doubled rewards with noise for plain ones."""
        return replace(super().release(rows), divisor=Fraction(len(rows), 2))

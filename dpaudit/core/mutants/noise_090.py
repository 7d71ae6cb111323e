"""lazy_dp_ucb with noise of 0.90 times the right scale."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of 0.90 times the right scale: each release costs 1.111 epsilon."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class MutantLazyDPUCB(LazyDPUCB):
    """LazyDPUCB with too little noise."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale multiplied by 0.90."""
        return scaled(super().release(rows), Fraction(9, 10))

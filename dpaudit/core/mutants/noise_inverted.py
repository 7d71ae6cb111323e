"""lazy_dp_ucb with epsilon where 1 / epsilon belongs; at epsilon = 1 nobody notices."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact, scaled

flaw = "The noise has scale epsilon where 1 / epsilon belongs: too little if epsilon is below 1."
refuted_by = (Exact(horizon=3),)


@dataclass(frozen=True, kw_only=True)
class InvertedScale(LazyDPUCB):
    """Lazy-DP-UCB whose noise shrinks with epsilon; the flaw acts below epsilon = 1."""

    epsilon: float = 0.5

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale multiplied by epsilon squared."""
        return scaled(super().release(rows), exact(self.epsilon) ** 2)

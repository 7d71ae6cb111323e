"""adap_ucb with noise of half the right scale."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of half the right scale: each release costs 2 epsilon."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class MutantAdapUCB(AdapUCB):
    """AdapUCB with too little noise."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale halved."""
        return scaled(super().release(rows), Fraction(1, 2))

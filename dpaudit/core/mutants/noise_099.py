"""adap_klucb with noise of 0.99 times the right scale."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of 0.99 times the right scale: each release costs 1.0101 epsilon."
refuted_by = (Exact(horizon=4),)


@dataclass(frozen=True, kw_only=True)
class NoiseTimes099(AdapKLUCB):
    """AdapKLUCB with too little noise."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale multiplied by 0.99."""
        return scaled(super().release(rows), Fraction(99, 100))

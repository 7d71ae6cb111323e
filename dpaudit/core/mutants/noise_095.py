"""adap_moss with noise of 0.95 times the right scale."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_moss import AdapMOSS
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of 0.95 times the right scale: each release costs 1.053 epsilon."
refuted_by = (Exact(horizon=7),)


@dataclass(frozen=True, kw_only=True)
class MutantAdapMOSS(AdapMOSS):
    """AdapMOSS with too little noise."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale multiplied by 0.95."""
        return scaled(super().release(rows), Fraction(19, 20))

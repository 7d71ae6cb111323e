"""adap_klucb whose noise is scaled for all pulls of an arm, not for its last episode."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.mutant import Exact

flaw = "The mean is of the last episode, but its noise is scaled for all pulls of the arm."
refuted_by = (Exact(horizon=4),)


@dataclass(frozen=True, kw_only=True)
class ScaledForAllPulls(AdapKLUCB):
    """AdaP-KLUCB with noise of scale 1 / (epsilon N)."""

    def released_length(self, pulls: int) -> Fraction:
        """Return the number of all pulls."""
        return Fraction(pulls)

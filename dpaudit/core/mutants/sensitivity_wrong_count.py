"""adap_ucb that divides an episode's sum by the length of the episode before it."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.mutant import Exact

flaw = (
    "The mean is divided by the wrong count, that of the episode before: one reward moves it twice."
)
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class WrongCount(AdapUCB):
    """AdaP-UCB on sums divided by half the number of rewards."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the sum divided by half its length, with noise for the mean."""
        return replace(super().release(rows), divisor=Fraction(len(rows), 2))

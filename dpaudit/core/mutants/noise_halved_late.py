"""adap_ucb that is right until episodes of 128 pulls, where the noise is halved."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.mutant import Exact, scaled

flaw = "Noise of half the scale in episodes of 128 pulls or more: short runs do not show it."
refuted_by = (Exact(horizon=513),)


@dataclass(frozen=True, kw_only=True)
class HalvedLate(AdapUCB):
    """AdaP-UCB with too little noise on long episodes only."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release, of half the scale if the episode is long."""
        return scaled(super().release(rows), Fraction(1, 2 if len(rows) >= 128 else 1))

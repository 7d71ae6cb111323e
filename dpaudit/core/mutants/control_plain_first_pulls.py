"""adap_ucb whose first pulls are used as they are."""

from dataclasses import dataclass, replace

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.mutant import Exact, Sample
from dpaudit.core.noise import NoNoise

flaw = "The first reward of every arm is used without noise, as an initial estimate."
refuted_by = (Exact(horizon=3), Sample(horizon=8))


@dataclass(frozen=True, kw_only=True)
class PlainFirstPulls(AdapUCB):
    """AdaP-UCB with noise from the second episode on."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean, plain if it is the arm's first reward."""
        right = super().release(rows)
        return replace(right, noise=NoNoise()) if rows.first == 0 else right

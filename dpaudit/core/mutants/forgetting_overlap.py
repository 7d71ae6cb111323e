"""adap_ucb whose episodes overlap: a release reaches back into the episode before."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace

flaw = "Episodes overlap: the later half of an episode is released again with the next one."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class Overlapping(AdapUCB):
    """AdaP-UCB that also averages the later half of the episode before."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean of the episode and the rewards just before it."""
        wide = Rows(rows.arm, rows.first - (rows.first + 3) // 4, rows.stop)
        noise = Laplace(1 / (exact(self.epsilon) * len(wide)))
        return Release(rows.arm, wide, noise, divisor=len(wide))

"""adap_ucb that keeps the whole history of an arm, with noise for a single release."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace

flaw = (
    "The history is kept: each release averages all rewards, with noise as if it were the only one."
)
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class HistoryKept(AdapUCB):
    """AdaP-UCB without forgetting: a reward enters every later release of its arm."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean of all rewards with noise of scale 1 / (epsilon N)."""
        scale = 1 / (exact(self.epsilon) * rows.stop)
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(scale), divisor=rows.stop)

"""dp_ucb without a tree: the whole sum is released after every pull."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Register, Release, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace

flaw = "The tree is gone: after every pull the whole sum is released with noise for one release."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class RedrawnSums(DPUCB):
    """DP-UCB on sums that are released anew after every pull."""

    def release(self, rows: Rows) -> Release:
        """Return the sum so far with fresh noise of scale 1 / epsilon."""
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(1 / exact(self.epsilon)))

    def registers(self, arm: int, pulls: int) -> tuple[Register, ...]:
        """Return the arm's one register."""
        return (arm,)

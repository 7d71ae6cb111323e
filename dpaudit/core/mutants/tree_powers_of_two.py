"""dp_ucb that forgets the noise of the node closed when the count is a power of two."""

from dataclasses import dataclass, replace

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import NoNoise

flaw = "The node that covers all rewards, closed when the count is a power of two, gets no noise."
refuted_by = (Exact(horizon=3),)


@dataclass(frozen=True, kw_only=True)
class PlainPowers(DPUCB):
    """DP-UCB without noise at pull counts 1, 2, 4, ..."""

    def release(self, rows: Rows) -> Release:
        """Return the node, plain if it covers all rewards of the arm."""
        right = super().release(rows)
        return replace(right, noise=NoNoise()) if right.rows.first == 0 else right

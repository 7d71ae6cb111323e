"""dp_klucb that releases the cumulative sum anew where it should add a noisy batch."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.dp_klucb import DPKLUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.noise import Laplace

flaw = "The sum of all rewards is released after each batch with fresh noise for a single batch."
refuted_by = (Exact(horizon=7),)


@dataclass(frozen=True, kw_only=True)
class SumsReleased(DPKLUCB):
    """DP-KLUCB whose register is overwritten with a noisy sum of all rewards."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the sum so far with Laplace noise of scale 1 / epsilon."""
        whole = Rows(rows.arm, 0, rows.stop)
        return Release(rows.arm, whole, Laplace(1 / exact(self.epsilon)))

"""adap_ucb without any noise: every release is the plain mean."""

from dataclasses import dataclass, replace

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.mutant import Exact, Sample
from dpaudit.core.noise import NoNoise

flaw = "No noise at all: the plain mean of every episode decides."
refuted_by = (Exact(horizon=3), Sample(horizon=64))


@dataclass(frozen=True, kw_only=True)
class WithoutNoise(AdapUCB):
    """AdaP-UCB on plain means."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean as it is."""
        return replace(super().release(rows), noise=NoNoise())

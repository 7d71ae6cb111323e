"""adap_imed whose author took the deviation of the Laplace law for its scale."""

import math
from dataclasses import dataclass

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_imed import AdapIMED
from dpaudit.core.mutant import Exact, scaled

flaw = "The deviation of the Laplace law was set where its scale belongs: sqrt(2) too little noise."
refuted_by = (Exact(horizon=5),)


@dataclass(frozen=True, kw_only=True)
class DeviationForScale(AdapIMED):
    """AdaP-IMED whose noise has the right scale as its deviation."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale divided by sqrt(2)."""
        return scaled(super().release(rows), math.sqrt(0.5))

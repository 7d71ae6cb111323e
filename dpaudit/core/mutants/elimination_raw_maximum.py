"""dp_se that compares noisy means with the largest raw mean."""

from typing import Any

from numpy.typing import NDArray

from dpaudit.core.handwritten import Elimination
from dpaudit.core.mutant import Changed, Sample

flaw = "Noisy means are compared with the largest raw mean, which goes without noise of its own."
arms = 5
refuted_by = (
    Sample(
        horizon=9_000,
        runs=4_000,
        pair=Changed(((0.0, 6556), (1.0, 229), (0.5, 1), (0.0, 1)), 6556, 0.0),
    ),
)


class RawMaximum(Elimination):
    """DP-SE whose bar is the best raw mean."""

    def best(self, noisy: list[float], played: list[NDArray[Any]]) -> float:
        """Return the largest raw mean."""
        return max(float(rewards.sum() / len(rewards)) for rewards in played)

"""adap_ucb with indices capped at 1, and ties broken by raw means."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "Indices are capped at 1 and ties go to the larger raw mean, so raw rewards decide."
refuted_by = (Sample(horizon=16),)


class RawTies(HandwrittenDoubling):
    """AdaP-UCB with capped indices and a tie-break that looks at rewards."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.raw = [0.0] * self.arms

    def choose(self) -> int:
        """Return the arm of the largest capped index; the larger raw mean wins ties."""
        return max(range(self.arms), key=lambda arm: (min(1.0, self.index(arm)), self.raw[arm]))

    def statistic(self, arm: int) -> float:
        """Return the mean, and remember it."""
        mean = super().statistic(arm)
        self.raw[arm] = mean
        return mean

"""adap_ucb that explores by a coin whose chance is the raw mean of the last episode."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "A coin decides whether to explore, and its chance is a raw mean: it shows without noise."
refuted_by = (Sample(horizon=16),)


class CoinReadsRewards(HandwrittenDoubling):
    """AdaP-UCB that plays the last arm the more often the better the last episode was."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.seen = 0.0

    def choose(self) -> int:
        """Return the last arm with the chance of a raw mean, or that of the largest index."""
        return self.arms - 1 if self.rng.random() < self.seen else super().choose()

    def statistic(self, arm: int) -> float:
        """Return the mean of the episode, and remember it as it is."""
        self.seen = super().statistic(arm)
        return self.seen

"""adap_ucb whose noise is scaled by the deviation seen in the rewards."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "The noise is scaled by the spread of the raw rewards: equal rewards get none at all."
refuted_by = (Sample(horizon=16),)


class ScaledBySpread(HandwrittenDoubling):
    """AdaP-UCB with noise in proportion to the range of the episode's rewards."""

    def scale(self, arm: int) -> float:
        """Return the scale times the range of the rewards."""
        return super().scale(arm) * (max(self.rewards) - min(self.rewards))

"""adap_ucb on payoffs of up to 10 that are never clipped to [0, 1]."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "Payoffs of up to 10 are not clipped to [0, 1]: one of them moves a mean ten times too far."
refuted_by = (Sample(horizon=16),)


class NotClipped(HandwrittenDoubling):
    """AdaP-UCB that averages ten times the reward of the stream."""

    def statistic(self, arm: int) -> float:
        """Return the mean payoff."""
        return 10 * super().statistic(arm)

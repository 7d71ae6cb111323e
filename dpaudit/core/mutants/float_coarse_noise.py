"""adap_ucb whose noise is rounded to a coarse grid."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "The noise is rounded to a grid of two scales: it hides no smaller step, at any epsilon."
refuted_by = (Sample(horizon=16),)


class CoarseNoise(HandwrittenDoubling):
    """AdaP-UCB with noise on a coarse grid."""

    epsilon = 0.25

    def noise(self, arm: int) -> float:
        """Return the noise, rounded to the grid."""
        step = 2 * self.scale(arm)
        return step * round(super().noise(arm) / step)

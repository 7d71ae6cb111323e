"""adap_ucb that cuts off noise beyond half its scale."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "Large noise is clipped so that indices stay sensible: bounded noise rules some rewards out."
refuted_by = (Sample(horizon=16),)


class Truncated(HandwrittenDoubling):
    """AdaP-UCB with Laplace noise clipped to half its scale on either side."""

    def noise(self, arm: int) -> float:
        """Return the noise, clipped."""
        most = self.scale(arm) / 2
        return min(max(super().noise(arm), -most), most)

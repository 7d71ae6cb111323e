"""adap_ucb that rounds a mean up to a whole number before it adds noise."""

import math

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Changed, Sample

flaw = "The mean is rounded up before the noise is added: one reward can move it by 1."
refuted_by = (Sample(horizon=19, pair=Changed(((0.0, 1),), 12, 1.0)),)


class RoundedFirst(HandwrittenDoubling):
    """AdaP-UCB on coarse means."""

    def statistic(self, arm: int) -> float:
        """Return the mean, rounded up to a whole number."""
        return math.ceil(super().statistic(arm))

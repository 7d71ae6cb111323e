"""adap_ucb that seeds its generator anew in every episode."""

import numpy as np

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "The generator is seeded with one constant in every episode: the noise is known in advance."
refuted_by = (Sample(horizon=16),)


class SameSeed(HandwrittenDoubling):
    """AdaP-UCB whose noise is a constant."""

    def noise(self, arm: int) -> float:
        """Return the first draw after seeding with a constant."""
        return float(np.random.default_rng(2022).laplace(0.0, self.scale(arm)))

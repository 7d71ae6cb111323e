"""adap_ucb that draws the noise of an arm once and rescales it ever after."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "An arm draws its noise once and only rescales it later: one release gives away the next."
refuted_by = (Sample(horizon=16),)


class OneDraw(HandwrittenDoubling):
    """AdaP-UCB with one standard draw per arm."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.drawn: dict[int, float] = {}

    def noise(self, arm: int) -> float:
        """Return the arm's only draw at the scale of the episode."""
        if arm not in self.drawn:
            self.drawn[arm] = float(self.rng.laplace(0.0, 1.0))
        return self.drawn[arm] * self.scale(arm)

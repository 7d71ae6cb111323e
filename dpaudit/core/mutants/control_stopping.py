"""adap_ucb that stops exploring once it has collected enough."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "Exploration stops when the raw rewards add up to 8: the time of stopping shows them."
refuted_by = (Sample(horizon=32),)


class StopsExploring(HandwrittenDoubling):
    """AdaP-UCB that plays one arm for ever once the rewards suffice."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.total = 0.0

    def update(self, arm: int, reward: float) -> None:
        """Take a reward; once they add up to 8, settle for the arm at hand."""
        super().update(arm, reward)
        self.total += reward
        if self.total >= 8:
            self.left = self.horizon

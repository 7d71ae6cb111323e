"""adap_ucb that commits to an arm whose raw mean looks good enough."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "An arm whose raw mean is above 0.9 after two pulls or more is played for ever."
refuted_by = (Sample(horizon=16),)


class CommitsEarly(HandwrittenDoubling):
    """AdaP-UCB that stops choosing when an arm looks very good."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.totals = [0.0] * self.arms

    def update(self, arm: int, reward: float) -> None:
        """Take a reward; an arm that has paid nearly always is never left."""
        super().update(arm, reward)
        self.totals[arm] += reward
        if self.left == 0 and self.pulls[arm] > 1 and self.totals[arm] > 0.9 * self.pulls[arm]:
            self.left = self.horizon

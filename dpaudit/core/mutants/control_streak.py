"""adap_ucb whose episodes go on while they win."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "An episode goes on as long as rewards are above one half: stopping shows raw rewards."
refuted_by = (Sample(horizon=16),)


class GoesOn(HandwrittenDoubling):
    """AdaP-UCB that extends an episode after every good reward."""

    def update(self, arm: int, reward: float) -> None:
        """Take a reward; after a good one the episode does not end."""
        if reward > 0.5:
            self.left = max(self.left, 2)
        super().update(arm, reward)

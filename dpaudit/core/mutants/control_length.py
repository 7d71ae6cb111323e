"""adap_ucb whose episodes end early after a bad reward."""

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "An episode ends at the first reward below one half: its length shows raw rewards."
refuted_by = (Sample(horizon=16),)


class EndsEarly(HandwrittenDoubling):
    """AdaP-UCB that gives an episode up when it disappoints."""

    def update(self, arm: int, reward: float) -> None:
        """Take a reward; a bad one is the last of its episode."""
        if reward < 0.5:
            self.left = 1
        super().update(arm, reward)

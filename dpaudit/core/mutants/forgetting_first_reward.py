"""adap_ucb whose episodes never forget the arm's first reward."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Changed, Sample

flaw = "The first reward of an arm is kept and enters every later release again."
refuted_by = (Sample(horizon=36, runs=20_000, pair=Changed(((1.0, 1),), 0, 0.0)),)


class FirstKept(HandwrittenDoubling):
    """AdaP-UCB that averages the first reward along with every later episode."""

    epsilon = 2.0

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.kept: dict[int, float] = {}

    def statistic(self, arm: int) -> float:
        """Return the mean of the episode and the first reward."""
        if arm in self.kept:
            self.rewards.append(self.kept[arm])
        self.kept.setdefault(arm, self.rewards[0])
        return super().statistic(arm)

    def scale(self, arm: int) -> float:
        """Return the scale for a mean of that many rewards (as at first for a single one)."""
        first = self.pulls[arm] == 1
        return super().scale(arm) if first else 1 / (self.epsilon * len(self.rewards))

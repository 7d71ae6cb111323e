"""adap_ucb whose arms share their noise."""

from typing import Any

from dpaudit.core.handwritten import HandwrittenDoubling
from dpaudit.core.mutant import Sample

flaw = "Arms with equal counts share one noise draw: it cancels when they are compared."
refuted_by = (Sample(horizon=16),)


class SharedNoise(HandwrittenDoubling):
    """AdaP-UCB that draws once per pull count and uses the draw for every arm."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.drawn: dict[int, float] = {}

    def noise(self, arm: int) -> float:
        """Return the noise of the pull count, whichever arm asks."""
        return self.drawn.setdefault(self.pulls[arm], super().noise(arm))

"""dp_ucb whose arms share one tree of noise."""

from typing import Any

from dpaudit.core.handwritten import Tree
from dpaudit.core.mutant import Sample

flaw = "One tree of noise serves all arms: at equal counts it cancels when they are compared."
refuted_by = (Sample(horizon=8),)


class SharedTree(Tree):
    """DP-UCB that draws the noise of a node once for all arms."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.drawn: dict[int, float] = {}

    def noise(self, count: int) -> float:
        """Return the noise of the node that ends at a count, whichever arm asks."""
        return self.drawn.setdefault(count, super().noise(count))

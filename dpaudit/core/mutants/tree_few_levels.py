"""dp_ucb whose node noise forgets the depth of the tree."""

from typing import Any

from dpaudit.core.handwritten import Tree
from dpaudit.core.mutant import Changed, Sample

flaw = "Every node has noise for one level of the tree, but a reward lies in a node of each level."
refuted_by = (Sample(horizon=10, runs=24_000, pair=Changed(((0.0, 1),), 0, 1.0)),)


class OneLevel(Tree):
    """DP-UCB with node noise of scale 1 / epsilon."""

    epsilon = 2.0

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.scale = 1 / self.epsilon

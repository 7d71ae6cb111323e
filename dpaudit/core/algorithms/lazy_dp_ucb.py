"""Lazy-DP-UCB (Hu, Huang, Mehta & Hegde 2021): doubling batches 1, 2, 4, ... with forgetting.

index = private mean + sqrt(3 log t / n) + 3 log t / (epsilon n), n rewards in the last batch, with
Laplace(1 / epsilon) on the batch sum.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class LazyDPUCB(DoublingEpisodes):
    """Batches double in length (after b of them an arm has 2^b - 1 pulls), the last one counts."""

    def episode_length(self, pulls: Any) -> Any:
        """Return twice the last batch: with N = 2^b - 1 pulls, 2^b."""
        return pulls + 1

    def released_length(self, pulls: Any) -> Any:
        """Return the length of the last batch."""
        return Fraction(pulls + 1, 2)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index as a shift of the private mean."""
        width = 3 * m.log(time) / ((pulls + 1) / 2)
        return Affine(m.sqrt(width) + width / m.number(self.epsilon))

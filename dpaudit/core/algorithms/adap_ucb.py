"""AdaP-UCB (Azize & Basu 2022, eq. for AdaP-UCB in Section 4): optimism on the private mean.

index = private mean + sqrt(alpha log t / (2 n)) + alpha log t / (epsilon n), with n = N / 2.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class AdapUCB(DoublingEpisodes):
    """Doubling episodes with a Hoeffding bonus and a Laplace-tail bonus."""

    alpha: float = 3.1

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index as a shift of the private mean."""
        width = m.number(self.alpha) * m.log(time) / (pulls / 2)
        return Affine(m.sqrt(width / 2) + width / m.number(self.epsilon))

"""AdaP-KLUCB (Azize & Basu 2022, eq. for AdaP-KLUCB in Section 4): KL optimism on the private mean.

m = clip(private mean + alpha log t / (epsilon n)); index = max{q : d(m, q) <= alpha log t / n},
with n = N / 2.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import KLBound, Score


@dataclass(frozen=True, kw_only=True)
class AdapKLUCB(DoublingEpisodes):
    """Doubling episodes with the Bernoulli KL upper confidence bound."""

    alpha: float = 3.1

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the KL index of the shifted, clipped private mean."""
        level = m.number(self.alpha) * m.log(time) / (pulls / 2)
        return KLBound(level, shift=level / m.number(self.epsilon))

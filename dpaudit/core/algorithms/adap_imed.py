"""AdaP-IMED: Algorithm 1 of Azize & Basu (2022) around IMED (Honda & Takemura 2015).

m = clip(private mean + alpha log t / (epsilon n)); play the arm that minimises
n d(m, largest m) + log n, with n = N / 2. The rule is joint in the registers.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Imed, Rule


@dataclass(frozen=True, kw_only=True)
class AdapIMED(DoublingEpisodes):
    """Doubling episodes with the minimum-empirical-divergence rule."""

    alpha: float = 3.1

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Rule:
        """Return IMED's joint rule on the shifted, clipped private means."""
        n = pulls / 2
        return Imed(n, shift=m.number(self.alpha) * m.log(time) / (m.number(self.epsilon) * n))

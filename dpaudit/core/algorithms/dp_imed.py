"""DP-IMED (Azize, Wu, Honda, Orabona, Ito & Basu 2025, arXiv 2505.05613): no forgetting.

Registers as in dp_klucb; play the arm that minimises n d_epsilon(m, largest m) + log n with
m = clip(S / n), n the pull count. The rule is joint in the registers.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import CumulativeBatches
from dpaudit.core.scores import Imed, Rule


@dataclass(frozen=True, kw_only=True)
class DPIMED(CumulativeBatches):
    """Cumulative noisy sums with the minimum-divergence rule in d_epsilon."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Rule:
        """Return IMED's joint rule in d_epsilon on the noisy cumulative means."""
        return Imed(pulls, scale=1 / pulls, epsilon=m.number(self.epsilon))

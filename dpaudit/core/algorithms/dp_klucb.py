"""DP-KLUCB (Azize, Wu, Honda, Orabona, Ito & Basu 2025, arXiv 2505.05613): no forgetting.

Geometric batches per arm; each adds its sum and one fresh Laplace(1 / epsilon) draw to the arm's
cumulative register S. index = max{q : d_epsilon(clip(S / n), q) <= log t / n}, n the pull count.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import CumulativeBatches
from dpaudit.core.scores import PrivateKLBound, Score


@dataclass(frozen=True, kw_only=True)
class DPKLUCB(CumulativeBatches):
    """Cumulative noisy sums with the d_epsilon upper confidence bound."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the private KL index of the noisy cumulative mean."""
        return PrivateKLBound(m.log(time) / pulls, m.number(self.epsilon), scale=1 / pulls)

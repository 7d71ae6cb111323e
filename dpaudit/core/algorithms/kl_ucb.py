"""KL-UCB (Garivier & Cappe 2011), not private: index = max{q : N d(mean, q) <= log t}."""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import KLBound, Score


@dataclass(frozen=True, kw_only=True)
class KLUCB(PerStep):
    """One decision per round on the exact sums, with the Bernoulli KL bound."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the KL index of the exact mean."""
        return KLBound(m.log(time) / pulls, scale=1 / pulls)

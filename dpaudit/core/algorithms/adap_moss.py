"""AdaP-MOSS: Algorithm 1 of Azize & Basu (2022) around the MOSS width (Audibert & Bubeck 2009).

index = private mean + sqrt(L / (2 n)) + L / (epsilon n), with n = N / 2 and
L = alpha log max(e, t / (K n)).
The width shrinks for arms that already hold a fair share of the rounds.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class AdapMOSS(DoublingEpisodes):
    """Doubling episodes with the anytime MOSS width, floored at one unit of log."""

    alpha: float = 3.1

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index as a shift of the private mean."""
        n = pulls / 2
        share = m.maximum(m.log(time / (self.arms * n)), m.number(1))
        width = m.number(self.alpha) * share / n
        return Affine(m.sqrt(width / 2) + width / m.number(self.epsilon))

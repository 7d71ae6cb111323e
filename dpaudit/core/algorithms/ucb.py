"""UCB1 (Auer, Cesa-Bianchi & Fischer 2002), not private: index = mean + sqrt(2 log t / N)."""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class UCB(PerStep):
    """One decision per round on the exact sums."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the exact sum."""
        return Affine(m.sqrt(2 * m.log(time) / pulls), scale=1 / pulls)

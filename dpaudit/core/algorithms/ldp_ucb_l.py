"""LDP-UCB-L (Ren, Zhou, Liu & Shroff 2020, arXiv 2007.03121): UCB on rewards with Laplace noise.

Every reward gets Laplace(1 / epsilon). An arm with N <= 4 log(t + 1) is pulled before any other;
otherwise index = noisy mean + sqrt(2 log t / N) + sqrt(32 log t / (epsilon^2 N)).
"""

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.local import Local
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class LDPUCBL(Local):
    """Noisy rewards, added up per arm, with a bonus for the noise."""

    def law(self) -> Laplace:
        """Return Laplace noise of scale 1 / epsilon."""
        return Laplace(1 / exact(self.epsilon))

    def due(self, pulls: tuple[int, ...]) -> int | None:
        """Return the first arm with too few pulls for its noise to be small."""
        few = 4 * math.log(sum(pulls) + 2)
        return next((arm for arm, count in enumerate(pulls) if count <= few), None)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the noisy mean."""
        share, epsilon = m.log(time) / pulls, m.number(self.epsilon)
        return Affine(m.sqrt(2 * share) + m.sqrt(32 * share) / epsilon, scale=1 / pulls)

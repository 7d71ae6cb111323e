"""DP-Linear (after Azize & Basu 2023): phased elimination on a G-optimal design, Laplace noise.

The frame is `dpaudit.core.linear`. Each sum of a phase is released with Laplace(1 / epsilon), which
charges epsilon to its rewards and to no other. Laplace noise is sub-gamma: with weights w its sum
exceeds sqrt(4 L sum w^2 / epsilon^2) + max|w| L / epsilon with probability at most e^-L, so the
tail is max|w| L / epsilon, and n = 2 g (2 sqrt(m L) + L) / (epsilon tau) rounds suffice for it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.linear import LinearPhases
from dpaudit.core.noise import Laplace


@dataclass(frozen=True, kw_only=True)
class DPLinear(LinearPhases):
    """Linear phased elimination under pure epsilon."""

    epsilon: float = 1.0

    def law(self) -> Laplace:
        """Return Laplace(1 / epsilon)."""
        return Laplace(1 / exact(self.epsilon))

    def variance(self) -> Fraction:
        """Return 2 / epsilon^2."""
        return 2 / exact(self.epsilon) ** 2

    def rounds(self, g: float, support: int, level: float, width: float) -> float:
        """Return 2 g (2 sqrt(m L) + L) / (epsilon tau)."""
        return 2 * g * (2 * math.sqrt(support * level) + level) / (self.epsilon * width)

    def tail(self, largest: Any, level: Any, m: Arithmetic) -> Any:
        """Return max|w| L / epsilon."""
        return largest * level / m.number(self.epsilon)

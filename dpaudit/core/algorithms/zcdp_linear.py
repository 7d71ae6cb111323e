"""zCDP-Linear (after Azize & Basu 2023, AdaC-GOPE): elimination on a design, Gaussian noise.

The frame is `dpaudit.core.linear`. Each sum of a phase is released with N(0, 1 / (2 rho)), which
charges rho to its rewards and to no other. A weighted sum of normal noise is normal, so that a
width needs no more than its variance, and n = 2 g sqrt(m L / rho) / tau rounds suffice for it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.linear import LinearPhases
from dpaudit.core.noise import Gaussian
from dpaudit.core.notions import Kind


@dataclass(frozen=True, kw_only=True)
class ZCDPLinear(LinearPhases):
    """Linear phased elimination under zero-concentrated privacy."""

    rho: float = 0.5

    notion: ClassVar[Kind] = Kind.ZCDP

    def law(self) -> Gaussian:
        """Return N(0, 1 / (2 rho))."""
        return Gaussian(variance=self.variance())

    def variance(self) -> Fraction:
        """Return 1 / (2 rho)."""
        return 1 / (2 * exact(self.rho))

    def rounds(self, g: float, support: int, level: float, width: float) -> float:
        """Return 2 g sqrt(m L / rho) / tau."""
        return 2 * g * math.sqrt(support * level / self.rho) / width

    def tail(self, largest: Any, level: Any, m: Arithmetic) -> Any:
        """Return nothing: the sum is normal."""
        return 0

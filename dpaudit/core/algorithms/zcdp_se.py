"""DP-SE with Gaussian noise (after Sajed & Sheffet 2019): successive elimination under zCDP.

As `dp_se`, with the mean of an epoch's R_e rewards released with N(0, 1 / (2 rho R_e^2)), which
charges rho. |noise| exceeds c_e = sqrt(log(4 |S| e^2 / beta) / rho) / R_e with probability at most
beta / (2 |S| e^2), as for Laplace noise there, so R_e = ceil(1 + max(32 log(8 |S| e^2 / beta) /
Delta_e^2, 8 sqrt(log(4 |S| e^2 / beta) / rho) / Delta_e)) and arm j goes when it is more than
2 h_e + 2 c_e below the largest mean; beta = 1 / T.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Gaussian
from dpaudit.core.notions import Kind
from dpaudit.core.phases import Phases


@dataclass(frozen=True, kw_only=True)
class ZCDPSE(Phases):
    """Batched successive elimination with Gaussian noise; the horizon enters through beta."""

    rho: float = 0.5
    horizon: int

    notion: ClassVar[Kind] = Kind.ZCDP

    def weight(self, epoch: int, survivors: int) -> Fraction:
        """Return |S| e^2 / beta."""
        return Fraction(survivors * epoch**2 * self.horizon)

    def phase_length(self, epoch: int, survivors: int) -> int:
        """Return R_e."""
        gap, weight = 2.0**-epoch, float(self.weight(epoch, survivors))
        wide = 32 * math.log(8 * weight) / gap**2
        private = 8 * math.sqrt(math.log(4 * weight) / self.rho) / gap
        return math.ceil(max(wide, private) + 1)

    def noise(self, epoch: int, survivors: int) -> Gaussian:
        """Return N(0, 1 / (2 rho R_e^2))."""
        rounds = self.phase_length(epoch, survivors)
        return Gaussian(variance=1 / (2 * exact(self.rho) * rounds**2))

    def alone(self, epoch: int) -> int:
        """Return the horizon: nothing is decided any more."""
        return self.horizon

    def width(self, epoch: int, survivors: int, m: Arithmetic) -> Any:
        """Return 2 h_e + 2 c_e."""
        rounds, weight = self.phase_length(epoch, survivors), self.weight(epoch, survivors)
        hoeffding = m.sqrt(m.log(m.number(8 * weight)) / (2 * rounds))
        private = m.sqrt(m.log(m.number(4 * weight)) / m.number(self.rho)) / rounds
        return 2 * hoeffding + 2 * private

"""DP-SE (Sajed & Sheffet 2019): successive elimination on noisy epoch means; beta = 1 / T.

Epoch e = 1, 2, ... on survivors S, Delta_e = 2^-e: every survivor is pulled
R_e = ceil(1 + max(32 log(8 |S| e^2 / beta) / Delta_e^2,
8 log(4 |S| e^2 / beta) / (epsilon Delta_e)))
times; its mean over that epoch alone gets Laplace(1 / (epsilon R_e)). With
h_e = sqrt(log(8 |S| e^2 / beta) / (2 R_e)) and c_e = log(4 |S| e^2 / beta) / (epsilon R_e), arm j
goes when (largest mean) - (mean of j) > 2 h_e + 2 c_e. The last survivor is played to the end.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Laplace
from dpaudit.core.phases import Phases
from dpaudit.errors import InvalidArgument, require_positive


@dataclass(frozen=True, kw_only=True)
class DPSE(Phases):
    """Batched successive elimination; the horizon enters through beta."""

    epsilon: float = 1.0
    horizon: int
    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            require_positive("beta", self.beta)
            if self.beta > 1:
                raise InvalidArgument("beta", self.beta, "must be at most 1.")

    @property
    def failure(self) -> Fraction:
        """beta, or 1 / T where none was given."""
        return Fraction(1, self.horizon) if self.beta is None else exact(self.beta)

    def phase_length(self, epoch: int, survivors: int) -> int:
        """Return R_e."""
        gap = 2.0**-epoch
        weight = float(survivors * epoch**2 / self.failure)
        wide = 32 * math.log(8 * weight) / gap**2
        private = 8 * math.log(4 * weight) / (self.epsilon * gap)
        return math.ceil(max(wide, private) + 1)

    def noise(self, epoch: int, survivors: int) -> Laplace:
        """Return Laplace(1 / (epsilon R_e))."""
        return Laplace(1 / (exact(self.epsilon) * self.phase_length(epoch, survivors)))

    def alone(self, epoch: int) -> int:
        """Return the horizon: nothing is decided any more."""
        return self.horizon

    def width(self, epoch: int, survivors: int, m: Arithmetic) -> Any:
        """Return 2 h_e + 2 c_e."""
        rounds, weight = self.phase_length(epoch, survivors), survivors * epoch**2 / self.failure
        hoeffding = m.sqrt(m.log(m.number(8 * weight)) / (2 * rounds))
        return 2 * hoeffding + 2 * m.log(m.number(4 * weight)) / (m.number(self.epsilon) * rounds)

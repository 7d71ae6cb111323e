"""AdaC-UCB (Azize & Basu 2023): AdaP-UCB under zero-concentrated DP, with Gaussian noise.

index = private mean + sqrt(beta (1 / (2 n) + 1 / (rho n^2)) log t), with n = N / 2; the mean of an
episode of n rewards gets N(0, 1 / (2 rho n^2)), which charges rho (the first pull rho / 4). The
bonus fails with probability at most t^-beta; the paper asks for beta > 3.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.episodes import Doubling
from dpaudit.core.noise import Gaussian
from dpaudit.core.notions import Kind
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class AdacUCB(Doubling):
    """Doubling episodes with a bonus for the mean and its Gaussian noise together."""

    rho: float = 0.5
    beta: float = 3.1

    notion: ClassVar[Kind] = Kind.ZCDP

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the mean of the episode with Gaussian noise of variance 1 / (2 rho n^2)."""
        length = self.released_length(rows.stop)
        variance = 1 / (2 * exact(self.rho) * length**2)
        return Release(rows.arm, rows, Gaussian(variance=variance), divisor=len(rows))

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index as a shift of the private mean."""
        length = pulls / 2
        variance = 1 / (2 * length) + 1 / (m.number(self.rho) * length**2)
        return Affine(m.sqrt(m.number(self.beta) * variance * m.log(time)))

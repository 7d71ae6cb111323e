"""DP-UCB (Mishra & Thakurta 2015; Tossou & Dimitrakakis 2016): UCB on binary-tree noisy sums.

Each arm keeps a binary tree over its rewards: the pull number N closes the node that covers the
last 2^j rewards, j the trailing zeros of N, and the sum of all N rewards is the sum of the nodes in
the binary expansion of N. Node noise is Laplace(L / epsilon) with L = ceil(log2 T) levels.
index = noisy sum / N + sqrt(2 log t / N) + Gamma / N,
Gamma = log(T)^2 log(K T log(T) / gamma) / epsilon, gamma = 0.1.

A count that matters for a decision is at most T - 1 < 2^L, so a reward lies in at most L nodes,
also when T is a power of two.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.core.algorithm import Register, Release, Rows
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Laplace
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class DPUCB(PerStep):
    """One decision per round on tree-aggregated noisy sums."""

    epsilon: float = 1.0
    horizon: int
    gamma: float = 0.1

    private: ClassVar[bool] = True

    @property
    def levels(self) -> int:
        """L = ceil(log2 T)."""
        return (self.horizon - 1).bit_length()

    def release(self, rows: Rows) -> Release:
        """Close the node that ends at this pull: its rows, summed, with fresh noise."""
        size = rows.stop & -rows.stop
        node = Rows(rows.arm, rows.stop - size, rows.stop)
        noise = Laplace(Fraction(self.levels) / exact(self.epsilon))
        return Release((rows.arm, size.bit_length() - 1), node, noise)

    def registers(self, arm: int, pulls: int) -> tuple[Register, ...]:
        """Return the nodes in the binary expansion of the pull count, the largest first."""
        levels = range(pulls.bit_length() - 1, -1, -1)
        return tuple((arm, level) for level in levels if pulls >> level & 1)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the noisy sum."""
        horizon = m.number(self.horizon)
        log_horizon = m.log(horizon)
        gamma = log_horizon**2 * m.log(self.arms * horizon * log_horizon / m.number(self.gamma))
        bonus = m.sqrt(2 * m.log(time) / pulls) + gamma / m.number(self.epsilon) / pulls
        return Affine(bonus, scale=1 / pulls)

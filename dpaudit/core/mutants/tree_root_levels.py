"""dp_ucb whose levels share the budget by the sum of squares."""

import math
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace

flaw = "The levels of the tree share epsilon by its square, as for Gaussian noise: sqrt(L), not L."
why_not = "a reward would have to be read from many levels, in more rounds than exact covers"


@dataclass(frozen=True, kw_only=True)
class RootLevels(DPUCB):
    """Node noise of scale sqrt(L) / epsilon."""

    def release(self, rows: Rows) -> Release:
        """Return the right node with noise for a budget that adds up in squares."""
        right = super().release(rows)
        scale = Fraction(math.isqrt(self.levels * 10**12), 10**6) / exact(self.epsilon)
        return Release(right.register, right.rows, Laplace(scale), right.divisor)

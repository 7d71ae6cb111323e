"""Concave log-likelihoods that are known by evaluation alone, in balls.

With the others at 1 the steepest step leaves own sum 0 upwards, with the others at 0 it leaves n
downwards. A concave function is also concave beyond the sums that rewards can reach, so one more
evaluation just past the full step tells its slope there: if it still gains, no shorter step does
better; if not, the line through the two points bounds what shorter steps can gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.exponentials import bounds

PAST = Fraction(1, 1024)


@dataclass(frozen=True)
class ByEvaluation:
    """A concave log-likelihood by own sum; where it is monotone, whole steps suffice."""

    log: Callable[[Fraction], arb]
    rows: int
    monotone: bool

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1."""
        start, sign = (Fraction(0), 1) if rising else (Fraction(self.rows), -1)
        base, end = self.log(start), self.log(start + sign)
        upper = arb.max(end - base, arb(0))
        if not (whole or self.monotone):
            falls = (end - self.log(start + sign * (1 + PAST))) * PAST.denominator
            upper += arb.max(arb(0), falls)
        return bounds(end - base, upper, start, start + sign, end)

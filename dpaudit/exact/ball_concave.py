"""The largest loss of one release whose log-likelihood is concave in its centre, by evaluation.

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

from dpaudit.core.algorithm import Release

PAST = Fraction(1, 1024)


@dataclass(frozen=True)
class Step:
    """A loss between two balls: the lower one is attained from own sum `own` to `other`."""

    lower: arb
    upper: arb
    release: Release
    own: Fraction
    other: Fraction
    background: int


def concave_step(
    log: Callable[[Fraction], arb], release: Release, background: int, whole: bool
) -> Step:
    """Enclose the sup of the loss over steps of at most 1, or of a whole step alone.

    `log` is the log-likelihood by own sum. `whole` is for binary rewards, and for curves that are
    known to be monotone.
    """
    start, direction = (Fraction(0), 1) if background else (Fraction(len(release.rows)), -1)
    base, end = log(start), log(start + direction)
    upper = arb.max(end - base, arb(0))
    if not whole:
        falls = (end - log(start + direction * (1 + PAST))) * PAST.denominator
        upper += arb.max(arb(0), falls)
    return Step(end - base, upper, release, start, start + direction, background)

"""A score of one's own: a Bernstein bound on the private mean, in one class.

The formula is written once. Doubles simulate it; intervals with derivatives certify it. Try

    python -m dpaudit simulate examples/bernstein.py:AdapBernstein --horizon 100000
    python -m dpaudit check examples/bernstein.py:AdapBernstein
    python -m dpaudit check examples/bernstein.py:HalfTheNoise
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.mutant import scaled
from dpaudit.core.scores import Formula, Score


@dataclass(frozen=True)
class BernsteinBound(Formula):
    """The largest q with (q - x)^2 <= 2 level q, for a mean x clipped to [0, 1]."""

    level: Any

    def formula(self, x: Any, m: Arithmetic) -> Any:
        """Return x + level + sqrt(level (level + 2 x))."""
        return x + self.level + m.sqrt(self.level * (self.level + 2 * x))


@dataclass(frozen=True, kw_only=True)
class AdapBernstein(DoublingEpisodes):
    """Doubling episodes that play the largest Bernstein bound of the private means."""

    alpha: float = 3.1

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the bounds at level alpha log(t) / n."""
        return BernsteinBound(m.number(self.alpha) * m.log(time) / pulls)


@dataclass(frozen=True, kw_only=True)
class HalfTheNoise(AdapBernstein):
    """The same with noise of half the right scale: epsilon is twice what it claims."""

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with its scale halved."""
        return scaled(super().release(rows), Fraction(1, 2))

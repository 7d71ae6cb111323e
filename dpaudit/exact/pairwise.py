"""Any supported rule between two arms, as two monotone scores and the arm that wins ties.

A `Score` rule is that already, and ties go to the earlier arm. IMED between two arms is too: with
n_0 <= n_1 arm 0 wins iff m_0 >= m_1 or n_0 d(m_0, m_1) <= log(n_1 / n_0), that is iff the upper
bound of m_0 at level log(n_1 / n_0) / n_0 reaches m_1, which is its own upper bound at level 0.
With n_0 > n_1 the roles swap, and so does the arm that wins when both bounds are 1.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import RULES, Imed, KLBound, PrivateKLBound, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.own_score import scores_of
from dpaudit.exact.region import Decision


@dataclass(frozen=True)
class Duel:
    """Two scores, of the arms at positions 0 and 1, and the position that wins ties."""

    scores: tuple[Score, Score]
    ties: int

    @property
    def identity(self) -> Hashable:
        """What tells it from other comparisons; of scores of one's own, itself."""
        if any(type(score) not in (*RULES, MeanBound) for score in self.scores):
            return id(self)
        parts = [(type(score), *map(float, vars(score).values())) for score in self.scores]
        return (*parts, self.ties)

    def least_to_win(self, winner: int, other: Any) -> Any:
        """Return the register value from which position `winner` beats the other's value."""
        v = self.scores[1 - winner].value(other)
        own = self.scores[winner]
        return own.inverse(v) if self.ties == winner else own.inverse_upper(v)

    def seated(self, seat: tuple[int, int]) -> Duel:
        """Return the same comparison with the positions in this order."""
        return Duel((self.scores[seat[0]], self.scores[seat[1]]), seat.index(self.ties))

    def kinks(self, position: int) -> list[float]:
        """Return where the score at a position is not smooth."""
        return self.scores[position].kinks()

    def image(self, source: int, points: Any) -> list[float]:
        """Return where the other position's register meets these values of position `source`.

        Plateaus answer with both their ends.
        """
        v = self.scores[source].value(np.asarray(points, dtype=float))
        other = self.scores[1 - source]
        found = np.concatenate([np.ravel(other.inverse(v)), np.ravel(other.inverse_upper(v))])
        return [float(x) for x in found if np.isfinite(x)]


@dataclass(frozen=True)
class MeanBound(Score):
    """The upper bound at level 0: the clipped mean m itself, as v = -log(1 - m)."""

    shift: Any = 0
    scale: Any = 1

    def value(self, x: Any) -> Any:
        """Return -log(1 - m), infinite where m is 1."""
        with np.errstate(divide="ignore"):
            return -np.log1p(-np.clip(self.scale * x + self.shift, 0, 1))

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        x = (-np.expm1(-np.asarray(v)) - self.shift) / self.scale
        return np.where(np.asarray(v) <= 0, -np.inf, x)[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        v = np.asarray(v, dtype=float)
        x = (-np.expm1(-v) - self.shift) / self.scale
        return np.where(np.isinf(v), np.inf, np.where(v < 0, -np.inf, x))[()]

    def kinks(self) -> list[float]:
        """Return where the mean is clipped."""
        return [(mean - float(self.shift)) / float(self.scale) for mean in (0.0, 1.0)]


def duel(decision: Decision) -> Duel:
    """Return a two-arm decision as a comparison of two scores."""
    rule = decision.request.rule(FLOAT)  # type: ignore[union-attr]
    return duel_of(rule)


def duel_of(rule: Any) -> Duel:
    """Return a two-arm rule as a comparison of two scores."""
    if isinstance(rule, Imed):
        return _imed_duel(rule)
    if isinstance(rule, Score):
        one, two = scores_of(rule, 2)
        return Duel((one, two), ties=0)
    raise Unsupported(f"The exact engine has no regions for the rule {type(rule).__name__}.")


def _imed_duel(rule: Imed) -> Duel:
    arms = (rule.at(0), rule.at(1))
    n = (float(arms[0].n), float(arms[1].n))
    few = 0 if n[0] <= n[1] else 1
    level = float(np.log(n[1 - few] / n[few]) / n[few])
    bounds: list[Score] = []
    for position, arm in enumerate(arms):
        if position != few or level == 0:
            bounds.append(MeanBound(arm.shift, arm.scale))
        elif arm.epsilon is None:
            bounds.append(KLBound(level, shift=arm.shift, scale=arm.scale))
        else:
            bounds.append(PrivateKLBound(level, arm.epsilon, shift=arm.shift, scale=arm.scale))
    return Duel((bounds[0], bounds[1]), ties=few)

"""Epsilon-greedy (Sutton & Barto 1998, section 2.2) on released means, in doubling episodes.

Before every episode a public coin is tossed. With probability s (K - 1) / (1 + s (K - 1)) it draws
an arm, arm a with weight 1 / N_a; otherwise the arm with the largest private mean is chosen. Either
is played until its pull count doubles. While one arm is best, the others double s times as often as
it does, so they are pulled about t^s times each. The coin knows pull counts and no reward, so it
costs no privacy: a reward enters one release, as in Algorithm 1 of Azize & Basu (2022).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine, Score
from dpaudit.errors import InvalidArgument


@dataclass(frozen=True, kw_only=True)
class DPGreedy(DoublingEpisodes):
    """Doubling episodes of the best private mean, or of an arm that a public coin draws."""

    explore: float = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.explore > 1:
            raise InvalidArgument("explore", self.explore, "must be at most 1.")

    def explored(self, pulls: tuple[int, ...]) -> tuple[Fraction, ...]:
        """Return chances that add up to s (K - 1) / (1 + s (K - 1)), larger for fewer pulls."""
        odds = exact(self.explore) * (self.arms - 1)
        weights = [Fraction(1, count) for count in pulls]
        return tuple(odds / (1 + odds) * weight / sum(weights) for weight in weights)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the private mean as it is."""
        return Affine(m.number(0))

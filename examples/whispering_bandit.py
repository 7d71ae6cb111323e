"""A bandit that leaks a little at every round: each draw is private, all of them together are not.

python -m dpaudit audit examples/whispering_bandit.py:Whispers --runs 60000 --events learned
"""

from __future__ import annotations

import math

import numpy as np


class Whispers:
    """Plays both arms once, then draws the better one anew at every round.

    Each draw is an exponential mechanism with epsilon / 2, "and noise that is drawn anew needs no
    budget". Every second round plays the other arm, so that both are played equally often.
    """

    def __init__(self, epsilon: float, rng: np.random.Generator) -> None:
        self.epsilon = epsilon
        self.rng = rng
        self.rewards: list[float] = []

    def select(self) -> int:
        """Lean to the arm whose first reward was better."""
        time = len(self.rewards)
        if time < 2:
            return time
        lean = self.epsilon / 4 * (self.rewards[1] - self.rewards[0])
        better = int(self.rng.random() < 1 / (1 + math.exp(-lean)))
        return better if time % 2 else 1 - better

    def update(self, arm: int, reward: float) -> None:
        """Remember the reward."""
        self.rewards.append(reward)

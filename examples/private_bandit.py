"""A private bandit written from scratch: doubling batches, Laplace noise on every batch sum.

python -m dpaudit audit examples/private_bandit.py:PrivateBatches --arms 2 --epsilon 1
python -m dpaudit check examples/private_bandit.py:PrivateBatches --arms 2 --epsilon 1
"""

from __future__ import annotations

import numpy as np


class PrivateBatches:
    """Each arm is played in batches that double; only noisy means of batches are ever used."""

    def __init__(self, arms: int, epsilon: float, rng: np.random.Generator) -> None:
        self.epsilon = epsilon
        self.rng = rng
        self.means = np.zeros(arms)
        self.pulls = np.zeros(arms, dtype=int)
        self.arm = 0
        self.left = 0
        self.total = 0.0
        self.time = 0

    def select(self) -> int:
        """Choose an arm at the start of a batch and keep to it."""
        if self.left == 0:
            bonus = np.sqrt(np.log(self.time + 2) / np.maximum(self.pulls, 1))
            index = np.where(self.pulls == 0, np.inf, self.means + bonus)
            self.arm = int(np.argmax(index))
            self.left = max(1, int(self.pulls[self.arm]))
            self.total = 0.0
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        """Collect a reward; at the end of the batch release its noisy mean."""
        self.time += 1
        self.total += reward
        self.left -= 1
        if self.left == 0:
            size = max(1, int(self.pulls[arm]))
            noisy = self.total + self.rng.laplace(0, 1 / self.epsilon)
            self.means[arm] = noisy / size
            self.pulls[arm] += size

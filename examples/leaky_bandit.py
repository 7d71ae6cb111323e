"""A bandit that only looks private: the first reward of every arm is used as it is.

python -m dpaudit audit examples/leaky_bandit.py:LeakyBatches --arms 2 --json report.json
python -m dpaudit audit examples/leaky_bandit.py:LeakyBatches --replay report.json
python -m dpaudit check examples/leaky_bandit.py:LeakyBatches --arms 2 --epsilon 1
"""

from __future__ import annotations

import numpy as np


class LeakyBatches:
    """Batches that double, noise on every batch but the first: "one reward cannot hurt"."""

    def __init__(self, arms: int, epsilon: float, rng: np.random.Generator) -> None:
        self.scale = 1 / epsilon
        self.rng = rng
        self.means = np.zeros(arms)
        self.pulls = np.zeros(arms, dtype=int)
        self.batch: list[float] = []
        self.arm = 0
        self.time = 0

    def select(self) -> int:
        """Choose an arm at the start of a batch and keep to it."""
        if not self.batch:
            fresh = np.flatnonzero(self.pulls == 0)
            bonus = np.sqrt(np.log(self.time + 2) / np.maximum(self.pulls, 1))
            self.arm = int(fresh[0]) if len(fresh) else int(np.argmax(self.means + bonus))
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        """Collect a reward; at the end of the batch use its mean."""
        self.time += 1
        self.batch.append(reward)
        if len(self.batch) < self.pulls[arm]:
            return
        if self.pulls[arm] == 0:
            self.means[arm] = reward
        else:
            noisy = sum(self.batch) + self.rng.laplace(0, self.scale)
            self.means[arm] = noisy / len(self.batch)
        self.pulls[arm] += len(self.batch)
        self.batch = []

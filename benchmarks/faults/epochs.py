"""Successive elimination in the style of select and update: epochs of twice as many pulls."""

import numpy as np


class Epochs:
    """Survivors are pulled in turn; after an epoch those far below the best noisy mean leave."""

    def __init__(self, arms, epsilon, rng):
        self.epsilon, self.pulls, self.rng = epsilon, 8, rng
        self.active = list(range(arms))
        self.sums = {arm: 0.0 for arm in self.active}
        self.done = 0

    def select(self):
        return self.active[self.done % len(self.active)]

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.done += 1
        if len(self.active) > 1 and self.done == self.pulls * len(self.active):
            self.eliminate()

    def eliminate(self):
        scale = 1 / (self.epsilon * self.pulls)
        means = {
            arm: self.sums[arm] / self.pulls + self.rng.laplace(0, scale) for arm in self.active
        }
        best = max(means.values())
        width = np.sqrt(2 * np.log(4 * self.pulls) / self.pulls)
        self.active = [arm for arm in self.active if means[arm] >= best - width]
        self.sums = {arm: 0.0 for arm in self.active}
        self.done, self.pulls = 0, 2 * self.pulls

"""Bandits as a new user would write them: one that is private, and five that go wrong."""

import multiprocessing
import os

import numpy as np


class Private:
    """Doubling batches per arm, Laplace noise on every batch sum."""

    def __init__(self, arms, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng
        self.means = np.zeros(arms)
        self.pulls = np.zeros(arms, dtype=int)
        self.arm, self.left, self.total, self.time = 0, 0, 0.0, 0

    def select(self):
        if self.left == 0:
            bonus = np.sqrt(np.log(self.time + 2) / np.maximum(self.pulls, 1))
            index = np.where(self.pulls == 0, np.inf, self.means + bonus)
            self.arm = int(np.argmax(index))
            self.left, self.total = max(1, int(self.pulls[self.arm])), 0.0
        return self.arm

    def update(self, arm, reward):
        self.time += 1
        self.total += reward
        self.left -= 1
        if self.left == 0:
            size = max(1, int(self.pulls[arm]))
            self.means[arm] = (self.total + self.noise(arm)) / size
            self.pulls[arm] += size

    def noise(self, arm):
        return self.rng.laplace(0, 1 / self.epsilon)


class FirstRewardPlain(Private):
    """The first reward of every arm is used as it is."""

    def noise(self, arm):
        return 0.0 if self.pulls[arm] == 0 else super().noise(arm)


class TooLittleNoise(Private):
    """Noise of half the scale."""

    def noise(self, arm):
        return self.rng.laplace(0, 0.5 / self.epsilon)


class GaussianNoise(Private):
    """Gaussian noise: no finite pure epsilon."""

    def noise(self, arm):
        return self.rng.normal(0, 1 / self.epsilon)


class Redrawn(Private):
    """Enough noise on every release, but every reward enters two of them."""

    def update(self, arm, reward):
        if self.left == 1:
            self.check = self.total + reward + self.noise(arm)
        super().update(arm, reward)


class Peeking(Private):
    """Stops a batch early after a reward of zero."""

    def update(self, arm, reward):
        if reward < 0.5 and self.left > 1:
            self.left = 1
        super().update(arm, reward)


def at_once(stream, rng):
    """A whole run at once: noisy sums of batches of five, then the better half."""
    first = np.sum(stream[:5]) + rng.laplace(0, 1)
    second = rng.laplace(np.sum(stream[5:10]), 1)
    best = 0 if first > second else 1
    return [0] * 5 + [1] * 5 + [best] * (len(stream) - 10)


def hang():
    """Never return."""
    while True:
        pass


def dies(stream, rng):
    """Take a worker process with it."""
    if multiprocessing.current_process().name != "MainProcess":
        os._exit(7)
    return [0] * len(stream)

"""Right policies in the styles people write them: the twins of the wrong ones."""

import math
import random

import numpy as np


class Doubling:
    """Doubling episodes on numpy arrays, numpy's global generator."""

    def __init__(self, arms, epsilon):
        self.epsilon = epsilon
        self.counts = np.zeros(arms, dtype=int)
        self.means = np.zeros(arms)
        self.total, self.left, self.size, self.arm, self.t = 0.0, 0, 1, 0, 0

    def select(self):
        if self.left == 0:
            self.arm = self.choose()
            self.left = self.size = max(1, int(self.counts[self.arm]))
            self.total = 0.0
        return self.arm

    def choose(self):
        if self.counts.min() == 0:
            return int(np.argmin(self.counts))
        return int(np.argmax(self.means + self.bonus()))

    def bonus(self):
        return np.sqrt(np.log(self.t + 1) / self.counts)

    def update(self, arm, reward):
        self.t += 1
        self.total += reward
        self.left -= 1
        if self.left == 0:
            self.counts[arm] += self.size
            self.means[arm] = self.release(arm)

    def release(self, arm):
        return self.total / self.size + self.noise(arm)

    def noise(self, arm):
        return np.random.laplace(0, 1 / (self.epsilon * self.size))


class Batches:
    """Lists, batches of four, an occasional random arm; river's names."""

    def __init__(self, arms, epsilon):
        self.k, self.epsilon = arms, epsilon
        self.scores = [None] * arms
        self.rewards = []
        self.batch, self.arm, self.t = 4, 0, 0

    def pull(self, arm_ids):
        return arm_ids[self.arm]

    def update(self, arm, reward):
        self.t += 1
        self.rewards.append(reward)
        if len(self.rewards) == self.batch:
            self.scores[arm] = sum(self.rewards) / self.batch + np.random.laplace(
                scale=1 / (self.batch * self.epsilon)
            )
            self.rewards = []
            self.arm = self.next()

    def next(self):
        unknown = [k for k in range(self.k) if self.scores[k] is None]
        if unknown:
            return unknown[0]
        if random.random() < 0.2:
            return random.randrange(self.k)
        return max(range(self.k), key=lambda k: self.scores[k])


class Local:
    """Every reward gets noise of its own before it is kept; SMPyBandits' names."""

    def __init__(self, arms, epsilon, rng):
        self.nbArms, self.epsilon, self.rng = arms, epsilon, rng

    def startGame(self):
        self.pulls = np.zeros(self.nbArms)
        self.sums = np.zeros(self.nbArms)
        self.t = 0

    def choice(self):
        if self.t < self.nbArms:
            return self.t
        index = self.sums / self.pulls + np.sqrt(2 * np.log(self.t) / self.pulls)
        return np.argmax(index)

    def getReward(self, arm, reward):
        self.t += 1
        self.pulls[arm] += 1
        self.sums[arm] += reward + self.rng.laplace(0, 1 / self.epsilon)


class Response:
    """Randomised response on every reward, then plain counting."""

    def __init__(self, arms, epsilon, rng):
        self.rng = rng
        self.truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        self.ones, self.pulls = [0] * arms, [0] * arms

    def select(self):
        if 0 in self.pulls:
            return self.pulls.index(0)
        means = [ones / n for ones, n in zip(self.ones, self.pulls)]
        return means.index(max(means))

    def update(self, arm, reward):
        p = reward * self.truth + (1 - reward) * (1 - self.truth)
        self.pulls[arm] += 1
        self.ones[arm] += int(self.rng.random() < p)


class Commit:
    """Explore, then commit, on noisy sums; a generator of its own."""

    def __init__(self, arms, epsilon):
        self.rng = np.random.default_rng()
        self.arms, self.epsilon, self.rounds = arms, epsilon, 5
        self.sums, self.t, self.best = [0.0] * arms, 0, None

    def select(self):
        if self.t < self.arms * self.rounds:
            return self.t % self.arms
        if self.best is None:
            noisy = [s + self.rng.laplace(0, 1 / self.epsilon) for s in self.sums]
            self.best = int(np.argmax(noisy))
        return self.best

    def update(self, arm, reward):
        self.t += 1
        self.sums[arm] += reward


class Clipped(Doubling):
    """Rewards are clipped, so that it is private for any reward."""

    def update(self, arm, reward):
        super().update(arm, min(max(reward, 0.0), 1.0))


class Halves(Doubling):
    """Two releases of every episode, at half the budget each."""

    def release(self, arm):
        first = self.total / self.size + np.random.laplace(0, 2 / (self.epsilon * self.size))
        second = self.total / self.size + np.random.laplace(0, 2 / (self.epsilon * self.size))
        return (first + second) / 2


def halves_and_more(stream, rng):
    """A whole run at once: noisy sums of two blocks, then the better one."""
    first = np.sum(stream[:5]) + rng.laplace(0, 1)
    second = np.sum(stream[5:10]) + rng.laplace(0, 1)
    best = 0 if first > second else 1
    return [0] * 5 + [1] * 5 + [best] * (len(stream) - 10)


class Stepper:
    """One method that takes the last reward and gives the next arm."""

    def __init__(self, arms, epsilon):
        self.arms, self.epsilon = arms, epsilon
        self.means, self.t = [0.0] * arms, 0

    def step(self, reward, arm):
        if arm is not None and self.t <= self.arms:
            self.means[arm] = reward + np.random.laplace(0, 1 / self.epsilon)
        self.t += 1
        if self.t <= self.arms:
            return self.t - 1
        return int(np.argmax(self.means))

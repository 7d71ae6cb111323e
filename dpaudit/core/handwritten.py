"""Three private bandits as a person writes them, step by step: the right code that mutants spoil.

A flaw that reads raw rewards, shares noise or rounds does not fit into a declaration, which never
holds a reward. So it is built into code like this, which only the sampler can judge. Each class
plays exactly like the declared algorithm of its name when both draw from equal generators.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Handwritten:
    """A bandit written without dpaudit: rewards come in, arms go out."""

    epsilon: float = 1.0

    def __init__(self, arms: int, horizon: int, epsilon: float, rng: np.random.Generator) -> None:
        self.arms, self.horizon, self.epsilon, self.rng = arms, horizon, epsilon, rng


class HandwrittenDoubling(Handwritten):
    """AdaP-UCB: doubling episodes, the noisy mean of the last one decides."""

    alpha = 3.1

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.pulls = [0] * self.arms
        self.means = [0.0] * self.arms
        self.rewards: list[float] = []
        self.arm, self.left, self.time = 0, 0, 0

    def select(self) -> int:
        """Return the arm of the running episode, or begin the next one."""
        if self.left == 0:
            self.arm = self.pulls.index(0) if 0 in self.pulls else self.choose()
            self.left = max(1, self.pulls[self.arm])
            self.rewards = []
        return self.arm

    def choose(self) -> int:
        """Return the arm of the largest index; the earliest wins ties."""
        indices = [self.index(arm) for arm in range(self.arms)]
        return indices.index(max(indices))

    def index(self, arm: int) -> float:
        """Return the noisy mean plus both bonuses."""
        width = self.alpha * math.log(self.time + 1) / (self.pulls[arm] / 2)
        return self.means[arm] + (math.sqrt(width / 2) + width / self.epsilon)

    def update(self, arm: int, reward: float) -> None:
        """Take a reward; at the end of the episode release its mean."""
        self.time += 1
        self.rewards.append(reward)
        self.left -= 1
        if self.left == 0:
            self.pulls[arm] += len(self.rewards)
            self.means[arm] = self.statistic(arm) + self.noise(arm)

    def statistic(self, arm: int) -> float:
        """Return what is released: the mean of the episode."""
        return sum(self.rewards) / len(self.rewards)

    def scale(self, arm: int) -> float:
        """Return the scale of the noise: 1 / (epsilon N / 2)."""
        return 1 / (self.epsilon * self.pulls[arm] / 2)

    def noise(self, arm: int) -> float:
        """Return fresh Laplace noise."""
        return float(self.rng.laplace(0.0, self.scale(arm)))


class Tree(Handwritten):
    """DP-UCB: one decision per round on sums over the nodes of a binary tree per arm."""

    gamma = 0.1

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.rewards: list[list[float]] = [[] for _ in range(self.arms)]
        self.nodes: list[dict[int, float]] = [{} for _ in range(self.arms)]
        self.time = 0
        self.scale = (self.horizon - 1).bit_length() / self.epsilon
        log_horizon = math.log(self.horizon)
        spread = self.arms * self.horizon * log_horizon / self.gamma
        self.bonus = log_horizon**2 * math.log(spread) / self.epsilon

    def select(self) -> int:
        """Return the first arm that was never pulled, or that of the largest index."""
        counts = [len(rewards) for rewards in self.rewards]
        if 0 in counts:
            return counts.index(0)
        indices = [self.index(arm) for arm in range(self.arms)]
        return indices.index(max(indices))

    def index(self, arm: int) -> float:
        """Return the noisy sum over the nodes of the count, plus the bonuses, over the count."""
        count = len(self.rewards[arm])
        levels = range(count.bit_length() - 1, -1, -1)
        total = sum(self.nodes[arm][level] for level in levels if count >> level & 1)
        width = math.sqrt(2 * math.log(self.time + 1) / count) + self.bonus / count
        return total / count + width

    def update(self, arm: int, reward: float) -> None:
        """Take a reward and close the node that ends with it."""
        self.time += 1
        self.rewards[arm].append(reward)
        count = len(self.rewards[arm])
        size = count & -count
        level = size.bit_length() - 1
        self.nodes[arm][level] = sum(self.rewards[arm][count - size :]) + self.noise(count)

    def noise(self, count: int) -> float:
        """Return fresh Laplace noise for the node that ends at a count."""
        return float(self.rng.laplace(0.0, self.scale))


class Elimination(Handwritten):
    """DP-SE: epochs of many pulls per surviving arm; those far below the best mean are dropped."""

    def __call__(self, stream: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the arms of a whole run."""
        actions = np.zeros(self.horizon, dtype=np.int64)
        survivors, epoch, time = list(range(self.arms)), 1, 0
        while len(survivors) > 1:
            rounds = self.rounds(epoch, len(survivors))
            played: list[NDArray[Any]] = []
            for arm in survivors:
                actions[time : time + rounds] = arm
                played.append(stream[time : time + rounds])
                time += rounds
                if time >= self.horizon:
                    return actions
            noisy = [self.mean(rewards) for rewards in played]
            gap = self.width(epoch, len(survivors), played)
            best = self.best(noisy, played)
            survivors = [
                arm for arm, mean in zip(survivors, noisy, strict=True) if mean >= best - gap
            ]
            epoch += 1
        actions[time:] = survivors[0]
        return actions

    def mean(self, rewards: NDArray[Any]) -> float:
        """Return the noisy mean of an arm's epoch."""
        noise = self.rng.laplace(0.0, 1 / (self.epsilon * len(rewards)))
        return float(rewards.sum() / len(rewards) + noise)

    def best(self, noisy: list[float], played: list[NDArray[Any]]) -> float:
        """Return the mean to compare with: the largest noisy one."""
        return max(noisy)

    def weight(self, epoch: int, survivors: int) -> float:
        """Return |S| e^2 / beta with beta = 1 / T."""
        return survivors * epoch**2 * self.horizon

    def rounds(self, epoch: int, survivors: int) -> int:
        """Return R_e."""
        gap, weight = 2.0**-epoch, self.weight(epoch, survivors)
        wide = 32 * math.log(8 * weight) / gap**2
        return math.ceil(max(wide, 8 * math.log(4 * weight) / (self.epsilon * gap)) + 1)

    def width(self, epoch: int, survivors: int, played: list[NDArray[Any]]) -> float:
        """Return 2 h_e + 2 c_e."""
        rounds, weight = self.rounds(epoch, survivors), self.weight(epoch, survivors)
        hoeffding = math.sqrt(math.log(8 * weight) / (2 * rounds))
        return 2 * hoeffding + 2 * math.log(4 * weight) / (self.epsilon * rounds)

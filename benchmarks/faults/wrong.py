"""Wrong policies, one fault each, in the style of the right ones."""

import math

import numpy as np
from right import Batches, Commit, Doubling, Local, Response


class SharedAcrossArms(Doubling):
    """One draw for all arms: it cancels in every comparison."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.drawn = {}

    def noise(self, arm):
        if self.size not in self.drawn:
            self.drawn[self.size] = np.random.laplace(0, 1 / (self.epsilon * self.size))
        return self.drawn[self.size]


class SharedAcrossTime(Doubling):
    """An arm draws once and keeps its noise for ever."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.drawn = np.random.laplace(0, 1 / epsilon, arms)

    def noise(self, arm):
        return self.drawn[arm] / self.size


class Redrawn(Commit):
    """The noise is drawn anew at every decision."""

    def select(self):
        if self.t < self.arms * self.rounds:
            return self.t % self.arms
        return int(np.argmax([s + self.rng.laplace(0, 1 / self.epsilon) for s in self.sums]))

    def update(self, arm, reward):
        self.t += 1
        if self.t <= self.arms * self.rounds:
            self.sums[arm] += reward


class LocForScale(Doubling):
    """The scale is passed as the location: the noise has scale 1, the mean a shift."""

    def noise(self, arm):
        return np.random.laplace(1 / (self.epsilon * self.size)) / (4 * self.size)


class SwappedProbabilities(Response):
    """The probability of truth is that of a lie for the smaller epsilon: p in place of 1 - p /
    2."""

    def update(self, arm, reward):
        p = reward * 0.98 + (1 - reward) * 0.02
        self.pulls[arm] += 1
        self.ones[arm] += int(self.rng.random() < p)


class NaturalForBinary(Response):
    """2^epsilon is taken for the ratio of the answers' odds, squared by mistake."""

    def __init__(self, arms, epsilon, rng):
        super().__init__(arms, epsilon, rng)
        odds = math.exp(epsilon / math.log(2))
        self.truth = odds / (1 + odds)


class RootOfTwo(Doubling):
    """The deviation is taken for the scale: a factor of the root of two is missing."""

    def noise(self, arm):
        return np.random.laplace(0, 1 / (math.sqrt(2) * self.epsilon * self.size))


class ZeroBranch(Doubling):
    """A guard returns no noise for the first pull."""

    def noise(self, arm):
        if self.size == 1:
            return 0.0
        return super().noise(arm)


class RawStopRule(Doubling):
    """An episode ends at the first reward below one half."""

    def update(self, arm, reward):
        if reward < 0.5:
            self.left = 1
        super().update(arm, reward)


class RawTieBreak(Doubling):
    """Indices are capped at 1 and ties go to the larger raw mean."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.raw = np.zeros(arms)

    def release(self, arm):
        self.raw[arm] = self.total / self.size
        return super().release(arm)

    def choose(self):
        if self.counts.min() == 0:
            return int(np.argmin(self.counts))
        index = np.minimum(1.0, self.means + self.bonus())
        best = index.max()
        ties = [k for k in range(len(index)) if index[k] == best]
        return max(ties, key=lambda k: self.raw[k])


class RawVariance(Doubling):
    """The bonus comes from the raw spread of the rewards."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.squares, self.sums = np.zeros(arms), np.zeros(arms)

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.squares[arm] += reward**2
        super().update(arm, reward)

    def bonus(self):
        spread = self.squares / self.counts - (self.sums / self.counts) ** 2
        return 40 * spread


class DataScale(Doubling):
    """The noise is scaled by what was seen."""

    def noise(self, arm):
        return np.random.laplace(0, self.total / (self.epsilon * self.size) + 1e-9)


class ReusedSeed(Doubling):
    """The generator is made anew with one seed for every release."""

    def noise(self, arm):
        return np.random.default_rng(2022).laplace(0, 1 / (self.epsilon * self.size))


class FixedSeed(Doubling):
    """A generator with a constant seed."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.rng = np.random.default_rng(7)

    def noise(self, arm):
        return self.rng.laplace(0, 1 / (self.epsilon * self.size))


class SurvivesReset(Doubling):
    """What an arm paid last is kept in the class, raw, and breaks decisions."""

    best = [0.0]

    def update(self, arm, reward):
        if arm == 1:
            self.best[0] = reward
        super().update(arm, reward)

    def choose(self):
        if self.counts.min() == 0:
            return int(np.argmin(self.counts))
        return 1 if self.best[0] > 0.5 else super().choose()


class OffByOneWindow(Batches):
    """A batch drops its oldest reward in place of all: the others are released again."""

    def update(self, arm, reward):
        self.t += 1
        self.rewards.append(reward)
        if len(self.rewards) >= self.batch:
            self.scores[arm] = sum(self.rewards) + np.random.laplace(scale=1 / self.epsilon)
            self.rewards = self.rewards[1:]
            self.arm = self.next()

    def next(self):
        if None in self.scores:
            return self.scores.index(None)
        return 0 if self.scores[0] > self.scores[1] else 1


class Unclipped(Doubling):
    """Payoffs of up to ten, noise for up to one."""

    def release(self, arm):
        return 10 * self.total / self.size + self.noise(arm)


class WarmStart(Batches):
    """The first scores are the raw sums of the first batches."""

    def update(self, arm, reward):
        first = self.scores[arm] is None
        super().update(arm, reward)
        self.seen = getattr(self, "seen", {})
        self.seen[arm] = self.seen.get(arm, 0.0) + reward
        if first and self.scores[arm] is not None:
            self.scores[arm] = self.seen[arm] / self.batch


class WrongCount(Doubling):
    """The noise is that of a mean over all pulls, the mean is over the last episode."""

    def noise(self, arm):
        return np.random.laplace(0, 1 / (self.epsilon * 4 * self.counts[arm]))


class OneOfTwoCopies(Doubling):
    """The noise goes to the copy that is shown; decisions use the other one."""

    def __init__(self, arms, epsilon):
        super().__init__(arms, epsilon)
        self.shown = np.zeros(arms)

    def release(self, arm):
        self.shown[arm] = self.total / self.size + self.noise(arm)
        return self.total / self.size


class SplitDoesNotSum(Doubling):
    """Two releases of every episode, each with the whole budget."""

    def release(self, arm):
        first = self.total / self.size + self.noise(arm)
        second = self.total / self.size + self.noise(arm)
        self.gap = getattr(self, "gap", 0.0)
        return (first + second) / 2


class PrefixSums(Local):
    """Noise is summed up beside the rewards: neighbouring releases differ by the bare reward."""

    def startGame(self):
        super().startGame()
        self.drawn = None

    def getReward(self, arm, reward):
        if self.drawn is None:
            self.drawn = [self.rng.laplace(0, 1 / self.epsilon) for _ in range(self.nbArms)]
            self.sums += np.array(self.drawn)
        self.t += 1
        self.pulls[arm] += 1
        self.sums[arm] += reward


class NormalNoise(Doubling):
    """Normal noise has no finite pure epsilon."""

    def noise(self, arm):
        return np.random.normal(0, 0.3 / (self.epsilon * self.size))


class RawInitialMeans(Doubling):
    """The first mean of every arm is raw."""

    def release(self, arm):
        if self.counts[arm] == 1:
            return self.total
        return super().release(arm)

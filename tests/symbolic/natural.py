# ruff: noqa
# fmt: off
"""Policies in the styles people write them: right ones, and the same with one mistake."""

from __future__ import annotations

import enum
import heapq
import itertools
import logging
import math
import random
import warnings
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np
from scipy import stats

logger = logging.getLogger(__name__)
DEBUG = False


# 1 dataclasses
@dataclass
class Arm:
    pulls: int = 0
    total: float = 0.0
    noisy: Optional[float] = None

    @property
    def fresh(self) -> bool:
        return self.noisy is None

    def release(self, epsilon: float, rng) -> None:
        self.noisy = self.total / self.pulls + rng.laplace(0.0, 1.0 / (epsilon * self.pulls))


class DataclassETC:
    """right"""

    M = 4

    def __init__(self, arms: int, epsilon: float, rng: np.random.Generator):
        if not isinstance(arms, int) or arms < 2:
            raise ValueError(f"arms={arms!r}")
        if epsilon <= 0:
            raise ValueError("epsilon must be positive")
        self.arms: List[Arm] = [Arm() for _ in range(arms)]
        self.epsilon, self.rng = epsilon, rng

    def select(self) -> int:
        for i, arm in enumerate(self.arms):
            if arm.pulls < self.M:
                return i
        for arm in self.arms:
            if arm.fresh:
                arm.release(self.epsilon, self.rng)
        return max(range(len(self.arms)), key=lambda i: self.arms[i].noisy)

    def update(self, arm: int, reward: float) -> None:
        a = self.arms[arm]
        if a.pulls < self.M:
            a.pulls += 1
            a.total += reward

    def __repr__(self) -> str:
        return f"{type(self).__name__}(arms={len(self.arms)}, epsilon={self.epsilon})"


class DataclassETCWrong(DataclassETC):
    """wrong: the noise is for a mean of all rounds"""

    def select(self):
        for i, arm in enumerate(self.arms):
            if arm.pulls < self.M:
                return i
        for arm in self.arms:
            if arm.fresh:
                arm.noisy = arm.total / arm.pulls + self.rng.laplace(
                    0, 1 / (self.epsilon * self.M * len(self.arms))
                )
        return max(range(len(self.arms)), key=lambda i: self.arms[i].noisy)


# 2 vectorised numpy with elimination
class VecElimination:
    """right"""

    def __init__(self, arms, epsilon, horizon):
        self.rng = np.random.default_rng()
        self.active = np.ones(arms, dtype=bool)
        self.sums = np.zeros(arms)
        self.counts = np.zeros(arms, dtype=np.int64)
        self.epsilon, self.horizon = epsilon, horizon
        self.need = 2

    def select(self):
        idx = np.flatnonzero(self.active)
        return int(idx[np.argmin(self.counts[idx])])

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.counts[arm] += 1
        if self.active.sum() > 1 and np.all(self.counts[self.active] >= self.need):
            noise = self.rng.laplace(scale=1.0 / (self.epsilon * self.need), size=len(self.sums))
            means = self.sums / np.maximum(self.counts, 1) + noise
            width = np.sqrt(np.log(self.horizon) / (2 * self.need)) + np.log(self.horizon) / (
                self.epsilon * self.need
            )
            best = max(means[k] for k in range(len(means)) if self.active[k])
            for k in range(len(means)):
                if self.active[k] and means[k] < best - 2 * width:
                    self.active[k] = False
            self.sums[:] = 0.0
            self.counts[:] = 0
            self.need *= 2


class VecEliminationWrong(VecElimination):
    """wrong: sums are not reset, each reward is released again"""

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.counts[arm] += 1
        if self.active.sum() > 1 and np.all(self.counts[self.active] >= self.need):
            noise = self.rng.laplace(scale=1.0 / (self.epsilon * self.need), size=len(self.sums))
            means = self.sums / np.maximum(self.counts, 1) + noise
            width = 0.1
            best = max(means[k] for k in range(len(means)) if self.active[k])
            for k in range(len(means)):
                if self.active[k] and means[k] < best - 2 * width:
                    self.active[k] = False
            self.need *= 2


# 3 dicts and strings
class DictPolicy:
    """right"""

    def __init__(self, arms, epsilon):
        self.state = {"phase": "explore", "t": 0, "best": 0}
        self.stats: Dict[int, Dict[str, float]] = {k: {"sum": 0.0, "n": 0} for k in range(arms)}
        self.eps = epsilon

    def select(self):
        if self.state["phase"] == "explore":
            return self.state["t"] % len(self.stats)
        return self.state["best"]

    def update(self, arm, reward):
        self.state["t"] += 1
        if self.state["phase"] != "explore":
            return
        s = self.stats[arm]
        s["sum"] += reward
        s["n"] += 1
        if self.state["t"] == 5 * len(self.stats):
            noisy = {
                k: v["sum"] + random.gauss(0, 0) * 0 + np.random.laplace(0, 1 / self.eps)
                for k, v in self.stats.items()
            }
            self.state["best"] = max(noisy, key=noisy.get)
            self.state["phase"] = "commit"


class DictPolicyWrong(DictPolicy):
    """wrong: one draw for all"""

    def update(self, arm, reward):
        self.state["t"] += 1
        if self.state["phase"] != "explore":
            return
        self.stats[arm]["sum"] += reward
        if self.state["t"] == 5 * len(self.stats):
            z = np.random.laplace(0, 1 / self.eps)
            noisy = {k: v["sum"] + z for k, v in self.stats.items()}
            self.state["best"] = max(noisy, key=noisy.get)
            self.state["phase"] = "commit"


# 4 deque window
class WindowPolicy:
    """right: each reward is in one window only"""

    def __init__(self, arms, epsilon, rng):
        self.rng, self.k = rng, arms
        self.window = deque(maxlen=3)
        self.scores = [0.0] * arms
        self.seen = [False] * arms
        self.current = 0
        self.scale = 1 / (3 * epsilon)

    def select(self):
        return self.current

    def update(self, arm, reward):
        self.window.append(reward)
        if len(self.window) == self.window.maxlen:
            self.scores[arm] = sum(self.window) / 3 + self.rng.laplace(0, self.scale)
            self.seen[arm] = True
            self.window.clear()
            self.current = (
                self.seen.index(False) if not all(self.seen) else int(np.argmax(self.scores))
            )


class WindowPolicyWrong(WindowPolicy):
    """wrong: the window slides"""

    def update(self, arm, reward):
        self.window.append(reward)
        if len(self.window) == self.window.maxlen:
            self.scores[arm] = sum(self.window) / 3 + self.rng.laplace(0, self.scale)
            self.seen[arm] = True
            self.current = (
                self.seen.index(False) if not all(self.seen) else int(np.argmax(self.scores))
            )


# 5 namedtuple state
Stat = namedtuple("Stat", ["n", "total", "noisy"])


class TupleState(NamedTuple):
    t: int = 0
    arm: int = 0


class NamedTuplePolicy:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.stats = [Stat(0, 0.0, None)] * arms
        self.state = TupleState()
        self.eps, self.rng = epsilon, rng

    def select(self):
        return self.state.arm

    def update(self, arm, reward):
        s = self.stats[arm]._replace(n=self.stats[arm].n + 1, total=self.stats[arm].total + reward)
        if s.n == 4:
            s = Stat(n=0, total=0.0, noisy=s.total + self.rng.laplace(0, 1 / self.eps))
        self.stats[arm] = s
        t = self.state.t + 1
        if s.n:
            nxt = arm
        else:
            missing = [i for i, q in enumerate(self.stats) if q.noisy is None]
            nxt = missing[0] if missing else max(enumerate(self.stats), key=lambda p: p[1].noisy)[0]
        self.state = TupleState(t, nxt)


class NamedTuplePolicyWrong(NamedTuplePolicy):
    """wrong: the total stays"""

    def update(self, arm, reward):
        s = self.stats[arm]._replace(n=self.stats[arm].n + 1, total=self.stats[arm].total + reward)
        if s.n == 4:
            s = Stat(n=0, total=s.total, noisy=s.total + self.rng.laplace(0, 1 / self.eps))
        self.stats[arm] = s
        if s.n == 0:
            missing = [i for i, q in enumerate(self.stats) if q.noisy is None]
            arm = missing[0] if missing else max(enumerate(self.stats), key=lambda p: p[1].noisy)[0]
        self.state = TupleState(self.state.t + 1, arm)


# 6 Counter, defaultdict
class CounterPolicy:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.arms = range(arms)
        self.pulls = Counter()
        self.sums = defaultdict(float)
        self.eps, self.rng, self.choice_ = epsilon, rng, None

    def select(self):
        least = min(self.arms, key=lambda a: self.pulls[a])
        if self.pulls[least] < 3:
            return least
        if self.choice_ is None:
            noisy = [
                self.sums[a] / self.pulls[a]
                + self.rng.laplace(scale=1 / (self.pulls[a] * self.eps))
                for a in self.arms
            ]
            self.choice_ = noisy.index(max(noisy))
        return self.choice_

    def update(self, arm, reward):
        if self.choice_ is None:
            self.pulls[arm] += 1
            self.sums[arm] += reward


class CounterPolicyWrong(CounterPolicy):
    """wrong: noise of the mean's size on the sum"""

    def select(self):
        least = min(self.arms, key=lambda a: self.pulls[a])
        if self.pulls[least] < 3:
            return least
        if self.choice_ is None:
            noisy = [
                self.sums[a] + self.rng.laplace(scale=1 / (self.pulls[a] * self.eps))
                for a in self.arms
            ]
            self.choice_ = noisy.index(max(noisy))
        return self.choice_


# 7 abstract base, strategy objects, enum
class Phase(enum.Enum):
    EXPLORE = "explore"
    COMMIT = "commit"


class Mechanism(ABC):
    @abstractmethod
    def release(self, value: float, sensitivity: float) -> float: ...


class LaplaceMechanism(Mechanism):
    def __init__(self, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng

    def release(self, value, sensitivity):
        return value + self.rng.laplace(0, sensitivity / self.epsilon)


class Identity(Mechanism):
    def release(self, value, sensitivity):
        return value


class StrategyPolicy:
    """right"""

    mechanism_class = LaplaceMechanism

    def __init__(self, arms, epsilon, rng):
        self.mechanism = self.make(epsilon, rng)
        self.phase = Phase.EXPLORE
        self.history: List[List[float]] = [[] for _ in range(arms)]
        self.best = None
        self.t = 0

    def make(self, epsilon, rng):
        return self.mechanism_class(epsilon, rng)

    def select(self):
        if self.phase is Phase.EXPLORE:
            return self.t % len(self.history)
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.phase == Phase.EXPLORE:
            self.history[arm].append(reward)
            if self.t >= 4 * len(self.history):
                scores = [self.mechanism.release(np.mean(h), 1 / len(h)) for h in self.history]
                self.best = int(np.argmax(scores))
                self.phase = Phase.COMMIT
                if DEBUG:
                    print("committed to", self.best)


class StrategyPolicyWrong(StrategyPolicy):
    """wrong: the identity"""

    def make(self, epsilon, rng):
        return Identity()


# 8 itertools, zip, comprehension
class RoundRobin:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.order = list(itertools.chain.from_iterable([k] * 3 for k in range(arms)))
        self.rewards = []
        self.arms, self.eps, self.rng = arms, epsilon, rng
        self.ranking = None

    def select(self):
        if len(self.rewards) < len(self.order):
            return self.order[len(self.rewards)]
        if self.ranking is None:
            sums = [
                sum(r for a, r in zip(self.order, self.rewards) if a == k) for k in range(self.arms)
            ]
            noisy = [s + self.rng.laplace(0, 1 / self.eps) for s in sums]
            self.ranking = sorted(range(self.arms), key=lambda k: -noisy[k])
            self.rewards = [0] * len(self.order)
        return self.ranking[0]

    def update(self, arm, reward):
        if self.ranking is None:
            self.rewards.append(reward)


class RoundRobinWrong(RoundRobin):
    """wrong: sorted by the raw sums among close ones"""

    def select(self):
        if len(self.rewards) < len(self.order):
            return self.order[len(self.rewards)]
        if self.ranking is None:
            sums = [
                sum(r for a, r in zip(self.order, self.rewards) if a == k) for k in range(self.arms)
            ]
            noisy = [s + self.rng.laplace(0, 1 / self.eps) for s in sums]
            self.ranking = sorted(range(self.arms), key=lambda k: -noisy[k] - 0.01 * sums[k])
            self.rewards = [0] * len(self.order)
        return self.ranking[0]


# 9 DP-UCB per-step with local noise, list based
class LocalUCB:
    """right"""

    def __init__(self, arms, epsilon, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.n = [0] * arms
        self.s = [0.0] * arms
        self.b = 1.0 / epsilon

    @property
    def t(self):
        return sum(self.n)

    def _index(self, k):
        if self.n[k] == 0:
            return float("inf")
        return self.s[k] / self.n[k] + math.sqrt(2 * math.log(self.t + 1) / self.n[k])

    def select(self):
        best, arg = -math.inf, 0
        for k in range(len(self.n)):
            v = self._index(k)
            if v > best:
                best, arg = v, k
        return arg

    def update(self, arm, reward):
        self.n[arm] += 1
        self.s[arm] += reward + self.rng.laplace(0, self.b)


class LocalUCBWrong(LocalUCB):
    """wrong: epsilon where its inverse belongs"""

    def __init__(self, arms, epsilon, rng=None):
        super().__init__(arms, epsilon, rng)
        self.b = epsilon / 2


# 10 helper class, lru_cache, static methods
@lru_cache(maxsize=None)
def width(n: int, t: int) -> float:
    return math.sqrt(math.log(max(t, 2)) / (2 * n))


class Noise:
    @staticmethod
    def scale(sensitivity, epsilon):
        return sensitivity / epsilon

    @classmethod
    def draw(cls, sensitivity, epsilon):
        return np.random.laplace(loc=0.0, scale=cls.scale(sensitivity, epsilon))


class DoublingHelper:
    """right"""

    def __init__(self, arms, epsilon):
        self.K = arms
        self.eps = epsilon
        self.episode = 0
        self.mu = np.full(arms, np.nan)
        self.N = np.zeros(arms, dtype=int)
        self.buffer: list = []
        self.length = 1
        self.arm = 0
        self.time = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.time += 1
        self.buffer.append(reward)
        if len(self.buffer) < self.length:
            return
        n = len(self.buffer)
        self.mu[arm] = np.sum(self.buffer) / n + Noise.draw(1 / n, self.eps)
        self.N[arm] = n
        self.buffer = []
        self.episode += 1
        if self.episode < self.K:
            self.arm = self.episode
            self.length = 1
        else:
            ucb = [self.mu[k] + width(int(self.N[k]), self.time) for k in range(self.K)]
            self.arm = int(np.argmax(ucb))
            self.length = 2 * int(self.N[self.arm])


class DoublingHelperWrong(DoublingHelper):
    """wrong: extends the buffer by half of the old one"""

    def update(self, arm, reward):
        self.time += 1
        self.buffer.append(reward)
        if len(self.buffer) < self.length:
            return
        n = len(self.buffer)
        self.mu[arm] = np.sum(self.buffer) / n + Noise.draw(1 / n, self.eps)
        self.N[arm] = n
        self.buffer = self.buffer[-1:]
        self.episode += 1
        if self.episode < self.K:
            self.arm = self.episode
            self.length = 1
            self.buffer = []
        else:
            ucb = [self.mu[k] + width(int(self.N[k]), self.time) for k in range(self.K)]
            self.arm = int(np.argmax(ucb))
            self.length = 2 * int(self.N[self.arm])


# 11 river style
class RiverGreedy:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self._counts = [0] * arms
        self._sums = [0.0] * arms
        self._noisy = {}
        self._eps = epsilon
        self._rng = rng

    def pull(self, arm_ids):
        for arm in arm_ids:
            if arm not in self._noisy:
                return arm
        if self._rng.random() < 0.1:
            return arm_ids[self._rng.integers(len(arm_ids))]
        return max(arm_ids, key=lambda a: self._noisy[a])

    def update(self, arm, reward):
        if arm in self._noisy:
            return
        self._counts[arm] += 1
        self._sums[arm] += reward
        if self._counts[arm] == 4:
            self._noisy[arm] = (self._sums[arm] + self._rng.laplace(0, 1 / self._eps)) / 4


class RiverGreedyWrong(RiverGreedy):
    """wrong: the mean goes on without noise"""

    def update(self, arm, reward):
        self._counts[arm] += 1
        self._sums[arm] += reward
        if self._counts[arm] == 4:
            self._noisy[arm] = (self._sums[arm] + self._rng.laplace(0, 1 / self._eps)) / 4
        elif arm in self._noisy:
            self._noisy[arm] += (reward - self._noisy[arm]) / self._counts[arm]


# 12 mabwiser style
class MabGreedy:
    """right"""

    def __init__(self, arms, epsilon):
        self.arms, self.epsilon = arms, epsilon
        self.means = None

    def fit(self, decisions, rewards):
        self.means = np.zeros(self.arms)
        for d, r in zip(decisions, rewards):
            self.means[d] = r + np.random.laplace(0, 1 / self.epsilon)
        return self

    def partial_fit(self, decisions, rewards):
        return self

    def predict(self):
        return int(np.argmax(self.means))


class MabGreedyWrong(MabGreedy):
    """wrong: later rewards have no noise"""

    def partial_fit(self, decisions, rewards):
        for d, r in zip(decisions, rewards):
            self.means[d] = 0.9 * self.means[d] + 0.1 * r
        return self


# 13 SMPyBandits style
class BasePolicy:
    def __init__(self, nbArms, lower=0.0, amplitude=1.0):
        self.nbArms, self.lower, self.amplitude = nbArms, lower, amplitude
        self.t = 0
        self.pulls = np.zeros(nbArms, dtype=int)
        self.rewards = np.zeros(nbArms)

    def __str__(self):
        return self.__class__.__name__

    def startGame(self):
        self.t = 0
        self.pulls.fill(0)
        self.rewards.fill(0)

    def getReward(self, arm, reward):
        self.t += 1
        self.pulls[arm] += 1
        reward = (reward - self.lower) / self.amplitude
        self.rewards[arm] += self.privatise(reward)

    def privatise(self, reward):
        raise NotImplementedError

    def choice(self):
        if self.t < self.nbArms:
            return self.t
        means = self.rewards / self.pulls
        return int(np.argmax(means + np.sqrt(0.5 * np.log(self.t) / self.pulls)))


class SMPLocal(BasePolicy):
    """right"""

    def __init__(self, arms, epsilon, rng):
        super().__init__(arms)
        self.epsilon, self.rng = epsilon, rng

    def privatise(self, reward):
        return reward + self.rng.laplace(0, 1 / self.epsilon)


class SMPLocalWrong(SMPLocal):
    """wrong: normal noise"""

    def privatise(self, reward):
        return reward + self.rng.normal(0, 1 / self.epsilon)


# 14 functions of the stream
def stream_etc(stream, rng):
    """right"""
    n, m = len(stream), 3
    actions = []
    totals = [0.0, 0.0]
    for t in range(n):
        if t < 2 * m:
            a = t % 2
            totals[a] += stream[t]
        else:
            if t == 2 * m:
                noisy = [x + rng.laplace(0, 1.0) for x in totals]
                best = 0 if noisy[0] >= noisy[1] else 1
            a = best
        actions.append(a)
    return np.array(actions)


def stream_etc_wrong(stream, rng):
    """wrong: best arm drawn again each time from fresh noise"""
    n, m = len(stream), 3
    actions = []
    totals = [0.0, 0.0]
    for t in range(n):
        if t < 2 * m:
            a = t % 2
            totals[a] += stream[t]
        else:
            noisy = [x + rng.laplace(0, 1.0) for x in totals]
            a = 0 if noisy[0] >= noisy[1] else 1
        actions.append(a)
    return np.array(actions)


# 15 step style
class StepThompson:
    """right: noisy sums, then public Gaussian sampling"""

    def __init__(self, arms, epsilon, rng):
        self.k, self.eps, self.rng = arms, epsilon, rng
        self.sums = [0.0] * arms
        self.ns = [0] * arms
        self.queue = [a for a in range(arms) for _ in range(2)]
        self.post = None

    def step(self, reward, arm):
        if reward is not None and self.post is None:
            self.sums[arm] += reward
            self.ns[arm] += 1
        if self.queue:
            return self.queue.pop(0)
        if self.post is None:
            self.post = [
                (s + self.rng.laplace(0, 1 / self.eps)) / n for s, n in zip(self.sums, self.ns)
            ]
        return int(np.argmax([m + self.rng.normal(0, 0.5) for m in self.post]))


class StepThompsonWrong(StepThompson):
    """wrong: posterior of the raw sums"""

    def step(self, reward, arm):
        if reward is not None and self.post is None:
            self.sums[arm] += reward
            self.ns[arm] += 1
        if self.queue:
            return self.queue.pop(0)
        if self.post is None:
            self.post = [s / n for s, n in zip(self.sums, self.ns)]
        return int(np.argmax([m + self.rng.normal(0, 0.5) for m in self.post]))


# 16 randomised response with bool counting
class RRCount:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        self.rng = rng
        self.ones = [0] * arms
        self.pulls = [0] * arms
        self.left = [3] * arms
        self.best = None

    def privatise(self, reward):
        p = reward * self.keep + (1 - reward) * (1 - self.keep)
        return 1 if self.rng.random() < p else 0

    def select(self):
        for k, left in enumerate(self.left):
            if left:
                return k
        if self.best is None:
            self.best = max(range(len(self.ones)), key=self.ones.__getitem__)
        return self.best

    def update(self, arm, reward):
        if self.left[arm] > 0:
            self.left[arm] -= 1
            self.ones[arm] += self.privatise(reward)


class RRCountWrong(RRCount):
    """wrong: keeps with probability one minus"""

    def __init__(self, arms, epsilon, rng):
        super().__init__(arms, epsilon, rng)
        self.keep = 1 - 0.1 * (1 - self.keep)


# 17 logging, warnings, assertion, clip
class LoggedClip:
    """right"""

    def __init__(self, arms, epsilon, rng, verbose=False):
        assert arms >= 2, "need two arms"
        if epsilon > 10:
            warnings.warn("epsilon is large")
        self.verbose, self.rng, self.eps = verbose, rng, epsilon
        self.sums, self.t = np.zeros(arms), 0
        self.chosen = 0

    def log(self, message):
        if self.verbose:
            logger.info(message)

    def select(self):
        self.log("select")
        if self.t < 6:
            return self.t % self.sums.size
        return self.chosen

    def update(self, arm, reward):
        reward = float(np.clip(reward, 0.0, 1.0))
        self.t += 1
        if self.t <= 6:
            self.sums[arm] += reward
        if self.t == 6:
            self.chosen = int(
                np.argmax(self.sums + self.rng.laplace(0, 1 / self.eps, size=self.sums.shape))
            )
            self.log(f"chose {self.chosen}")


class LoggedClipWrong(LoggedClip):
    """wrong: size=1 broadcasts one draw"""

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 6:
            self.sums[arm] += reward
        if self.t == 6:
            self.chosen = int(np.argmax(self.sums + self.rng.laplace(0, 1 / self.eps, size=1)))


# 18 heap / sorted queue
class HeapPolicy:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.heap = [(0.0, k) for k in range(arms)]
        self.sum, self.n, self.rng, self.eps = 0.0, 0, rng, epsilon
        self.done = {}

    def select(self):
        if self.heap:
            return self.heap[0][1]
        return min(self.done, key=lambda k: -self.done[k])

    def update(self, arm, reward):
        if not self.heap:
            return
        self.sum += reward
        self.n += 1
        if self.n == 3:
            _, k = heapq.heappop(self.heap)
            self.done[k] = self.sum / self.n + self.rng.laplace(0, 1 / (self.n * self.eps))
            self.sum, self.n = 0.0, 0


class HeapPolicyWrong(HeapPolicy):
    """wrong: n is one larger when the scale is made"""

    def update(self, arm, reward):
        if not self.heap:
            return
        self.sum += reward
        self.n += 1
        if self.n == 3:
            _, k = heapq.heappop(self.heap)
            self.done[k] = self.sum / self.n + self.rng.laplace(0, 1 / ((self.n + 1) * self.eps))
            self.sum, self.n = 0.0, 0


# 19 tree
class TreePolicy:
    """right: binary counter per arm over 4 rewards at most"""

    LEVELS = 3

    def __init__(self, arms, epsilon, rng):
        self.levels = [[0.0] * self.LEVELS for _ in range(arms)]
        self.noisy = [[0.0] * self.LEVELS for _ in range(arms)]
        self.n = [0] * arms
        self.rng, self.scale = rng, self.LEVELS / epsilon

    def select(self):
        for k, n in enumerate(self.n):
            if n < 4:
                return k
        return int(np.argmax([sum(row) for row in self.noisy]))

    def update(self, arm, reward):
        if self.n[arm] >= 4:
            return
        self.n[arm] += 1
        level = (self.n[arm] & -self.n[arm]).bit_length() - 1
        total = reward + sum(self.levels[arm][:level])
        for j in range(level):
            self.levels[arm][j] = 0.0
            self.noisy[arm][j] = 0.0
        self.levels[arm][level] = total
        self.noisy[arm][level] = total + self.rng.laplace(0, self.scale)


class TreePolicyWrong(TreePolicy):
    """wrong: split over too few levels; and decides at every step"""

    def __init__(self, arms, epsilon, rng):
        super().__init__(arms, epsilon, rng)
        self.scale = 1 / (2 * epsilon)


# 20 generator, partial, walrus, match
def _mean(values, n):
    return sum(values) / n


class ModernPolicy:
    """right"""

    def __init__(
        self, arms: int, epsilon: float, rng: np.random.Generator, *, batch: int = 3
    ) -> None:
        self._batch, self._eps, self._rng = batch, epsilon, rng
        self._data: list[list[float]] = [[] for _ in range(arms)]
        self._est: dict[int, float] = {}

    def select(self) -> int:
        if (
            todo := next((k for k, d in enumerate(self._data) if len(d) < self._batch), None)
        ) is not None:
            return todo
        if len(self._est) < len(self._data):
            self._est = {
                k: _mean(d, len(d)) + self._rng.laplace(0, 1 / (len(d) * self._eps))
                for k, d in enumerate(self._data)
            }
        match len(self._est):
            case 0:
                return 0
            case _:
                pass
        return max(self._est.items(), key=lambda kv: kv[1])[0]

    def update(self, arm: int, reward: float) -> None:
        if len(self._data[arm]) < self._batch:
            self._data[arm].append(reward)


class ModernPolicyWrong(ModernPolicy):
    """wrong: noise for the first arm alone, and twice the size is missing"""

    def select(self):
        if (
            todo := next((k for k, d in enumerate(self._data) if len(d) < self._batch), None)
        ) is not None:
            return todo
        if len(self._est) < len(self._data):
            self._est = {
                k: _mean(d, len(d))
                + (self._rng.laplace(0, 1 / (2 * len(d) * self._eps)) if k else 0.0)
                for k, d in enumerate(self._data)
            }
        return max(self._est.items(), key=lambda kv: kv[1])[0]


# 21 report noisy max with gumbel/exponential: not followed but no crash
class NoisyMaxExp:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.sums, self.t, self.rng, self.eps, self.best = [0.0] * arms, 0, rng, epsilon, 0

    def select(self):
        return self.t % len(self.sums) if self.t < 6 else self.best

    def update(self, arm, reward):
        self.t += 1
        if self.t <= 6:
            self.sums[arm] += reward
            if self.t == 6:
                noisy = np.array(self.sums) + self.rng.laplace(0, 2 / self.eps, len(self.sums))
                self.best = np.argmax(noisy)


# 22 OrderedDict with methods, while loop, try/except KeyError
class TryPolicy:
    """right"""

    def __init__(self, arms, epsilon, rng):
        self.table = OrderedDict()
        self.arms, self.eps, self.rng = arms, epsilon, rng

    def value(self, k):
        try:
            return self.table[k]["score"]
        except KeyError:
            return None

    def select(self):
        k = 0
        while k < self.arms:
            if self.value(k) is None:
                return k
            k += 1
        scores = [entry["score"] for entry in self.table.values()]
        return scores.index(max(scores))

    def update(self, arm, reward):
        entry = self.table.setdefault(arm, {"sum": 0.0, "n": 0})
        if "score" in entry:
            return
        entry["sum"] += reward
        entry["n"] += 1
        if entry["n"] == 3:
            entry["score"] = entry.pop("sum") / 3 + self.rng.laplace(0, 1 / (3 * self.eps))


class TryPolicyWrong(TryPolicy):
    """wrong: raises the score by raw rewards later"""

    def update(self, arm, reward):
        entry = self.table.setdefault(arm, {"sum": 0.0, "n": 0})
        if "score" in entry:
            entry["score"] = max(entry["score"], reward)
            return
        entry["sum"] += reward
        entry["n"] += 1
        if entry["n"] == 3:
            entry["score"] = entry.pop("sum") / 3 + self.rng.laplace(0, 1 / (3 * self.eps))


# 23 scipy's laws
class ScipyNoise:
    """right"""
    def __init__(self, arms, epsilon):
        self.scale, self.sums, self.t = 1 / epsilon, np.zeros(arms), 0
        self.best = None

    def noise(self):
        return stats.laplace.rvs(loc=0, scale=self.scale, size=len(self.sums))

    def select(self):
        if self.t < 3 * len(self.sums):
            return self.t % len(self.sums)
        if self.best is None:
            self.best = int(np.argmax(self.sums + self.noise()))
        return self.best

    def update(self, arm, reward):
        self.t += 1
        if self.best is None:
            self.sums[arm] += reward


class ScipyNoiseWrong(ScipyNoise):
    """wrong: the seed is a constant"""
    def noise(self):
        return stats.laplace.rvs(loc=0, scale=self.scale, size=len(self.sums), random_state=7)


# 24 slots, a config object, a table of functions
class Config:
    __slots__ = ("epsilon", "batch")

    def __init__(self, epsilon, batch=4):
        self.epsilon, self.batch = epsilon, batch


@dataclass
class Ledger:
    sums: List[float] = field(default_factory=list)
    history: dict = field(default_factory=dict)


class SlotsPolicy:
    """right"""
    def __init__(self, arms, epsilon, rng):
        self.config, self.ledger, self.rng = Config(epsilon), Ledger([0.0] * arms), rng
        self.actions = {"explore": self.explore, "exploit": self.exploit}
        self.mode, self.t, self.noisy = "explore", 0, []

    def explore(self):
        return self.t // self.config.batch

    def exploit(self):
        return max(range(len(self.noisy)), key=self.noisy.__getitem__)

    def select(self):
        return self.actions[self.mode]()

    def update(self, arm, reward):
        if self.mode == "exploit":
            return
        self.t += 1
        self.ledger.sums[arm] += reward
        if self.t == self.config.batch * len(self.ledger.sums):
            scale = self.scale()
            self.noisy = [s + self.rng.laplace(0, scale) for s in self.ledger.sums]
            self.mode = "exploit"

    def scale(self):
        return 1 / self.config.epsilon


class SlotsPolicyWrong(SlotsPolicy):
    """wrong: the noise is that of a mean"""
    def scale(self):
        return 1 / (self.config.epsilon * self.config.batch)


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.plot([1, 2, 3])

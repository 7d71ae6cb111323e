"""Targets with a known epsilon for the benchmarks of the sampler."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Pair, Stream


@dataclass(frozen=True)
class RandomisedResponse:
    """The second step plays the first reward, flipped so that epsilon is exact and tight.

    Further steps are fair coins: many action sequences, none of which says more.
    """

    epsilon: float
    arms: int = 2
    horizon: int = 2

    def identity(self) -> dict[str, Any]:
        """Return what names this target."""
        return {"policy": "randomised response", "epsilon": self.epsilon}

    def run(self, stream: Stream, runs: int, seed: Any) -> Runs:
        """Return runs."""
        rng = np.random.default_rng(seed)
        actions = rng.integers(0, 2, (runs, self.horizon))
        flipped = rng.random(runs) < 1 / (1 + math.exp(self.epsilon))
        actions[:, 0], actions[:, 1] = 0, (stream.at(0) >= 0.5) ^ flipped
        return Runs.of_actions(actions)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pair that matters, and one that does not."""
        zero = Stream.constant(0.0, self.horizon)
        return Pair("first reward", zero, 0, 1.0), Pair("second reward", zero, 1, 1.0)


@dataclass(frozen=True)
class NoisyValue:
    """One step: the first reward with Laplace(1 / epsilon), read off in bins; epsilon is tight."""

    epsilon: float
    arms: int = 10
    horizon: int = 2

    def identity(self) -> dict[str, Any]:
        """Return what names this target."""
        return {"policy": "Laplace mechanism", "epsilon": self.epsilon}

    def run(self, stream: Stream, runs: int, seed: Any) -> Runs:
        """Return runs."""
        noisy = stream.at(0) + np.random.default_rng(seed).laplace(0, 1 / self.epsilon, runs)
        edges = np.linspace(-1, 2, self.arms - 1)
        actions = np.stack((np.zeros(runs, dtype=np.int64), np.digitize(noisy, edges)), axis=1)
        return Runs.of_actions(actions)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pair that matters."""
        return (Pair("first reward", Stream.constant(0.0, 2), 0, 1.0),)


@dataclass(frozen=True)
class NoisyMax:
    """Plays every arm once, then the largest reward plus Laplace(2 / epsilon).

    One changed reward moves one count by one, so the loss is at most epsilon / 2.
    """

    epsilon: float
    arms: int = 5

    @property
    def horizon(self) -> int:
        """Every arm once, then the choice."""
        return self.arms + 1

    def identity(self) -> dict[str, Any]:
        """Return what names this target."""
        return {"policy": "noisy max", "epsilon": self.epsilon}

    def run(self, stream: Stream, runs: int, seed: Any) -> Runs:
        """Return runs."""
        noise = np.random.default_rng(seed).laplace(0, 2 / self.epsilon, (runs, self.arms))
        best = np.argmax(stream.array()[: self.arms] + noise, axis=1)
        first = np.broadcast_to(np.arange(self.arms), (runs, self.arms))
        return Runs.of_actions(np.concatenate((first, best[:, None]), axis=1))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """One reward up among zeros, one down among ones."""
        zeros, ones = (Stream.constant(value, self.horizon) for value in (0.0, 1.0))
        return Pair("one up", zeros, 0, 1.0), Pair("one down", ones, 0, 0.0)


@dataclass(frozen=True)
class Redrawn:
    """Both arms once; then always the larger of mean + Laplace(1 / (epsilon n)), noise redrawn.

    The flaw is the redrawing: each decision spends epsilon again. Decisions are independent given
    the past, so likelihoods are products and the true loss is found by enumeration.
    """

    epsilon: float = 1.0
    horizon: int = 8
    arms: int = 2

    def identity(self) -> dict[str, Any]:
        """Return what names this target."""
        return {"policy": "noise redrawn at every round", "epsilon": self.epsilon}

    def run(self, stream: Stream, runs: int, seed: Any) -> Runs:
        """Return runs."""
        rng, rewards = np.random.default_rng(seed), stream.array()
        actions = np.zeros((runs, self.horizon), dtype=np.int64)
        sums = np.tile(rewards[:2], (runs, 1))
        pulls = np.ones((runs, 2))
        actions[:, 1] = 1
        rows = np.arange(runs)
        for step in range(2, self.horizon):
            noisy = sums / pulls + rng.laplace(size=(runs, 2)) / (self.epsilon * pulls)
            arm = np.argmax(noisy, axis=1)
            actions[:, step] = arm
            sums[rows, arm] += rewards[step]
            pulls[rows, arm] += 1
        return Runs.of_actions(actions)

    def log_likelihood(self, actions: tuple[int, ...], rewards: NDArray[np.float64]) -> float:
        """Return the log-probability of the actions after the first two."""
        sums, pulls, total = [rewards[0], rewards[1]], [1, 1], 0.0
        for step, arm in enumerate(actions, start=2):
            scales = [1 / (self.epsilon * n) for n in pulls]
            gap = sums[0] / pulls[0] - sums[1] / pulls[1]
            zero = _above(gap, scales[0], scales[1])
            total += math.log(zero if arm == 0 else 1 - zero)
            sums[arm] += rewards[step]
            pulls[arm] += 1
        return total

    @cached_property
    def worst(self) -> tuple[float, Pair]:
        """The largest loss over all binary pairs and action sequences, and its pair."""
        best: tuple[float, Pair] | None = None
        sequences = list(product((0, 1), repeat=self.horizon - 2))
        for bits in product((0.0, 1.0), repeat=self.horizon):
            rewards = np.array(bits)
            base = [self.log_likelihood(actions, rewards) for actions in sequences]
            for position in range(self.horizon):
                if bits[position] == 0.0:
                    other = rewards.copy()
                    other[position] = 1.0
                    loss = max(
                        abs(left - self.log_likelihood(actions, other))
                        for left, actions in zip(base, sequences, strict=True)
                    )
                    if best is None or loss > best[0]:
                        best = loss, Pair("worst", Stream.of(rewards), position, 1.0)
        assert best is not None
        return best


def _above(gap: float, one: float, two: float) -> float:
    """P(gap + Laplace(one) - Laplace(two) > 0)."""
    size = abs(gap)
    if math.isclose(one, two, rel_tol=1e-12):
        tail = 0.25 * math.exp(-size / one) * (2 + size / one)
    else:
        a, b = one**2, two**2
        tail = (a * math.exp(-size / one) - b * math.exp(-size / two)) / (2 * (a - b))
    return 1 - tail if gap >= 0 else tail


@dataclass(frozen=True, kw_only=True)
class LessNoise(AdapKLUCB):
    """adap_klucb with its noise scaled by `ratio`."""

    ratio: float = 1.0

    def release(self, rows: Rows) -> Release | Accumulate:
        """Return the release with less noise."""
        scale = exact(self.ratio) / (exact(self.epsilon) * self.released_length(rows.stop))
        return Release(rows.arm, rows, Laplace(scale), divisor=len(rows))

"""One run at a time: the reference interpreter on rewards drawn from an environment.

Nothing is drawn until a release asks for a sum, so a play of a million rounds that is released as a
whole costs one draw. Sums over any other rows stay consistent: the prefix sums of an arm are known
at some edges, a new edge beyond the last is a fresh draw, one in between is a bridge.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.core.environments import Environment
from dpaudit.core.outcome import Outcome, RunBlock
from dpaudit.core.stream import interpret


class SampledRewards:
    """Rewards of an environment, drawn as sums over the rows that are asked for."""

    def __init__(self, environment: Environment, rng: np.random.Generator) -> None:
        self.environment = environment
        self.rng = rng
        self.edges: list[list[int]] = [[0] for _ in environment.means]
        self.sums: list[list[float]] = [[0.0] for _ in environment.means]

    def play(self, arm: int, rounds: int) -> None:
        """Draw nothing yet."""

    def total(self, rows: Rows) -> float:
        """Return the sum of an arm's rewards number first to stop - 1."""
        before = self._prefix(rows.arm, rows.first)
        return self._prefix(rows.arm, rows.stop) - before

    def steps(self, rows: Rows, grid: int, rounding: str, rng: np.random.Generator) -> int:
        """Return the sum on a grid: that of 0s and 1s exactly, any other rounded as a whole."""
        return round(self.total(rows) * grid)

    def _prefix(self, arm: int, stop: int) -> float:
        edges, sums = self.edges[arm], self.sums[arm]
        place = bisect_left(edges, stop)
        if place == len(edges):
            self._extend(arm, stop)
        elif edges[place] != stop:
            rounds, first = edges[place] - edges[place - 1], stop - edges[place - 1]
            total = sums[place] - sums[place - 1]
            part = self.environment.bridge(arm, total, rounds, first, self.rng)
            edges.insert(place, stop)
            sums.insert(place, sums[place - 1] + part)
        return sums[place] if edges[place] == stop else sums[-1]

    def _extend(self, arm: int, stop: int) -> None:
        edges, sums = self.edges[arm], self.sums[arm]
        rounds = stop - edges[-1]
        if rounds <= self.environment.single_rows:
            singles = self.environment.rewards(np.full(rounds, arm), self.rng)
            sums.extend((sums[-1] + np.cumsum(singles)).tolist())
            edges.extend(range(edges[-1] + 1, stop + 1))
        else:
            drawn = self.environment.totals(np.array([arm]), np.array([rounds]), self.rng)
            sums.append(sums[-1] + float(drawn[0]))
            edges.append(stop)


def run(algorithm: Algorithm, block: RunBlock) -> Outcome:
    """Simulate runs one after the other."""
    environment, times, rng = block.environment, block.times, block.rng
    # a recommendation costs no regret
    gaps = np.concatenate((environment.gaps, np.zeros(algorithm.arms)))
    pulls, curves, releases = [], [], []
    for _ in range(block.runs):
        path = interpret(algorithm, int(times[-1]), SampledRewards(environment, rng), rng)
        arms, rounds = np.array(path.arms), np.array(path.rounds)
        at = np.concatenate(([0], np.cumsum(rounds)))
        value = np.concatenate(([0.0], np.cumsum(rounds * gaps[arms])))
        curves.append(np.interp(times, at, value))
        counts = [int(rounds[arms == arm].sum()) for arm in range(algorithm.arms)]
        pulls.append(counts)
        releases.append(path.releases)
    return Outcome(np.array(pulls, dtype=np.int64), np.array(curves), np.array(releases))

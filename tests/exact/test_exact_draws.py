"""Thompson's rule on released means: likelihoods against nested quadrature and against runs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import integrate, stats

from dpaudit.core.algorithms import load
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import GaussianDraw
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.floats.draws import DRAWS_ERROR, exceeds
from dpaudit.exact.paths import all_paths

RUNS = 400_000


def mean_cumulative(t, centre, scale, n, shift):
    """P(draw <= t), the released mean integrated out by Simpson's rule between its bends."""
    bends = sorted({-shift, 1 - shift, centre})
    ends = [bends[0] - 30 * scale, *bends, bends[-1] + 30 * scale]
    found = np.zeros_like(t)
    for a, b in zip(ends[:-1], ends[1:], strict=True):
        x = np.linspace(a, b, 801)
        m = np.clip(x + shift, 0, 1)
        values = stats.beta.cdf(t[:, None], m * n + 1, (1 - m) * n + 1)
        found += integrate.simpson(values * stats.laplace.pdf(x, centre, scale), x=x, axis=1)
    return found


@pytest.mark.parametrize("rewards", [(1.0, 0.0), (0.3, 0.8)])
def test_the_first_decision_by_nested_quadrature(rewards):
    epsilon = 2.0
    algorithm = load("lazy_dp_ts", arms=2, epsilon=epsilon)
    shift = 3 * math.log(3) / epsilon
    law = [(r, 1 / epsilon, 1, shift) for r in rewards]
    # P(arm 1 > arm 0) = 1 - the integral of F1 dF0; Stieltjes by the midpoints of a fine partition
    t = (1 - np.cos(np.linspace(0, np.pi, 1201))) / 2
    first, second = mean_cumulative(t[::2], *law[0]), mean_cumulative(t[1::2], *law[1])
    wins = float(np.dot(second, np.diff(first)))
    found = likelihood(algorithm, [0, 1, 0], [*rewards, 0.0], "float")
    assert found.log_lower <= math.log(wins) + 2e-6
    assert found.log_upper >= math.log(wins) - 2e-6
    assert found.log_upper - found.log_lower < 1e-7


def test_runs_come_as_often_as_likelihoods_say():
    """Independent code, one run per row; an error of 7 deviations has probability below 1e-11."""
    algorithm, horizon, rng = load("lazy_dp_ts", arms=2), 7, np.random.default_rng(5)
    stream = np.array([0.0, 1.0, 1.0, 0.5, 0.0, 1.0, 0.0])
    counts: Counter[tuple[int, ...]] = Counter()

    def go(actions, held, batches, runs):
        time = len(actions)
        if time >= horizon:
            counts[tuple(actions[:horizon])] += runs
            return
        draws = []
        for arm in (0, 1):
            n = 2 ** (batches[arm] - 1)
            m = np.clip(held[arm] + 3 * math.log(time + 1) / n, 0, 1)
            draws.append(rng.beta(m * n + 1, (1 - m) * n + 1))
        for arm in (0, 1):
            here = draws[arm] > draws[1 - arm]
            n, size = 2 ** batches[arm], int(here.sum())
            if not size:
                continue
            kept = [values[here] for values in held]
            total = float(stream[time : time + n].sum())
            kept[arm] = (total + rng.laplace(0, 1, size)) / n
            grown = [b + (k == arm) for k, b in enumerate(batches)]
            go([*actions, *[arm] * n], kept, grown, size)

    go([0, 1], [stream[k] + rng.laplace(0, 1, RUNS) for k in (0, 1)], [1, 1], RUNS)
    sequences = {tuple(map(int, path.actions)) for path in all_paths(algorithm, horizon)}
    assert set(counts) <= sequences
    for actions in sequences:
        p = math.exp(likelihood(algorithm, actions, stream, "float").log_upper)
        off = abs(counts[actions] / RUNS - p)
        assert off <= 7 * math.sqrt(p * (1 - p) / RUNS) + 1 / RUNS


def test_integer_draws_by_the_closed_form():
    """P(Beta(a, b) > Beta(c, d)) is a finite sum for whole a."""

    def closed(a, b, c, d):
        terms = (
            math.exp(log_beta(c + i, b + d) - log_beta(1 + i, b) - log_beta(c, d)) / (b + i)
            for i in range(a)
        )
        return sum(terms)

    for a, b, c, d in ((1, 1, 1, 1), (3, 2, 1, 4), (5, 1, 2, 2), (40, 3, 30, 9)):
        one, two = ((np.array([float(x)]), np.array([float(y)])) for x, y in ((a, b), (c, d)))
        assert exceeds(one, two, 50.0)[0, 0] == pytest.approx(closed(a, b, c, d), abs=1e-12)


def log_beta(x, y):
    return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)


def test_the_largest_loss_over_binary_streams():
    found = worst_loss(load("lazy_dp_ts", arms=2), 4, streams="binary")
    assert not found.loss.certified
    assert 0 < found.loss.lower <= 1
    assert DRAWS_ERROR < 1e-7


@dataclass(frozen=True, kw_only=True)
class Sharp(DoublingEpisodes):
    """Draws that hardly spread."""

    def rule(self, pulls, time, m):
        return GaussianDraw(m.number(0.05))


def laplace(x, centre, scale):
    return math.exp(-abs(x - centre) / scale) / (2 * scale)


def gaussian_chain(rewards, epsilon, arms_after):
    """P(0, 1, *arms_after) of dp_gaussian_ts by nested quadrature: the register of arm 1 is held.

    Every later play is of arm 0 but the last, so arm 0 has a fresh register at every decision.
    """
    batches = [(rewards[0], 0.5)]
    start, n = 2, 1
    for _ in arms_after[:-1]:
        batches.append((np.mean(rewards[start : start + n]), n))
        start, n = start + n, 2 * n
    time = 3
    factors = []
    for number, (centre, n) in enumerate(batches):
        log_t = math.log(time)
        variance = [log_t * (1 / k + 2 / (epsilon * k) ** 2) for k in (n, 0.5)]
        factors.append((centre, 1 / (epsilon * n), math.sqrt(sum(variance)), arms_after[number]))
        time += max(1, int(2 * n))

    def inner(x1):
        value = 1.0
        for centre, scale, spread, arm in factors:
            sign = 1 if arm == 0 else -1

            def density(x0, c=centre, b=scale, s=spread, g=sign):
                return laplace(x0, c, b) * math.erfc(g * (x1 - x0) / (s * math.sqrt(2))) / 2

            ends = (centre - 40 * scale, centre, centre + 40 * scale)
            value *= sum(integrate.quad(density, *ends[i : i + 2])[0] for i in (0, 1))
        return value * laplace(x1, rewards[1], 2 / epsilon)

    ends = (rewards[1] - 80 / epsilon, rewards[1], rewards[1] + 80 / epsilon)
    return sum(integrate.quad(inner, *ends[i : i + 2], epsabs=1e-10)[0] for i in (0, 1))


@pytest.mark.parametrize(
    ("rewards", "after"),
    [((1.0, 0.0, 0.5), (1,)), ((1.0, 0.25, 0.0, 1.0, 1.0), (0, 0))],
)
def test_gaussian_draws_by_nested_quadrature(rewards, after):
    epsilon = 2.0
    algorithm = load("dp_gaussian_ts", arms=2, epsilon=epsilon)
    actions = [0, 1, *after][: len(rewards)]
    actions += [after[-1]] * (len(rewards) - len(actions))
    found = likelihood(algorithm, actions, rewards, "float")
    wanted = math.log(gaussian_chain(rewards, epsilon, after))
    assert found.log_lower - 1e-7 <= wanted <= found.log_upper + 1e-7
    assert found.log_upper - found.log_lower < 1e-6


def test_gaussian_likelihoods_sum_to_one_and_a_tiny_one_is_refused():
    algorithm, stream = load("dp_gaussian_ts", arms=2), np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    sequences = {tuple(map(int, path.actions)) for path in all_paths(algorithm, 6)}
    values = [likelihood(algorithm, actions, stream, "float").middle for actions in sequences]
    assert math.fsum(values) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(Unsupported, match="too small for the nodes"):
        likelihood(Sharp(arms=2, epsilon=100.0), [0, 1, 0], [0.0, 1.0, 0.0], "float")

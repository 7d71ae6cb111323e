"""Certified likelihoods where registers are sums of releases: nets against other methods."""

from __future__ import annotations

import math
from dataclasses import dataclass

import certified_engine as ball
import numpy as np
import pytest
from flint import arb
from quasi import NEAR, frequency
from test_exact_sums import built, frequencies, nested

from dpaudit.core.algorithm import Accumulate, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.dp_imed import DPIMED
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, recompute, worst_loss
from dpaudit.exact.balls import certified, integrals
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.likelihood import exact_sum
from dpaudit.exact.paths import all_paths, paths_of
from dpaudit.exact.region import region_of


def sums_of(path, stream):
    region = region_of(path)
    steps = [path.steps(episode.rows) for episode in region.episodes]
    return region, {i: exact_sum(stream, parts) for i, parts in enumerate(steps)}


def enclosed(region, sums, cells):
    return integrals.Probability(region, sums, Known()).on(cells)


@pytest.mark.parametrize("name, number", [("adap_imed", 5), ("adap_klucb", 2)])
def test_agrees_with_the_chain_engine_where_both_apply(name, number):
    path = list(all_paths(load(name, arms=2, epsilon=2.0), 6))[number]
    region, sums = sums_of(path, np.array([0.1, 0.8, 0.5, 0.0, 1.0, 0.3]))
    found = enclosed(region, sums, 600)
    exact = certified.log_likelihood(region, sums).exp()
    assert arb(float(found.lo)) <= exact <= arb(float(found.hi))
    assert found.hi - found.lo < 5e-4


CASES = [
    ("dp_klucb", 5, 3.0),
    ("dp_klucb", 4, 0.7),
    ("dp_imed", 5, 1.0),
    ("dp_imed", 4, 6.0),
]


@pytest.mark.parametrize("name, horizon, epsilon", CASES)
def test_sums_to_one_and_quasi_monte_carlo_lies_inside(name, horizon, epsilon):
    algorithm = built(name, horizon, epsilon)
    stream = np.random.default_rng(horizon).random(horizon).round(2)
    low = high = 0.0
    for path in all_paths(algorithm, horizon):
        region, sums = sums_of(path, stream)
        found = enclosed(region, sums, 300)
        assert found.lo - NEAR <= frequency(region, stream) <= found.hi + NEAR
        assert found.hi - found.lo < 3e-3
        low, high = low + found.lo, high + found.hi
    assert low <= 1 <= high


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, horizon, epsilon",
    [("dp_klucb", 7, 3.0), ("dp_imed", 7, 1.0), ("dp_klucb", 12, 2.0)],
)
def test_sums_to_one_at_longer_horizons(name, horizon, epsilon):
    algorithm = built(name, horizon, epsilon)
    stream = np.random.default_rng(horizon).random(horizon).round(2)
    low = high = 0.0
    for path in all_paths(algorithm, horizon):
        region, sums = sums_of(path, stream)
        found = enclosed(region, sums, 600)
        low, high = low + found.lo, high + found.hi
    assert low <= 1 <= high
    assert high - low < 1e-2


@pytest.mark.parametrize("name, epsilon", [("dp_imed", 1.0), ("dp_klucb", 2.0)])
def test_contains_a_quadrature_that_knows_the_rule_by_its_picks(name, epsilon):
    stream, actions = [0.25, 0.75, 0.5, 0.0], [0, 1, 0, 1]
    found = likelihood(built(name, 4, epsilon), actions, stream)
    assert found.certified and found.log_upper - found.log_lower < 1e-6
    # panels of the quadrature know nothing of corners, each of which costs about 1e-8
    assert found.lower - 2e-8 <= nested(name, actions, stream, epsilon) <= found.upper + 2e-8


def test_finer_cells_narrow_to_third_order():
    (path,) = paths_of(load("dp_imed", arms=2), [0, 1, 0, 1, 1])
    region, sums = sums_of(path, np.array([0.1, 0.9, 0.4, 0.3, 0.7]))
    found = [enclosed(region, sums, cells) for cells in (300, 900, 2700)]
    widths = [float(interval.hi - interval.lo) for interval in found]
    assert widths[0] > 10 * widths[1] > 100 * widths[2]
    assert max(f.lo for f in found) <= min(f.hi for f in found)


@pytest.mark.parametrize("name, horizon", [("dp_klucb", 5), ("dp_imed", 5)])
def test_agrees_with_monte_carlo(name, horizon):
    """Error probability below 1e-6: 6.5 standard deviations, at most 8 sequences."""
    algorithm, stream, runs = built(name, horizon, 2.0), [1.0, 0.0, 1.0, 1.0, 0.0], 200_000
    counts = frequencies(algorithm, stream, runs)
    for path in all_paths(algorithm, horizon):
        region, sums = sums_of(path, np.array(stream))
        found = enclosed(region, sums, 300)
        seen = counts.get(tuple(path.actions.tolist()), 0)
        slack = 6.5 * (math.sqrt(runs * found.hi) + 1)
        assert runs * found.lo - slack < seen < runs * found.hi + slack


def test_impossible_outcomes_are_certified_zeros():
    """At epsilon = 1 both bounds of the first decision are endless, so arm 0 wins the tie."""
    algorithm = load("dp_klucb", arms=2, epsilon=1.0)
    for actions in ([0, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1, 1]):
        found = likelihood(algorithm, actions, [0.5] * len(actions))
        assert found.certified and found.upper == 0.0
    sure = likelihood(algorithm, [0, 1, 0], [0.5] * 3)
    assert sure.certified and sure.upper == 1.0 and sure.lower > 1 - 1e-9


def test_small_likelihoods_are_refused():
    algorithm = load("dp_klucb", arms=2, epsilon=40.0)
    stream, actions = [1.0, 0.0, 1.0, 0.0], [0, 1, 1, 1]
    with pytest.raises(Unsupported, match="A net stays wide"):
        likelihood(algorithm, actions, stream)


@dataclass(frozen=True, kw_only=True)
class HalvedNoise(DPIMED):
    def release(self, rows: Rows) -> Accumulate:
        return Accumulate(rows.arm, rows, Laplace(1 / (2 * exact(self.epsilon))))


def test_a_counterexample_is_certified():
    algorithm = HalvedNoise(arms=2, epsilon=1.0)
    found = worst_loss(algorithm, 4, streams="binary")
    assert found.witness is not None and found.loss.certified
    again = recompute(found.witness, algorithm)
    assert again.loss.certified and again.violates
    assert again.loss.lower <= found.loss.upper and found.loss.lower <= again.loss.upper
    assert again.loss.width < 1e-5


@pytest.mark.parametrize(
    "name, epsilon", [("dp_klucb", 1.0), ("dp_klucb", 3.0), ("dp_imed", 1.0), ("dp_ucb", 1.0)]
)
def test_the_largest_loss_is_certified_while_registers_hold_one_release(name, epsilon):
    algorithm = built(name, 3, epsilon)
    found = worst_loss(algorithm, 3)
    assert found.loss.certified and found.complete and found.loss.width <= 1e-6
    every = worst_pair(algorithm, 3, (0.0, 0.25, 0.5, 0.75, 1.0))
    assert found.loss.lower - 1e-6 <= every.loss <= found.loss.upper + 1e-9
    with pytest.raises(Unsupported, match="Extremal streams do not apply"):
        ball.worst_loss(built(name, 4, epsilon), 4)

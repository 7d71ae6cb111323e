"""The compiled two-arm engine: against ball arithmetic, the general chain, and itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Release
from dpaudit.core.algorithms import load
from dpaudit.core.scores import KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, chain, fast
from dpaudit.exact.lattice import lattice
from dpaudit.exact.likelihood import log_likelihoods
from dpaudit.exact.meeting import Meeting
from dpaudit.exact.pairwise import Duel, MeanBound
from dpaudit.exact.paths import all_paths, path_through
from dpaudit.exact.region import region_of
from dpaudit.exact.thresholds import least, thresholds


def plan_of(region):
    return fast.plan_of(chain.chain_of(region))


@pytest.mark.parametrize(("horizon", "seed"), [(64, 0), (256, 1), (1024, 2)])
def test_agrees_with_balls_on_unlikely_paths(horizon: int, seed: int) -> None:
    """Random decisions and sums: log-likelihoods down to several hundred, 1e-12 of them."""
    algorithm = load("adap_ucb", arms=2)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        path = path_through(algorithm, horizon, rng.integers(0, 2, 64).tolist())
        region = region_of(path)
        releases = [event for event in path.events if isinstance(event, Release)]
        sums = {e.rows: Fraction(int(rng.integers(0, len(e.rows) + 1))) for e in releases}
        certified = ball.path_log_likelihood(path, sums)
        means = region.means([float(sums[episode.rows]) for episode in region.episodes])
        found = fast.log_likelihoods(plan_of(region), means)[0]
        assert abs(found - float(certified.mid())) <= 1e-12 * abs(found) + float(certified.rad())


def test_agrees_with_balls_for_kl_scores() -> None:
    algorithm = load("adap_klucb", arms=2)
    path = path_through(algorithm, 16, [0, 1, 1, 0, 1, 0, 0])
    region = region_of(path)
    releases = [event for event in path.events if isinstance(event, Release)]
    sums = {event.rows: Fraction(len(event.rows), 2) for event in releases}
    certified = ball.path_log_likelihood(path, sums)
    means = region.means([float(sums[episode.rows]) for episode in region.episodes])
    found = fast.log_likelihoods(plan_of(region), means)[0]
    assert abs(found - float(certified.mid())) <= float(certified.rad()) + 1e-12


@pytest.mark.parametrize("name", ["adap_ucb", "adap_moss", "lazy_dp_ucb", "adap_klucb"])
def test_agrees_with_the_general_chain(name: str) -> None:
    algorithm = load(name, arms=2, epsilon=0.7)
    rng = np.random.default_rng(3)
    for horizon in (9, 40, 200):
        region = region_of(path_through(algorithm, horizon, rng.integers(0, 2, 64).tolist()))
        means = rng.random((2, len(region.episodes)))
        found = fast.log_likelihoods(plan_of(region), means)
        general = [chain.log_likelihood(chain.chain_of(region), row) for row in means]
        np.testing.assert_allclose(found, general, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("name", "horizon"), [("adap_ucb", 40), ("adap_klucb", 24)])
def test_likelihoods_of_long_horizons_sum_to_one(name: str, horizon: int) -> None:
    total = 0.0
    stream = np.random.default_rng(8).random(horizon)
    for path in all_paths(load(name, arms=2), horizon):
        region = region_of(path)
        total += math.exp(
            fast.log_likelihoods(plan_of(region), region.means(region.sums(stream)))[0]
        )
    assert abs(total - 1) < 1e-11


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 1), min_size=40, max_size=40),
    st.floats(0.1, 8),
    st.integers(5, 3000),
    st.integers(0, 2**32 - 1),
)
def test_any_path_agrees_with_the_general_chain(decisions, epsilon, horizon, seed) -> None:
    region = region_of(path_through(load("adap_ucb", arms=2, epsilon=epsilon), horizon, decisions))
    means = np.random.default_rng(seed).random(len(region.episodes))
    found = fast.log_likelihoods(plan_of(region), means)[0]
    general = chain.log_likelihood(chain.chain_of(region), means)
    # the general chain does not refine what lies e^-500 below a message's largest value
    assert abs(found - general) <= 1e-10 * abs(general) + 1e-11 or general < -400


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(-0.5, 1.5))
def test_tabulated_thresholds_are_the_scores_own(level, other, mean) -> None:
    duel = Duel((KLBound(level, shift=level / 2), KLBound(other, shift=other)), ties=0)
    these = thresholds([duel])
    for winner in (0, 1):
        x = mean - float(duel.scores[1 - winner].shift)
        expected = float(duel.least_to_win(winner, x))
        found = least(these, winner, x)
        assert found == expected or abs(found - expected) <= 2e-13 * (1 + abs(expected))


def test_scores_without_compiled_form_are_left_to_the_general_chain() -> None:
    with pytest.raises(Unsupported):
        thresholds([Duel((MeanBound(), MeanBound()), ties=0)])
    region = region_of(path_through(load("adap_imed", arms=2), 40, [0, 1] * 20))
    means = np.full((1, len(region.episodes)), 0.5)
    general = chain.log_likelihood(chain.chain_of(region), means[0])
    assert log_likelihoods(region, means)[0] == general


def steps_by_path(name: str, horizon: int, background: int, epsilon: float) -> float:
    """The largest loss of an integer step, path by path."""
    best = -math.inf
    for path in all_paths(load(name, arms=2, epsilon=epsilon), horizon):
        region = region_of(path)
        lengths = np.array([float(len(episode)) for episode in region.episodes])
        for index, length in enumerate(lengths):
            sums = np.tile(lengths * background, (int(length) + 1, 1))
            sums[:, index] = np.arange(length + 1)
            rises = np.diff(log_likelihoods(region, region.means(sums)))
            best = max(best, float(np.max(rises if background else -rises)))
    return best


@pytest.mark.parametrize(
    ("name", "horizon", "epsilon"),
    [("adap_ucb", 8, 1.0), ("adap_ucb", 20, 2.0), ("adap_klucb", 8, 1.0), ("adap_klucb", 12, 2.0)],
)
@pytest.mark.parametrize("background", [0, 1])
def test_meeting_in_the_middle_equals_path_by_path(name, horizon, epsilon, background) -> None:
    vertices = lattice(load(name, arms=2, epsilon=epsilon), horizon)
    search = Meeting(vertices, background, "binary")
    found = max(step.loss for prefix in search.prefixes() for step in search.explore(prefix)[0])
    assert abs(found - steps_by_path(name, horizon, background, epsilon)) < 1e-10

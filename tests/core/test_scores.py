"""Scores: inverses against values, monotonicity, plateaus, and the saturation trap."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Affine, BetaDraw, GaussianDraw, Imed, KLBound, PrivateKLBound

numbers = st.floats(-3, 3)
scores = st.one_of(
    st.builds(Affine, st.floats(-2, 5), st.floats(0.01, 3)),
    st.builds(KLBound, st.floats(1e-4, 30), st.floats(-1, 1), st.floats(0.05, 2)),
    st.builds(
        PrivateKLBound, st.floats(1e-4, 2), st.floats(0.05, 5), st.floats(-1, 1), st.floats(0.05, 2)
    ),
)


@settings(deadline=None)
@given(scores, numbers, numbers)
def test_values_are_monotone(score, a, b):
    low, high = sorted((a, b))
    below, above = score.value(low), score.value(high)
    assert below <= above or below - above <= 1e-14 * abs(above)


@settings(deadline=None)
@given(scores, numbers, st.floats(0.001, 1.0))
def test_the_two_inverses_bracket_the_level_set(score, x, step):
    v = score.value(x)
    least, most = score.inverse(v), score.inverse_upper(v)
    slack = 1e-7 * (1 + abs(x))
    assert least - slack <= x <= most + slack
    if np.isfinite(least):
        assert score.value(least - step) <= v
    if np.isfinite(most):
        assert score.value(most + step) >= v


def test_kl_bound_on_its_plateaus():
    score = KLBound(2.0, shift=0.25, scale=0.5)
    assert score.value(-5.0) == 2.0 and score.value(1.5) == np.inf
    assert score.inverse(2.0) == -np.inf and score.inverse(1.0) == -np.inf
    assert score.inverse_upper(2.0) == -0.5  # the mean is 0 up to x = -shift / scale
    assert score.inverse_upper(1.9) == -np.inf
    assert score.inverse(np.inf) == 1.5 and score.inverse_upper(np.inf) == np.inf


def test_private_kl_bound_on_its_plateaus():
    score = PrivateKLBound(0.5, 1.0)
    least = score.value(-1.0)
    assert score.inverse(least) == -np.inf
    assert score.inverse_upper(np.nextafter(least, 0)) == -np.inf
    # q = 1 as soon as epsilon (1 - m) <= level, that is m >= 1/2
    assert score.value(0.5) == np.inf and np.isfinite(score.value(0.5 - 1e-9))
    assert score.inverse(np.inf) == pytest.approx(0.5, abs=1e-15)
    assert score.inverse_upper(np.inf) == np.inf


def test_rules_work_per_arm_and_per_run():
    score = KLBound(np.array([1.0, 2.0]), shift=np.array([0.0, 0.1]))
    assert score.at(1) == KLBound(2.0, shift=0.1)
    x = np.array([[0.2, 0.2], [0.9, 0.1]])
    assert score.winner(x, np.random.default_rng(0)).tolist() == [1, 0]


def kl_index(mean, level):
    """max{q : d(mean, q) <= level} to 80 digits."""
    mean, level = mp.mpf(mean), mp.mpf(level)
    low, high = mean, mp.mpf(1)
    for _ in range(270):
        q = (low + high) / 2
        if q == 1:
            break
        value = mean * mp.log(mean / q) + (1 - mean) * mp.log((1 - mean) / (1 - q))
        low, high = (q, high) if value < level else (low, q)
    return low


def test_q_coordinates_tie_falsely_and_ours_do_not():
    # adap_klucb after one pull of each of two arms: level = 3.1 log 3 / (1/2)
    score = load("adap_klucb", arms=2, epsilon=20.0).rule(np.array([1.0, 1.0]), 3.0, FLOAT)
    x = np.array([0.55, 0.6])
    # in doubles a mean is rounded down to a multiple of 2^-40: take two that are
    x = np.floor((x + score.shift) * 2**40) / 2**40 - score.shift
    assert np.all((x + score.shift) * 2**40 == np.floor((x + score.shift) * 2**40))
    means = x + score.shift
    with mp.workdps(80):
        truth = [kl_index(mean, score.level[0]) for mean in means]
        assert truth[1] > truth[0], "the second arm has the larger index"
        in_doubles = np.array([float(q) for q in truth])
    assert in_doubles[0] == in_doubles[1] == 1.0, "rounded to doubles both are 1"
    assert np.argmax(in_doubles) == 0, "so the false tie goes to the wrong arm"
    assert score.winner(x, np.random.default_rng(0)) == 1
    with mp.workdps(80):
        v = [float(-mp.log(1 - q)) for q in truth]
    np.testing.assert_allclose(score.value(x), v, rtol=1e-14)


def test_true_ties_go_to_the_first_arm():
    for rule in (KLBound(np.full(3, 5.0)), Affine(np.zeros(3)), Imed(np.ones(3))):
        assert rule.winner(np.array([0.5, 0.5, 0.5]), np.random.default_rng(0)) == 0
    # both clipped to 1: q is 1 for both, a tie in truth
    assert KLBound(np.full(2, 5.0)).winner(np.array([1.5, 3.0]), np.random.default_rng(0)) == 0


def test_imed_is_joint_and_prefers_rare_arms():
    rule = Imed(np.array([100.0, 4.0]))
    generator = np.random.default_rng(0)
    assert rule.winner(np.array([0.6, 0.5]), generator) == 1
    assert Imed(np.array([100.0, 400.0])).winner(np.array([0.6, 0.5]), generator) == 0
    private = Imed(np.array([100.0, 400.0]), epsilon=0.01)
    assert np.all(private.value(np.array([0.6, 0.5])) <= rule.at(0).value(np.array([0.6, 0.5])) * 9)


def test_thompson_draws_follow_the_beta_law():
    # P(Beta(3, 1) > Beta(1, 3)) = 19/20; 20,000 draws miss it by 0.01 with probability < 1e-9
    rule = BetaDraw(np.array([2.0, 2.0]))
    x = np.tile([1.0, 0.0], (20_000, 1))
    first = np.mean(rule.winner(x, np.random.default_rng(1)) == 0)
    assert abs(first - 0.95) < 0.01


def test_thompson_draws_follow_the_gaussian_law():
    # P(N(1, 1) > N(0, 3)) = Phi(1 / 2); 20,000 draws miss it by 0.02 with probability < 1e-6
    rule = GaussianDraw(np.array([1.0, np.sqrt(3.0)]), shift=np.array([0.5, 0.0]))
    x = np.tile([0.5, 0.0], (20_000, 1))
    first = np.mean(rule.winner(x, np.random.default_rng(1)) == 0)
    assert abs(first - 0.6914624612740131) < 0.02

"""Divergences against mpmath at high precision: means near 0 and 1, tiny and huge levels."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core import divergence

ULP = 2.0**-52
inner = st.floats(1e-9, 1 - 1e-9)
levels = st.floats(1e-9, 1e3)
budgets = st.floats(0.01, 20.0)


@pytest.fixture(autouse=True)
def precision():
    with mp.workdps(60):
        yield


def kl(p, v):
    """d(p, q) at q = 1 - e^-v."""
    p, v = mp.mpf(p), mp.mpf(v)
    ones = p * (mp.log(p) - mp.log(-mp.expm1(-v))) if p > 0 else mp.mpf(0)
    zeros = (1 - p) * (mp.log1p(-p) + v) if p < 1 else mp.mpf(0)
    return ones + zeros


def kl_q(p, q):
    p, q = mp.mpf(p), mp.mpf(q)
    ones = p * mp.log(p / q) if p > 0 else mp.mpf(0)
    zeros = (1 - p) * mp.log((1 - p) / (1 - q)) if p < 1 else mp.mpf(0)
    return ones + zeros


def bisect(increasing, low, high, steps=190):
    """The point where an increasing function changes sign."""
    low, high = mp.mpf(low), mp.mpf(high)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return (low + high) / 2


def private_kl(x, v, epsilon):
    """d_epsilon(x, 1 - e^-v) by minimising its convex objective over z in [x, y]."""
    x, v, epsilon = mp.mpf(x), mp.mpf(v), mp.mpf(epsilon)
    y = -mp.expm1(-v)
    if x >= y:
        return mp.mpf(0)

    def slope(z):
        return epsilon + mp.log(z / (1 - z)) - mp.log(y) - v

    z = x if x > 0 and slope(x) >= 0 else bisect(slope, x, y, 130)
    return epsilon * (z - x) + kl(z, v)


MEANS = [1e-100, 1e-20, 1e-8, 1e-3, 0.1, 0.3, 0.5, 0.75, 0.99, 1 - 1e-8, 1 - 1e-15]


@pytest.mark.parametrize("p", [0.0, *MEANS, 1.0])
def test_relative_entropy_is_accurate_near_and_far(p):
    with mp.workdps(150):
        for q in [*MEANS, 0.3000001, 0.5 + 1e-12, 0.75 - 1e-15]:
            true, got = kl_q(p, q), divergence.bernoulli(p, q)
            assert abs(got - true) <= 100 * ULP * true, (p, q)


def test_relative_entropy_at_the_ends():
    values = divergence.bernoulli([0, 0, 1, 1, 0.5, 0.5], [0, 1, 1, 0, 0, 1])
    assert values.tolist() == [0, np.inf, 0, np.inf, np.inf, np.inf]


@pytest.mark.parametrize("p", [1e-300, *MEANS])
def test_upper_bound_is_accurate_to_ulps(p):
    for level in [1e-18, 1e-9, 1e-3, 0.1, 1.0, 30.0, 700.0, 1e4]:
        least = -mp.log1p(-mp.mpf(p))
        most = (level - p * mp.log(p)) / (1 - mp.mpf(p)) + least
        true = bisect(lambda v, level=level: kl(p, v) - level, least, most)
        assert abs(divergence.upper_bound(p, level) - true) <= 10 * ULP * true, level


def test_upper_bound_on_its_plateaus():
    assert divergence.upper_bound(0.0, 0.3) == 0.3
    assert divergence.upper_bound(1.0, 0.3) == np.inf
    assert divergence.upper_bound(0.5, 0.0) == -np.log1p(-0.5)


@pytest.mark.parametrize("level", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0])
def test_lower_mean_is_as_accurate_as_its_condition_allows(level):
    for ratio in [1 + 1e-9, 1.001, 1.1, 2.0, 10.0, 1e3, 1e6, 1e9]:
        v = level * ratio

        def solve(v):
            top = -mp.expm1(-mp.mpf(v))
            return bisect(lambda p: level - kl(p, v), 0, top)

        true, moved = solve(v), solve(mp.mpf(v) * (1 + mp.mpf(10) ** -20))
        condition = max(1, abs(moved - true) / true * 10**20)
        assert abs(divergence.lower_mean(v, level) - true) <= 100 * ULP * condition * true, ratio


def test_lower_mean_outside_its_range():
    values = divergence.lower_mean([-np.inf, -1.0, 0.0, 1.0, np.inf], 1.0)
    assert values.tolist() == [0, 0, 0, 0, 1]
    private = divergence.private_lower_mean([-1.0, 0.0, np.inf], 0.3, 1.0)
    assert private.tolist()[:2] == [-np.inf, -np.inf] and private[2] == pytest.approx(0.7)


@settings(deadline=None)
@given(inner, levels)
def test_the_bound_solves_its_equation(p, level):
    v = divergence.upper_bound(p, level)
    with mp.workdps(40):
        # one ulp of v moves the divergence by at most (1 - p) ulp(v)
        assert abs(kl(p, v) - level) <= 20 * ULP * (float(v) * (1 - p) + level)


@settings(deadline=None)
@given(inner, inner, levels)
def test_the_bound_is_monotone_in_the_mean(a, b, level):
    low, high = sorted((a, b))
    below, above = divergence.upper_bound([low, high], level)
    assert below <= above * (1 + 4 * ULP)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), budgets)
def test_private_divergence_against_brute_force(x, y, epsilon):
    grid = np.linspace(min(x, y), y, 2001)
    brute = np.min(epsilon * (grid - x) + divergence.bernoulli(grid, y)) if x < y else 0.0
    got = divergence.private_bernoulli(x, y, epsilon)
    assert got <= brute + 1e-12
    # a grid of step h misses the minimum by at most the variation of the objective over one step
    assert got <= divergence.bernoulli(x, y) + 1e-15
    if x < y < 1:
        with mp.workdps(30):
            true = private_kl(x, -mp.log1p(-mp.mpf(y)), epsilon)
            assert abs(got - true) <= 1e-13 * (1 + epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("mean", [0.0, 1e-8, 0.2, 0.6, 0.95, 1 - 1e-9])
def test_private_upper_bound_against_high_precision(mean, epsilon):
    for level in [1e-8, 1e-3, 0.05, 0.5, 3.0]:
        got = divergence.private_upper_bound(mean, level, epsilon)
        with mp.workdps(40):
            room = mp.mpf(epsilon) * (1 - mp.mpf(mean)) - level
            if room <= 0:
                assert np.isinf(got)
                continue
            # the bound solves its equation up to rounding of v, level and epsilon
            decay = mp.exp(-mp.mpf(got))
            slope = decay * -mp.expm1(-epsilon) / (decay + (1 - decay) * mp.exp(-epsilon))
            error = abs(private_kl(mean, got, epsilon) - level)
            assert error <= 20 * ULP * (level + epsilon + slope * got), level


@pytest.mark.parametrize("level", [1e-300, 1e-18, 1e-6, 0.1])
def test_private_upper_bound_of_a_zero_mean_keeps_its_digits(level):
    # 1 - q = (e^-level - e^-epsilon) / (1 - e^-epsilon)
    with mp.workdps(400):
        for epsilon in (0.2, 1.0, 30.0, 1000.0):
            gain = mp.expm1(-mp.mpf(level)) / mp.expm1(-mp.mpf(epsilon))
            true = -mp.log1p(-gain)
            got = divergence.private_upper_bound(0.0, level, epsilon)
            assert abs(got - true) <= 20 * ULP * true, epsilon


@settings(deadline=None)
@given(inner, st.floats(1e-6, 5.0), budgets)
def test_private_inverse_undoes_the_private_bound(mean, level, epsilon):
    v = divergence.private_upper_bound(mean, level, epsilon)
    back = divergence.private_lower_mean(v, level, epsilon)
    if np.isinf(v):
        assert epsilon * (1 - back) == pytest.approx(level, rel=1e-9) or back <= mean
        return
    assert back == pytest.approx(mean, rel=1e-6, abs=1e-9)

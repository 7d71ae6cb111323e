"""Environments: means, sums that match single rewards, and one-line errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpaudit.core.continuous import EXACT_SUM, Beta, GaussianLinear, TruncatedGaussian
from dpaudit.core.environments import NAMED, Bernoulli, named, parse_means
from dpaudit.errors import DpauditError, InvalidArgument, UnknownName

LAWS = [
    Bernoulli((0.3, 0.9)),
    Beta((0.3, 0.9)),
    TruncatedGaussian((0.3, 0.9)),
    GaussianLinear(((1.0, 0.0), (0.6, 0.8)), (0.5, 0.25), deviation=0.3),
]
IDS = [type(law).__name__ for law in LAWS]


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_single_rewards_have_the_stated_means(law):
    # 6 standard errors: P(miss) < 2e-9 per arm
    rng = np.random.default_rng(0)
    for arm, mean in enumerate(law.means):
        drawn = law.rewards(np.full(40_000, arm), rng)
        assert abs(drawn.mean() - mean) < 6 * drawn.std() / 200
        table = law.table(40_000, rng)[:, arm]
        assert abs(table.mean() - mean) < 6 * table.std() / 200
    assert law.gaps.min() == 0 and np.argmin(law.gaps) == np.argmax(law.means)


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_sums_follow_the_law_of_added_single_rewards(law):
    # two-sample Kolmogorov-Smirnov; p < 1e-8 has probability 1e-8 under equality
    rng = np.random.default_rng(1)
    singles = law.rewards(np.ones((4000, 7), dtype=int), rng).sum(axis=1)
    sums = law.totals(np.ones(4000, dtype=int), np.full(4000, 7), rng)
    assert stats.ks_2samp(singles, sums).pvalue > 1e-8


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_huge_sums_are_concentrated_where_they_should_be(law):
    n = 10**12
    drawn = law.totals(np.array([0, 1] * 2000), np.full(4000, n), np.random.default_rng(2))
    assert np.all(drawn >= 0) and np.all(drawn <= n)
    for arm, mean in enumerate(law.means):
        z = (drawn[arm::2] - n * mean) / math.sqrt(n)
        single = law.rewards(np.full(100_000, arm), np.random.default_rng(3)).std()
        assert abs(z.mean()) < 6 * single / math.sqrt(2000)
        assert abs(z.std() / single - 1) < 6 / math.sqrt(2 * 2000) + 0.02


# short blocks of the other two are drawn one by one and never split
@pytest.mark.parametrize("law", [LAWS[0], LAWS[3]], ids=[IDS[0], IDS[3]])
def test_bridges_split_a_total_as_the_law_does(law):
    # first 3 of 9 rewards: split the total, or add three singles; p < 1e-8
    rng = np.random.default_rng(4)
    totals = law.totals(np.zeros(3000, dtype=int), np.full(3000, 9), rng)
    parts = [law.bridge(0, float(total), 9, 3, rng) for total in totals]
    singles = law.rewards(np.zeros((3000, 3), dtype=int), rng).sum(axis=1)
    assert stats.ks_2samp(parts, singles).pvalue > 1e-8
    rest = stats.ks_2samp(
        totals - parts, law.rewards(np.zeros((3000, 6), dtype=int), rng).sum(axis=1)
    )
    assert rest.pvalue > 1e-8


def test_long_sums_of_bounded_rewards_are_as_close_as_stated():
    # Berry-Esseen, and Dvoretzky-Kiefer-Wolfowitz at 1e-7 for either sample
    law, rounds, draws = Beta((0.3, 0.9)), EXACT_SUM + 1, 400
    rng, first = np.random.default_rng(7), np.zeros(draws, dtype=int)
    long = law.totals(first, np.full(draws, rounds), rng)
    singles = np.array([law.rewards(np.zeros(rounds, dtype=int), rng).sum() for _ in range(draws)])
    stated = 0.4748 * 0.7 / law.deviations[0] / np.sqrt(rounds)
    slack = 2 * np.sqrt(np.log(2 / 1e-7) / (2 * draws))
    assert stats.ks_2samp(long, singles).statistic <= stated + slack


def test_moments_of_the_truncated_gaussian_match_scipy():
    law = TruncatedGaussian((0.05, 0.5, 0.97), deviation=0.3)
    ends = (-law.locations / 0.3, (1 - law.locations) / 0.3)
    other = stats.truncnorm(*ends, loc=law.locations, scale=0.3)
    np.testing.assert_allclose(other.mean(), law.means, rtol=1e-9)
    np.testing.assert_allclose(other.std(), law.deviations, rtol=1e-7)


def test_named_environments():
    assert set(NAMED) == {"C1", "C2", "C3", "C4", "regimes"}
    assert named("C2").means == (0.75, 0.625, 0.5, 0.375, 0.25)
    np.testing.assert_allclose(named("C2").gaps, [0, 0.125, 0.25, 0.375, 0.5])
    assert named("0.9,0.5").means == (0.9, 0.5)
    assert isinstance(named("C3", "beta"), Beta)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli((0.5,)), "means=0.5 must name at least two arms."),
        (lambda: Bernoulli((0.5, 1.5)), "means=1.5 must lie in [0, 1]."),
        (lambda: Bernoulli((0.5, float("nan"))), "means=nan must lie in [0, 1]."),
        (lambda: Beta((0.5, 1.0)), "means=1.0 must lie inside (0, 1) for Beta rewards."),
        (
            lambda: TruncatedGaussian((0.5, 1e-6)),
            "means=1e-06 is too close to 0 or 1 for truncation at deviation 0.2.",
        ),
        (lambda: named("C7"), "No environment 'C7'. Did you mean 'C4'?"),
        (lambda: named("C1", "betta"), "No reward law 'betta'. Did you mean 'beta'?"),
        (lambda: parse_means("a,b"), "means=a,b must be numbers separated by commas"),
        (
            lambda: GaussianLinear(((1.0,), (1.0, 2.0)), (1.0,)),
            "features=(1.0, 2.0) must have the 1 coordinates of theta.",
        ),
    ],
)
def test_errors_take_one_line(make, message):
    with pytest.raises(DpauditError) as caught:
        make()
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
    assert isinstance(caught.value, InvalidArgument | UnknownName)

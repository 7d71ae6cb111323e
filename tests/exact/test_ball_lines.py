"""Certified likelihoods of affine scores of any slopes, on sums of releases, by other methods."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_series, ctx
from scipy.integrate import quad
from test_ball_sums import sums_of
from test_exact_sums import SumUCB, built, frequencies

from dpaudit.core.algorithms import load
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood
from dpaudit.exact.balls import certified, lines
from dpaudit.exact.balls.rises import Rough, Slope, after, outermost
from dpaudit.exact.balls.taylor import ORDER, Beside, Growth, Peak, TaylorMass, Within
from dpaudit.exact.clock import Clock
from dpaudit.exact.paths import all_paths, paths_of


@pytest.fixture
def short_series():
    cap, ctx.cap = ctx.cap, ORDER + 1
    yield
    ctx.cap = cap


@pytest.mark.parametrize("name, number", [("adap_ucb", 0), ("adap_ucb", 3), ("adap_moss", 6)])
def test_agrees_with_exponential_polynomials_where_both_apply(name, number):
    path = list(all_paths(load(name, arms=2, epsilon=2.0), 6))[number]
    region, sums = sums_of(path, np.array([0.1, 0.8, 0.5, 0.0, 1.0, 0.3]))
    assert certified.closed(region)
    found, exact = lines.likelihood(region, sums), certified.log_likelihood(region, sums).exp()
    assert found.contains(exact) and found.rad() < 1e-8 * exact


@pytest.mark.parametrize("number", [0, 4, 8])
def test_agrees_with_differences_of_three_arms(number):
    path = list(all_paths(load("adap_ucb", arms=3, epsilon=1.0), 4))[number % 3]
    region, sums = sums_of(path, np.array([0.9, 0.2, 0.6, number / 8]))
    found, exact = lines.likelihood(region, sums), certified.log_likelihood(region, sums).exp()
    assert found.contains(exact) and found.rad() < 1e-8 * exact


@pytest.mark.parametrize(
    "algorithm",
    [built("dp_ucb", 4, 1.0), built("dp_ucb", 4, 8.0), SumUCB(arms=2, epsilon=2.0)],
    ids=["dp_ucb", "dp_ucb, epsilon 8", "sums"],
)
def test_likelihoods_are_certified_sum_to_one_and_hold_the_doubles(algorithm):
    stream = np.array([0.2, 0.9, 0.4, 0.6])
    low = high = 0.0
    for path in all_paths(algorithm, 4):
        found = likelihood(algorithm, path.actions, stream)
        plain = likelihood(algorithm, path.actions, stream, engine="float")
        assert found.certified and found.log_upper - found.log_lower < 1e-7
        assert found.log_lower <= plain.log_upper and plain.log_lower <= found.log_upper
        low, high = low + found.lower, high + found.upper
    assert low <= 1 <= high and high - low < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("horizon, numbers", [(6, range(16)), (8, (9,))])
def test_a_tree_of_sums_is_certified_at_longer_horizons(horizon, numbers):
    algorithm = built("dp_ucb", horizon, 1.0)
    stream = np.random.default_rng(horizon).integers(0, 2, horizon).astype(float)
    paths = list(all_paths(algorithm, horizon))
    low = high = 0.0
    for number in numbers:
        found = likelihood(algorithm, paths[number].actions, stream)
        plain = likelihood(algorithm, paths[number].actions, stream, engine="float")
        assert found.certified and found.log_upper - found.log_lower < 1e-6
        assert found.log_lower <= plain.log_upper and plain.log_lower <= found.log_upper
        low, high = low + found.lower, high + found.upper
    assert horizon > 6 or low <= 1 <= high


def test_three_arms_of_other_slopes_are_certified():
    found = law(load("dp_ucb", arms=3, horizon=4), np.array([1.0, 0.0, 1.0, 0.0]))
    assert found.certified and found.lower <= 1 <= found.upper


def test_agrees_with_monte_carlo():
    """Error probability below 1e-6: 6.5 standard deviations, 8 sequences."""
    algorithm, stream, runs = built("dp_ucb", 5, 2.0), [1.0, 0.0, 1.0, 1.0, 0.0], 200_000
    counts = frequencies(algorithm, stream, runs)
    for path in all_paths(algorithm, 5):
        region, sums = sums_of(path, np.array(stream))
        found = float(lines.likelihood(region, sums).mid())
        seen = counts.get(tuple(path.actions.tolist()), 0)
        assert abs(seen - runs * found) < 6.5 * (math.sqrt(runs * found) + 1)


def density(x, rate):
    return rate / 2 * math.exp(-rate * abs(x))


def test_a_mass_beyond_a_line_is_the_integral_it_stands_for(short_series):
    """P(X > 2 Y + 0.3) of two Laplace draws, by quadrature of tails."""
    mass = TaylorMass(0, [Peak(Fraction(1))], 45.0, above=True).measured(2.5)
    beside = Beside(mass, Slope(Fraction(2), arb("0.3")))
    total = TaylorMass(1, [Peak(Fraction(3, 2)), beside], 45.0, above=False).measured(1.5).total

    def tail(x):
        return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)

    parts = [(-40, -0.15), (-0.15, 0), (0, 40)]
    expected = sum(quad(lambda y: density(y, 1.5) * tail(2 * y + 0.3), a, b)[0] for a, b in parts)
    assert abs(float(total.mid()) - expected) < 1e-8 and total.rad() < 1e-8


def test_a_mass_between_lines_that_cross_is_zero_beyond(short_series):
    mass = TaylorMass(0, [Growth(Fraction(1))], 10.0, above=False).measured(1.0)
    within = Within(mass, Slope(Fraction(2), arb(0)), Slope(Fraction(1), arb(1)))
    for x in (-2.0, 0.0, 0.75, 0.99):
        expected = math.exp(x + 1) - math.exp(2 * x)
        assert abs(float(within.at(arb(x)).mid()) - expected) < 1e-7
        series = within.series(arb_series([x, 1]))
        assert abs(float(series[1].mid()) - (math.exp(x + 1) - 2 * math.exp(2 * x))) < 1e-7
    assert within.at(arb(1.5)).is_zero() and within.series(arb_series([1.5, 1]))[0].is_zero()
    with pytest.raises(Rough):
        within.series(arb_series([arb(1, 0.1), 1]))
    assert any(abs(x - 1) < 1e-9 for x in within.kinks)


def test_masses_hold_inside_panels_and_at_their_ends(short_series):
    mass = TaylorMass(0, [Growth(Fraction(-2))], 5.0, above=True).measured(1.0)
    last = math.exp(-10.0)
    for x in (-5.0, -4.999, -1.0, 0.123, 4.0, 5.0):
        found, exact = mass.at(arb(x)), arb(-2 * x).exp() / 2 - arb(last) / 2
        assert abs(found.mid() - exact) <= found.rad() + 1e-12 * abs(exact) + 1e-15
    wide = mass.at(arb(0, 1))
    assert wide.lower() <= (arb(-2).exp() - last) / 2 and wide.upper() >= (arb(2).exp() - last) / 2


def test_functions_made_of_lines_invert_themselves(short_series):
    bent = outermost([Slope(Fraction(2), arb(0)), Slope(Fraction(1, 2), arb(3))], largest=True)
    both = after(bent, Slope(Fraction(3), arb(-1)))
    back = after(Slope(Fraction(1, 3), arb(1) / 3), bent)
    assert abs(float(back.at(arb(8)).mid()) - 6) < 1e-12  # 8 is 3 * 3 - 1: twice 3
    for x in (-4.0, 0.0, 1.9, 2.1, 7.0):
        assert both.inverse.at(both.at(arb(x))).overlaps(arb(x))
        assert both.series(arb_series([x, 1]))[0].overlaps(both.at(arb(x)))
    assert any(abs(x - 2) < 1e-9 for x in bent.kinks)
    assert any(abs(x - 11) < 1e-9 for x in both.inverse.kinks)
    with pytest.raises(Rough):
        both.series(arb_series([arb(2, 0.5), 1]))
    again = outermost([both, Slope(Fraction(6), arb(-1))], largest=True)  # nothing new
    assert len(again.parts) == 2
    least = outermost([bent, Slope(Fraction(1), arb(1))], largest=False)
    for x in (-9.0, 0.0, 3.0, 9.0):
        assert abs(float(least.at(arb(x)).mid()) - min(max(2 * x, x / 2 + 3), x + 1)) < 1e-12


def test_what_leaves_the_window_is_bounded():
    """P(|Z| > 9) = e^-9 for one draw of rate 1; the bound holds and is of use."""
    one, two = (lines.escape([Fraction(1)] * count, 9.0) for count in (1, 2))
    assert math.exp(-9) <= float(one) < 1.0
    assert math.exp(-9) * 5.5 <= float(two)  # (1 + x / 2) e^-x of a sum of two


def test_what_is_no_sum_of_earlier_values_and_no_time_are_refused():
    algorithm = load("dp_ucb", arms=2, horizon=9)
    (path,) = paths_of(algorithm, [0, 1, 0, 0, 0, 0, 0, 1, 1])
    region, sums = sums_of(path, np.full(9, 0.5))
    with pytest.raises(Unsupported, match="no time"):
        lines.likelihood(region, sums, Clock.of(-1.0))
    first = region.decisions[0]
    odd = type(region)(region.episodes, (type(first)(first.request, ((0, 2), (1,)), 0),))
    with pytest.raises(Unsupported, match="part of a sum"):
        lines.likelihood(odd, sums)
    twice = type(region)(region.episodes, (type(first)(first.request, ((0,), (0,)), 0),))
    with pytest.raises(Unsupported, match="same release"):
        lines.likelihood(twice, sums)

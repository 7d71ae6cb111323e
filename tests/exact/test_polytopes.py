"""Affine comparisons of any slopes, on sums of releases, certified: against other methods."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from flint import arb, arb_poly, ctx
from quasi import NEAR, frequency
from scipy.integrate import quad
from scripted import CHOSEN, scripted
from test_any_order import STREAM, FewestFirstUCB, PlayedDuels
from test_ball_sums import sums_of
from test_exact_sums import SumUCB, built, frequencies

from dpaudit.core.algorithm import Choose, Keep, Play, Release, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.noise import Gaussian
from dpaudit.core.scores import Affine
from dpaudit.errors import Contradiction, Unsupported
from dpaudit.exact import enumerate as enumerate_
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.algebra import Imprecise
from dpaudit.exact.balls import certified, polytopes
from dpaudit.exact.balls.piecewise import Piecewise, Point
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.own import MeasuredDuels
from dpaudit.exact.likelihood import Likelihood
from dpaudit.exact.paths import all_paths, path_along, paths_of
from dpaudit.exact.region import Decision, Region, region_of

ONE = Fraction(1)


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(256):
        yield


def probability(path, stream):
    region, sums = sums_of(path, np.asarray(stream))
    return polytopes.likelihood(region, polytopes.parts_of(region), sums)


@pytest.mark.parametrize("name, number", [("adap_ucb", 0), ("adap_ucb", 3), ("adap_moss", 6)])
def test_agrees_with_the_chain_where_both_apply(name, number):
    path = list(all_paths(load(name, arms=2, epsilon=2.0), 6))[number]
    stream = np.array([0.1, 0.8, 0.5, 0.0, 1.0, 0.3])
    region, sums = sums_of(path, stream)
    assert not certified.bounded_by_lines(region)
    gap = probability(path, stream) / certified.log_likelihood(region, sums).exp() - 1
    assert gap.contains(0) and gap.rad() < 1e-20


CASES = [
    built("dp_ucb", 4, 8.0),
    built("dp_ucb", 6, 1.0),
    built("dp_ucb", 6, 0.1),
    SumUCB(arms=2, epsilon=2.0),
    FewestFirstUCB(arms=2, horizon=6, epsilon=2.0),
    PlayedDuels(arms=3, duels=((0, 1), (1, 2))),
    PlayedDuels(arms=2, duels=((1, 0),), scales=(Fraction(1, 4), 2, 2, 2)),
    load("dp_ucb", arms=3, horizon=5),
]


@pytest.mark.parametrize("algorithm", CASES, ids=lambda it: f"{type(it).__name__} {it.arms}")
def test_likelihoods_sum_to_one_and_are_those_of_the_rules(algorithm):
    horizon = getattr(algorithm, "horizon", 5)
    stream = np.random.default_rng(horizon).random(horizon).round(2)
    total = arb(0)
    for path in all_paths(algorithm, horizon):
        found = probability(path, stream)
        assert found > 0 and found.rel_accuracy_bits() > 150
        assert abs(float(found.mid()) - frequency(region_of(path), stream)) < NEAR
        total += found
    assert total.contains(1) and total.rad() < 1e-40


@pytest.mark.parametrize("number", [0, 20, 21, 42, 53])
def test_parts_of_sums_that_are_read_again_are_certified(number):
    """With seven pulls of a tree a node is shown beside one release, and later beside another."""
    algorithm, stream = built("dp_ucb", 8, 1.0), np.array([1.0, 0, 0, 1, 1, 0, 1, 0])
    path = list(all_paths(algorithm, 8))[number]
    found = likelihood(algorithm, path.actions, stream)
    assert found.certified and found.log_upper - found.log_lower < 1e-14
    assert abs(found.middle - frequency(region_of(path), stream)) < NEAR


@pytest.mark.slow
def test_all_sequences_of_a_tree_of_eight_sum_to_one():
    algorithm, stream = built("dp_ucb", 8, 2.0), np.array([1.0, 0, 0.5, 1, 0.25, 0, 1, 0])
    total = sum((probability(path, stream) for path in all_paths(algorithm, 8)), arb(0))
    assert total.contains(1) and total.rad() < 1e-40


def test_agrees_with_monte_carlo():
    """Error probability below 1e-6: 6.5 standard deviations, 8 sequences."""
    algorithm, stream, runs = built("dp_ucb", 5, 2.0), [1.0, 0.0, 1.0, 1.0, 0.0], 20_000
    counts = frequencies(algorithm, stream, runs)
    for path in all_paths(algorithm, 5):
        found = float(probability(path, stream).mid())
        seen = counts.get(tuple(path.actions.tolist()), 0)
        assert abs(seen - runs * found) < 6.5 * (math.sqrt(runs * found) + 1)


def test_a_law_of_sums_is_certified():
    found = law(SumUCB(arms=2, epsilon=2.0), np.array([0.2, 0.9, 0.4, 0.6, 0.1]))
    assert found.certified and found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-12


@pytest.mark.parametrize("horizon", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_largest_loss_of_a_tree_is_certified_on_binary_streams(horizon):
    """Every likelihood is enclosed; nets of doubles, which take another way, agree with it."""
    algorithm = built("dp_ucb", horizon, 1.0)
    found = worst_loss(algorithm, horizon, streams="binary")
    assert found.loss.certified and found.loss.upper - found.loss.lower < 1e-12
    assert found.witness is not None and found.witness.loss.certified
    (path,) = paths_of(algorithm, found.witness.actions)
    logs = []
    for stream in (found.witness.stream, found.witness.neighbour):
        region, sums = sums_of(path, np.array(stream))
        net = certified.of_net(region, sums, MeasuredDuels(), ENDLESS, 1e-9)
        logs.append(float(net.lo + net.hi) / 2)
    assert abs(logs[0] - logs[1]) == pytest.approx(found.loss.lower, abs=1e-4)


def integrated(functions, constraints):
    """Integrate functions of some variables under constraints (i, j, slope): value."""
    given = {(i, j, Fraction(slope)): arb(value) for (i, j, slope), value in constraints.items()}
    return polytopes._integrate(arb(1), functions, given, polytopes.Effort())


def laplace(rate, centre=0.0):
    return Piecewise.laplace(ONE, Fraction(rate), arb(centre))


def density(x, rate, centre=0.0):
    return rate / 2 * math.exp(-rate * abs(x - centre))


def tail(x, rate, centre=0.0):
    z = rate * (x - centre)
    return 0.5 * math.exp(-z) if z > 0 else 1 - 0.5 * math.exp(z)


@pytest.mark.parametrize("slope, shift", [(2, 0.3), (Fraction(2, 3), -1.1), (1, 0.5)])
def test_a_comparison_of_any_slope_is_its_quadrature(slope, shift):
    """P(X >= slope Y + shift)."""
    functions = {0: laplace(1, 0.25), 1: laplace(2, -0.5)}
    found = integrated(functions, {(0, 1, slope): shift})
    kink = (0.25 - shift) / float(slope)
    parts = sorted([-30.0, -0.5, kink, 30.0])
    expected = sum(
        quad(lambda y: density(y, 2, -0.5) * tail(float(slope) * y + shift, 1, 0.25), a, b)[0]
        for a, b in zip(parts[:-1], parts[1:], strict=True)
    )
    assert abs(float(found.mid()) - expected) < 1e-9 and found.rad() < 1e-40


def test_two_lines_on_one_variable_that_cross_bound_it_by_a_number():
    """P(2 Y <= X <= Y + 1) is over Y <= 1."""
    functions = {0: laplace(1), 1: laplace(1)}
    found = integrated(functions, {(0, 1, 2): 0, (1, 0, 1): -1})
    expected = sum(
        quad(lambda y: density(y, 1) * (tail(2 * y, 1) - tail(y + 1, 1)), a, b)[0]
        for a, b in [(-30, -1), (-1, 0), (0, 1)]
    )
    assert abs(float(found.mid()) - expected) < 1e-9 and found.rad() < 1e-40


def test_numbers_bound_variables():
    """P(0.5 <= X <= 2), and nothing where the bounds have changed places."""
    number = polytopes.NUMBER
    found = integrated({0: laplace(1)}, {(0, number, 1): 0.5, (number, 0, 1): -2})
    assert abs(float(found.mid()) - (math.exp(-0.5) - math.exp(-2)) / 2) < 1e-14
    none = integrated({0: laplace(1)}, {(0, number, 1): 2, (number, 0, 1): -0.5})
    assert none.is_zero()
    doubt = integrated({0: laplace(1)}, {(0, number, 1): 2, (number, 0, 1): -2})
    assert doubt.contains(0) and doubt.rad() < 1e-40


def test_functions_that_decay_nowhere_are_parted():
    """Over x <= y <= z with weights e^-|x|, 1, e^-|z|: the mean of (Z - X)^+, of two draws 3/4."""
    one = Piecewise.smooth(ONE, {0: arb_poly([1])})
    functions = {0: laplace(1), 1: one, 2: laplace(1)}
    found = integrated(functions, {(1, 0, 1): 0, (2, 1, 1): 0})
    assert abs(float(found.mid()) - 0.75) < 1e-14 and found.rad() < 1e-40
    one = Piecewise.smooth(ONE, {0: arb_poly([1])})
    growing = {**functions, 0: laplace(2).product(Piecewise.smooth(ONE, {1: arb_poly([1])}))}
    assert not one.decays(right=True) and not one.decays(right=False)
    again = integrated(growing, {(1, 0, 1): 0, (2, 1, 1): 0})
    expected = (
        quad(lambda x: density(x, 2) * math.exp(x) * mean_above(x), -30, 0)[0]
        + quad(lambda x: density(x, 2) * math.exp(x) * mean_above(x), 0, 60)[0]
    )
    assert abs(float(again.mid()) - expected) < 1e-9


def mean_above(x):
    """Return the mean of (Z - x)^+ for a Laplace draw of rate 1."""
    return math.exp(-x) / 2 if x > 0 else math.exp(x) / 2 - x


def test_a_mass_is_taken_on_the_side_where_its_neighbours_decay():
    """x <= y <= z with weights e^(x - |x|), e^-|y|, e^-z: both masses of y leave a constant."""
    growth = Piecewise.smooth(ONE, {1: arb_poly([1])})
    falling = Piecewise.smooth(ONE, {-1: arb_poly([1])})
    functions = {0: laplace(1).product(growth), 1: laplace(1), 2: falling}
    found = integrated(functions, {(1, 0, 1): 0, (2, 1, 1): 0})

    def inner(y):  # the integrals over x <= y and over z >= y
        left = math.exp(2 * y) / 4 if y < 0 else 0.25 + y / 2
        return density(y, 1) * left * math.exp(-y)

    expected = quad(inner, -40, 0)[0] + quad(inner, 0, 60)[0]
    assert abs(float(found.mid()) - expected) < 1e-9 and found.rad() < 1e-40
    with pytest.raises(Unsupported):
        integrated({0: growth}, {})


def zero_before(x):
    """Return the function that is 0 before x and e^-t from there on."""
    return Piecewise(ONE, (Point.at(x, ONE),), ({}, {-1: arb_poly([1])}))


def test_products_at_points_that_overlap_hold_the_closed_forms():
    near = arb("0 +/- 1e-30")
    both = zero_before(arb(0)).product(zero_before(near)).integral()
    assert both.contains(arb(1) / 2) and 0 < both.rad() < 1e-28
    kinked = laplace(1, near).product(zero_before(arb(0))).integral()
    assert kinked.contains(arb(1) / 4) and 0 < kinked.rad() < 1e-28
    twice = laplace(1, near).product(laplace(1)).integral()
    assert twice.contains(arb(1) / 4) and 0 < twice.rad() < 1e-28
    turned = Piecewise(ONE, (Point.at(near, ONE),), ({1: arb_poly([1])}, {}))
    with pytest.raises(Imprecise):
        zero_before(arb(0)).product(turned)


def test_what_is_no_sum_of_earlier_values_and_no_time_are_refused():
    (path,) = paths_of(load("dp_ucb", arms=2, horizon=9), [0, 1, 0, 0, 0, 0, 0, 1, 1])
    region, sums = sums_of(path, np.full(9, 0.5))
    with pytest.raises(Unsupported, match="more time"):
        certified.log_likelihood(region, sums, Clock.of(-1.0))
    first = region.decisions[0]

    def shown(*decisions):
        made = [Decision(first.request, groups, 0) for groups in decisions]
        odd = Region(region.episodes, tuple(made))
        return polytopes.likelihood(odd, polytopes.parts_of(odd), sums)

    with pytest.raises(Unsupported, match="part of a sum"):
        shown(((0, 2), (1,)), ((2,), (1,)))
    with pytest.raises(Unsupported, match="same release"):
        shown(((0,), (0,)))


def test_slopes_that_are_no_rationals_are_refused():
    class Rooted(SumUCB):
        def rule(self, pulls, time, m):
            found = super().rule(pulls, time, m)
            return type(found)(found.shift, scale=m.sqrt(m.number(2)) / pulls)

    algorithm = Rooted(arms=2, epsilon=2.0)
    path = next(iter(all_paths(algorithm, 4)))
    with pytest.raises(Unsupported, match="rational"):
        probability(path, STREAM[:4])


def test_gaussian_eliminations_leave_no_choice_of_other_slopes_out():
    def rule(m):
        return Affine(m.number(np.zeros(2)), scale=m.number(np.array([2, 1])))

    played = Play(0, 1), Play(1, 1)
    released = [Release(arm, Rows(arm, 0, 1), Gaussian(variance=1)) for arm in (0, 1)]
    kept = Keep((0, 1), ((0,), (1,)), lambda m: m.number(1))
    one = scripted(*played, *released, Choose((0, 1), ((0,), (1,)), rule), kept, CHOSEN)
    with pytest.raises(Unsupported):
        law(one, (1.0, 0.0, 0.0))
    with pytest.raises(Unsupported):
        worst_loss(one, 3, streams="binary")


def test_likelihoods_that_do_not_add_up_are_told(monkeypatch):
    algorithm = load("adap_ucb", arms=2)
    profile = import_module("dpaudit.exact.profile")  # the package has a function of this name
    monkeypatch.setattr(profile, "of_paths", lambda *_: Likelihood(-0.1, -0.1, True))
    with pytest.raises(Contradiction):
        law(algorithm, (1.0, 0.0, 0.0))
    for sure, wrong in ((True, Contradiction), (False, Unsupported)):
        same = Likelihood(math.log(0.4), math.log(0.4), sure)
        monkeypatch.setattr(enumerate_, "of_paths", lambda *_, same=same: same)
        with pytest.raises(wrong):
            enumerate_.worst_pair(algorithm, 3, (0.0, 1.0))


def test_what_meets_two_points_is_not_told_by_the_pieces_beside_one():
    points = tuple(Point.at(arb(x), ONE) for x in (0, 1))
    steps = Piecewise(ONE, points, tuple({0: arb_poly([k])} for k in (1, 2, 3)))
    assert steps(arb(0.5)).contains(2) and steps(arb(1, 0.1)).contains(3)
    with pytest.raises(Imprecise):
        steps(arb(0.5, 0.6))
    near = tuple(Point.at(arb(x, 0.2), ONE) for x in (0.4, 0.9))
    blurred = Piecewise(ONE, near, tuple({0: arb_poly([k])} for k in (1, 2, 3)))
    middle = Piecewise(ONE, (Point.at(arb(0.65, 0.1), ONE),), ({}, {0: arb_poly([2])}))
    with pytest.raises(Imprecise):
        blurred.product(middle)


def test_a_sum_of_many_releases_is_refused_before_its_terms_are_listed():
    path = path_along(load("ldp_ucb_l", arms=2), 64, lambda place: 0)
    with pytest.raises(Unsupported, match="more than 5,000 terms"):
        probability(path, [0.0] * 64)

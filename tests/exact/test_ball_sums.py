"""Certified likelihoods where registers are sums of releases: sheets against other methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import certified_engine as ball
import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from test_exact_sums import built, frequencies, laplace, nested

from dpaudit.core.algorithm import Accumulate, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.dp_imed import DPIMED
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, recompute, worst_loss
from dpaudit.exact.balls import certified
from dpaudit.exact.balls import fibres as ball_fibres
from dpaudit.exact.balls import sums as ball_sums
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.likelihood import exact_sum
from dpaudit.exact.paths import all_paths, paths_of
from dpaudit.exact.region import region_of


def sums_of(path, stream):
    region = region_of(path)
    steps = [path.steps(episode.rows) for episode in region.episodes]
    return region, {i: exact_sum(stream, parts) for i, parts in enumerate(steps)}


def cut_and_add(y, cut, first, second):
    """Return the density at y of X + Z on X >= cut, for Laplace X and Z of these scales."""
    low, high = np.minimum(y, 0.0), np.maximum(y, 0.0)
    rate = 1 / first + 1 / second

    def log_both(x):
        return -np.abs(x) / first - np.abs(y - x) / second

    below = np.minimum(cut, low)
    total = (np.exp(log_both(low)) - np.exp(log_both(below))) / rate
    start = np.clip(cut, low, high)
    width = high - start
    slope = (1 / second - 1 / first) * width / 2
    swing = np.where(np.abs(slope) > 1e-8, np.sinh(slope) / np.where(slope == 0, 1.0, slope), 1.0)
    total = total + np.exp(log_both(0.5 * (start + high))) * width * swing
    total = total + np.exp(log_both(np.maximum(cut, high))) / rate
    return total / (4 * first * second)


@pytest.mark.parametrize("cut", [-math.inf, -3.0, -0.2, 0.0, 0.7, 4.0])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 2.0)])
def test_cut_and_add_is_the_integral_it_stands_for(cut, scales):
    for y in (-2.0, -0.1, 0.0, 0.4, 3.0):
        points = sorted({p for p in (0.0, y, 40.0, -40.0) if p > cut} | {max(cut, -40.0)})
        expected = sum(
            quad(lambda x, y=y: laplace(x, scales[0]) * laplace(y - x, scales[1]), a, b)[0]
            for a, b in pairwise(points)
        )
        found = cut_and_add(np.array([y]), np.array([cut]), *scales)[0]
        assert abs(found - expected) < 1e-9


def line(axis, slope, shift):
    """The cut x > slope y + shift, with bounds that hold to rounding."""
    at = slope * axis.x + shift
    cells = len(axis.x) - 1
    rising = Interval(np.full(cells, slope - 1e-12), np.full(cells, slope + 1e-12))
    return Theta(Interval(at - 1e-13, at + 1e-13), rising, Interval.of(np.zeros(cells)))


def two_laplaces(rates=(Fraction(1), Fraction(3, 2)), cells=60):
    axes = tuple(ball_sums.axis_of(Fraction(1), cells, []) for _ in range(2))
    parts = [ball_fibres.laplace(axis, rate) for axis, rate in zip(axes, rates, strict=True)]
    return ball_fibres.product(axes, *parts)


@pytest.mark.parametrize("above", [True, False])
def test_adding_a_release_encloses_the_closed_form(above):
    sheet = two_laplaces()
    cut = ball_fibres.Cut(line(sheet.axes[1], 0.7, 0.4), above)
    found = ball_fibres.added(sheet, cut, Fraction(2))
    s, y = (axis.x for axis in sheet.axes)
    sign = 1.0 if above else -1.0
    least = (0.7 * y + 0.4)[None, :]
    truth = cut_and_add(sign * s[:, None], sign * least, 1.0, 0.5) * 0.75 * np.exp(-1.5 * abs(y))
    # at the window's edge the closed form has the mass beyond it as well
    middle = np.abs(s) < 15
    assert np.all(found.at.lo[middle] <= truth[middle] * (1 + 1e-9))
    assert np.all(truth[middle] * (1 - 1e-9) <= found.at.hi[middle])
    assert np.all(found.at.lo <= truth * (1 + 1e-9))
    assert np.max(found.at.hi - found.at.lo) < 2e-3
    corners = np.maximum(truth[1:, 1:], truth[:-1, :-1])
    assert np.all(found.top[middle[1:] & middle[:-1]] >= corners[middle[1:] & middle[:-1]])


@pytest.mark.parametrize("above", [True, False])
def test_bounds_on_cells_hold_inside_them(above):
    """Values and differences of the closed form on a finer grid respect the cells' bounds."""
    sheet = two_laplaces(cells=12)
    cut = ball_fibres.Cut(line(sheet.axes[1], 0.7, 0.4), above)
    found = ball_fibres.added(sheet, cut, Fraction(2))
    fine = [
        np.unique((a.x[:-1, None] + np.diff(a.x)[:, None] * np.linspace(0, 1, 9)).ravel())
        for a in sheet.axes
    ]
    sign = 1.0 if above else -1.0

    def value(s, y):
        least = 0.7 * y + 0.4
        return cut_and_add(sign * s, sign * least, 1.0, 0.5) * 0.75 * np.exp(-1.5 * np.abs(y))

    for axis in (0, 1):
        inner = fine[axis]
        for coarse in (0.02, 0.3, 0.55, 0.93):
            cell = int(coarse * (len(sheet.axes[1 - axis].x) - 2))
            edge = sheet.axes[1 - axis].x
            other = 0.5 * (edge[cell] + edge[cell + 1])
            values = value(inner, other) if axis == 0 else value(other, inner)
            place = np.clip(
                np.searchsorted(sheet.axes[axis].x, inner[:-2], "right") - 1,
                0,
                len(sheet.axes[axis].x) - 2,
            )
            key = (place, cell) if axis == 0 else (cell, place)
            last = np.searchsorted(sheet.axes[axis].x, inner[2:], "left") - 1 == place
            step = np.diff(inner)
            first = np.diff(values) / step
            second = 2 * np.diff(first) / (step[1:] + step[:-1])
            assert np.all((values[1:-1] <= found.top[key] * (1 + 1e-9))[last])
            assert np.all((np.abs(first[:-1]) <= found.first[axis][key] * (1 + 1e-6) + 1e-9)[last])
            assert np.all((np.abs(second) <= found.second[axis][key] * (1 + 1e-6) + 1e-6)[last])


def test_shares_enclose_their_integrals():
    a, b = np.array([0.0, 1.0, -3.0, 2.0]), np.array([1e-9, 1.5, 4.0, 2.0])
    far, near, decay = ball_fibres.shares(a, b, Fraction(7, 3))
    with ctx.workprec(300):
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            u = arb(7) / 3 * (arb(right) - arb(left))
            total = (1 - (-u).exp()) / 2
            mean = total if u == 0 else arb(1) / 2 - total / u  # weight of the nearer end
            assert near.lo[i] <= float(mean) * (1 + 1e-12) and float(mean) <= near.hi[i] * (
                1 + 1e-9
            )
            assert abs(far.lo[i] + near.lo[i] - float(total)) <= 1e-15
            assert decay.lo[i] <= float((-u).exp()) <= decay.hi[i]


@pytest.mark.parametrize("name, number", [("adap_imed", 5), ("adap_klucb", 2)])
def test_agrees_with_the_chain_engine_where_both_apply(name, number):
    path = list(all_paths(load(name, arms=2, epsilon=2.0), 6))[number]
    region, sums = sums_of(path, np.array([0.1, 0.8, 0.5, 0.0, 1.0, 0.3]))
    found = ball_sums.likelihood(region, sums, 150)
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
def test_sums_to_one_and_floating_point_lies_inside(name, horizon, epsilon):
    algorithm = built(name, horizon, epsilon)
    stream = np.random.default_rng(horizon).random(horizon).round(2)
    low = high = 0.0
    for path in all_paths(algorithm, horizon):
        region, sums = sums_of(path, stream)
        found = ball_sums.likelihood(region, sums, 100)
        value = likelihood(algorithm, path.actions, stream, engine="float")
        assert found.lo <= value.upper and value.lower <= found.hi
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
        found = ball_sums.likelihood(region, sums, 200)
        low, high = low + found.lo, high + found.hi
    assert low <= 1 <= high
    assert high - low < 1e-2


@pytest.mark.parametrize("name, epsilon", [("dp_imed", 1.0), ("dp_klucb", 2.0)])
def test_contains_a_quadrature_that_knows_the_rule_by_its_picks(name, epsilon):
    stream, actions = [0.25, 0.75, 0.5, 0.0], [0, 1, 0, 1]
    found = likelihood(built(name, 4, epsilon), actions, stream)
    assert found.certified and found.log_upper - found.log_lower < 1e-3
    assert found.lower <= nested(name, actions, stream, epsilon) <= found.upper


def test_finer_sheets_narrow_to_second_order():
    (path,) = paths_of(load("dp_imed", arms=2), [0, 1, 0, 1, 1])
    region, sums = sums_of(path, np.array([0.1, 0.9, 0.4, 0.3, 0.7]))
    found = [ball_sums.likelihood(region, sums, cells) for cells in (60, 120, 240)]
    widths = [float(interval.hi - interval.lo) for interval in found]
    assert widths[0] > 3 * widths[1] > 9 * widths[2]
    assert max(f.lo for f in found) <= min(f.hi for f in found)


@pytest.mark.parametrize("name, horizon", [("dp_klucb", 5), ("dp_imed", 5)])
def test_agrees_with_monte_carlo(name, horizon):
    """Error probability below 1e-6: 6.5 standard deviations, at most 8 sequences."""
    algorithm, stream, runs = built(name, horizon, 2.0), [1.0, 0.0, 1.0, 1.0, 0.0], 200_000
    counts = frequencies(algorithm, stream, runs)
    for path in all_paths(algorithm, horizon):
        region, sums = sums_of(path, np.array(stream))
        found = ball_sums.likelihood(region, sums, 100)
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


def test_small_likelihoods_are_left_to_floating_point():
    algorithm = load("dp_klucb", arms=2, epsilon=40.0)
    stream, actions = [1.0, 0.0, 1.0, 0.0], [0, 1, 1, 1]
    (path,) = paths_of(algorithm, actions)
    region, sums = sums_of(path, np.array(stream))
    with pytest.raises(Unsupported, match="too small"):
        certified.log_likelihood(region, sums)
    assert not likelihood(algorithm, actions, stream).certified


@dataclass(frozen=True, kw_only=True)
class HalvedNoise(DPIMED):
    def release(self, rows: Rows) -> Accumulate:
        return Accumulate(rows.arm, rows, Laplace(1 / (2 * exact(self.epsilon))))


def test_a_counterexample_is_certified():
    algorithm = HalvedNoise(arms=2, epsilon=1.0)
    found = worst_loss(algorithm, 5, streams="binary", engine="float")
    assert found.witness is not None and not found.loss.certified
    again = recompute(found.witness, algorithm)
    assert again.loss.certified and again.violates
    assert again.loss.lower <= found.loss.upper and found.loss.lower <= again.loss.upper
    assert again.loss.width < 1e-2


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


def test_a_curve_that_leaves_the_window_bends_there():
    """Outside the window the density is zero: the slope jumps where x > 2 y + 1/4 meets x = 1."""
    nodes = ball_fibres.Axis(np.linspace(-1.0, 1.0, 9))
    part = ball_fibres.laplace(nodes, Fraction(1))
    sheet = ball_fibres.product((nodes, nodes), part, part)
    found = ball_fibres.integrated(sheet, ball_fibres.Cut(line(nodes, 2.0, 0.25), above=True))
    cell = 5  # y from 1/4 to 1/2, the curve leaves in the middle

    def truth(y):
        return np.maximum(np.exp(-2 * y - 0.25) - np.exp(-1.0), 0.0) / 2 * np.exp(-y) / 2

    ends = truth(nodes.x[cell : cell + 2])
    reach = nodes.length[cell] ** 2 / 8 * found.second[cell]
    assert abs(ends.mean() - truth(0.375)) <= reach

"""Certified IMED and private bounds between two arms: thresholds, likelihoods, the largest loss."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from certified_engine import path_log_likelihood
from flint import arb, ctx
from test_exact_sums import composite, laplace, laplace_tail, least_by_bisection

from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.balls.bounds import Entropy, Private, expm1
from dpaudit.exact.balls.compare import compared
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.conditions import require_extremal
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.paths import all_paths, paths_of
from dpaudit.exact.region import region_of

NAMES = ["adap_imed", "dp_klucb", "dp_imed"]


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("pulls", [(1, 1), (1, 2), (4, 1), (4, 4), (2, 8)])
@pytest.mark.parametrize("name", NAMES)
def test_thresholds_agree_with_the_arm_that_the_rule_picks(name, pulls, epsilon):
    rule = load(name, arms=2, epsilon=epsilon).choice(pulls).rule
    rng = np.random.default_rng(3)
    for first in (0, 1):
        with ctx.workprec(200):
            pair = compared(rule, (first, 1 - first))
        own = rule(FLOAT).at(first)
        means = np.sort(np.concatenate([rng.uniform(-0.3, 1.3, 400), rng.uniform(0, 1, 400) ** 4]))
        x = (means - float(own.shift)) / float(own.scale)
        theta = pair.threshold(x).at
        for lose, y in ((True, theta.lo - 1e-7), (False, theta.hi + 1e-7)):
            sure = np.isfinite(y)
            y = np.where(sure, y, 0.0)
            shown = np.stack((x, y) if first == 0 else (y, x), axis=-1)
            wins = rule(FLOAT).winner(shown, rng) == first
            assert np.all(wins[sure] == lose)
        never, ever = theta.hi == -np.inf, theta.lo == np.inf
        for y in (-1e3, 1e3):
            shown = np.stack((x, np.full_like(x, y)) if first == 0 else (np.full_like(x, y), x), -1)
            wins = rule(FLOAT).winner(shown, rng) == first
            assert not np.any(wins & never) and np.all(wins[ever])
        doubt = ~(np.isfinite(theta.lo) | never | ever)
        assert doubt.sum() <= 2
        finite = np.isfinite(theta.lo)
        assert np.all(theta.hi[finite] - theta.lo[finite] < 1e-8)


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("pulls", [(1, 2), (4, 1), (4, 4), (2, 8)])
@pytest.mark.parametrize("name", NAMES)
def test_derivative_bounds_hold(name, pulls, epsilon):
    rule = load(name, arms=2, epsilon=epsilon).choice(pulls).rule
    for first in (0, 1):
        with ctx.workprec(200):
            pair = compared(rule, (first, 1 - first))
        own = rule(FLOAT).at(first)
        x = (np.linspace(1e-3, 1 - 1e-3, 2001) - float(own.shift)) / float(own.scale)
        found = pair.threshold(x)
        with np.errstate(invalid="ignore"):
            at = 0.5 * (found.at.lo + found.at.hi)
            steps = np.diff(at) / np.diff(x)
            second = np.diff(steps) / (0.5 * (x[2:] - x[:-2]))
        inner = np.isfinite(found.bend.lo) & np.isfinite(found.bend.hi) & np.isfinite(steps)
        assert np.all(steps[inner] <= found.slope.hi[inner] * (1 + 1e-9) + 1e-9)
        assert np.all(steps[inner] >= found.slope.lo[inner] * (1 - 1e-9) - 1e-9)
        both = inner[1:] & inner[:-1]
        most = np.maximum(found.bend.hi[1:], found.bend.hi[:-1])[both]
        least = np.minimum(found.bend.lo[1:], found.bend.lo[:-1])[both]
        slack = 1e-6 * np.abs(second[both]) + 1e-5
        assert np.all((second[both] <= most + slack) & (second[both] >= least - slack))


def test_private_bounds_solve_their_equation():
    """d_epsilon by its definition, an infimum over z, in balls."""
    level, epsilon = 0.3, 0.9
    bound = Private(Interval.of(np.float64(level)), Interval.of(np.float64(epsilon)))
    m = np.linspace(0.001, 0.66, 200)
    v = bound.value(Interval.of(m))
    assert np.all(v.hi - v.lo < 1e-9)
    z = np.linspace(0, 1, 200_001)[1:-1]
    for mean, low, high in zip(m[::20], v.lo[::20], v.hi[::20], strict=True):
        q = -math.expm1(-0.5 * (low + high))
        d = z * np.log(z / q) + (1 - z) * np.log((1 - z) / (1 - q)) + epsilon * np.abs(z - mean)
        assert abs(d[(z >= mean - 1e-5) & (z <= q)].min() - level) < 1e-4
    back = bound.inverse(v)
    assert np.all((back.lo <= m) & (m <= back.hi)) and np.all(back.hi - back.lo < 1e-8)
    plain = Entropy(Interval.of(np.float64(level))).value(Interval.of(m))
    assert np.all(plain.lo <= v.hi)  # d_epsilon <= d


def test_expm1_encloses():
    w = np.concatenate([10.0 ** np.linspace(-14, 1, 400), [0.0, 0.00299, 0.003, 0.0031]])
    found = expm1(Interval.of(w))
    with ctx.workprec(200):
        for low, x, high in zip(found.lo, w, found.hi, strict=True):
            truth = arb(float(x)).expm1()
            assert arb(float(low)) <= truth <= arb(float(high))
    assert np.all(found.hi - found.lo <= 1e-11 * w + 1e-300)


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 3.0])
def test_likelihoods_of_all_sequences_sum_to_one(epsilon):
    stream = np.random.default_rng(4).random(7).round(3)
    found = law(load("adap_imed", arms=2, epsilon=epsilon), stream)
    assert found.certified
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-6


@pytest.mark.slow
def test_likelihoods_at_horizon_twelve_sum_to_one():
    for seed in range(3):
        found = law(load("adap_imed", arms=2), np.random.default_rng(seed).random(12).round(2))
        assert found.certified
        assert found.lower <= 1 <= found.upper
        assert found.upper - found.lower < 1e-6


@pytest.mark.parametrize("horizon, epsilon", [(5, 1.0), (6, 3.0), (6, 0.4)])
def test_a_quick_look_meets_a_fine_one(horizon, epsilon):
    algorithm = load("adap_imed", arms=2, epsilon=epsilon)
    stream = np.random.default_rng(horizon).random(horizon).round(2)
    balls = law(algorithm, stream).probabilities
    for actions, value in law(algorithm, stream, engine="float").probabilities.items():
        ball = balls[actions]
        assert ball.certified and value.certified
        assert value.log_lower <= ball.log_upper and ball.log_lower <= value.log_upper
        assert ball.log_upper - ball.log_lower < 1e-7


def by_quadrature(actions: list[int], stream: list[float]) -> float:
    """adap_imed on 0, 1, a, b: the loser's register outside; the rule known by its picks alone."""
    (path,) = paths_of(load("adap_imed", arms=2), actions)
    region = region_of(path)
    one, two = (decision.request.rule(FLOAT) for decision in region.decisions)
    scales = [float(episode.kind.noise.scale) for episode in region.episodes]
    won, last = actions[2], actions[3]
    inside = np.linspace(-14, 6, 6001)
    tails = np.linspace(0, 80, 401)[1:]
    panels = np.concatenate([-14 - tails[::-1], inside, 6 + tails])
    y, weights = composite(panels, 3)
    first = laplace_tail(least_by_bisection(one, won, y) - stream[won], scales[won])
    then = laplace_tail(least_by_bisection(two, won, y) - stream[2], scales[2])
    chance = first * (then if last == won else 1 - then)
    return float((weights * laplace(y - stream[1 - won], scales[1 - won]) * chance).sum())


@pytest.mark.parametrize("actions", [[0, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 1, 1, 1]])
def test_contains_an_independent_quadrature(actions):
    stream = [0.25, 0.75, 0.5, 0.0]
    found = likelihood(load("adap_imed", arms=2), actions, stream)
    assert found.certified and found.upper - found.lower < 1e-7
    assert abs(by_quadrature(actions, stream) - found.middle) < 1e-5


def test_equal_pulls_compare_the_clipped_means():
    """T = 3: arm 1 wins iff its clipped mean is larger."""
    algorithm = load("adap_imed", arms=2)
    found = likelihood(algorithm, [0, 1, 1], [0.0, 1.0, 0.0])
    shift = 2 * 3.1 * math.log(3)  # both means sit far above the top clip unless the noise is low
    cut = 1 - shift

    def below(x: float, centre: float) -> float:
        return 0.5 * math.exp((x - centre) / 2)

    # arm 0 below the top, and arm 1 above the top or between the two
    y = np.linspace(-shift - 60, cut, 2_000_001)
    m = np.clip(y + shift, 0, 1)
    density = np.where(m > 0, 0.25 * np.exp(y / 2), 0.0)
    wins = 1 - 0.5 * np.exp((m - shift - 1) / 2)
    bottom = below(-shift, 0.0) * (1 - below(-shift, 1.0))
    expected = bottom + float(np.trapezoid(density * wins, y))
    assert abs(found.middle - expected) < 1e-6


@pytest.mark.parametrize(
    ("horizon", "epsilon"),
    [(4, 1.0), (4, 3.0), *(pytest.param(5, it, marks=pytest.mark.slow) for it in (1.0, 3.0))],
)
def test_extremal_streams_equal_enumeration(horizon, epsilon):
    algorithm = load("adap_imed", arms=2, epsilon=epsilon)
    for path in all_paths(algorithm, horizon):
        require_extremal(region_of(path))
    binary = worst_loss(algorithm, horizon, streams="binary")
    assert binary.loss.certified and binary.complete and binary.loss.width <= 1e-6
    every = worst_pair(algorithm, horizon, (0.0, 1.0))
    assert binary.loss.lower - 1e-9 <= every.loss <= binary.loss.upper + 1e-9
    real = worst_loss(algorithm, horizon)
    assert real.loss.certified and real.complete and real.loss.width <= 1e-6
    assert worst_pair(algorithm, horizon, (0.0, 0.5, 1.0)).loss <= real.loss.upper + 1e-9
    assert real.witness is not None
    assert real.loss.lower - 1e-7 <= real.witness.loss.upper


@pytest.mark.slow
@pytest.mark.parametrize("horizon", range(6, 11))
def test_largest_loss_at_longer_horizons(horizon):
    algorithm = load("adap_imed", arms=2)
    found = worst_loss(algorithm, horizon)
    assert found.loss.certified and found.complete and found.loss.width <= 1e-6


def test_three_arms_stay_uncertified():
    path = next(all_paths(load("adap_imed", arms=3), 5))
    with pytest.raises(Unsupported, match="is not an arg max"):
        require_extremal(region_of(path))
    sums = {event.rows: Fraction(0) for event in path.events if hasattr(event, "noise")}
    with pytest.raises(Unsupported):
        path_log_likelihood(path, sums)


def test_a_level_of_nothing_is_not_enclosed():
    with pytest.raises(Unsupported, match="A level is not certainly positive"):
        compared(lambda m: KLBound(m.number(np.array([0, 1]))), (0, 1))

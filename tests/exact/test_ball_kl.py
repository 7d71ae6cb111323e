from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import certified_engine
import numpy as np
import pytest
from ball_oracle import quadrature, sums_of
from certified_engine import path_log_likelihood, tree, worst_loss
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.arithmetic import BALL, FLOAT, ball
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import KLBound
from dpaudit.exact.algebra import Sharing
from dpaudit.exact.balls.bounds import Entropy
from dpaudit.exact.balls.cells import Cells
from dpaudit.exact.balls.exact_order import TREE
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.balls.roots import Order
from dpaudit.exact.balls.threshold import Placed, Rivals
from dpaudit.exact.balls.weight import Masses
from dpaudit.exact.paths import all_paths

UNIT = st.integers(0, 8).map(lambda k: Fraction(k, 8))


@dataclass(frozen=True, kw_only=True)
class HalvedNoise(AdapKLUCB):
    def release(self, rows: Rows) -> Release:
        right = super().release(rows)
        return Release(rows.arm, rows, Laplace(right.noise.scale / 2), right.divisor)


def encloses(interval: Interval, truth: list[arb]) -> bool:
    ends = zip(interval.lo, truth, interval.hi, strict=True)
    return all(arb(float(lo)) <= value <= arb(float(hi)) for lo, value, hi in ends)


def test_exp_and_log_enclose():
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(-699, 699, 3000), rng.normal(size=3000) * 1e-7, [0.0]])
    y = np.concatenate([np.exp(x[:3000]), 1 + rng.normal(size=3000) * 1e-6, [1.0, 5e-324]])
    with ctx.workprec(150):
        assert encloses(Interval.of(x).exp(), [arb(float(v)).exp() for v in x])
        assert encloses(Interval.of(y).log(), [arb(float(v)).log() for v in y])
        deep = Interval.of(np.array([-800.0])).exp()
        assert encloses(deep, [arb(-800).exp()])


@settings(max_examples=40, deadline=None)
@given(
    a=st.tuples(st.floats(-5, 5), st.floats(0, 5)),
    b=st.tuples(st.floats(0.01, 5), st.floats(0, 5)),
    s=st.floats(0, 1),
    t=st.floats(0, 1),
)
def test_interval_operations_enclose(a, b, s, t):
    one, two = Interval.of(a[0]) + a[1] * s, Interval.of(b[0]) + b[1]
    x, y = arb(float(one.lo)), arb(float(two.lo)) + (arb(float(two.hi)) - float(two.lo)) * t
    for found, truth in (
        (one + two, x + y),
        (one - two, x - y),
        (one * two, x * y),
        (one.over(two), x / y),
    ):
        assert not truth < arb(float(found.lo)) and not truth > arb(float(found.hi))


def tight(value: float) -> Interval:
    return Interval(np.float64(value), np.float64(value))


@pytest.mark.parametrize(
    ("own", "other", "order"), [(0.4, 2.5, Order.BELOW), (2.5, 0.4, Order.ABOVE)]
)
@pytest.mark.parametrize("first", [True, False])
def test_thresholds_agree_with_the_scores_inverse(own, other, order, first):
    x = np.unique(np.concatenate([np.linspace(-3, 2, 1200), [-0.3 - 1e-9, -0.3 + 1e-9]]))
    left, right = KLBound(own, shift=0.3), KLBound(other, shift=0.7)
    one, two = (
        Placed(Entropy(tight(level)), tight(1.0), tight(shift))
        for level, shift in ((own, 0.3), (other, 0.7))
    )
    found = Rivals(one, two, order, first).threshold(x)
    value = left.value(x)
    cut = right.inverse_upper(value) if first else right.inverse(value)
    finite = np.isfinite(cut)
    with np.errstate(invalid="ignore"):
        assert np.all((found.at.lo <= cut + 1e-9) & (cut - 1e-9 <= found.at.hi))
        width = found.at.hi - found.at.lo
        steps = np.diff(cut) / np.diff(x)
        second = np.diff(steps) / (0.5 * (x[2:] - x[:-2]))
    assert np.all(width[finite & np.isfinite(found.at.lo)] < 1e-9)
    # chord errors respect the derivative bounds
    inner = np.isfinite(found.slope.hi) & (found.slope.hi > 0)
    assert inner.sum() > 50
    assert np.all(steps[inner] <= found.slope.hi[inner] * (1 + 1e-6))
    assert np.all(steps[inner] >= found.slope.lo[inner] * (1 - 1e-6))
    both = inner[1:] & inner[:-1]
    most = np.maximum(found.bend.hi[1:], found.bend.hi[:-1])[both]
    least = np.minimum(found.bend.lo[1:], found.bend.lo[:-1])[both]
    slack = 1e-3 * np.abs(second[both]) + 1e-6
    assert np.all((second[both] <= most + slack) & (second[both] >= least - slack))


def test_equal_levels_are_proved_by_their_formulas():
    rule = load("adap_klucb", arms=2).choice((4, 4)).rule
    assert rule(TREE).at(0).level == rule(TREE).at(1).level
    other = load("adap_klucb", arms=2).choice((4, 8)).rule
    assert other(TREE).at(0).level != other(TREE).at(1).level
    assert rule(BALL).at(0).level.overlaps(rule(BALL).at(1).level)
    assert rule(FLOAT).at(0).level == rule(FLOAT).at(1).level


def test_laplace_masses_enclose():
    grid = np.array([-30.0, -2.0, -1e-3, 0.0, 1e-9, 0.25, 0.3, 7.0])
    for rate, centre in ((Fraction(1, 2), Fraction(0)), (Fraction(10, 3), Fraction(1, 4))):
        law = Masses(grid, rate, centre)
        with ctx.workprec(200):

            def cdf(x, rate=rate, centre=centre):
                z = ball(rate) * (arb(float(x)) - ball(centre))
                return z.exp() / 2 if z < 0 else 1 - (-z).exp() / 2

            values = [cdf(x) for x in grid]
            truth = [b - a for a, b in zip(values[:-1], values[1:], strict=True)]
            assert encloses(law.cells, truth)
            assert np.all(law.cells.hi <= law.cells.lo * (1 + 1e-9))


@settings(max_examples=2, deadline=None)
@given(stream=st.lists(UNIT, min_size=6, max_size=6), epsilon=st.sampled_from([0.4, 1.0, 3.0]))
def test_likelihoods_of_all_sequences_sum_to_one(stream, epsilon):
    assert_sum_is_one(stream, epsilon, 300)


@pytest.mark.slow
def test_likelihoods_at_horizon_twelve_sum_to_one():
    assert_sum_is_one([Fraction(k % 5, 4) for k in range(12)], 1.0, 1000)


def assert_sum_is_one(stream, epsilon, cells):
    total = Interval.of(0.0)
    for path in all_paths(load("adap_klucb", arms=2, epsilon=epsilon), len(stream)):
        chain = tree(path)
        sums = sums_of(path, stream)
        totals = certified_engine.numbered(path, sums)
        total = total + certified_engine.cells(chain, totals, cells)
    assert total.lo <= 1 <= total.hi
    assert total.hi - total.lo < 1e-5


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_contains_an_independent_quadrature(number, epsilon):
    path = list(all_paths(load("adap_klucb", arms=2, epsilon=epsilon), 4))[number]
    stream = [Fraction(1, 3), Fraction(1), Fraction(0), Fraction(1, 2)]
    found = path_log_likelihood(path, sums_of(path, stream)).exp()
    value = arb(quadrature(path, stream))
    assert (value * arb(1, 1e-8)).overlaps(found)
    assert not (value * (1 + arb("1e-6"))).overlaps(found)


@pytest.mark.slow
def test_contains_a_nested_quadrature():
    for number in (0, 1):
        path = list(all_paths(load("adap_klucb", arms=2), 4))[number]
        stream = [Fraction(1, 3), Fraction(1), Fraction(0), Fraction(1, 2)]
        found = path_log_likelihood(path, sums_of(path, stream)).exp()
        assert (arb(quadrature(path, stream)) * arb(1, 1e-8)).overlaps(found)


def test_finer_grids_narrow_to_second_order():
    path = list(all_paths(load("adap_klucb", arms=2), 6))[6]
    chain = tree(path)
    sums = dict.fromkeys(range(len(chain.kinds)), Fraction(1, 2))
    found = [certified_engine.cells(chain, sums, cells) for cells in (250, 500, 1000)]
    widths = [float(interval.hi - interval.lo) for interval in found]
    assert widths[0] > 3 * widths[1] > 9 * widths[2]
    for wide, narrow in zip(found[:-1], found[1:], strict=True):
        assert wide.lo <= narrow.lo <= narrow.hi <= wide.hi


def test_extremal_streams_equal_enumeration():
    horizon = 4
    algorithm = load("adap_klucb", arms=2, epsilon=2.0)
    largest = -np.inf
    for path in all_paths(algorithm, horizon):
        chain = tree(path)
        known: dict = {}

        def log(stream, path=path, chain=chain, known=known):
            sums = sums_of(path, [Fraction(r) for r in stream])
            key = tuple(sums[episode.rows] for episode in chain.region.episodes)
            if key not in known:
                numbered = dict(enumerate(key))
                known[key] = certified_engine.cells(chain, numbered, 200).log()
            return known[key]

        for stream in product((0, 1), repeat=horizon):
            for i in range(horizon):
                other = (*stream[:i], 1 - stream[i], *stream[i + 1 :])
                gap = log(stream) - log(other)
                largest = max(largest, 0.5 * float(gap.lo + gap.hi))
    found = worst_loss(algorithm, horizon, "binary").loss
    assert found.width <= 1e-6
    assert found.lower - 1e-5 <= largest <= found.upper + 1e-5


def test_horizon_three_is_half_epsilon():
    # arm 1 wins only if arm 0's register stays below its top clip, far left of both centres
    for streams in ("binary", "real"):
        found = worst_loss(load("adap_klucb", arms=2, epsilon=1.0), 3, streams)
        assert found.loss.lower <= 0.5 <= found.loss.upper
        assert found.loss.width <= 1e-6


def test_real_steps_bound_every_step_of_a_finer_mesh():
    chains = [tree(path) for path in all_paths(load("adap_klucb", arms=2, epsilon=3.0), 7)]
    coarse, fine = Cells(chains, 200, 4), Cells(chains, 200, 16)
    wider = 0
    for background in (0, 1):
        one, two = (Sharing(it, dict(enumerate(chains))) for it in (coarse, fine))
        for number in range(6):
            pairs = zip(one.curves(number, background), two.curves(number, background), strict=True)
            for (_, a), (_, b) in pairs:
                loose, close = (c.largest(background == 1, whole=False) for c in (a, b))
                assert loose.upper >= close.lower
                assert loose.lower <= close.upper
                wider += loose.upper - loose.lower > close.upper - close.lower
    assert wider


def test_halved_noise_approaches_twice_epsilon():
    found = worst_loss(HalvedNoise(arms=2, epsilon=1.0), 4, "binary")
    assert found.loss.lower > 1.99
    assert found.loss.upper < 2.001

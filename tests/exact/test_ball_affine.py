from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import certified_engine
import pytest
from ball_oracle import quadrature, sums_of
from certified_engine import path_log_likelihood, tree, worst_loss
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Sharing
from dpaudit.exact.balls import polytopes
from dpaudit.exact.balls.exponentials import Exponentials
from dpaudit.exact.balls.interval import above, below
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of

UNIT = st.integers(0, 8).map(lambda k: Fraction(k, 8))


@dataclass(frozen=True, kw_only=True)
class HalvedNoise(AdapUCB):
    def release(self, rows: Rows) -> Release:
        right = super().release(rows)
        return Release(rows.arm, rows, Laplace(right.noise.scale / 2), right.divisor)


@dataclass(frozen=True, kw_only=True)
class AllRewards(AdapUCB):
    def release(self, rows: Rows) -> Release:
        everything = Rows(rows.arm, 0, rows.stop)
        scale = 1 / (exact(self.epsilon) * len(everything))
        return Release(rows.arm, everything, Laplace(scale), divisor=len(everything))


def total(algorithm, stream) -> arb:
    with ctx.workprec(160):
        return sum(
            (
                path_log_likelihood(path, sums_of(path, stream)).exp()
                for path in all_paths(algorithm, len(stream))
            ),
            arb(0),
        )


@pytest.mark.parametrize("name", ["adap_ucb", "adap_moss", "lazy_dp_ucb"])
@settings(max_examples=3, deadline=None)
@given(stream=st.lists(UNIT, min_size=12, max_size=12), epsilon=st.sampled_from([0.1, 1.0, 7.5]))
def test_likelihoods_of_all_sequences_sum_to_one(name, stream, epsilon):
    found = total(load(name, arms=2, epsilon=epsilon), stream)
    assert found.contains(1)
    assert found.rad() < 1e-20


def test_coincident_kinks_keep_the_sum():
    # equal counts and equal means put the kinks of both registers on the same point
    for level in (Fraction(0), Fraction(1, 3), Fraction(1)):
        found = total(load("adap_ucb", arms=2), [level] * 12)
        assert found.contains(1) and found.rad() < 1e-20


@settings(max_examples=3, deadline=None)
@given(
    stream=st.lists(UNIT, min_size=4, max_size=4),
    epsilon=st.sampled_from([0.5, 1.0, 3.0]),
    number=st.integers(0, 3),
)
def test_contains_an_independent_quadrature(stream, epsilon, number):
    path = list(all_paths(load("adap_ucb", arms=2, epsilon=epsilon), 4))[number]
    found = path_log_likelihood(path, sums_of(path, stream)).exp()
    value = quadrature(path, stream)
    assert (arb(value) * arb(1, 1e-10)).overlaps(found)
    assert not (arb(value) * (1 + arb("1e-9"))).overlaps(found)


def test_a_wrong_value_is_not_contained_and_precision_narrows():
    path = next(iter(all_paths(load("adap_ucb", arms=2), 12)))
    chain = tree(path)
    sums = dict.fromkeys(range(len(chain.kinds)), Fraction(1, 2))
    widths = []
    for precision in (128, 256, 512):
        with ctx.workprec(precision):
            found = certified_engine.exponentials(chain, sums)
            widths.append(float(found.rad()))
            assert not found.contains(found.mid() * (1 + arb("1e-20")))
    assert widths[0] > 1e20 * widths[1] > 1e40 * widths[2]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("streams", ["binary", "real"])
def test_horizon_three_is_the_closed_form(epsilon, streams):
    found = worst_loss(load("adap_ucb", arms=2, epsilon=epsilon), 3, streams)
    with ctx.workprec(100):
        value = arb(epsilon) / 2 - (1 + arb(epsilon) / 4).log()
        assert arb(found.loss.lower) <= value <= arb(found.loss.upper)
    assert found.loss.width < 1e-15
    assert found.loss.certified and found.complete


def test_extremal_streams_equal_enumeration():
    horizon = 6
    algorithm = load("adap_ucb", arms=2, epsilon=2.0)
    largest = -math.inf
    for path in all_paths(algorithm, horizon):
        logs = {
            stream: path_log_likelihood(path, sums_of(path, [Fraction(r) for r in stream]))
            for stream in product((0, 1), repeat=horizon)
        }
        for stream, value in logs.items():
            for i in range(horizon):
                other = (*stream[:i], 1 - stream[i], *stream[i + 1 :])
                largest = max(largest, float(value - logs[other]))
    found = worst_loss(algorithm, horizon, "binary").loss
    assert found.lower - 1e-12 <= largest <= found.upper + 1e-12


def test_the_witness_replays():
    found = worst_loss(load("adap_ucb", arms=2, epsilon=1.0), 8)
    assert found.witness.loss.certified
    assert found.witness.loss.lower <= found.loss.upper
    assert found.witness.loss.upper >= found.loss.lower


def test_a_step_shorter_than_one_is_bounded_from_both_sides():
    # where phi rises and falls within one step, the sup lies inside it
    algorithm = load("adap_ucb", arms=2, epsilon=16.0)
    chains = [tree(path) for path in all_paths(algorithm, 8)]
    inner = 0
    with ctx.workprec(400):
        trees = dict(enumerate(chains))
        shared = [Sharing(Exponentials(chains, narrow), trees) for narrow in (False, True)]
        for number in trees:
            for (_, wide), (_, curve) in zip(*(s.curves(number, 1) for s in shared), strict=True):
                bounds = wide.largest(rising=True, whole=False)
                if bounds.upper - bounds.lower > 1e-9:
                    inner += 1
                    narrow = curve.largest(rising=True, whole=False)
                    at = curve.largest.__self__.log
                    base = at(Fraction(0))
                    tries = [at(Fraction(k, 64)) - base for k in range(65)]
                    assert not any(value > narrow.upper for value in tries)
                    assert not narrow.lower < max(float(v) for v in tries) - 1e-9
                    assert narrow.upper - narrow.lower < 2e-9
    assert inner


def test_halved_noise_approaches_twice_epsilon():
    found = worst_loss(HalvedNoise(arms=2, epsilon=1.0), 16, "binary")
    assert found.loss.lower > 1.999
    assert found.loss.upper <= 2.0 + 1e-9


def test_conditions_are_checked():
    with pytest.raises(Unsupported, match="two releases"):
        worst_loss(AllRewards(arms=2), 8)
    for name in ("dp_klucb", "dp_imed", "lazy_dp_ts"):
        with pytest.raises(Unsupported):
            worst_loss(load(name, arms=2), 8)
    with pytest.raises(Unsupported, match="Imed"):
        worst_loss(load("adap_imed", arms=3), 5)


@settings(max_examples=2, deadline=None)
@given(
    stream=st.lists(UNIT, min_size=7, max_size=7), name=st.sampled_from(["adap_ucb", "adap_moss"])
)
def test_three_arms_sum_to_one(stream, name):
    found = total(load(name, arms=3), stream)
    assert found.contains(1) and found.rad() < 1e-20


@pytest.mark.slow
def test_four_arms_and_longer_horizons_sum_to_one():
    assert total(load("adap_ucb", arms=4), [Fraction(k % 3, 2) for k in range(8)]).contains(1)
    assert total(load("adap_ucb", arms=3), [Fraction(k % 3, 2) for k in range(9)]).contains(1)


def test_eliminating_registers_agrees_with_the_chain():
    stream = [Fraction(k % 4, 3) for k in range(8)]
    with ctx.workprec(300):
        for path in all_paths(load("adap_ucb", arms=2, epsilon=2.0), 8):
            chain, sums = tree(path), sums_of(path, stream)
            totals = certified_engine.numbered(path, sums)
            one = certified_engine.exponentials(chain, totals)
            two = polytopes.likelihood(region_of(path), polytopes.parts_of(region_of(path)), totals)
            assert one.overlaps(two) and two.rel_accuracy_bits() > 100


def test_three_arms_extremal_streams_equal_enumeration():
    algorithm, horizon = load("adap_ucb", arms=3), 5
    largest = -math.inf
    for path in all_paths(algorithm, horizon):
        logs = {
            stream: path_log_likelihood(path, sums_of(path, [Fraction(r) for r in stream]))
            for stream in product((0, 1), repeat=horizon)
        }
        for stream, value in logs.items():
            for i in range(horizon):
                other = (*stream[:i], 1 - stream[i], *stream[i + 1 :])
                largest = max(largest, float(value - logs[other]))
    for streams in ("binary", "real"):
        found = worst_loss(algorithm, horizon, streams).loss
        assert found.lower - 1e-12 <= largest <= found.upper + 1e-12


def test_rewards_in_two_releases_still_have_a_likelihood():
    assert total(AllRewards(arms=2), [Fraction(k % 3, 2) for k in range(8)]).contains(1)


def test_a_spent_budget_keeps_the_lower_end():
    found = worst_loss(load("adap_ucb", arms=2), 16, budget_seconds=0.0)
    assert not found.complete
    assert found.loss.upper == math.inf
    assert 0 <= found.loss.lower <= 1


def test_doubles_round_outward():
    with ctx.workprec(200):
        third = arb(1) / 3
        assert arb(below(third)) <= third <= arb(above(third))
        assert below(arb(1)) == above(arb(1)) == 1.0
        assert above(1 - arb("1e-40")) == 1.0

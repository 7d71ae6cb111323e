"""Wealth is a supermartingale under the null, by exact enumeration, and grows as fast as can be."""

import math
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.stats import binom

from dpaudit.sample.bets import Wealth, best_bets, levels_for, ratios_of, require_error
from dpaudit.sample.cells import MOST_CELLS

shares = st.lists(st.floats(0.001, 1.0), min_size=3, max_size=3)


def normal(row):
    return np.array(row) / sum(row)


def largest_mean(bets, ratio, delta):
    """The largest E f(X) + E g(Y) over all (P, Q) that respect the claim, by a linear program.

    With u >= P - c Q and sum u <= delta, and the same the other way, P and Q are (epsilon, delta)-
    close. The variables are P, Q, u, v.
    """
    f, g = np.ravel(bets.stream), np.ravel(bets.neighbour)
    n = len(f)
    one, zero, row = np.eye(n), np.zeros((n, n)), np.ones(n)
    none = np.zeros(n)
    upper = np.block([[one, -ratio * one, -one, zero], [-ratio * one, one, zero, -one]])
    sums = [np.concatenate((none, none, row, none)), np.concatenate((none, none, none, row))]
    equal = [np.concatenate((row, none, none, none)), np.concatenate((none, row, none, none))]
    found = linprog(
        -np.concatenate((f, g, none, none)),
        A_ub=np.vstack((upper, sums)),
        b_ub=np.concatenate((np.zeros(2 * n), [delta, delta])),
        A_eq=np.array(equal),
        b_eq=[1.0, 1.0],
    )
    return -found.fun


@given(
    st.floats(0.01, 4.0), st.sampled_from([0.0, 0.01, 0.2]), shares, shares, st.floats(0.1, 30.0)
)
def test_no_private_target_gains_from_a_bet(epsilon, delta, p, q, boldness):
    """The theorem's premise, against a linear program over everything that the claim allows."""
    ratio = float(ratios_of(np.array([epsilon]))[0])
    bets = best_bets(np.array([[[ratio]]]), normal(p)[None, None], normal(q)[None, None], delta)
    for each in (bets, bets.scaled(np.array(boldness))):
        assert min(each.stream.min(), each.neighbour.min()) >= 0
        assert largest_mean(each, ratio, delta) <= 2 + 1e-7


@pytest.mark.parametrize("epsilon", [1.0, 5.0, 13.0])
def test_the_factors_are_valid_to_the_last_digit(epsilon):
    """In 300 bits: c (f - l) + g - (2 - l) <= 0 in every cell, for l of the cells without a bet."""
    ratio = float(ratios_of(np.array([epsilon]))[0])
    p, q = np.array([0.3, 0.0001, 0.6999]), np.array([1e-8, 0.3, 0.69999999])
    bets = best_bets(np.array([ratio]), p, q)
    with ctx.workprec(300):
        c, base = arb(ratio), arb(float(bets.stream[2]))
        other = arb(float(bets.neighbour[2]))
        assert base + other <= 2
        for f, g in zip(bets.stream.tolist(), bets.neighbour.tolist(), strict=True):
            assert c * (arb(f) - base) + arb(g) - other <= 0 or abs(f - float(base)) < 1e-15
            assert c * (arb(g) - other) + arb(f) - base <= 0 or abs(g - float(other)) < 1e-15


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 3.0), shares, shares)
def test_growth_is_the_least_relative_entropy_to_the_null(epsilon, p, q):
    """The dual problem, minimised by another method over pairs of laws on the null."""
    p, q, c = normal(p), normal(q), math.exp(epsilon)
    growth = float(best_bets(np.array([c]), p, q).growth)

    def entropy(x):
        p0, q0 = x[:3], x[3:]
        return float((p * np.log(p / p0)).sum() + (q * np.log(q / q0)).sum())

    rules = [
        {"type": "eq", "fun": lambda x: x[:3].sum() - 1},
        {"type": "eq", "fun": lambda x: x[3:].sum() - 1},
        {"type": "ineq", "fun": lambda x: c * x[3:] - x[:3]},
        {"type": "ineq", "fun": lambda x: c * x[:3] - x[3:]},
    ]
    middle = (p + q) / 2
    least = minimize(
        entropy,
        np.concatenate((middle, middle)),
        constraints=rules,
        bounds=[(1e-9, 1)] * 6,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 400},
    )
    assert growth <= least.fun + 1e-5
    assert growth >= least.fun - 1e-4 * (1 + least.fun) or not least.success


def counted(*rows):
    found = np.zeros((1, 2, MOST_CELLS), dtype=np.int64)
    for side, row in enumerate(rows):
        found[0, side, : len(row)] = row
    return found


SIZES = np.array([2])


def mean_wealth(play, rounds, blocks, ratio, q, delta=0.0):
    """E of a level's wealth over every outcome of adaptive blocks, on the edge; and P(>= 4)."""
    p = ratio * q + delta
    outcomes = [
        (a, b, binom.pmf(a, rounds, p) * binom.pmf(b, rounds, q))
        for a, b in product(range(rounds + 1), repeat=2)
    ]
    mean = crossed = 0.0
    for path in product(outcomes, repeat=blocks):
        weight = math.prod(it[2] for it in path)
        wealth = play([(a, b) for a, b, _ in path])
        mean += weight * math.exp(wealth.log[wealth.claim])
        crossed += weight * (wealth.peak[wealth.claim] >= math.log(4))
    return mean, crossed


def test_a_search_loses_what_it_stakes_and_no_more():
    wealth = Wealth(0.7, 0.05)
    wealth.put_aside(0.75)
    assert wealth.log == pytest.approx(np.zeros(len(wealth.levels)), abs=1e-12)
    # a belief that is the wrong way round, for a thousand rounds
    wrong, fresh = counted([500, 500], [950, 50]), counted([950, 50], [500, 500])
    wealth.update(wealth.prospect(wrong, SIZES, 2000), fresh[None], 2000)
    assert wealth.staked[wealth.claim] < -50
    assert wealth.log.min() >= math.log(0.75) - 1e-12
    before = wealth.log
    wealth.put_aside(0.0)
    assert np.array_equal(wealth.staked, before)
    assert np.array_equal(wealth.log, before)


def played(path, rounds, peek, delta=0.0):
    """Bet block by block; a broken bettor that peeks has seen the outcome that it bets on."""
    wealth = Wealth(0.7, 0.25, delta)
    for name in ("levels", "ratios", "deltas", "staked", "aside", "peak"):  # the claim alone
        setattr(wealth, name, getattr(wealth, name)[[wealth.claim]])
    wealth.claim = 0
    belief = counted([1, 9], [9, 1])
    for number, (hits, others) in enumerate(path):
        fresh = counted([rounds - hits, hits], [rounds - others, others])
        known = belief + 20 * fresh if peek else belief
        left = rounds * (len(path) - number)
        wealth.update(wealth.prospect(known, SIZES, left), fresh[None], left)
        belief = belief + fresh
    return wealth


def in_pieces(path, peek):
    """Bet on one block of single rounds; a broken bettor has seen all of it when it begins."""
    wealth = Wealth(0.7, 0.25)
    for name in ("levels", "ratios", "deltas", "staked", "aside", "peak"):  # the claim alone
        setattr(wealth, name, getattr(wealth, name)[[wealth.claim]])
    wealth.claim = 0
    pieces = np.array([counted([1 - hits, hits], [1 - others, others]) for hits, others in path])
    belief = counted([30, 60], [70, 20]) + (20 * pieces.sum(axis=0) if peek else 0)
    wealth.update(wealth.prospect(belief, SIZES, len(path)), pieces, len(path))
    return wealth


@pytest.mark.parametrize("q", [0.05, 0.2, 1 / (1 + math.exp(0.7))])
def test_bets_on_the_pieces_of_a_block_are_a_supermartingale(q):
    """They follow the wealth inside of the block: four rounds, every outcome."""
    ratio = math.exp(0.7)
    mean, crossed = mean_wealth(lambda path: in_pieces(path, False), 1, 4, ratio, q)
    assert mean <= 1 + 1e-12
    assert crossed <= 0.25
    mean, _ = mean_wealth(lambda path: in_pieces(path, True), 1, 4, ratio, q)
    assert mean > 1.01


@pytest.mark.parametrize("q", [0.02, 0.2, 1 / (1 + math.exp(0.7))])
def test_adaptive_wealth_is_a_supermartingale_and_a_broken_one_is_caught(q):
    """Three adaptive rounds on the boundary of the claim, every outcome; and Ville's bound."""
    ratio = math.exp(0.7)
    mean, crossed = mean_wealth(lambda path: played(path, 1, False), 1, 3, ratio, q)
    assert mean <= 1 + 1e-12
    assert crossed <= 0.25
    mean, _ = mean_wealth(lambda path: played(path, 1, True), 1, 3, ratio, q)
    assert mean > 1.01


@pytest.mark.parametrize(("q", "delta"), [(0.02, 0.1), (0.2, 0.1), (0.3, 0.05), (0.0, 0.3)])
def test_levels_of_delta_are_supermartingales_too(q, delta):
    ratio = math.exp(0.7)
    mean, crossed = mean_wealth(lambda p: played(p, 1, False, delta), 1, 3, ratio, q, delta)
    assert mean <= 1 + 1e-12
    assert crossed <= 0.25
    mean, _ = mean_wealth(lambda p: played(p, 1, True, delta), 1, 3, ratio, q, delta)
    assert mean > 1.001


def test_levels_of_delta_have_one_epsilon_and_end_below_one():
    wealth = Wealth(0.5, 0.01, 0.2)
    assert wealth.levels[wealth.claim] == 0.2 and 0.9 < wealth.levels[-1] < 1
    assert (wealth.deltas > wealth.levels).all() and set(wealth.ratios) == {wealth.ratios[0]}
    assert wealth.ratios[0] >= math.exp(0.5)
    belief = counted([10, 90], [90, 10])  # truth 0.9 - e^0.5 0.1 = 0.735
    for left in range(2_000, 0, -50):
        wealth.update(wealth.prospect(belief, SIZES, left), counted([5, 45], [45, 5])[None], left)
        belief = belief + counted([5, 45], [45, 5])
    assert wealth.claim_refuted and 0.6 < wealth.lower < 0.736


def test_levels_are_refuted_from_below_and_the_claim_is_one_of_them():
    wealth = Wealth(1.5, 0.01)
    assert wealth.levels[wealth.claim] == 1.5
    assert (np.diff(wealth.levels) > 0).all() and wealth.levels[-1] > 15
    wealth.peak[:] = wealth.needed
    assert wealth.claim_refuted and wealth.lower == wealth.levels[-1]
    wealth.peak[3] = 0.0
    assert not wealth.claim_refuted and wealth.lower == wealth.levels[2]
    wealth.peak[0] = 0.0
    assert wealth.lower == 0.0


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-3, 500.0))
def test_ratios_are_at_least_e_to_the_level(claim):
    with ctx.workprec(200):
        for level, ratio in zip(levels_for(claim), ratios_of(levels_for(claim)), strict=True):
            if math.isfinite(ratio):
                assert arb(float(level)).exp() <= arb(float(ratio))


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-12, 0.99))
def test_the_threshold_has_at_most_the_stated_error(error):
    with ctx.workprec(200):
        assert (-arb(Wealth(1.0, float(error)).needed)).exp() <= arb(float(error))


def test_a_certain_event_is_refuted_in_a_few_rounds():
    wealth, belief = Wealth(1.0, 1e-3), counted([0, 8], [8, 0])
    for number in range(30):
        fresh = counted([0, 1], [1, 0])
        wealth.update(wealth.prospect(belief, SIZES, 1000 - number), fresh[None], 1000 - number)
        belief = belief + fresh
    assert wealth.claim_refuted


def test_a_wrong_belief_is_unlearned():
    """A belief bred by overfitting must not ruin a later true discovery."""
    wealth, belief = Wealth(0.5, 1e-3), counted([0, 40], [40, 0])
    rng = np.random.default_rng(1)
    for number in range(200):
        hits, others = rng.binomial(50, 0.5), rng.binomial(50, 0.25)
        fresh = counted([50 - hits, hits], [50 - others, others])
        left = 50 * (200 - number)
        wealth.update(wealth.prospect(belief, SIZES, left), fresh[None], left)
        belief = belief + fresh
    assert 0.3 < wealth.lower < math.log(2) + 0.05


def test_a_belief_inside_of_the_null_bets_nothing():
    assert Wealth(1.0, 0.05).prospect(counted([500, 500], [500, 500]), SIZES, 1000) is None
    idle = best_bets(np.array([math.e]), np.array([0.5, 0.5]), np.array([0.4, 0.6]))
    assert (idle.stream == 1).all() and (idle.neighbour == 1).all() and idle.growth == 0


@pytest.mark.parametrize("error", [0, 1, 0.0, 1.0, -0.5, 2, True, "x"])
def test_error_must_lie_strictly_between_0_and_1(error):
    with pytest.raises(Exception, match="^error="):
        require_error(error)


@pytest.mark.parametrize("claim", [0.01, 0.3, 1.0, math.log(3), 0.999999999, 40.0, 300.0, 600.0])
def test_levels_are_short_decimals_and_the_claim(claim):
    """What is printed of a level in six digits is the level; no two are one."""
    levels = levels_for(claim)
    assert (np.diff(levels) > 0).all() and claim in levels
    assert all(float(f"{level:.6g}") == level for level in levels if level != claim)

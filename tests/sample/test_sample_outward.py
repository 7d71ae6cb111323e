"""Every number that refutes is rounded against the refutation, and every error is spent once."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.evidence import Bet, Null, best_bet
from dpaudit.sample.lower import epsilon_lower

errors = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(99, 100))


def test_the_ratio_is_at_least_e_to_the_epsilon():
    with ctx.workprec(200):
        for tenths in range(1, 120):
            least, ratio = arb(fmpq(tenths, 10)).exp(), arb(Null(tenths / 10).ratio)
            assert least <= ratio <= least * (1 + arb(1e-14))


@given(errors)
def test_evidence_at_the_threshold_has_at_most_the_stated_error(error):
    with ctx.workprec(200):
        needed = arb(ErrorBudget(error).threshold)
        assert (-needed).exp() <= arb(fmpq(error.numerator, error.denominator))
        assert needed <= arb(-math.log(error) + 1e-9)


@given(errors, st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_shares_add_up_to_the_whole_and_round_down(error, weights):
    whole = ErrorBudget(error)
    parts = whole.split([str(number) for number in range(len(weights))], weights)
    assert sum(part.error for part in parts) == error
    for part, weight in zip(parts, weights, strict=True):
        assert part.error == error * Fraction(weight, sum(weights))
        assert Fraction(float(part)) <= part.error
    equal = ErrorBudget(error).split(["a", "b", "c"])
    assert [part.error for part in equal] == [error / 3] * 3


@pytest.mark.parametrize("error", [0.05, 1e-6])
@pytest.mark.parametrize("rounds", [10, 1000])
def test_a_lower_bound_spends_half_its_error_on_each_probability(error, rounds):
    """With n of n hits against 0 of n both bounds are powers: (a/2)^(1/n) and 1 - (a/2)^(1/n)."""
    power = (error / 2) ** (1 / rounds)
    expected = math.log(power / (1 - power))
    assert epsilon_lower(rounds, 0, rounds, error) == pytest.approx(max(0.0, expected), rel=1e-9)
    with_delta = math.log((power - 0.1) / (1 - power)) if power > 0.1 else 0.0
    assert epsilon_lower(rounds, 0, rounds, error, 0.1) == pytest.approx(max(0.0, with_delta))
    assert epsilon_lower(0, 0, rounds, error) == 0.0
    assert epsilon_lower(rounds, rounds, rounds, error) == 0.0


probabilities = st.floats(0.001, 0.999)


@given(st.floats(0.01, 3.0), st.floats(0.0, 0.2), probabilities, probabilities)
def test_a_bet_gains_nothing_from_a_true_claim(epsilon, delta, believed, believed_neighbour):
    """The expectation of S is at most 1 for every (p, q) that respects the claim."""
    null = Null(epsilon, delta)
    bet = best_bet(null, believed, believed_neighbour)
    if bet is None:
        assert null.contains(believed, believed_neighbour)
        return
    assert not null.contains(believed, believed_neighbour)
    for part in (1.0, 0.5, 0.25):
        hit, miss, hit_neighbour, miss_neighbour = bet.scaled(part).factors
        assert min(hit, miss, hit_neighbour, miss_neighbour) >= 0
        for q in (0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0):
            p = min(1.0, null.ratio * q + delta)
            mean = (p * hit + (1 - p) * miss) * (q * hit_neighbour + (1 - q) * miss_neighbour)
            assert mean <= 1 + 1e-9


def test_growth_counts_both_streams():
    bet = Bet(Null(1.0), 0.2, 0.1)
    hit, miss, hit_neighbour, miss_neighbour = map(math.log, bet.factors)
    found = bet.growth(7, 2, 10)
    assert found == pytest.approx(7 * hit + 3 * miss + 2 * hit_neighbour + 8 * miss_neighbour)

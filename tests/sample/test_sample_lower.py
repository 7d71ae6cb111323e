"""Lower bounds on epsilon at a fixed size: exact coverage by enumeration, and no floor."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dpaudit.sample.lower import clopper_pearson, epsilon_lower, promised


@pytest.mark.parametrize("rounds", [5, 30])
@pytest.mark.parametrize("delta", [0.0, 0.03])
def test_miscoverage_is_at_most_the_error_by_enumeration(rounds: int, delta: float) -> None:
    error = 0.1
    counts = np.arange(rounds + 1)
    bounds = np.array(
        [[epsilon_lower(int(a), int(b), rounds, error, delta) for b in counts] for a in counts]
    )
    for q in (1e-4, 5e-4, 0.01, 0.2, 0.6):
        for p in (1e-4, 0.02, 0.2, 0.5, 0.95, 1.0):
            truth = max(0.0, math.log((p - delta) / q)) if p > delta else 0.0
            weight = np.outer(binom.pmf(counts, rounds, p), binom.pmf(counts, rounds, q))
            assert weight[bounds > truth + 1e-12].sum() <= error


@given(st.integers(1, 300), st.data())
def test_clopper_pearson_against_binomial_tails(rounds: int, data: st.DataObject) -> None:
    """The bounds are where the exact binomial tails equal the error."""
    hits = data.draw(st.integers(0, rounds))
    error = data.draw(st.sampled_from([1e-6, 1e-3, 0.05]))
    low, high = clopper_pearson(hits, rounds, error)
    if hits:
        assert binom.sf(hits - 1, rounds, low) == pytest.approx(error, rel=1e-6)
    else:
        assert low == 0
    if hits < rounds:
        assert binom.cdf(hits, rounds, high) == pytest.approx(error, rel=1e-6)
    else:
        assert high == 1


def test_rare_events_are_not_floored() -> None:
    assert epsilon_lower(200_000, 0, 200_000, 1e-3) > math.log(100) + 4
    assert epsilon_lower(10**6, 0, 10**6, 1e-3) > 11
    assert epsilon_lower(0, 0, 1000, 1e-3) == 0


def test_promise_matches_the_bound_it_promises() -> None:
    later = 10_000
    found = epsilon_lower(3_000, 1_000, later, 1e-3)
    # the counts 2999.5 and 999.5 of 9999 are the same proportions up to smoothing
    assert promised(3_000 / later, 1_000 / later, later, 1e-3) == pytest.approx(found, abs=2e-3)


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

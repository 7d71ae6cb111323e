"""Lower bounds on epsilon: exact coverage by enumeration, no floor, and one error budget."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.sample import hypothesis
from dpaudit.sample.budget import ErrorBudget
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


@given(st.floats(1e-9, 0.999), st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_budget_shares_add_up_exactly(error: float, weights: list[int]) -> None:
    budget = ErrorBudget(error)
    parts = budget.split([str(i) for i in range(len(weights))], weights)
    assert sum((part.error for part in parts), Fraction(0)) == budget.error
    assert all(Fraction(float(part)) <= part.error for part in parts)
    with pytest.raises(DpauditError):
        budget.split(["again"])


def test_threshold_is_the_log_of_one_over_the_error() -> None:
    assert ErrorBudget(1e-3).threshold >= math.log(1000)
    assert ErrorBudget(1e-3).threshold == pytest.approx(math.log(1000), rel=1e-12)


@pytest.mark.parametrize("error", [0, 1, 0.0, 1.0, -0.5, 2, True, "x"])
def test_error_must_lie_strictly_between_0_and_1(error: object) -> None:
    with pytest.raises(InvalidArgument, match="^error="):
        ErrorBudget(error)  # type: ignore[arg-type]


def test_the_looks_of_a_hypothesis_spend_its_share_and_no_more(monkeypatch) -> None:
    spent = []

    def bound(hits: int, other: int, rounds: int, error: float, delta: float) -> float:
        spent.append(error)
        return 0.0

    monkeypatch.setattr(hypothesis, "epsilon_lower", bound)
    plan = SimpleNamespace(
        pairs=["pair"], epsilon=1.0, delta=0.0, finalists=1, blocks=lambda stage: range(11)
    )
    candidate = SimpleNamespace(event="event", swapped=0, hits=5, hits_other=2, rounds=10)
    bet, share = ErrorBudget(0.02), ErrorBudget(0.03)
    judged = hypothesis.Hypothesis(plan, 0, candidate, bet, share)
    for _ in range(11):
        judged.update(5, 2, 10)
    assert len(spent) == 5  # after 1, 2, 4, 8 and 11 blocks
    assert 0.9 * 0.03 < math.fsum(spent) <= 0.03

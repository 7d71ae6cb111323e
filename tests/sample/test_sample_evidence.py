"""The e-process is a supermartingale under the null, by exact enumeration, and grows outside it."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom

from dpaudit.sample.evidence import Bet, Evidence, Null, best_bet

PROBABILITIES = (0.0, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0)


def expectation(bet: Bet, p: float, q: float) -> float:
    one, zero, one_neighbour, zero_neighbour = bet.factors
    return (p * one + (1 - p) * zero) * (q * one_neighbour + (1 - q) * zero_neighbour)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_bet_has_expectation_at_most_one_on_the_whole_null(epsilon: float, delta: float) -> None:
    null = Null(epsilon, delta)
    beliefs = [pq for pq in product(PROBABILITIES[1:-1], repeat=2) if not null.contains(*pq)]
    assert beliefs
    for p, q in beliefs:
        bet = best_bet(null, p, q)
        assert bet is not None
        for part in (1.0, 0.5, 0.25):
            scaled = bet.scaled(part)
            assert min(scaled.factors) >= 0
            for q_true in np.linspace(0, 1, 41):
                p_most = min(1.0, null.ratio * q_true + delta)
                for p_true in np.linspace(0, p_most, 11):
                    assert expectation(scaled, p_true, q_true) <= 1 + 1e-12


@given(
    st.floats(0.01, 5),
    st.floats(0, 0.2),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_any_slope_and_anchor_is_an_e_variable(
    epsilon: float, delta: float, anchor: float, part: float, q: float, share: float
) -> None:
    """Validity needs no optimal anchor: any constrained slope will do."""
    null = Null(epsilon, delta)
    limits = [1 / x for x in (null.ratio * anchor + delta, null.ratio * (1 - anchor)) if x > 1e-9]
    bet = Bet(null, part * min(limits), anchor)
    p = share * min(1.0, null.ratio * q + delta)
    assert expectation(bet, p, q) <= 1 + 1e-12


def test_adaptive_process_is_a_supermartingale_by_enumeration() -> None:
    """E[M_3] over every outcome of three adaptive blocks of two rounds, on the boundary."""
    null, rounds = Null(0.7), 2
    for q in (0.02, 0.2, 0.45):
        p = null.ratio * q * (1 - 1e-12)
        weights = [
            (a, b, binom.pmf(a, rounds, p) * binom.pmf(b, rounds, q))
            for a, b in product(range(rounds + 1), repeat=2)
        ]
        total, stopped = 0.0, 0.0
        for path in product(weights, repeat=3):
            process, probability = Evidence(null, belief=(9, 1, 10)), 1.0
            value_at_stop = None
            for hits, hits_neighbour, weight in path:
                process.update(hits, hits_neighbour, rounds)
                probability *= weight
                if value_at_stop is None and process.value >= math.log(1.5):
                    value_at_stop = process.value
            total += probability * math.exp(process.value)
            stopped += probability * math.exp(
                process.value if value_at_stop is None else value_at_stop
            )
        assert total <= 1 + 1e-12
        assert stopped <= 1 + 1e-12


@pytest.mark.parametrize(
    ("epsilon", "delta", "p", "q"),
    [
        (1.0, 0.0, 0.6, 0.1),
        (0.1, 0.0, 0.02, 0.001),
        (2.0, 0.01, 0.9, 0.05),
        (1.0, 0.0, 0.999, 1e-3),
    ],
)
def test_bet_reaches_the_projection_growth(
    epsilon: float, delta: float, p: float, q: float
) -> None:
    """Growth equals the least relative entropy to the null, minimised independently."""
    null = Null(epsilon, delta)
    bet = best_bet(null, p, q)
    assert bet is not None
    one, zero, one_n, zero_n = (math.log(factor) for factor in bet.factors)
    growth = p * one + (1 - p) * zero + q * one_n + (1 - q) * zero_n

    def entropy(x: np.ndarray) -> float:
        q0 = 1 / (1 + math.exp(-float(x[0])))
        p0 = null.ratio * q0 + delta
        if not 0 < p0 < 1:
            return 1e3
        return float(
            p * math.log(p / p0)
            + (1 - p) * math.log((1 - p) / (1 - p0))
            + q * math.log(q / q0)
            + (1 - q) * math.log((1 - q) / (1 - q0))
        )

    starts = [math.log(a / (1 - a)) for a in (q * 1.01, 0.5 * (q + (p - delta) / null.ratio))]
    least = min(
        minimize(entropy, [s], method="Nelder-Mead", options={"xatol": 1e-10}).fun for s in starts
    )
    assert growth == pytest.approx(least, rel=1e-6)


def test_certain_event_is_refuted_in_about_log_rounds() -> None:
    process = Evidence(Null(1.0), belief=(50, 0, 50))
    for _ in range(20):
        process.update(1, 0, 1)
    assert process.peak > math.log(1000)


def test_wrong_belief_costs_bounded_evidence_and_is_unlearned() -> None:
    """A belief bred by overfitting must not ruin a later true discovery."""
    null = Null(0.5)
    process = Evidence(null, belief=(40, 0, 40))
    rng = np.random.default_rng(1)
    for _ in range(60):
        process.update(int(rng.binomial(500, 0.5)), int(rng.binomial(500, 0.25)), 500)
    assert process.peak > math.log(1e3)

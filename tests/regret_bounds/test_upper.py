"""Upper bounds: every inequality inside them, and simulated regret below them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpaudit.core.environments import NAMED, Bernoulli
from dpaudit.core.simulate import simulate
from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds import baselines, entropy, episodes, upper
from dpaudit.regret_bounds.bound import bernoulli
from dpaudit.regret_bounds.measured import build, measure
from dpaudit.regret_bounds.table import Setting


def test_exceedance_is_an_upper_bound_on_the_exact_probability():
    rng = np.random.default_rng(80)
    tightest = 0.0
    for _ in range(150):
        n = int(rng.integers(1, 200))
        mean, rate = float(rng.uniform(0.02, 0.95)), float(n * np.exp(rng.uniform(-3, 2)))
        x = float(rng.uniform(mean, 1.3))
        k = np.arange(n + 1)
        rest = x - k / n
        tail = np.where(rest > 0, 0.5 * np.exp(-rate * np.maximum(rest, 0)),
                        1 - 0.5 * np.exp(rate * np.minimum(rest, 0)))  # fmt: skip
        exact = float(binom(n, mean).pmf(k) @ tail)
        bound = float(episodes.exceedance(np.array(x), np.array(mean), np.array(n), np.array(rate)))
        assert exact <= bound * (1 + 1e-9)
        tightest = max(tightest, exact / bound)
    assert tightest > 0.3


def test_optimism_is_its_own_sum():
    arms, horizon, h, low = 3, 500, 3.1, 2.2
    total = 0.0
    for t in range(arms + 1, horizon + 1):
        phi = max(math.ceil((t + arms) / 2), arms + 1)
        total += min((math.floor(math.log2(t - arms)) + 1) * (phi**-h + phi**-low / 2), 1.0)
    assert episodes.optimism(arms, horizon, h, low) == pytest.approx(total)


def test_the_tail_of_optimism_is_bounded_by_the_integral(monkeypatch):
    exact = episodes.optimism.__wrapped__(5, 100_000, 1.5, 1.5)
    monkeypatch.setattr(episodes, "EXACT_ROUNDS", 1000)
    assert exact <= episodes.optimism.__wrapped__(5, 100_000, 1.5, 1.5) <= 1.2 * exact


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.001, 1.0), st.floats(0.001, 1.0))
@settings(max_examples=150, deadline=None)
def test_universal_ratio(best, part, s):
    """d(best - s gap, best) >= ((1-s) log(1-s) + s) d(best - gap, best)."""
    gap = part * best
    left = entropy.bernoulli(best - s * gap, best)
    right = entropy.convex_log(-s) * entropy.bernoulli(best - gap, best)
    assert left >= right * (1 - 1e-9) - 1e-300


def test_universal_constant_is_the_edge_of_positive_slack():
    limit = upper.universal_limit()
    assert limit == pytest.approx(0.31784443, abs=1e-8)
    assert upper.universal_slack(limit * 0.999) > 0
    assert upper.universal_slack(limit * 1.001) < 0


@pytest.mark.parametrize("c", [0.05, 0.2, 0.3])
def test_universal_condition_puts_the_threshold_above_the_mean(c):
    """From n = L / (c min(d, epsilon gap)) on, the index needs eta gap more than the mean."""
    rng = np.random.default_rng(81)
    eta = upper.universal_slack(c)
    for _ in range(80):
        best = float(rng.uniform(0.01, 0.9999))
        mean, epsilon = float(rng.uniform(0, best)), float(np.exp(rng.uniform(-4, 4)))
        gap = best - mean
        level = 3.1 * math.log(10**7)
        n = level / (c * min(entropy.bernoulli(mean, best), epsilon * gap))
        index = episodes.KLIndex(epsilon, 3.1, 3.1)
        x = float(index.thresholds(best, np.array([n]), math.log(10**7))[0])
        assert x >= mean + eta * gap - 1e-9


def test_no_universal_constants_without_a_remainder():
    """best = 1 and no noise to speak of: pulls grow like 1 / gap although d is infinite.

    The best arm comes last, since it loses ties.
    """
    pulls = []
    for gap in (0.01, 0.001):
        algorithm = build("adap_klucb", 2, Setting(1e9, 10**6))
        result = simulate(algorithm, Bernoulli((1 - gap, 1.0)), 10**6, 200, seed=1)
        pulls.append(result.pulls[0])
    assert pulls[1] > 4 * pulls[0]
    assert pulls[1] > 3 * 3.1 / (3.1 - 3)  # the printed additive constant


@pytest.mark.parametrize("env", ["C1", "C2", "C3", "C4", "regimes"])
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1.0, 5.0])
def test_sharper_forms_are_sharper(env, epsilon):
    values = (NAMED[env], epsilon, 3.1, 10**7)
    ucb, klucb = upper.adap_ucb_sharp(*values), upper.adap_klucb_sharp(*values)
    assert ucb <= upper.adap_ucb_closed(*values) <= upper.adap_ucb_paper(*values)
    assert klucb <= upper.adap_klucb_paper(*values)
    assert klucb <= upper.adap_klucb_universal(*values)
    assert ucb <= upper.gap_free_sharp(5, *values[1:]) <= upper.gap_free_paper(*values)
    assert klucb <= upper.gap_free_klucb(5, *values[1:])


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5),
    st.floats(0.02, 20.0),
    st.integers(100, 10**9),
)
@settings(max_examples=40, deadline=None)
def test_the_printed_theorem_of_adap_ucb_is_implied_everywhere(means, epsilon, horizon):
    sharp = upper.adap_ucb_sharp(means, epsilon, 3.1, horizon)
    assert sharp <= upper.adap_ucb_paper(means, epsilon, 3.1, horizon) + 1e-6
    assert 0 <= sharp <= (max(means) - min(means)) * horizon + 1e-9
    assert upper.adap_klucb_sharp(means, epsilon, 3.1, horizon) <= horizon


def test_paper_needs_alpha_above_three_and_the_sharp_form_does_not():
    assert upper.adap_ucb_paper((0.5, 0.4), 1.0, 2.0, 10**6) == math.inf
    assert upper.adap_ucb_sharp((0.5, 0.4), 1.0, 1.5, 10**6) < 0.1 * 10**6
    assert upper.adap_ucb_sharp((0.5, 0.4), 1.0, 1.0, 10**6) == pytest.approx(0.1 * 10**6)


@pytest.mark.parametrize("algorithm", ["adap_ucb", "adap_klucb", "lazy_dp_ucb", "dp_se"])
@pytest.mark.parametrize("env", ["C1", "C2", "C3", "C4"])
def test_simulated_regret_lies_within_its_bounds(algorithm, env):
    """Seeded; the upper bounds are above the mean by far more than six standard errors allow."""
    for epsilon in (0.1, 1.0):
        setting = Setting(epsilon, 10**6)
        runs = 5 if algorithm == "dp_se" else 60
        result = simulate(build(algorithm, 5, setting), Bernoulli(NAMED[env]), 10**6, runs, seed=7)
        found = measure(bernoulli(NAMED[env]), setting, result)
        assert found.finite_lower <= found.regret <= found.upper + 6 * found.standard_error
        assert found.verdict == "within its bounds"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_dp_ucb_lies_within_its_bounds(epsilon):
    setting = Setting(epsilon, 10**6)
    result = simulate(build("dp_ucb", 5, setting), Bernoulli(NAMED["C2"]), 10**6, 4, seed=7)
    assert measure(bernoulli(NAMED["C2"]), setting, result).verdict == "within its bounds"


def test_a_verdict_can_fail():
    setting = Setting(1.0, 10**6)
    result = simulate(build("adap_ucb", 5, setting), Bernoulli(NAMED["C2"]), 10**6, 20, seed=7)
    easier = bernoulli([0.75, 0.3, 0.2, 0.1, 0.0])  # not the instance that was played
    assert measure(easier, setting, result).verdict == "above its upper bound"


def test_laplace_sum_tail_is_an_upper_bound():
    rng = np.random.default_rng(82)
    sums = rng.laplace(size=(400_000, 6)).sum(axis=1)
    for level in (3.0, 8.0, 12.0):
        share = float((sums > level).mean())
        # six standard errors above the truth: fails with probability below 1e-8
        slack = 6 * math.sqrt(max(share, 1e-5) / len(sums))
        assert share <= baselines._laplace_sum(6, level) + slack
        assert baselines._laplace_sum(6, level) < 1


def test_explicit_bounds_of_the_baselines_have_the_order_of_their_algorithms():
    means = NAMED["C2"]
    at = [baselines.dp_se(means, 1.0, 10**k) / math.log(10**k) for k in (8, 16)]
    assert at[1] == pytest.approx(at[0], rel=0.2)
    at = [baselines.dp_ucb(means, 1.0, 10**k) / math.log(10**k) ** 3 for k in (8, 16)]
    assert at[1] == pytest.approx(at[0], rel=0.2)


def test_means_outside_the_unit_interval_cost_one_line():
    with pytest.raises(InvalidArgument, match=r"means=1.5 must lie in \[0, 1\]"):
        upper.adap_ucb_sharp((1.5, 0.2), 1.0, 3.1, 1000)
    with pytest.raises(InvalidArgument, match="claims no privacy"):
        build("ucb", 2, Setting(1.0, 1000))

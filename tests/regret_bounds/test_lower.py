"""Lower bounds: the inequality behind them on exact small policies, constants, limits."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.environments import NAMED
from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds import lower, regimes
from dpaudit.regret_bounds.bound import Instance, bernoulli
from dpaudit.regret_bounds.laws import BernoulliLaw, Exponential, GaussianLaw, Poisson
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, sharpest
from dpaudit.regret_bounds.transport import finite_lower

ROUNDS = 4


def random_policy(rng, epsilon):
    """Return a random tree that sees each reward once, through randomised response.

    Every reward bit is flipped with probability 1 / (1 + e^epsilon); the arm at round t is a
    random function of the noisy bits so far. That is epsilon-global DP.
    """
    trees = [
        {bits: int(rng.integers(2)) for bits in itertools.product((0, 1), repeat=t)}
        for t in range(ROUNDS)
    ]
    return trees, 1 / (1 + math.exp(epsilon))


def action_law(policy, means):
    """Return the exact law of the action sequences, and the expected pulls of both arms."""
    trees, flip = policy
    law, pulls = {}, np.zeros(2)
    for bits in itertools.product((0, 1), repeat=ROUNDS):
        arms = tuple(trees[t][bits[:t]] for t in range(ROUNDS))
        weight = 1.0
        for bit, arm in zip(bits, arms, strict=True):
            one = means[arm] * (1 - flip) + (1 - means[arm]) * flip
            weight *= one if bit else 1 - one
        law[arms] = law.get(arms, 0.0) + weight
        pulls += weight * np.bincount(arms, minlength=2)
    return law, pulls


def test_kl_of_private_policies_is_at_most_pulls_times_d_epsilon():
    rng = np.random.default_rng(70)
    tightest = 0.0
    for _ in range(400):
        epsilon = float(np.exp(rng.uniform(-2, 2)))
        policy = random_policy(rng, epsilon)
        low = rng.uniform(0.02, 0.95, 2)
        high = low + rng.uniform(0, 1, 2) * (0.98 - low)
        first, pulls = action_law(policy, low)
        second, _ = action_law(policy, high)
        divergence = sum(p * math.log(p / second[a]) for a, p in first.items())
        bound = sum(
            n * BernoulliLaw(float(x)).private_gap(float(y), epsilon).upper
            for n, x, y in zip(pulls, low, high, strict=True)
        )
        assert divergence <= bound + 1e-12
        tightest = max(tightest, divergence / bound if bound else 0.0)
        distance = 0.5 * sum(abs(p - second[a]) for a, p in first.items())
        assert distance <= math.tanh(epsilon / 2) * float(pulls @ (high - low)) + 1e-12
    assert tightest > 0.3  # the check would notice a bound that is off by a factor of three


@given(
    st.lists(
        st.one_of(st.just(0.0), st.floats(1e-12, 0.999)),
        min_size=2,
        max_size=6,
    ),
    st.floats(0.01, 20.0),
)
@settings(max_examples=150, deadline=None)
def test_each_form_is_at_least_the_weaker_one(means, epsilon):
    found = lower.coefficients(bernoulli(means), epsilon)
    assert found.without_privacy <= found.paper * (1 + 1e-9)
    assert found.paper <= found.improved * (1 + 1e-9)
    assert found.improved <= found.sharp * (1 + 1e-9)


def test_the_limits_of_degenerate_instances():
    assert lower.coefficients(bernoulli([1.0, 0.5, 0.2]), 1.0).sharp == 0.0
    assert lower.coefficients(bernoulli([0.5, 0.5]), 1.0).sharp == 0.0
    two_best = lower.coefficients(bernoulli([0.7, 0.7, 0.2]), 1.0)
    one_best = lower.coefficients(bernoulli([0.7, 0.2]), 1.0)
    assert two_best == one_best
    assert math.isfinite(lower.coefficients(bernoulli([0.5, 0.0]), 1.0).sharp)


@pytest.mark.parametrize("arms", [2, 5, 100])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 20.0])
def test_minimax_forms(arms, epsilon):
    for horizon in (arms, 10_000, 10**9):
        sharp = lower.minimax_gaussian(arms, epsilon, horizon)
        assert lower.minimax_paper(arms, epsilon, horizon) <= sharp
        bounded = lower.minimax_bounded(arms, epsilon, horizon)
        assert bounded <= horizon
        # the private part against a grid over the gap D
        gaps = np.linspace(1e-9, 0.5, 20_001)
        load = math.tanh(epsilon / 2) * horizon / (arms - 1)
        if horizon == 10_000:
            grid = (
                1 / (4 * math.tanh(epsilon / 2) * horizon / (arms - 1)) * np.geomspace(0.1, 10, 999)
            )
            gaps = np.concatenate([gaps, grid[grid <= 0.5]])
        load = math.tanh(epsilon / 2) * horizon / (arms - 1)
        values = horizon * gaps / 4 * (1 - np.minimum(2 * load * gaps, 1))
        assert lower.bounded_private(arms, epsilon, horizon) >= values.max() * (1 - 1e-9)


def test_minimax_public_part_is_the_best_gap():
    gaps = np.linspace(1e-6, 0.02, 100_001)
    n = 10_000 / 4
    kl = 2 * gaps * np.log((0.5 + gaps) / (0.5 - gaps))
    values = 10_000 * gaps / 4 * (1 - np.sqrt(n * kl / 2))
    assert lower.bounded_public(5, 10_000) == pytest.approx(values.max(), rel=1e-6)


def test_minimax_bounded_stays_below_the_horizon_where_the_papers_does_not():
    assert lower.minimax_paper(5, 1e-9, 1000) > 1000
    assert lower.minimax_bounded(5, 1e-9, 1000) == pytest.approx(1000 / 8, rel=1e-3)


def test_regimes_of_the_papers_figure():
    arm = regimes.per_arm(bernoulli(NAMED["regimes"]))[0]
    assert arm.paper == pytest.approx(0.27279, abs=1e-5)
    assert arm.improved == pytest.approx(6 * arm.paper)
    assert arm.right == pytest.approx(math.log(36))
    # between the paper's threshold and the right one privacy still costs
    between = lower.coefficients(bernoulli(NAMED["regimes"]), 1.0)
    assert between.paper == between.without_privacy
    assert between.sharp > 1.8 * between.without_privacy
    beyond = lower.coefficients(bernoulli(NAMED["regimes"]), 3.59)
    assert beyond.sharp == pytest.approx(beyond.without_privacy)


@pytest.mark.parametrize("law", [GaussianLaw, Exponential, Poisson])
def test_privacy_never_stops_costing_unbounded_rewards(law):
    instance = Instance((law(1.0), law(0.5)))
    assert regimes.edges(instance, "right") == (math.inf, math.inf)
    found = lower.coefficients(instance, 3.0)
    assert found.sharp > found.without_privacy


def test_nothing_is_said_of_the_regime_where_no_law_beats_the_best_arm():
    said = regimes.words(bernoulli([1.0, 0.5]), 1.0)
    assert said.startswith("unknown: no law has a larger mean")
    assert lower.coefficients(bernoulli([1.0, 0.5]), 1.0).sharp == 0
    assert regimes.words(bernoulli([0.9, 0.5]), 1.0).startswith("high privacy")
    assert regimes.words(bernoulli([0.5, 0.5]), 1.0).startswith("low privacy")


def test_minimax_regimes_are_where_the_parts_meet():
    edge = regimes.minimax(5, 10**6)
    private = math.sqrt(2 * math.pi) / 32 * 4 / math.tanh(edge.gaussian / 2)
    assert private == pytest.approx(math.sqrt(4 * 10**6) / 16)
    assert lower.bounded_private(5, edge.bounded, 10**6) == pytest.approx(
        lower.bounded_public(5, 10**6)
    )
    edge = regimes.minimax(5, 10**6)
    assert 4 / (131 * edge.paper) == pytest.approx(math.sqrt(4 * 10**6) / 27)
    assert regimes.minimax(100, 10**6).printed == pytest.approx(0.0483, abs=1e-4)  # l. 285


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_finite_lower_bound_is_below_the_upper_bound(algorithm):
    setting = Setting(0.5, 10**7)
    instance = bernoulli(NAMED["C2"])
    bound = sharpest(algorithm, setting)
    below = finite_lower(instance, 0.5, 10**7, bound)
    assert 0 <= below < bound(instance.means)


def test_finite_lower_bound_approaches_the_asymptotic_one():
    """A policy with regret log T everywhere: the ratio to the coefficient tends to 1 from below."""
    instance = bernoulli([0.6, 0.4])
    coefficient = lower.coefficients(instance, 1.0).sharp
    ratios = [
        finite_lower(instance, 1.0, 10**k, lambda means, k=k: k * math.log(10)) / (k * math.log(10))
        for k in (4, 10, 100)
    ]
    assert ratios[0] < ratios[1] < ratios[2] < coefficient


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lower.coefficients(bernoulli([0.5, 0.4]), 0.0), "epsilon=0.0 must be positive."),
        (
            lambda: lower.coefficients(bernoulli([0.0, 5e-324]), 0.5),
            "is too small to divide by; make the means equal.",
        ),
        (lambda: bernoulli([0.5]), "arms=1 must be at least 2."),
        (lambda: bernoulli([0.5, 1.2]), "mean=1.2 must lie in [0, 1]."),
        (lambda: lower.minimax_paper(5, 1.0, 3), "horizon=3 must be at least 4, arms - 1."),
        (lambda: sharpest("dp_imed", Setting(1.0, 100)), "No algorithm with an upper bound"),
    ],
)
def test_bad_input_costs_one_line(call, message):
    from dpaudit.errors import DpauditError

    with pytest.raises(DpauditError) as error:
        call()
    assert message in str(error.value)


def test_horizon_must_be_an_integer():
    with pytest.raises(InvalidArgument, match="must be an integer"):
        lower.problem_dependent(bernoulli([0.5, 0.4]), 1.0, 1e6)  # type: ignore[arg-type]

import math
from collections import Counter

import numpy as np
import pytest
from charted import runs_of
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithms import load
from dpaudit.errors import DpauditError, InvalidArgument, Unsupported
from dpaudit.exact import law, likelihood
from dpaudit.exact.paths import all_paths

TWO_ARMS = ["adap_ucb", "adap_moss", "lazy_dp_ucb", "adap_klucb", "adap_imed", "ucb", "kl_ucb"]


def total(name: str, arms: int, stream: list[float]) -> float:
    found = law(load(name, arms=arms), stream, engine="ball" if arms == 2 else "float")
    return float(np.exp(found.log_values).sum())


@pytest.mark.parametrize("name", TWO_ARMS)
def test_likelihoods_sum_to_one_on_a_random_stream(name: str) -> None:
    horizon = 8 if name in ("adap_imed", "adap_klucb", "kl_ucb", "ucb") else 12
    stream = np.random.default_rng(5).random(horizon).tolist()
    assert abs(total(name, 2, stream) - 1) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["adap_ucb", "adap_moss", "lazy_dp_ucb", "adap_klucb", "adap_imed"]
)
def test_likelihoods_sum_to_one_at_horizon_12(name: str) -> None:
    for seed in range(3):
        stream = np.random.default_rng(seed).random(12).tolist()
        assert abs(total(name, 2, stream) - 1) < 1e-9


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=6), st.floats(0.2, 8))
def test_likelihoods_sum_to_one_for_any_stream_and_epsilon(
    stream: list[float], epsilon: float
) -> None:
    found = law(load("adap_ucb", arms=2, epsilon=epsilon), stream, engine="float")
    assert abs(float(np.exp(found.log_values).sum()) - 1) < 1e-9


@pytest.mark.parametrize("name", ["adap_ucb", pytest.param("adap_klucb", marks=pytest.mark.slow)])
def test_three_arms_agree_with_one_within_the_stated_error(name: str) -> None:
    stream = np.random.default_rng(2).random(6).tolist()
    found = law(load(name, arms=3), stream, engine="float")
    assert found.lower <= 1 <= found.upper


def nested_quadrature(name: str, actions: list[int], stream: list[float], epsilon: float) -> float:
    """The likelihood of 0,1,w with two decisions at most, by adaptive quadrature in mpmath."""
    import mpmath as mp

    mp.mp.dps = 30
    assert actions[:2] == [0, 1] and len(actions) == 4 and actions[2] == 0
    b0, e = mp.mpf(2) / epsilon, mp.mpf(epsilon)

    def density(x: mp.mpf, mu: mp.mpf, b: mp.mpf) -> mp.mpf:
        return mp.exp(-abs(x - mu) / b) / (2 * b)

    def above(x: mp.mpf, mu: mp.mpf, b: mp.mpf) -> mp.mpf:
        z = (x - mu) / b
        return mp.exp(-z) / 2 if z > 0 else 1 - mp.exp(z) / 2

    def bonus(t: int, pulls: int) -> mp.mpf:
        width = mp.mpf("3.1") * mp.log(t) / (mp.mpf(pulls) / 2)
        return mp.sqrt(width / 2) + width / e

    r = [mp.mpf(value) for value in stream]
    b1 = 1 / e
    shift = bonus(4, 1) - bonus(4, 2)  # arm 1 (one pull) against arm 0 (two pulls)

    def integrand(y: mp.mpf) -> mp.mpf:
        first = above(y, r[0], b0)  # equal bonuses at the first decision: arm 0 wins if x0 >= y
        second = above(y + shift, r[2], b1)  # arm 0's new register wins
        win = second if actions[3] == 0 else 1 - second
        return density(y, r[1], b0) * first * win

    points = sorted([r[0], r[1], r[2] - shift])
    return float(mp.quad(integrand, [-mp.inf, *points, mp.inf]))


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_agrees_with_independent_high_precision_quadrature(last: int, epsilon: float) -> None:
    stream = [0.25, 0.875, 0.5, 0.0]
    actions = [0, 1, 0, last]
    expected = nested_quadrature("adap_ucb", actions, stream, epsilon)
    found = likelihood(load("adap_ucb", arms=2, epsilon=epsilon), actions, stream, engine="float")
    assert found.lower <= expected <= found.upper
    assert found.upper - found.lower < 1e-9 * expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb", "adap_imed"])
def test_agrees_with_monte_carlo(name: str) -> None:
    """Error probability below 1e-6: 6.5 standard deviations, at most 20 sequences."""
    algorithm = load(name, arms=2)
    stream = [1.0, 0.0, 0.25, 1.0, 0.5, 0.0]
    rng = np.random.default_rng(11)
    runs = 40_000
    counts = Counter(tuple(it.actions.tolist()) for it in runs_of(algorithm, stream, runs, rng))
    for actions, probability in law(algorithm, stream, "float").probabilities.items():
        p = probability.middle
        deviation = math.sqrt(runs * p * (1 - p)) + 1
        assert abs(counts[actions] - runs * p) < 6.5 * deviation


def test_tiny_likelihoods_do_not_underflow() -> None:
    algorithm = load("adap_ucb", arms=2, epsilon=300.0)
    actions = [0, 1, 1, 1, 1, 0, 0, 0]
    found = likelihood(algorithm, actions, [1, 0, 0, 0, 0, 0, 0, 0], engine="float")
    assert -2000 < found.log_lower <= found.log_upper < -100


def test_one_sequence_of_a_long_run() -> None:
    algorithm = load("adap_ucb", arms=2)
    horizon = 4096
    path = next(iter(all_paths(algorithm, horizon)))
    found = likelihood(algorithm, path.actions, np.full(horizon, 0.5), engine="float")
    assert math.isfinite(found.log_lower)


def test_impossible_actions_have_likelihood_zero() -> None:
    found = likelihood(load("adap_ucb", arms=2), [1, 0, 0], [0, 0, 0])
    assert found.upper == 0.0 and found.log_upper == -math.inf


@pytest.mark.parametrize(
    "actions, rewards, engine",
    [
        ([0, 1, 5], [0, 0, 0], "float"),
        ([0, 1, 0], [0, 0], "float"),
        ([0, 1, 0], [0, 0, 2], "float"),
        ([0, 1, 0], [0, 0, 0], "fast"),
    ],
)
def test_bad_arguments_are_named(actions: list[int], rewards: list[float], engine: str) -> None:
    with pytest.raises(InvalidArgument):
        likelihood(load("adap_ucb", arms=2), actions, rewards, engine=engine)  # type: ignore[arg-type]


def test_unsupported_algorithms_say_so() -> None:
    with pytest.raises(Unsupported):
        law(load("lazy_dp_ts", arms=3), [0.0] * 4, engine="float")


def test_elimination_sums_to_one() -> None:
    algorithm = load("dp_se", arms=3, horizon=6000, epsilon=1.0)
    stream = np.random.default_rng(0).random(6000)
    try:
        found = law(algorithm, stream, engine="float")
    except DpauditError as error:
        pytest.fail(str(error))
    assert len(found.probabilities) > 1
    assert abs(float(np.exp(found.log_values).sum()) - 1) < 1e-9

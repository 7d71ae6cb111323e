"""The simulator: reproducible for any number of jobs, right in cases known by hand, at any T."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dpaudit import load
from dpaudit.core import compiled
from dpaudit.core.algorithm import Rows
from dpaudit.core.algorithms.ucb import UCB
from dpaudit.core.continuous import Beta, GaussianLinear
from dpaudit.core.environments import Bernoulli, named
from dpaudit.core.lockstep import ladder
from dpaudit.core.outcome import checkpoints
from dpaudit.core.sampled import SampledRewards
from dpaudit.core.simulate import simulate
from dpaudit.errors import InvalidArgument


@pytest.mark.parametrize("name", ["adap_klucb", "lazy_dp_ts", "ucb"])
def test_same_seed_same_bytes_for_any_number_of_jobs(name):
    runs = 260 if name != "ucb" else 3
    algorithm = load(name, arms=5)
    one, two = (simulate(algorithm, named("C2"), 2000, runs, seed=4, jobs=jobs) for jobs in (1, 2))
    assert json.dumps(one.summary()) == json.dumps(two.summary())
    assert one.pulls_per_run.tobytes() == two.pulls_per_run.tobytes()
    other = simulate(algorithm, named("C2"), 2000, runs, seed=5)
    assert other.pulls_per_run.tobytes() != one.pulls_per_run.tobytes()


@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb", "dp_imed", "lazy_dp_ts"])
def test_a_horizon_of_a_trillion_costs_logarithmically_many_episodes(name):
    result = simulate(load(name, arms=5), named("C2"), 10**12, 20)
    assert np.all(result.pulls_per_run.sum(axis=1) == 10**12)
    assert result.releases_per_run.max() < 5 * 41
    assert np.all(result.pulls_per_run[:, 0] > 0.99e12)


def test_pulls_regret_and_curve_agree():
    result = simulate(load("adap_moss", arms=5), named("C4"), 12_345, 30)
    gaps = named("C4").gaps
    np.testing.assert_allclose(result.regrets, result.pulls_per_run @ gaps)
    np.testing.assert_allclose(result.curves[:, -1], result.regrets)
    assert np.all(np.diff(result.curves, axis=1) >= -1e-9)
    assert result.times[0] == 1 and result.times[-1] == 12_345
    # every arm is pulled once, in order, so the first rounds are known
    at = np.searchsorted(result.times, 5)
    assert result.times[at] == 5
    np.testing.assert_allclose(result.curves[:, at], gaps.sum())


def test_summary_is_what_numpy_says():
    result = simulate(load("adap_ucb", arms=5), named("C1"), 10_000, 50, seed=3)
    regret = result.summary()["regret"]
    assert regret["mean"] == pytest.approx(result.regrets.mean())
    assert regret["std"] == pytest.approx(np.std(result.regrets, ddof=1))
    assert regret["quantiles"]["0.5"] == pytest.approx(np.median(result.regrets))
    assert result.summary()["pulls"] == pytest.approx(result.pulls_per_run.mean(axis=0))


def test_a_single_run_has_no_spread():
    summary = simulate(load("adap_ucb", arms=5), named("C1"), 100, 1).summary()
    assert summary["regret"]["std"] == 0.0 and summary["regret"]["standard_error"] == float("inf")


def test_without_gaps_there_is_no_regret():
    result = simulate(load("adap_klucb", arms=3), Bernoulli((0.5, 0.5, 0.5)), 1000, 10)
    assert np.all(result.regrets == 0)


def test_a_clear_gap_and_little_noise_leave_the_least_exploration():
    # epsilon = 1e6, means 0 and 1: the only randomness is noise of scale below 1e-5
    algorithm = load("dp_imed", arms=2, epsilon=1e6)
    result = simulate(algorithm, Bernoulli((0.0, 1.0)), 10**6, 20)
    assert np.all(result.pulls_per_run[:, 0] <= 2)


def test_private_noise_costs_regret():
    easy, hard = (
        simulate(load("adap_klucb", arms=5, epsilon=e), named("C2"), 10**6, 60) for e in (1.0, 0.1)
    )
    assert hard.regrets.mean() > easy.regrets.mean() + 6 * hard.standard_error


@pytest.mark.parametrize("law", ["beta", "truncated_gaussian"])
def test_bounded_rewards_are_simulated_too(law):
    for name in ("adap_ucb", "dp_se", "ucb"):
        values = {"horizon": 5000} if name == "dp_se" else {}
        result = simulate(load(name, arms=5, **values), named("C2", law), 5000, 2)
        assert np.all(result.pulls_per_run.sum(axis=1) == 5000)


def test_gaussian_linear_arms_are_simulated_too():
    environment = GaussianLinear(((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)), (0.2, 0.5), deviation=0.1)
    for name in ("adap_ucb", "ucb"):
        result = simulate(load(name, arms=3), environment, 20_000, 3)
        assert np.argmax(environment.means) == 2
        assert np.all(result.pulls_per_run.argmax(axis=1) == 2)


def test_an_algorithm_without_a_fast_path_runs_on_the_reference_interpreter():
    class Slow(UCB):
        """A subclass may change anything, so no kernel is assumed for it."""

    assert not compiled.supports(Slow(arms=2))
    assert ladder(Slow(arms=2), 100) is None
    result = simulate(Slow(arms=2), Bernoulli((0.1, 0.9)), 100, 4)
    assert np.all(result.pulls_per_run.sum(axis=1) == 100)
    assert np.all(result.pulls_per_run[:, 1] > 60)


def test_ladder_asks_the_declaration():
    climb = ladder(load("lazy_dp_ucb", arms=2, epsilon=0.5), 1000)
    assert climb.lengths.tolist()[:5] == [1, 2, 4, 8, 16]
    np.testing.assert_allclose(climb.spread[1, :4], [2.0, 1.0, 0.5, 0.25])
    cumulative = ladder(load("dp_klucb", arms=2, epsilon=0.5), 1000)
    assert np.all(cumulative.memory == 1) and np.all(cumulative.spread == 2.0)
    assert ladder(load("ucb", arms=2), 1000) is None
    assert ladder(load("dp_se", arms=2, horizon=1000), 1000) is None


@pytest.mark.parametrize("environment", [Bernoulli((0.3, 0.6)), Beta((0.3, 0.6))])
def test_sums_over_any_rows_stay_consistent(environment):
    rewards = SampledRewards(environment, np.random.default_rng(0))
    rewards.play(1, 100)
    whole = rewards.total(Rows(1, 10, 100))
    parts = [rewards.total(Rows(1, a, b)) for a, b in ((10, 11), (11, 57), (57, 100))]
    assert sum(parts) == pytest.approx(whole)
    assert rewards.total(Rows(1, 10, 100)) == whole
    assert 0 <= parts[0] <= 1 and 0 <= parts[1] <= 46


def test_checkpoints_span_the_run():
    for horizon in (1, 2, 5, 1000, 10**12):
        times = checkpoints(horizon)
        assert times[0] == 1 and times[-1] == horizon and np.all(np.diff(times) > 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": 0}, "runs=0 must be at least 1."),
        ({"horizon": 4}, "horizon=4 must be at least 5: one round per arm."),
        ({"horizon": 2**60}, f"horizon={2**60:,} must be at most 2^53."),
        ({"jobs": 0}, "jobs=0 must be at least 1."),
        ({"seed": -1}, "seed=-1 must be at least 0."),
        ({"algorithm": load("ucb", arms=3)}, "arms=3 must be 5, the arms of the environment."),
        (
            {"algorithm": load("dp_ucb", arms=5, horizon=99)},
            "horizon=100 must be 99, the horizon that dp_ucb was built for.",
        ),
    ],
)
def test_wrong_arguments_take_one_line(change, message):
    arguments = {"algorithm": load("ucb", arms=5), "horizon": 100, "runs": 2} | change
    with pytest.raises(InvalidArgument) as caught:
        simulate(environment=named("C2"), **arguments)
    assert str(caught.value) == message

import math
from dataclasses import dataclass
from fractions import Fraction

import certified_engine as engine
import numpy as np
import pytest
from wrong_variants import LateUCB, variants

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import load
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import PrivateKLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import (
    law,
    profile,
    recompute,
    shrink,
    worst_loss,
)
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.conditions import failure
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of
from dpaudit.exact.search import Candidate, Candidates
from dpaudit.exact.witness import from_json, to_json
from dpaudit.exact.worst import every_step


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_three_rounds_have_the_closed_form(epsilon: float) -> None:
    found = worst_loss(load("adap_ucb", arms=2, epsilon=epsilon), 3)
    expected = epsilon / 2 - math.log(1 + epsilon / 4)
    assert found.loss.lower <= expected <= found.loss.upper
    assert found.loss.width < 1e-8


def extremal_on_half_steps(algorithm: Algorithm, horizon: int) -> float:
    """The corollary on the grid {0, 1/2, 1}: own sums in halves, all else at all-0 or all-1."""
    best = 0.0
    for path in all_paths(algorithm, horizon):
        region = region_of(path)
        lengths = np.array([float(len(episode)) for episode in region.episodes])
        for index, length in enumerate(lengths):
            for background in (0, 1):
                sums = np.tile(lengths * background, (2 * int(length) + 1, 1))
                sums[:, index] = np.arange(2 * length + 1) / 2
                logs = np.array([engine.log_likelihood(region, row) for row in sums])
                for gap in (1, 2):
                    best = max(best, float(np.abs(logs[gap:] - logs[:-gap]).max(initial=0.0)))
    return best


def assert_extremal_streams_equal_enumeration(name: str, horizon: int) -> None:
    algorithm = load(name, arms=2)
    binary = worst_pair(algorithm, horizon, (0.0, 1.0))
    found = worst_loss(algorithm, horizon, streams="binary")
    assert found.loss.lower <= binary.most and binary.loss <= found.loss.upper
    halves = worst_pair(algorithm, horizon, (0.0, 0.5, 1.0))
    assert halves.loss - 1e-9 < extremal_on_half_steps(algorithm, horizon) < halves.most + 1e-9
    # rewards in [0, 1] can only be worse; here the full step of a binary reward is the worst
    real = worst_loss(algorithm, horizon, streams="real")
    assert max(binary.loss, halves.loss) <= real.loss.upper
    assert real.loss.lower <= halves.most and halves.most - halves.loss < 2e-6


@pytest.mark.parametrize(("name", "horizon"), [("adap_ucb", 4), ("adap_ucb", 5), ("adap_klucb", 4)])
def test_extremal_streams_equal_enumeration(name: str, horizon: int) -> None:
    assert_extremal_streams_equal_enumeration(name, horizon)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adap_ucb", "adap_klucb"])
@pytest.mark.parametrize("horizon", [5, 6, 7, 8, 9, 10])
def test_extremal_streams_equal_enumeration_up_to_ten(name: str, horizon: int) -> None:
    assert_extremal_streams_equal_enumeration(name, horizon)


@pytest.mark.parametrize("name", ["ucb", "kl_ucb"])
def test_no_noise_is_refuted_with_a_certified_witness(name: str) -> None:
    algorithm = load(name, arms=2)
    found = worst_loss(algorithm, 5)
    assert found.loss.lower == math.inf and found.loss.certified
    assert found.witness is not None
    check = recompute(found.witness, algorithm)
    assert check.violates and check.likelihood.lower == 1.0
    small = shrink(found.witness, algorithm)
    assert len(small.actions) <= 5 and recompute(small, algorithm).violates


@pytest.mark.parametrize("variant", variants(), ids=lambda v: v.__name__)
def test_wrong_variants_are_refuted_and_their_witness_shrinks(variant: type) -> None:
    algorithm = variant(arms=2, epsilon=1.0)
    for horizon in (5, 6):
        found = worst_loss(algorithm, horizon, streams="binary")
        if found.loss.lower > 1.0:
            break
    assert found.loss.lower > 1.0
    assert found.witness is not None
    small = shrink(found.witness, algorithm)
    assert recompute(small, algorithm, engine="float").violates
    assert sum(small.stream) <= sum(found.witness.stream) + 1
    assert from_json(to_json(small)) == small


def test_noise_halved_in_long_episodes_is_refuted_only_where_they_are_read() -> None:
    algorithm = LateUCB(arms=2, epsilon=1.0)
    assert worst_loss(algorithm, 16).loss.upper < 1.0 + 1e-6


@pytest.mark.slow
def test_noise_halved_in_long_episodes_is_refuted_at_a_horizon_that_reaches_them() -> None:
    algorithm = LateUCB(arms=2, epsilon=1.0)
    found = worst_loss(algorithm, 400)
    assert found.loss.lower > 1.5 and found.complete
    assert found.witness is not None
    certified = recompute(found.witness, algorithm)
    assert certified.violates and certified.loss.certified
    assert abs(certified.loss.lower - found.loss.lower) < 1e-9


@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        ("adap_ucb", 256),
        *(pytest.param(it, 1024, marks=pytest.mark.slow) for it in ("adap_ucb", "adap_klucb")),
    ],
)
def test_a_long_horizon_lies_between_a_climb_and_the_charges(name: str, horizon: int) -> None:
    found = worst_loss(load(name, arms=2), horizon)
    assert found.method == "climb" and found.complete
    assert 1 - 1e-6 < found.loss.lower <= found.loss.upper <= 1.0
    assert found.witness is not None
    assert recompute(found.witness, load(name, arms=2), "float").loss.meets(found.witness.loss)


def test_conditions_name_what_fails() -> None:
    reasons = {}
    for variant in variants():
        algorithm = variant(arms=2)
        found = (failure(region_of(path)) for path in all_paths(algorithm, 6))
        reasons[variant.__name__] = next(filter(None, found), "")
    assert reasons["HalvedNoiseAdapUCB"] == ""
    assert "two releases" in reasons["MeanOfAllAdapUCB"]
    assert "two releases" in reasons["DrawnAgainAdapKLUCB"]


@pytest.mark.parametrize(
    "name, options, horizon, word",
    [
        ("dp_klucb", {}, 8, "sum of several releases"),
        ("dp_ucb", {"horizon": 8}, 8, "enters two releases"),
        ("ucb", {}, 6, "full support"),
        ("lazy_dp_ts", {}, 6, "arg max"),
    ],
)
def test_conditions_fail_where_the_theorem_does(
    name: str, options: dict[str, int], horizon: int, word: str
) -> None:
    algorithm = load(name, arms=2, **options)
    assert any(word in failure(region_of(path)) for path in all_paths(algorithm, horizon))


def test_witness_attains_the_loss_it_states() -> None:
    algorithm = load("adap_ucb", arms=2, epsilon=2.0)
    found = worst_loss(algorithm, 7)
    assert found.witness is not None
    again = recompute(found.witness, algorithm, engine="float")
    assert again.loss.meets(found.witness.loss) and abs(again.loss.lower - found.loss.lower) < 1e-8
    assert not again.violates


def test_budget_ends_the_search_and_says_so() -> None:
    found = worst_loss(load("adap_ucb", arms=2), 64, budget=0.0)
    assert not found.complete and found.loss.upper == math.inf


def test_loss_grows_with_the_horizon() -> None:
    algorithm = load("adap_ucb", arms=2)
    found = [worst_loss(algorithm, horizon) for horizon in (3, 4, 5, 6)]
    losses = [item.loss.upper for item in found]
    assert losses == sorted(losses)


def test_every_step_names_every_episode() -> None:
    found = list(every_step(load("adap_ucb", arms=2), 4, "binary"))
    rows = [region.episodes[episode].rows for _, region, episode, _ in found]
    assert {(row.arm, row.first) for row in rows} >= {(0, 0), (0, 1), (1, 0)}
    largest = max(loss for *_, loss in found)
    worst = worst_loss(load("adap_ucb", arms=2), 4, streams="binary")
    assert abs(largest - worst.loss.upper) < 1e-8


def test_profile_is_consistent() -> None:
    algorithm = load("adap_ucb", arms=2)
    found = profile(algorithm, [1, 0, 0, 0, 0], [0, 0, 0, 0, 0])
    assert abs(found.delta(0.0) - found.total_variation) < 1e-9
    assert found.delta(float(found.losses.max())) == 0.0
    assert 0 < found.kl <= found.losses.max() + 1e-12
    alpha, beta = found.trade_off()
    assert abs(min(alpha + beta) - (1 - found.total_variation)) < 1e-9
    assert alpha[0] == 0.0 and abs(beta[-1]) < 1e-9


def test_what_has_no_engine_is_unsupported_rather_than_guessed() -> None:
    with pytest.raises(Unsupported):
        worst_loss(load("lazy_dp_ts", arms=3), 6)


def test_enumeration_out_of_reach_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="out of reach"):
        worst_loss(variants()[2](arms=2), 40)


@dataclass(frozen=True, kw_only=True)
class FirstArm(DoublingEpisodes):
    """A bound that is infinite whatever the register holds: the first arm always wins."""

    def rule(self, pulls, time, m):
        return PrivateKLBound(m.number(np.array([2, 0.5])), m.number(1))


def test_a_path_that_no_noise_takes_loses_nothing():
    found = worst_loss(FirstArm(arms=2, epsilon=1.0), 5)
    assert found.loss.lower == 0.0 and found.loss.upper < 1e-6


@pytest.mark.parametrize("engine", ["ball", "float"])
def test_paths_that_no_noise_takes_have_no_likelihood(engine):
    found = law(FirstArm(arms=2, epsilon=1.0), [0.5, 0.0, 1.0, 0.0, 1.0], engine)
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-6
    assert np.exp(found.log_values).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("streams", "words"), [("real", "in [0,1]^T"), ("binary", "binary")])
def test_a_search_says_which_streams_it_covers(streams: str, words: str) -> None:
    found = worst_loss(load("adap_ucb", arms=2), 3, streams=streams)
    assert found.streams == streams and f"every pair of {words}" in found.covers.replace(
        "streams in", "in"
    )


def test_the_upper_end_is_that_of_every_candidate_and_of_none_before_all_are_known() -> None:
    """The best lower end may belong to one candidate and the largest upper end to another."""
    found = Candidates()
    for path, (lower, upper) in enumerate([(0.5, 0.6), (0.4, 0.9)]):
        bounds = Bounds(lower, upper, Fraction(0), Fraction(1))
        found.add(Candidate(path, 0, 1, bounds))
    assert (found.lower, found.upper) == (0.5, math.inf)
    found.complete = True
    assert (found.lower, found.upper) == (0.5, 0.9)

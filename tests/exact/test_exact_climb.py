"""Climbing to a large loss: what it finds is attained, and all that exists where that is known."""

from __future__ import annotations

import certified_engine as ball
import pytest

from dpaudit.core.algorithms import load
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.climb import climb


@pytest.mark.parametrize(
    ("name", "arms", "horizon"), [("adap_ucb", 3, 5), ("adap_ucb", 2, 12), ("lazy_dp_ucb", 3, 6)]
)
def test_a_climb_finds_the_largest_loss_of_all_paths(name: str, arms: int, horizon: int) -> None:
    algorithm = load(name, arms=arms)
    found, all_paths = climb(algorithm, horizon), ball.worst_loss(algorithm, horizon)
    assert found.attained <= all_paths.loss.upper
    assert found.high.log_upper - found.low.log_lower >= all_paths.loss.lower


def test_a_climb_never_exceeds_the_charge_and_grows_with_the_horizon() -> None:
    losses = [
        climb(load("adap_ucb", arms=2, epsilon=0.7), horizon).attained for horizon in (4, 6, 8)
    ]
    assert losses == sorted(losses)
    assert losses[-1] <= 0.7 + 1e-9


def test_long_horizons_of_three_arms_lie_between_a_climb_and_the_charges() -> None:
    found = worst_loss(load("lazy_dp_ucb", arms=3, epsilon=1.0), 16)
    assert found.method == "climb"
    assert not found.loss.certified
    assert 0.4 < found.loss.lower < found.loss.upper <= 1.0
    witness = found.witness
    assert witness is not None
    algorithm = load("lazy_dp_ucb", arms=3, epsilon=1.0)
    logs = [
        likelihood(algorithm, witness.actions, stream, engine="float")
        for stream in (witness.stream, witness.neighbour)
    ]
    again = logs[0].log_lower - logs[1].log_lower
    assert abs(again - 0.5 * (witness.loss.lower + witness.loss.upper)) < 1e-9


def test_a_joint_rule_of_three_arms_is_refused() -> None:
    with pytest.raises(Unsupported, match="arg max"):
        climb(load("adap_imed", arms=3), 6)

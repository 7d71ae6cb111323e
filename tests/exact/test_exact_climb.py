"""Climbing to a large loss: what it finds is attained, and all that exists where that is known."""

from __future__ import annotations

import pytest

from dpaudit.core.algorithms import load
from dpaudit.errors import Unsupported
from dpaudit.exact import ball
from dpaudit.exact.climb import climb


@pytest.mark.parametrize(
    ("name", "arms", "horizon"), [("adap_ucb", 3, 5), ("adap_ucb", 2, 12), ("lazy_dp_ucb", 3, 6)]
)
def test_a_climb_finds_the_largest_loss_of_all_paths(name: str, arms: int, horizon: int) -> None:
    algorithm = load(name, arms=arms)
    found, all_paths = climb(algorithm, horizon), ball.worst_loss(algorithm, horizon)
    assert found.loss <= all_paths.loss.upper + found.error
    assert found.loss >= all_paths.loss.lower - found.error
    assert found.loss <= found.charge


def test_a_climb_never_exceeds_the_charge_and_grows_with_the_horizon() -> None:
    losses = [
        climb(load("adap_klucb", arms=2, epsilon=0.7), horizon).loss for horizon in (4, 8, 12)
    ]
    assert losses == sorted(losses)
    assert losses[-1] <= 0.7 + 1e-9


def test_a_joint_rule_of_three_arms_is_refused() -> None:
    with pytest.raises(Unsupported, match="A4"):
        climb(load("adap_imed", arms=3), 6)

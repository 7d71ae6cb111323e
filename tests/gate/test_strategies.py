"""Hypothesis strategies: everything they draw is what they promise, and they find a violation."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithms import names
from dpaudit.errors import DpauditError
from dpaudit.exact import likelihood
from dpaudit.exact.witness import loss_between, require_neighbours
from dpaudit.strategies import epsilons, instances, neighbouring_pairs, reward_streams

patient = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@patient
@given(reward_streams(5), reward_streams(shortest=2, longest=3, values="binary"))
def test_streams(real, binary):
    assert len(real) == 5 and all(0 <= reward <= 1 for reward in real)
    assert 2 <= len(binary) <= 3 and set(binary) <= {0.0, 1.0}


@patient
@given(neighbouring_pairs(longest=6), neighbouring_pairs(4, values="binary"))
def test_pairs_differ_in_one_reward(pair, binary):
    for stream, neighbour, position in (pair, binary):
        require_neighbours(stream, neighbour, position)
    assert len(binary.stream) == 4


@patient
@pytest.mark.parametrize("name", names())
@given(data=st.data())
def test_instances_of_every_algorithm(name, data):
    algorithm = data.draw(instances(name, horizon=9, most_arms=3))
    assert 2 <= algorithm.arms <= 3
    assert algorithm.claim.epsilon is None or 0.05 <= algorithm.claim.epsilon <= 5
    assert not algorithm.told() or algorithm.horizon == 9


@patient
@given(instances("adap_ucb", parameters={"arms": 2, "alpha": st.sampled_from([2.5, 3.5])}))
def test_parameters_are_values_or_strategies(algorithm):
    assert algorithm.arms == 2 and algorithm.alpha in (2.5, 3.5)


def test_they_shrink_to_what_is_easy_to_read():
    assert find(epsilons(), lambda epsilon: True) == 1.0
    pair = find(neighbouring_pairs(3), lambda pair: True)
    assert pair.stream == (0.0, 0.0, 0.0) and pair.position == 0


def test_they_find_a_violation_of_a_public_algorithm():
    algorithm = find(instances("ucb", most_arms=2), lambda algorithm: True)

    def violates(pair):
        first, second = (likelihood(algorithm, (0, 1, 1), rewards, "float") for rewards in pair[:2])
        return loss_between(first, second).lower > 1

    # the first likelihood imports what it needs, which may take long
    pair = find(neighbouring_pairs(3, values="binary"), violates, settings=settings(deadline=None))
    require_neighbours(*pair)


@pytest.mark.parametrize(
    "make",
    [
        lambda: reward_streams(0),
        lambda: reward_streams(shortest=3, longest=2),
        lambda: reward_streams(3, values="odd"),
        lambda: instances("adap_ubc").example(),
    ],
)
@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_bad_input(make):
    with pytest.raises(DpauditError):
        make()

"""Exact scores are the log-likelihood ratios of the exact engine, path by path."""

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.exact.likelihood import likelihood
from dpaudit.sample.events import Plan, choose
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.scores import ExactHistory, exact_prefixes
from dpaudit.sample.streams import Pair, Stream


@pytest.mark.parametrize("name", ["adap_ucb", pytest.param("adap_klucb", marks=pytest.mark.slow)])
def test_scores_agree_with_likelihoods_of_the_actions(name):
    algorithm = load(name, arms=2, epsilon=1.0)
    pair = Pair("x", Stream.of([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 1, 1.0)
    scored = ExactHistory(algorithm, pair, 6)
    runs = run_many(algorithm, pair.stream, 60, np.random.default_rng(0))
    keys = scored(runs)
    for index in np.unique(keys, return_index=True)[1].tolist():
        sides = [
            likelihood(algorithm, runs.actions(index), side.array(), engine="float").middle
            for side in (pair.stream, pair.neighbour)
        ]
        expected = np.log(sides[0] / sides[1])
        assert scored.known[int(keys[index])] == pytest.approx(expected, abs=1e-7)


def test_scores_are_offered_where_the_engine_answers():
    near = Pair("x", Stream.constant(0.0, 1000), 1, 1.0)
    late = Pair("x", Stream.constant(0.0, 1000), 500, 1.0)
    assert len(exact_prefixes(load("adap_klucb", arms=2), near)) == 1
    assert exact_prefixes(load("adap_klucb", arms=2), late) == []
    assert exact_prefixes(load("adap_klucb", arms=3), near) == []
    assert exact_prefixes(load("ucb", arms=2), near) == []
    assert exact_prefixes(load("dp_klucb", arms=2), near) == []


def test_events_from_scores_are_sets_of_prefixes():
    algorithm = load("adap_ucb", arms=2, epsilon=2.0)
    pair = Pair("x", Stream.constant(0.0, 6), 1, 1.0)
    scored = ExactHistory(algorithm, pair, 6)

    def draw(half):
        yield tuple(
            run_many(algorithm, stream, 300, np.random.default_rng([half, side]))
            for side, stream in enumerate((pair.stream, pair.neighbour))
        )

    found = choose([scored], draw, Plan(later=5000, error=1e-3), keep=2)
    assert {candidate.swapped for candidate in found} == {0, 1}
    for candidate in found:
        sign = -1 if candidate.swapped else 1
        assert all(sign * scored.known[key] > 0 for key in candidate.event.keys)

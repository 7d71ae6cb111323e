"""Exact scores are the log-likelihood ratios of the exact engine, path by path."""

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.exact.likelihood import likelihood
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.runs import History
from dpaudit.sample.scores import exact_score, exactly_scorable
from dpaudit.sample.streams import Pair, Stream


@pytest.mark.parametrize("name", ["adap_ucb", pytest.param("adap_klucb", marks=pytest.mark.slow)])
def test_scores_agree_with_likelihoods_of_the_actions(name):
    algorithm = load(name, arms=2, epsilon=1.0)
    pair = Pair("x", Stream.of([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 1, 1.0)
    runs = run_many(algorithm, pair.stream, 60, np.random.default_rng(0))
    keys = History(0, 6)(runs)
    for index in np.unique(keys, return_index=True)[1].tolist():
        sides = [
            likelihood(algorithm, runs.actions(index), side.array(), engine="float").middle
            for side in (pair.stream, pair.neighbour)
        ]
        expected = np.log(sides[0] / sides[1])
        found = exact_score(algorithm, pair, 6, *runs.plays(index))
        assert found == pytest.approx(expected, abs=1e-7)


def test_scores_are_offered_where_the_engine_answers():
    pair = Pair("x", Stream.constant(0.0, 1000), 1, 1.0)
    assert exactly_scorable(load("adap_klucb", arms=2), pair)
    assert not exactly_scorable(load("adap_klucb", arms=3), pair)
    assert not exactly_scorable(load("ucb", arms=2), pair)
    assert not exactly_scorable(load("dp_klucb", arms=2), pair)

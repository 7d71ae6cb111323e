"""Likelihoods of the program on a lattice, against its own runs over every integer drawn."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

import dpaudit
from dpaudit.core import lattice
from dpaudit.core.stream import run_stream
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss


def by_enumeration(monkeypatch, algorithm, stream, reach, releases):
    """The law of the actions: the stream runner, with every tuple of small integers as noise."""
    law = Counter()
    for draws in product(range(-reach, reach + 1), repeat=releases):
        left, weight = iter(draws), []

        def laplace(scale, bits, left=left, weight=weight):
            z = next(left)
            q = math.exp(-1 / float(scale))
            weight.append((1 - q) / (1 + q) * q ** abs(z))
            return z

        with monkeypatch.context() as patched:
            patched.setattr(lattice, "laplace", laplace)
            actions = run_stream(algorithm, stream, np.random.default_rng(0)).actions
        law[tuple(actions.tolist())] += math.prod(weight)
    return law


@pytest.mark.parametrize(
    ("name", "grid", "stream"),
    [
        ("adap_ucb", 1, [1.0, 0.0, 1.0, 0.0]),
        ("adap_ucb", 2, [0.6, 0.9, 0.2, 0.0]),
        ("adap_klucb", 1, [0.0, 1.0, 1.0, 1.0]),
    ],
)
def test_against_every_run_of_the_stream_runner(monkeypatch, name, grid, stream):
    algorithm = dpaudit.load(name, arms=2, epsilon=8.0 * grid, alpha=0.4, grid=grid)
    law = by_enumeration(monkeypatch, algorithm, stream, 5, 3)
    assert sum(law.values()) == pytest.approx(1, abs=1e-8)
    seen = 0
    for actions, truth in law.items():
        found = likelihood(algorithm, actions, stream)
        assert found.lower - 1e-8 <= truth <= found.upper + 1e-8
        assert found.upper - found.lower < 1e-9
        assert found.certified == (name == "adap_ucb")
        seen += truth > 0.01
    assert seen >= 2


def test_likelihoods_of_all_actions_add_up_to_one():
    algorithm = dpaudit.load("adap_ucb", arms=2, epsilon=1.0, alpha=0.5, grid=16)
    stream = [0.3, 1.0, 0.0, 0.7, 1.0, 0.2]
    found = [likelihood(algorithm, actions, stream) for actions in product((0, 1), repeat=6)]
    assert sum(it.lower for it in found) <= 1 <= sum(it.upper for it in found)
    assert sum(it.middle for it in found) == pytest.approx(1, abs=1e-9)


def test_a_finer_grid_comes_to_the_loss_of_real_noise():
    losses = []
    for grid in (2, 16, 128, None):
        algorithm = dpaudit.load("adap_ucb", arms=2, epsilon=1.0, alpha=0.5, grid=grid)
        found = worst_loss(algorithm, 4, streams="binary")
        assert found.loss.certified and found.loss.upper <= 1 + 1e-9
        losses.append(found.loss.lower)
    gaps = [abs(loss - losses[-1]) for loss in losses[:-1]]
    assert gaps[0] > gaps[1] > gaps[2] < 1e-3


def test_for_rewards_in_the_interval_it_is_a_lower_bound_and_the_charge_the_upper():
    algorithm = dpaudit.load("adap_ucb", arms=2, epsilon=1.0, alpha=0.5, grid=8)
    found = worst_loss(algorithm, 4)
    assert found.loss.upper == math.inf and found.charge == 1
    assert "lower bound" in found.covers and found.witness is not None
    low = likelihood(algorithm, found.witness.actions, found.witness.stream)
    other = likelihood(algorithm, found.witness.actions, found.witness.neighbour)
    loss = abs(math.log(low.middle / other.middle))
    assert loss == pytest.approx(found.loss.lower, abs=1e-9)


@pytest.mark.parametrize("name", ["dp_klucb", "adap_imed", "lazy_dp_ts"])
def test_what_has_no_sums_says_so(name):
    algorithm = dpaudit.load(name, arms=2, epsilon=1.0, grid=8)
    with pytest.raises(Unsupported):
        likelihood(algorithm, [0, 1, 0, 0], [0.0] * 4)


def test_three_arms_and_coins_of_rounding_have_none():
    three = dpaudit.load("adap_ucb", arms=3, epsilon=1.0, grid=8)
    with pytest.raises(Unsupported, match="two arms"):
        likelihood(three, [0, 1, 2, 0, 1], [0.0] * 5)
    coin = dpaudit.load("adap_ucb", arms=2, epsilon=1.0, grid=8, rounding="stochastic")
    with pytest.raises(Unsupported, match="rounded by a coin"):
        likelihood(coin, [0, 1, 0, 1], [0.3] * 4)
    assert likelihood(coin, [0, 1, 0, 1], [1.0] * 4).certified

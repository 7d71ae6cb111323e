"""A witness violates only for certain, and is certified only where both likelihoods are."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpaudit.core.algorithms import load
from dpaudit.exact.likelihood import Likelihood
from dpaudit.exact.witness import loss_between, recompute, witness_of

ALGORITHM = load("adap_ucb", arms=2, epsilon=1.0)
ACTIONS, STREAM, NEIGHBOUR = (0, 1, 0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def test_an_enclosure_that_holds_epsilon_does_not_violate() -> None:
    witness = witness_of(ALGORITHM, ACTIONS, STREAM, NEIGHBOUR, "float")
    loss = witness.loss
    assert 0 < loss.lower < loss.upper
    inside = replace(witness, epsilon=(loss.lower + loss.upper) / 2)
    assert not recompute(inside, ALGORITHM, "float").violates
    below = replace(witness, epsilon=loss.lower - 1e-6)
    assert recompute(below, ALGORITHM, "float").violates


@pytest.mark.parametrize("kinds", [(True, True), (True, False), (False, True), (False, False)])
def test_a_loss_is_certified_where_both_likelihoods_are(kinds: tuple[bool, bool]) -> None:
    first, second = (
        Likelihood(at - 1e-9, at + 1e-9, kind) for at, kind in zip((-1.0, -2.0), kinds, strict=True)
    )
    assert loss_between(first, second).certified is all(kinds)
    impossible = replace(second, log_lower=-math.inf, log_upper=-math.inf)
    found = loss_between(first, impossible)
    assert found.certified is all(kinds)
    assert found.lower == (math.inf if all(kinds) else 0.0)

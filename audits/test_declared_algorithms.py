"""The project's own gate: every algorithm it ships keeps its claim, or is refuted.

A private algorithm must be PROVED at full size, and not one bit below its epsilon; an algorithm
that claims nothing must be refuted with a counterexample that recomputes.
"""

from __future__ import annotations

import math

import pytest

from dpaudit.core.algorithms import build, find, names, parameters
from dpaudit.exact import worst_loss
from dpaudit.exact.witness import recompute
from dpaudit.structure import prove
from dpaudit.verdict import Status

HORIZON = 10_000_000


def instance(name: str, horizon: int):
    declared = find(name)
    offered = {"arms": 2, "epsilon": 1.0, "horizon": horizon}
    accepted = parameters(declared)
    return build(declared, name, **{key: offered[key] for key in offered if key in accepted})


PRIVATE = [name for name in names() if find(name).private]
PUBLIC = [name for name in names() if not find(name).private]


@pytest.mark.parametrize("name", PRIVATE)
def test_private_algorithm_is_proved_at_full_size(name):
    algorithm = instance(name, HORIZON)
    assert prove(algorithm, HORIZON).status is Status.PROVED
    below = math.nextafter(1.0, 0.0)
    assert prove(algorithm, HORIZON, epsilon=below).status is not Status.PROVED


@pytest.mark.parametrize("name", PUBLIC)
def test_public_algorithm_is_refuted(name):
    algorithm = instance(name, 3)
    found = worst_loss(algorithm, 3)
    assert found.loss.lower == math.inf
    assert found.witness is not None
    again = recompute(found.witness, algorithm)
    assert again.loss.certified
    assert again.loss.lower == math.inf

"""Building algorithms by name: claims, parameters, and errors that name argument and value."""

from __future__ import annotations

import math

import pytest

from dpaudit import load
from dpaudit.core.algorithms import find, names, parameters
from dpaudit.errors import DpauditError


def test_claims():
    claim = load("adap_klucb", arms=5, epsilon=0.5, alpha=3.1).claim
    assert (claim.epsilon, claim.anytime) == (0.5, True)
    assert load("ucb", arms=2).claim.epsilon is None
    assert not load("dp_se", arms=2, horizon=10).claim.anytime


@pytest.mark.parametrize("name", names())
def test_every_algorithm_refuses_bad_parameters(name):
    values = {"arms": 3}
    known = parameters(find(name))
    if "horizon" in known:
        values["horizon"] = 100
        with pytest.raises(DpauditError, match="horizon=2 must be at least 3."):
            load(name, **(values | {"horizon": 2}))
    with pytest.raises(DpauditError, match="arms=1 must be at least 2."):
        load(name, **(values | {"arms": 1}))
    assert load(name, **{key: value for key, value in values.items() if key != "arms"}).arms == 2
    for parameter in known.keys() & {"epsilon", "alpha", "gamma"}:
        for value in (0, -1.0, math.nan, math.inf, "x", True):
            with pytest.raises(DpauditError, match=f"^{parameter}={value} must be"):
                load(name, **(values | {parameter: value}))


def test_unknown_names_and_parameters():
    with pytest.raises(DpauditError, match="Did you mean 'adap_klucb'?"):
        load("adap_klcub", arms=2)
    with pytest.raises(DpauditError, match="beta=1 is not a parameter of adap_ucb"):
        load("adap_ucb", arms=2, beta=1)

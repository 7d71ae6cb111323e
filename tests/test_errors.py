"""Errors name their argument and survive the way back from a worker process."""

from __future__ import annotations

import pickle

import pytest

from dpaudit.errors import InvalidArgument, UnknownName, require_integer, require_positive


@pytest.mark.parametrize(
    "error",
    [InvalidArgument("epsilon", -1, "must be positive."), UnknownName("algorithm", "ucv", ["ucb"])],
)
def test_errors_survive_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_unknown_names_are_suggested():
    assert str(UnknownName("algorithm", "adap_klcub", ["adap_klucb", "ucb"])) == (
        "No algorithm 'adap_klcub'. Did you mean 'adap_klucb'?"
    )


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "1", True])
def test_what_is_not_positive_is_refused(value):
    with pytest.raises(InvalidArgument, match=f"^epsilon={value} must"):
        require_positive("epsilon", value)


@pytest.mark.parametrize("value", [0, 1.0, True, "3"])
def test_what_is_not_an_integer_is_refused(value):
    with pytest.raises(InvalidArgument, match=f"^arms={value} must"):
        require_integer("arms", value, 1)

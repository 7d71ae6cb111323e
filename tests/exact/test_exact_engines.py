"""The floating-point engine against certified enclosures: two methods, one number."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import dpaudit.exact
from dpaudit.core.algorithms import load
from dpaudit.exact.likelihood import (
    MEASURED_ERROR,
    RELATIVE_ERROR,
    measured_error,
    path_likelihood,
)
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(
    ("name", "horizon"),
    [("adap_ucb", 24), ("adap_moss", 12), ("lazy_dp_ucb", 12), ("adap_klucb", 5)],
)
def test_engines_agree_within_the_stated_error(name, horizon, epsilon):
    rng = np.random.default_rng(1)
    paths = list(all_paths(load(name, arms=2, epsilon=epsilon), horizon))
    for index in rng.choice(len(paths), min(len(paths), 8), replace=False):
        stream = rng.integers(0, 2, horizon).astype(float)
        certified = path_likelihood(paths[index], stream, "ball")
        measured = path_likelihood(paths[index], stream, "float")
        assert certified.certified
        assert not measured.certified
        # the enclosures meet only if the floating-point value is off by less than it says
        assert measured.log_lower <= certified.log_upper
        assert certified.log_lower <= measured.log_upper
        error = measured_error(region_of(paths[index]))  # with the rounding of wide sums
        assert MEASURED_ERROR <= error <= 1.01 * MEASURED_ERROR
        stated = error + RELATIVE_ERROR * abs(measured.log_lower)
        assert measured.log_upper - measured.log_lower <= 2 * stated + 1e-14


def test_a_class_name_exists_once_in_the_engine() -> None:
    files = Path(dpaudit.exact.__file__).parent.rglob("*.py")
    trees = [ast.parse(file.read_text()) for file in files]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))

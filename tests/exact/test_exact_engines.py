"""The two engines beside each other: a quick look and a fine one enclose the same number."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import dpaudit.exact
from dpaudit.core.algorithms import load
from dpaudit.exact.likelihood import WIDTHS, of_paths
from dpaudit.exact.paths import all_paths


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(
    ("name", "horizon"),
    [("adap_ucb", 24), ("adap_moss", 12), ("lazy_dp_ucb", 12), ("adap_klucb", 5), ("adap_imed", 5)],
)
def test_both_engines_are_certified_and_meet(name, horizon, epsilon):
    rng = np.random.default_rng(1)
    paths = list(all_paths(load(name, arms=2, epsilon=epsilon), horizon))
    for index in rng.choice(len(paths), min(len(paths), 8), replace=False):
        stream = rng.integers(0, 2, horizon).astype(float)
        fine = of_paths([paths[index]], stream, "ball")
        quick = of_paths([paths[index]], stream, "float")
        assert fine.certified and quick.certified
        assert quick.log_lower <= fine.log_upper and fine.log_lower <= quick.log_upper
        for found, width in ((fine, WIDTHS["ball"]), (quick, WIDTHS["float"])):
            assert found.log_upper - found.log_lower <= max(width, 1e-8)


def test_a_class_name_exists_once_in_the_engine() -> None:
    files = Path(dpaudit.exact.__file__).parent.rglob("*.py")
    trees = [ast.parse(file.read_text()) for file in files]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))

"""Model checks have power: a bound that is 1% too small breaks on the models that are tried."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.claims.ledger import load_results, proofs_directory

load_results()
SHARE = Fraction(99, 100)
CHECKS = [
    ("_karwa_vadhan_models", "sharp"),
    ("kl_decomposition", "_theorem"),
    ("kl_decomposition", "_distance"),
    ("kl_decomposition", "_per_sequence"),
    ("linear_problem_dependent", "_bar"),
]


@pytest.mark.parametrize(("module", "name"), CHECKS)
def test_a_bound_one_percent_too_small_is_caught(module, name):
    factory = getattr(sys.modules[f"dpaudit_proofs.{module}"], name)
    tally = factory(SHARE)(np.random.default_rng(1))
    assert tally.counterexample


def test_the_proofs_are_found_inside_an_installed_package(tmp_path):
    """A wheel holds proofs/ inside the package; rebuild that layout and run it elsewhere."""
    source = Path(dpaudit.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__", "proofs")
    shutil.copytree(source, tmp_path / "site" / "dpaudit", ignore=ignore)
    shutil.copytree(proofs_directory(), tmp_path / "site" / "dpaudit" / "proofs")
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run(
        [sys.executable, "-m", "dpaudit", "prove", "--only", "gap_free"],
        cwd=empty,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "10 steps: 7 proved, 1 identity, 2 refuted" in done.stdout

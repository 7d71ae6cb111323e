"""Audits of (epsilon, delta): refuted below the truth, and a bound on delta that stays below it."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import pytest

from dpaudit.cli import run
from dpaudit.core.arithmetic import at_least

POLICY = '''
class Threshold:
    """One reward with N(0, 1) decides the second round."""

    def __init__(self, rng, arms=2):
        self.rng, self.rounds, self.told = rng, 0, 0.0

    def select(self):
        return 0 if self.rounds == 0 else int(self.told > 0.5)

    def update(self, arm, reward):
        if self.rounds == 0:
            self.told = reward + self.rng.normal(0, 1)
        self.rounds += 1
'''
BELOW = NormalDist().cdf
TRUTH = BELOW(0.5) - math.exp(0.1) * BELOW(-0.5)  # of the one event there is: 0.3505


@pytest.mark.parametrize(("delta", "runs", "code"), [(0.2, 12_000, 1), (0.36, 3_000, 0)])
def test_delta_is_refuted_below_the_truth_and_bounded_by_it(delta, runs, code, tmp_path, capsys):
    (tmp_path / "threshold.py").write_text(POLICY)
    words = ["audit", f"{tmp_path}/threshold.py:Threshold", "--epsilon", "0.1"]
    words += ["--delta", str(delta), "--horizon", "2", "--runs", str(runs), "--error", "1e-6"]
    assert run([*words, "--json", str(tmp_path / "report.json")]) == code
    report = json.loads((tmp_path / "report.json").read_text())
    assert 0.1 < report["lower"] < TRUTH and (report["lower"] >= delta) == bool(code)
    below = at_least(report["lower"], 4)
    assert f"every delta below {below} at epsilon = 0.1" in capsys.readouterr().out

"""Reproducing the paper: resumable panels, reproducible files, statements judged from numbers."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from dpaudit import plotting
from dpaudit.cli import run
from dpaudit.core import divergence
from dpaudit.experiments import panels, statements
from dpaudit.experiments.panels import CellRuns
from dpaudit.experiments.statements import FAILS, REPRODUCES, UNDECIDED, exceeds, together, within
from dpaudit.regret_bounds.bound import bernoulli
from dpaudit.regret_bounds.lower import coefficients


def sample(values):
    curves = np.array(values, dtype=float)[:, None] * np.array([[0.5, 1.0]])
    return CellRuns(np.array([5, 10]), curves)


LOW, HIGH = sample([10, 11, 9, 10]), sample([30, 31, 29, 30])
WIDE = sample([5, 25, 2, 30])


def test_comparisons_have_three_outcomes():
    assert exceeds(HIGH, LOW) == REPRODUCES and exceeds(LOW, HIGH) == FAILS
    assert exceeds(WIDE, LOW) == UNDECIDED
    assert exceeds(HIGH, LOW, factor=2) == REPRODUCES and exceeds(HIGH, LOW, factor=4) == FAILS
    assert exceeds(sample([3]), LOW) == UNDECIDED  # one run has no standard error
    assert within(LOW, LOW, 1.5) == REPRODUCES and within(LOW, HIGH, 1.5) == FAILS
    assert together([REPRODUCES, UNDECIDED]) == UNDECIDED
    assert together([REPRODUCES, UNDECIDED, FAILS]) == FAILS
    assert together([REPRODUCES]) == REPRODUCES


def records_where(kl, ucb, rivals):
    cell = {"dp_ucb": rivals, "dp_se": rivals, "adap_ucb": ucb, "adap_klucb": kl}
    places = [(c, e) for c in panels.ENVIRONMENTS for e in panels.BUDGETS]
    return {statements.panel_name(*place): cell for place in places}


def test_verdicts_follow_the_numbers():
    def verdicts(records):
        return [judgement.verdict for judgement in statements.comparison(records)]

    far = sample([900, 905, 895, 900])
    good = verdicts(records_where(LOW, HIGH, far))
    assert good[:4] == [REPRODUCES] * 4
    swapped = verdicts(records_where(HIGH, LOW, far))
    assert swapped[0] == FAILS and swapped[3] == FAILS
    close = verdicts(records_where(LOW, sample([12, 13, 11, 12]), HIGH))
    assert close[0] == REPRODUCES and close[1] == FAILS


def test_lower_bounds_at_a_hand_computed_instance():
    gap, d = 0.7, divergence.bernoulli(0.1, 0.8)
    found = coefficients(bernoulli((0.8, 0.1)), 10.0)
    assert found.paper == pytest.approx(gap / d)
    assert found.sharp == pytest.approx(gap / divergence.private_bernoulli(0.1, 0.8, 10.0))
    assert coefficients(bernoulli((0.8, 0.1)), 0.01).paper == pytest.approx(1 / 0.06)


@pytest.fixture
def counted(monkeypatch):
    """Count simulations; stop with Ctrl-C after `limit` of them."""
    calls = {"done": 0, "limit": 10**9}
    real = panels.simulate

    def simulate(*arguments):
        if calls["done"] == calls["limit"]:
            raise KeyboardInterrupt
        calls["done"] += 1
        return real(*arguments)

    monkeypatch.setattr(panels, "simulate", simulate)
    return calls


def test_interrupted_work_is_kept_and_continued(tmp_path, counted, capsys, monkeypatch):
    # rendering is not the point here and takes most of the time
    monkeypatch.setattr(plotting, "save", lambda canvas, path: path.write_text(""))
    command = ["reproduce", "comparison", "--out", str(tmp_path), "--horizon", "300"]
    command += ["--runs", "3", "--jobs", "1"]
    counted["limit"] = 10  # two panels of four simulations, and half of the third
    assert run(command) == 130
    finished = sorted(path.stem for path in tmp_path.glob("*.json"))
    assert finished == ["comparison_C1_epsilon_0.1", "comparison_C1_epsilon_0.25"]
    assert all((tmp_path / f"{name}.svg").exists() for name in finished)
    assert not list(tmp_path.glob(".*")), "nothing half-written is left"
    counted["limit"] = 10**9
    assert run(command) == 0
    assert counted["done"] == 10 + 4 * 14, "the two finished panels are not run again"
    assert len(list(tmp_path.glob("*.csv"))) == 16
    assert len(list(tmp_path.glob("*.png"))) == 16 + 4, "and the sheet of every environment"
    capsys.readouterr()
    before = counted["done"]
    assert run([*command, "--seed", "1"]) == 0
    assert counted["done"] == before + 64, "other parameters are another panel"


def test_files_have_the_same_bytes_for_the_same_seed(tmp_path, capsys):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        command = ["reproduce", "regimes", "--horizon", "1e4", "--runs", "4", "--jobs", "1"]
        assert run([*command, "--out", str(folder)]) == 0
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == [
        "regimes.csv",
        "regimes.json",
        "regimes.png",
        "regimes.svg",
        "statements_regimes.md",
    ]
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    output = capsys.readouterr()
    assert "does not depend on ε" in output.out and output.err == ""
    with (folders[0] / "regimes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(panels.REGIME_BUDGETS)
    record = json.loads((folders[0] / "regimes.json").read_text())
    final = np.array(record["cells"]["0.05"]["curves"])[:, -1]
    assert float(rows[0]["regret_mean"]) == pytest.approx(final.mean())


def test_a_damaged_record_is_run_again(tmp_path, counted, capsys, monkeypatch):
    monkeypatch.setattr(plotting, "save", lambda canvas, path: path.write_text(""))
    command = ["reproduce", "alpha", "--out", str(tmp_path), "--horizon", "100", "--runs", "2"]
    assert run([*command, "--jobs", "1"]) == 0
    record = tmp_path / "alpha.json"
    record.write_text(record.read_text()[:20])
    assert run([*command, "--jobs", "1"]) == 0
    assert counted["done"] == 2 * 2 * len(panels.ALPHAS)
    assert "α = 1 works better" in (tmp_path / "statements_alpha.md").read_text()

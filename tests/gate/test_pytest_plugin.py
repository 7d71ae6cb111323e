"""The plugin in a pytest of its own: marker, fixtures, summary, JUnit properties, xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import pytest
import warm_start
from gate_samples import HALVED, spoil

import dpaudit

TESTS = """
import pytest

import dpaudit

QUICK = {"horizon": 1000, "method": "structure,exact"}


@pytest.mark.dpaudit("mine.py:Mine", epsilon=0.5, **QUICK)
def test_marked():
    pass


@pytest.mark.dpaudit
def test_fixtures(assert_global_dp, audit_global_dp, dpaudit_seed, dpaudit_rng):
    assert assert_global_dp is dpaudit.assert_global_dp
    assert str(audit_global_dp("mine.py:Mine", horizon=9, method="structure").verdict) == "PROVED"
    print("seed", dpaudit_seed, "draw", dpaudit_rng.random())


def test_called():
    for _ in range(2):
        dpaudit.assert_global_dp("mine.py:Mine", **QUICK)


def test_nothing_audited():
    pass
"""
LOADED = [] if list(metadata.entry_points(group="pytest11", name="dpaudit")) else [
    "-p", "dpaudit.pytest_plugin",
]  # fmt: skip


@pytest.fixture
def outer(project, warm, monkeypatch):
    (project / "test_privacy.py").write_text(TESTS)
    if warm is not None and "PYTHONHASHSEED" not in os.environ:
        monkeypatch.setenv(warm_start.FOLDER, str(warm))
    return project


def run(folder, *words):
    """Run pytest in a folder; return its exit code and output."""
    root = str(Path(dpaudit.__file__).parents[1])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    paths = [root, str(Path(warm_start.__file__).parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *LOADED,
            "-p",
            "no:cacheprovider",
            "-p",
            "warm_start",
            "--strict-markers",
            *words,
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def claims(out):
    """Return the lines of the summary."""
    return re.findall(r"^(?:PROVED|HOLDS|SILENT|REFUTED) .*", out, flags=re.M)


def test_green_with_one_line_per_claim_and_properties(outer):
    code, out = run(outer, "-s", "--junitxml", "out.xml", "--dpaudit-seed", "7")
    assert code == 0, out
    assert "privacy claims" in out
    lines = claims(out)
    assert len(lines) == 3
    assert all(line.startswith("PROVED   mine.py:Mine") for line in lines)
    assert "seed 7 draw" in out
    cases = {
        case.get("name"): [(it.get("name"), it.get("value")) for it in case.iter("property")]
        for case in ElementTree.parse(outer / "out.xml").iter("testcase")
    }
    assert cases["test_nothing_audited"] == []
    marked = dict(cases["test_marked"])
    assert marked["dpaudit.claim"] == "mine.py:Mine epsilon=0.5"
    assert marked["dpaudit.verdict"] == "PROVED"
    assert float(marked["dpaudit.epsilon_upper"]) == 0.5
    assert marked["dpaudit.seed"] == "7"
    names = [name for name, _ in cases["test_called"]]
    assert names.count("dpaudit.verdict") == 1, "the same claim twice is one claim"


def test_red_under_xdist_with_the_same_summary(outer):
    spoil(outer, *HALVED)
    code, out = run(outer, "-n", "2", "-m", "dpaudit", "--dpaudit-folder", "found")
    assert code == 1, out
    assert "2 failed" in out, "the marker selects two of four tests"
    refuted, silent = claims(out)
    assert refuted.startswith("REFUTED  mine.py:Mine epsilon=0.5")
    assert silent.startswith("SILENT   mine.py:Mine")
    for said in (
        "PrivacyViolation: required: proved; found: REFUTED",
        "actions     0 1 0",
        "neighbour   0 1 0",
        "Replay: python -m dpaudit replay found/mine-py-Mine",
    ):
        assert said in out
    assert sorted(path.suffix for path in (outer / "found").iterdir()) == ["", ".json"]

"""Whatever foreign code does, a command ends with one line or a silent report, and with 2 or 3."""

from __future__ import annotations

import pytest
from broken_code import BROKEN

from dpaudit.cli import run

CASES = [pytest.param(it, id=it.name, marks=[pytest.mark.slow] if it.slow else []) for it in BROKEN]


@pytest.mark.parametrize("broken", CASES)
def test_broken_code_costs_one_line(broken, tmp_path, monkeypatch, capfd):
    (tmp_path / "m.py").write_text(broken.text)
    monkeypatch.chdir(tmp_path)
    code = run(broken.words)
    out, err = capfd.readouterr()
    assert code in (2, 3)
    assert "Traceback" not in out + err
    assert err.count("\n") == (code == 2)
    assert "PROVED" not in out and "REFUTED" not in out and "HOLDS" not in out
    assert {path.name for path in tmp_path.iterdir()} <= {"m.py", "__pycache__"}


def test_there_are_forty_of_them():
    assert len({it.name for it in BROKEN}) == len(BROKEN) >= 40

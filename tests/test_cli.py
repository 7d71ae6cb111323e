"""How a command ends: a reader that leaves, Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dpaudit.cli import run


@pytest.mark.parametrize(
    "words",
    [
        ("check", "ucb", "--method", "structure", "--horizon", "10"),
        ("check", "ucb", "--method", "structure", "--horizon", "10", "--json", "-"),
        ("list",),
    ],
)
def test_a_reader_that_leaves_ends_it_quietly(words):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dpaudit", *words], stdout=writer, stderr=subprocess.PIPE
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (128 + 13, b"")


def test_ctrl_c_says_what_is_kept(capsys, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.simulation.simulate", interrupt)
    monkeypatch.setattr("dpaudit.experiments.panels.run", interrupt)
    monkeypatch.setattr("dpaudit.sample.audit.audit", interrupt)
    log = str(tmp_path / "log")
    sizes = ("--horizon", "4", "--runs", "400")
    for words, said in (
        (("simulate", "ucb", "--env", "C1", "--horizon", "10"), ""),
        (
            ("reproduce", "alpha", "--out", str(tmp_path)),
            f"; 0 finished panels are kept in {tmp_path}",
        ),
        (("audit", "ucb", "--arms", "2", *sizes), ""),
        (
            ("audit", "ucb", "--arms", "2", *sizes, "--log", log),
            f"; finished blocks are kept in {log}",
        ),
    ):
        capsys.readouterr()
        assert run(words) == 130
        assert capsys.readouterr().err == f"dpaudit: interrupted{said}.\n"

"""How a command begins and ends: what is typed wrongly, help, a reader that leaves, Ctrl-C."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import subprocess
import sys

import pytest

from dpaudit import commands
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

    monkeypatch.setattr("dpaudit.simulation.blocks", interrupt)
    monkeypatch.setattr("dpaudit.experiments.panels.run", interrupt)
    monkeypatch.setattr("dpaudit.sample.audit.audit", interrupt)
    log = str(tmp_path / "log")
    sizes = ("--horizon", "4", "--runs", "400")
    for words, said in (
        (("simulate", "ucb", "--env", "C1", "--horizon", "10"), ""),
        (("reproduce", "alpha", "--out", str(tmp_path)), ""),
        (("audit", "ucb", "--arms", "2", *sizes), ""),
        (
            ("audit", "ucb", "--arms", "2", *sizes, "--log", log),
            f"; finished blocks are kept in {log}",
        ),
    ):
        capsys.readouterr()
        assert run(words) == 130
        assert capsys.readouterr().err == f"dpaudit: interrupted{said}.\n"


def test_what_would_take_days_is_refused_with_an_estimate(capsys, tmp_path):
    for words in (
        "simulate dp_ucb --horizon 1e13 --runs 1",
        "simulate adap_ucb --horizon 1e4 --runs 1e12",
        "audit adap_ucb --horizon 100 --runs 1e15",
        "audit dp_ucb --horizon 1e4 --runs 1e10",
        "bounds --runs 1e12",
        "bounds dp_ucb --horizon 1e13 --runs 2",
        f"bounds dp_ucb --horizon 1e13 --plot {tmp_path}/a.png",
        "bounds --features 1,0;0,1 --theta 1,0.2 --runs 1e13",
        f"reproduce alpha --runs 1e12 --out {tmp_path}",
        f"reproduce comparison --horizon 1e13 --out {tmp_path}",
    ):
        assert run(words.split()) == 2, words
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "is long; add --yes" in err, words
    assert not list(tmp_path.iterdir())


def test_an_interrupted_audit_reports_what_was_finished(capsys, monkeypatch, tmp_path):
    """Bets may end after any block: the report so far is a valid one, with --log and without."""
    from dpaudit.sample.progress import Progress

    whole = Progress._tell

    def cut(self, runs):
        whole(self, runs)
        if self.runs > 200:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "_tell", cut)
    words = ["audit", "adap_ucb", "--horizon", "8", "--runs", "2000"]
    log = str(tmp_path / "log")
    for more, kept in (([], ""), (["--log", log], f"; finished blocks are kept in {log}")):
        assert run([*words, *more, "--json", str(tmp_path / "report.json")]) == 130
        out, err = capsys.readouterr()
        data = json.loads((tmp_path / "report.json").read_text())
        assert 200 < data["runs"] < 2000 == data["runs_planned"]
        assert f"{data['runs']:,} of 2,000," in out and "epsilon >=" in out
        done = f"the report is of the {data['runs']:,} runs that were finished"
        assert err == f"dpaudit: interrupted; {done}{kept}.\n"
    monkeypatch.setattr(Progress, "_tell", whole)
    assert run([*words, "--resume", log]) == 0
    assert "2,000 of 2,000," in capsys.readouterr().out


def test_interrupted_bounds_show_what_was_finished(capsys, monkeypatch, tmp_path):
    from dpaudit.regret_bounds import document, picture

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    real = document.describe
    calls = []

    def second(*words):
        calls.append(words)
        return real(*words) if len(calls) == 1 else interrupt()

    monkeypatch.setattr(picture, "draw", interrupt)
    monkeypatch.setattr(document, "describe", second)
    for words, left in (
        (["--env", "C1", "C2"], "1 of 2 instances are left"),
        (["--plot", f"{tmp_path}/a.png", "--runs", "2", "--horizon", "100"], "a.png is not drawn"),
    ):
        calls.clear()
        assert run(["bounds", *words]) == 130
        out, err = capsys.readouterr()
        assert "lower bound" in out or "every private policy" in out
        assert err.startswith("dpaudit: interrupted; what is finished is shown above, ")
        assert err.endswith(f"{left}.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("chekc adap_klucb", "No command 'chekc'. Did you mean 'check'?"),
        ("adap_klucb", "COMMAND=adap_klucb is a TARGET: write `dpaudit check adap_klucb`."),
        ("mine.py:Mine", "COMMAND=mine.py:Mine is a TARGET: write `dpaudit check mine.py:Mine`."),
        ("check folder", "TARGET=folder is a directory: write file.py:object."),
        ("audit notes.txt", "TARGET=notes.txt is a file: write file.py:object."),
        ("check folder:Mine", "TARGET=folder:Mine names a directory: write folder/file.py:Mine."),
        ("check notes.txt:Mine", "TARGET=notes.txt:Mine names notes.txt, which is no file.py."),
        ("prove --json folder", "file=folder is a directory."),
    ],
)
def test_what_is_typed_wrongly_is_named_in_one_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("no code\n")
    assert run(words.split()) == 2
    assert capsys.readouterr().err == f"dpaudit: {said}\n"


def test_long_lists_of_names_are_cut(capsys):
    assert run(["prove", "--counterexample", "qqqq"]) == 2
    err = capsys.readouterr().err
    assert len(err) < 800 and re.search(r" and \d+ more\.$", err)


def test_help_is_as_wide_as_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    for module in pkgutil.iter_modules(commands.__path__):
        assert run([module.name, "--help"]) == 0
        prose = [line for line in capsys.readouterr().out.splitlines() if "dpaudit" not in line]
        assert max(map(len, prose)) <= 80, module.name

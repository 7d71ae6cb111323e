"""list, simulate and reproduce on the command line; bad input costs one line and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from dpaudit.cli import run
from dpaudit.core.algorithms import names

TWELVE = {
    "adap_imed",
    "adap_klucb",
    "adap_moss",
    "adap_ucb",
    "dp_imed",
    "dp_klucb",
    "dp_se",
    "dp_ucb",
    "kl_ucb",
    "lazy_dp_ts",
    "lazy_dp_ucb",
    "ucb",
}


def test_list_names_all_twelve_with_their_claims(capsys):
    assert run(["list", "--json", "-"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) >= TWELVE and set(rows) == set(names())
    assert rows["adap_klucb"]["claim"] == "epsilon-global DP" and rows["adap_klucb"]["anytime"]
    assert rows["ucb"]["claim"] == "none" and not rows["dp_se"]["anytime"]
    assert rows["dp_ucb"]["parameters"] == {
        "arms": None,
        "epsilon": 1.0,
        "horizon": None,
        "gamma": 0.1,
    }
    assert all("(" in row["paper"] for row in rows.values())
    assert run(["list"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in TWELVE)


@pytest.mark.parametrize("name", ["adap_klucb", "dp_se", "dp_ucb", "ucb"])
def test_simulate_prints_json(name, capsys):
    command = ["simulate", name, "--env", "C2", "--horizon", "1e4", "--runs", "3", "--json", "-"]
    assert run(command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["horizon"] == 10_000 and report["runs"] == 3
    assert report["regret"]["mean"] > 0 and report["regret"]["std"] >= 0
    assert sum(report["pulls"]) == pytest.approx(10_000)
    assert len(report["curve"]["time"]) == len(report["curve"]["mean"])


def test_simulate_prints_a_table_and_writes_files(tmp_path, capsys):
    data, picture = tmp_path / "run.json", tmp_path / "run.svg"
    command = ["simulate", "adap_ucb", "--means", "0.9,0.5", "--alpha", "2", "--runs", "4"]
    command += ["--per-run", "--json", str(data), "--plot", str(picture), "--horizon", "1000"]
    assert run(command) == 0
    table = capsys.readouterr().out
    assert "regret" in table and "None" not in table and "e+0" not in table
    report = json.loads(data.read_text())
    assert len(report["pulls_per_run"]) == 4 and report["parameters"]["alpha"] == 2.0
    first = picture.read_bytes()
    assert run(command) == 0 and picture.read_bytes() == first


BAD = [
    ("adap_klucb --epsilon 0", "epsilon=0.0 must be positive."),
    ("adap_klucb --epsilon -1", "epsilon=-1.0 must be positive."),
    ("adap_klucb --epsilon nan", "epsilon=nan must be a number, not nan."),
    ("adap_klucb --epsilon inf", "epsilon=inf must be finite."),
    ("adap_klucb --epsilon one", "epsilon=one must be a number."),
    ("adap_klucb --alpha 0", "alpha=0.0 must be positive."),
    ("adap_klucb --alpha -2", "alpha=-2.0 must be positive."),
    ("adap_klucb --means 0.5", "means=0.5 must name at least two arms."),
    ("adap_klucb --means 0.5,1.2", "means=1.2 must lie in [0, 1]."),
    ("adap_klucb --means=-0.1,0.5", "means=-0.1 must lie in [0, 1]."),
    ("adap_klucb --means 0.5,nan", "means=nan must lie in [0, 1]."),
    ("adap_klucb --means 0.5,x", "means=0.5,x must be numbers separated by commas"),
    ("adap_klucb --env C2 --means 0.5,0.1", "means=0.5,0.1 cannot be combined with --env."),
    ("adap_klucb --env c2", "No environment 'c2'. Did you mean 'C2'?"),
    ("adap_klucb --rewards gauss", "No reward law 'gauss'."),
    ("adap_klcub", "No algorithm 'adap_klcub'. Did you mean 'adap_klucb'?"),
    ("adap_klucb --horizon 4", "horizon=4 must be at least 5: one round per arm."),
    ("dp_ucb --horizon 4", "horizon=4 must be at least 5: one round per arm."),
    ("adap_klucb --horizon 1.5", "horizon=1.5 must be a whole number, such as 1000 or 1e7."),
    ("adap_klucb --horizon nan", "horizon=nan must be a whole number, such as 1000 or 1e7."),
    ("adap_klucb --horizon 1e30", "horizon=1e30 must be a whole number, such as 1000 or 1e7."),
    ("adap_klucb --horizon 1e20", "horizon=100,000,000,000,000,000,000 must be below 2^63, as"),
    ("adap_klucb --horizon 1e17", "horizon=100,000,000,000,000,000 must be at most 2^53."),
    ("adap_klucb --runs 0", "runs=0 must be at least 1."),
    ("adap_klucb --seed -1", "seed=-1 must be at least 0."),
    ("adap_klucb --jobs 0", "jobs=0 must be at least 1."),
    ("adap_klucb --param beta=1", "beta=1 is not a parameter of adap_klucb"),
    ("adap_klucb --param beta", "param=beta must look like name=value."),
    ("dp_se --param beta=2", "beta=2 must be at most 1."),
    ("ucb --epsilon 1", "epsilon=1.0 is not a parameter of ucb; it takes arms, grid, rounding."),
    ("adap_klucb --plot x.gif", "plot=x.gif must end in .png, .svg, .pdf."),
    ("adap_klucb --json /nowhere/x.json", "file=/nowhere/x.json cannot be written"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[words for words, _ in BAD])
def test_bad_input_costs_one_line(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["simulate", *words.split()]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith(f"dpaudit: {message}") and streams.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_reproduce_refuses_a_file_as_folder(tmp_path, capsys):
    blocked = tmp_path / "taken"
    blocked.write_text("x")
    assert run(["reproduce", "alpha", "--out", str(blocked)]) == 2
    assert capsys.readouterr().err == f"dpaudit: out={blocked} cannot be made: File exists.\n"
    for words in (["--runs", "0"], ["--horizon", "3"], ["--jobs", "0"]):
        assert run(["reproduce", "alpha", "--out", str(tmp_path / "new"), *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def python_m(*words, **options):
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-m", "dpaudit", *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        **options,
    )


def test_a_real_process_exits_with_two_and_no_traceback():
    done = python_m("simulate", "adap_klucb", "--epsilon", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dpaudit: epsilon=-1.0 must be positive.\n"
    assert python_m("simulate").returncode == 2
    assert python_m("frobnicate").returncode == 2


def test_an_unexpected_error_does_not_look_like_a_refutation(monkeypatch, capsys):
    def broken(arguments):
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr("dpaudit.commands.list.execute", broken)
    assert run(["list"]) == 2
    error = capsys.readouterr().err
    assert "surprise" in error and error.endswith("nothing is concluded.\n")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from dpaudit.cli import run; run(['--help']); "
        "print([m for m in ('numpy', 'numba', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout.endswith("[]\n")


def test_episode_simulation_does_not_import_numba():
    script = (
        "import sys; from dpaudit.cli import run; "
        "run(['simulate', 'adap_klucb', '--runs', '2', '--json', '-']); "
        "print('numba' in sys.modules)"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout.endswith("False\n")


def test_ctrl_c_keeps_the_finished_runs(capsys, monkeypatch):
    from dpaudit.core import simulate as simulator

    whole = simulator._parallel

    def cut(work, jobs):
        yield next(iter(whole(work, jobs)))
        raise KeyboardInterrupt

    monkeypatch.setattr(simulator, "_parallel", cut)
    words = ("simulate", "dp_ucb", "--means", "0.9,0.5", "--horizon", "100", "--runs", "7")
    assert run([*words, "--json", "-"]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["runs"] == 1
    assert err == "dpaudit: interrupted; the 1 of 7 runs that were finished are kept.\n"

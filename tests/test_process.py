"""One process per target: what it sees, what it may break, and what is kept when it dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from broken_code import GOOD, method

import dpaudit
from dpaudit import process, testing
from dpaudit.cli import run
from dpaudit.core.environments import Bernoulli
from dpaudit.core.simulate import simulate
from dpaudit.errors import Contradiction, DpauditError, InvalidArgument
from dpaudit.process import Call, Died, Failed, call, side_by_side
from dpaudit.simulation import Simulation
from dpaudit.testing import PrivacyViolation, assert_global_dp

SHARED = (
    "import common\n"
    + GOOD
    + """
    def release(self, rows):
        noise = Laplace(common.SCALE / len(rows))
        return Release(rows.arm, rows, noise, divisor=len(rows))
"""
)
NOTHING = "nothing more is concluded."
QUICK = ("--method", "structure", "--horizon", "50")
pytestmark = pytest.mark.usefixtures("cold")


@pytest.fixture(autouse=True)
def unheard():
    """Keep the claims of these tests out of this run's summary."""
    token = testing.session.set(testing.ALONE)
    yield
    testing.session.reset(token)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("common", "m"):
        sys.modules.pop(name, None)


@pytest.fixture
def two(here):
    """Two folders with a common.py each; the second one's noise is ten times too small."""
    for folder, scale in (("right", "1"), ("wrong", "__import__('fractions').Fraction(1, 10)")):
        (here / folder).mkdir()
        (here / folder / "m.py").write_text(SHARED)
        (here / folder / "common.py").write_text(f"SCALE = {scale}\n")
    return here


def test_a_lock_and_a_gate_judge_each_file_with_its_own_modules(two, capsys):
    words = ("right/m.py:Mine", "wrong/m.py:Mine", "--jobs", "2", *QUICK, "--reason", "a test")
    assert run(("lock", *words)) == 0
    claims = json.loads((two / "dpaudit.lock").read_text())["claims"]
    assert [it["verdict"] for it in claims] == ["PROVED", "SILENT"]
    assert [sorted(it["sources"])[-2:] for it in claims] == [
        [f"{folder}/common.py", f"{folder}/m.py"] for folder in ("right", "wrong")
    ]
    capsys.readouterr()
    (two / "right" / "common.py").write_text("SCALE = 0.1\n")
    assert run(("gate", "--jobs", "2", "--json", "-")) == 4
    judged = json.loads(capsys.readouterr().out)["claims"]
    assert [it["verdict"] for it in judged] == ["SILENT", "SILENT"]


def test_two_files_in_one_run_of_the_tests(two):
    # neither the working directory nor the order of the path takes the place of a file's own folder
    (two / "common.py").write_text("raise RuntimeError('the wrong one')")
    sys.path[:] = [str(two), *sys.path, str(two / "right")]
    assert_global_dp("right/m.py:Mine", method="structure", horizon=50)
    with pytest.raises(PrivacyViolation, match="charged 10"):
        assert_global_dp("wrong/m.py:Mine", method="structure", horizon=50)
    assert not {"m", "common"} & set(sys.modules)


def test_load_takes_every_target_and_refuses_a_module_of_another_folder(two):
    assert dpaudit.load("adap_ucb", arms=3).arms == 3
    assert dpaudit.load("mutants/noise_halved", arms=2).arms == 2
    assert dpaudit.load("right/m.py:Mine", arms=2, epsilon=0.5).epsilon == 0.5
    assert dpaudit.load("right/m.py:Mine", arms=2).arms == 2
    with pytest.raises(InvalidArgument, match="needs the common beside it"):
        dpaudit.load("wrong/m.py:Mine", arms=2)
    assert dpaudit.load("adap_ucb").arms == 2


def test_a_module_by_a_computed_name_has_its_digest(here):
    (here / "m.py").write_text("import importlib\nimportlib.import_module('hid' + 'den')\n" + GOOD)
    (here / "hidden.py").write_text("")
    assert run(("lock", "m.py:Mine", *QUICK)) == 0
    assert "hidden.py" in json.loads((here / "dpaudit.lock").read_text())["claims"][0]["sources"]


def test_what_was_found_before_a_crash_is_printed_and_kept(here, capfd):
    # only an audit sends the declaration to another process
    (here / "m.py").write_text(method("__getstate__", "os.kill(os.getpid(), 11)"))
    words = ("check", "m.py:Mine", "--horizon", "50", "--method", "structure,sample")
    assert run((*words, "--json", "o.json")) == 2
    out, err = capfd.readouterr()
    assert err == f"dpaudit: TARGET=m.py:Mine crashed its process (SIGSEGV); {NOTHING}\n"
    assert "structure  PROVED" in out
    data = json.loads((here / "o.json").read_text())
    assert [it["status"] for it in data["findings"]] == ["PROVED", "SILENT"]
    assert data["failure"] in err


def test_what_a_target_prints_and_leaves_behind_disturbs_nobody(here, capfd):
    text = GOOD + (
        "    def start(self):\n        print('hello', flush=True)\n        return super().start()\n"
        "import atexit, subprocess\natexit.register(lambda: time.sleep(1e6))\n"
        "threading.Thread(target=lambda: time.sleep(1e6)).start()\n"
        "left = subprocess.Popen(['sleep', '1000'])\n"
        "open('pid', 'w').write(str(left.pid))\nos.chdir('/')\n"
    )
    (here / "m.py").write_text(text)
    assert run(("check", "m.py:Mine", *QUICK, "--json", "-")) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["verdict"] == "PROVED"
    assert not err
    assert gone(int((here / "pid").read_text()))


def gone(pid):
    """Tell whether a process is no more than an entry that nobody has collected."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return state.stdout.strip()[:1] in ("", "Z")


def test_ctrl_c_keeps_what_was_found_and_ends_the_process(here):
    lines = ("open('pid', 'w').write(str(os.getpid()))", "time.sleep(1e6)")
    (here / "m.py").write_text(method("release", *lines))
    words = [sys.executable, "-m", "dpaudit", "check", "m.py:Mine", "--budget", "900"]
    place = str(Path(dpaudit.__file__).parents[1])
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": place},
        # a shell that runs the tests in the background has its children ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:
        assert "claims epsilon = 1" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out = running.stdout.read()
    assert running.returncode == 130
    assert "Interrupted" in out
    if (here / "pid").exists():
        assert gone(int((here / "pid").read_text()))


def test_a_file_is_simulated_as_the_same_class_is_here(here, capsys):
    (here / "m.py").write_text(GOOD)
    asked = Simulation("m.py:Mine", {"epsilon": 0.5}, (0.9, 0.5))
    apart, known = asked.run(300, 7, seed=3), dpaudit.load("m.py:Mine", arms=2, epsilon=0.5)
    alike = simulate(known, Bernoulli((0.9, 0.5)), 300, 7, seed=3)
    assert apart.algorithm == "m.py:Mine"
    assert (apart.pulls_per_run == alike.pulls_per_run).all()
    assert (apart.curves == alike.curves).all()


def test_every_command_takes_a_file_or_a_module(here, capsys):
    (here / "m.py").write_text(GOOD)
    assert run(("explain", "m:Mine", "--horizon", "9")) == 0
    words = ("adap_ucb", "m.py:Mine", "--means", "0.9,0.5", "--runs", "2")
    assert run(("bounds", *words, "--horizon", "100", "--json", "-")) == 0
    out = capsys.readouterr().out
    assert "m.py:Mine" in out
    assert "m" not in sys.modules


def answered(tell, value):
    """Answer what was asked; fail as it says."""
    if value == "contradict":
        raise Contradiction("both")
    if value == "weak":
        raise Failed("weak", 4)
    return [value, str(Path.cwd())]


def work(value):
    return Call("x", f"{__name__}:answered", {"value": value})


def test_answers_and_errors_are_data(here, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    assert call(work(float("inf"))) == ["inf", str(here)]
    with pytest.raises(Contradiction, match="both"):
        call(work("contradict"))
    with pytest.raises(Failed, match="weak") as caught:
        call(work("weak"))
    assert caught.value.exit_code == 4
    with pytest.raises(DpauditError, match="cannot be judged: ModuleNotFoundError"):
        call(Call("x", "no_such_module:answered", {}))


def test_a_process_that_cannot_be_started_says_why(monkeypatch):
    monkeypatch.setattr(process, "START", "raise SystemExit('no') # {!r}")
    with pytest.raises(Died, match="TARGET=x could not be started: no;"):
        call(work(1))


def test_side_by_side_keeps_the_order_and_stops_at_an_error():
    begun = []
    assert list(side_by_side(str, [3, 1, 2], 2, begun.append)) == ["3", "1", "2"]
    assert list(side_by_side(str, [3, 1, 2], 1)) == ["3", "1", "2"]
    assert begun == [3, 1, 2]
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda it: 1 / it, [1, 0, 2], 2))

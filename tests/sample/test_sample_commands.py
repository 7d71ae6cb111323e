"""The commands: exit codes, one-line errors, replayable witnesses, resumable kills."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from dpaudit.cli import run

FILE = str(Path(__file__).parent / "policies.py")
SMALL = ["--arms", "2", "--horizon", "30", "--runs", "3000"]


def test_refuted_exits_1_and_the_witness_replays(tmp_path, capsys):
    report = tmp_path / "report.json"
    assert run(["audit", f"{FILE}:FirstRewardPlain", *SMALL, "--json", str(report)]) == 1
    assert "REFUTED" in capsys.readouterr().out
    data = msgspec.json.decode(report.read_bytes())
    assert data["status"] == "REFUTED" and data["witness"]["pair"]["position"] in (0, 1)
    replay = ["audit", f"{FILE}:FirstRewardPlain", "--replay", str(report), "--seed", "9"]
    assert run(replay) == 1
    assert "REFUTED again" in capsys.readouterr().out
    assert run(["audit", f"{FILE}:Private", "--replay", str(report)]) == 2
    assert "witness against another target" in capsys.readouterr().err
    for part, value, message in [
        ("rounds", None, "parts missing or wrong"),
        ("delta", "x", "parts missing or wrong"),
        ("event", {}, "is not an event"),
        ("event", {**data["witness"]["event"], "of": {"start": 0, "stop": "x"}}, "is not an event"),
        ("event", {**data["witness"]["event"], "keys": ["x"]}, "is not an event"),
        ("pair", 3, "pair=(data) must hold"),
    ]:
        broken = {**data, "witness": {**data["witness"], part: value}}
        report.write_bytes(msgspec.json.encode(broken))
        assert run(replay) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
    report.write_text('{"dpaudit": "witness", "schema": 2}')
    assert run(replay) == 2
    assert "`dpaudit replay FILE --target TARGET` computes them anew" in capsys.readouterr().err


def test_silent_exits_0_in_words(capsys):
    assert run(["audit", f"{FILE}:Private", *SMALL]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100
    assert "SILENT" in out and "which is not a proof" in " ".join(out.split())
    assert "excluded      every epsilon below" in out


def test_declared_algorithms(capsys):
    arms = ["--arms", "2", "--horizon", "300", "--runs", "2000"]
    assert run(["audit", "ucb", *arms]) == 1
    assert run(["audit", "adap_klucb", *arms, "--param", "alpha=2"]) == 0
    assert run(["audit", "dp_se", *arms]) == 0


def test_examples_are_judged_by_relative_path(monkeypatch, capsys):
    monkeypatch.chdir(Path(__file__).parents[2] / "examples")
    leaky = ["leaky_bandit.py:LeakyBatches", "--arms", "2", "--horizon", "30"]
    assert run(["audit", *leaky, "--runs", "2000"]) == 1
    private = ["private_bandit.py:PrivateBatches", "--arms", "2", "--horizon", "30"]
    assert run(["audit", *private, "--runs", "2000"]) == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["audit", "ucbb"], "Did you mean 'ucb'"),
        (["audit", "ucb", "--error", "0"], "error=0.0 must lie strictly between 0 and 1."),
        (["audit", "ucb", "--error", "1"], "error=1.0 must lie strictly between 0 and 1."),
        (["audit", "ucb", "--epsilon", "-1"], "epsilon=-1.0 must be positive."),
        (["audit", "ucb", "--runs", "5"], "runs=5 must be at least"),
        (["audit", "ucb", "--jobs", "0"], "jobs=0 must be at least 1."),
        (["audit", "ucb", "--budget", "-1"], "budget=-1.0 must be positive."),
        (["audit", "ucb", "--max-memory", "0"], "max-memory=0.0 must be positive."),
        (["audit", "ucb", "--param", "alpha"], "param=alpha must look like name=value."),
        (["audit", "ucb", "--param", "alpha=1"], "alpha=1 is not a parameter of ucb"),
        (["audit", "ucb", "--resume", "/nowhere/log"], "resume=/nowhere/log cannot be read"),
        (["audit", f"{FILE}:hang", "--time-limit", "0.2"], "did not finish a run within"),
        (["audit", f"{FILE}:Missing"], "No object in"),
        (["audit", f"{FILE}:Private", "--pair", "/nowhere.json"], "pair=/nowhere.json cannot be"),
        (["audit", f"{FILE}:Private", "--epsilon", "800"], "epsilon=800.0 must be at most 600"),
        (["audit", f"{FILE}:Private", "--arms", "40000"], "arms=40,000 must be at most 32,767."),
        (["audit", f"{FILE}:Private", "--one-run", "--delta", "0.1"], "delta=0.1 must be 0 for a"),
        (["audit", "ucb", "--runs", "0"], "runs=0 must be at least 1."),
        (["audit", "ucb", "--epsilon", "x"], "epsilon=x must be a number."),
        (["audit", "nofile.py:f"], "TARGET=nofile.py:f cannot be loaded: there is no file"),
        (["audit", f"{FILE}:Private", "--time-limit", "0"], "time_limit=0.0 must be positive."),
    ],
)
def test_bad_input_is_one_line_and_exit_2(argv, message, capsys):
    assert run(argv) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_pair_that_is_not_neighbouring_is_refused(tmp_path, capsys):
    path = tmp_path / "pair.json"
    path.write_text('{"stream": [0, 0, 1], "neighbour": [1, 1, 1]}')
    assert run(["audit", f"{FILE}:Private", "--pair", str(path)]) == 2
    assert "differing positions=2 must be 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"stream": ["a"], "neighbour": [1]}', "pair=(data) must hold"),
        ('{"stream": "001", "position": 1, "value": 1}', "pair=(data) must hold"),
        ('{"stream": [[0, 3, 4]], "position": 0, "value": 1}', "pair=(data) must hold"),
        ('{"stream": [[0, 1.5]], "position": 0, "value": 1}', "times of a piece=1.5 must be"),
        ('{"stream": [0, 0], "position": 0.5, "value": 1}', "position=0.5 must be an integer."),
        ('{"stream": [0, 0], "position": 0, "value": 1, "prefixes": "x"}', "prefixes=x must be"),
    ],
)
def test_pairs_that_are_no_pairs_are_refused(tmp_path, capsys, text, message):
    path = tmp_path / "pair.json"
    path.write_text(text)
    assert run(["audit", f"{FILE}:Private", "--pair", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_prefixes_may_be_one_number(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text('{"stream": [0, 0, 0], "position": 0, "value": 1, "prefixes": 2}')
    assert run(["audit", f"{FILE}:Private", "--pair", str(path), "--runs", "100"]) == 0


def test_more_arms_than_steps_are_audited(capsys):
    assert run(["audit", f"{FILE}:Private", "--arms", "12", "--horizon", "6", "--runs", "400"]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os\ndef policy(stream, rng):\n    os._exit(0)\n", "ended its process"),
        ("import os\nos._exit(0)\n", "ended its process with exit code 0"),
        ("while True:\n    pass\n", "did not end in its time and was stopped"),
    ],
)
def test_a_target_that_ends_or_hangs_its_process_is_one_line_and_exit_2(
    tmp_path, capsys, text, said
):
    path = tmp_path / "ends.py"
    path.write_text(text)
    assert run(["audit", f"{path}:policy", "--time-limit", "0.5"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_worker_that_dies_is_one_line_and_exit_2(capsys):
    target = ["audit", f"{FILE}:dies", "--arms", "2", "--horizon", "6", "--runs", "1000"]
    assert run([*target, "--jobs", "2"]) == 2
    assert "a worker process died" in capsys.readouterr().err


@pytest.mark.parametrize("position", [-1, 3])
def test_a_pair_that_differs_nowhere_in_the_stream_is_refused(tmp_path, capsys, position):
    path = tmp_path / "pair.json"
    path.write_text(f'{{"stream": [0, 0, 1], "position": {position}, "value": 0}}')
    assert run(["audit", f"{FILE}:Private", "--pair", str(path)]) == 2
    assert f"position={position} must lie in 0..2." in capsys.readouterr().err


def kill_and_resume(tmp_path: Path, kills: int) -> None:
    """Kill an audit at growing moments; what is resumed ends with the uninterrupted bytes."""
    base = [sys.executable, "-m", "dpaudit", "audit", f"{FILE}:Private", *SMALL]
    whole, cut = tmp_path / "whole.json", tmp_path / "cut.json"
    assert subprocess.run([*base, "--json", str(whole)], capture_output=True).returncode == 0
    log = tmp_path / "audit.log"
    done = False
    for attempt in range(kills):
        option = "--resume" if log.exists() else "--log"
        child = subprocess.Popen(
            [*base, option, str(log), "--json", str(cut)], stdout=subprocess.DEVNULL
        )
        time.sleep(1.2 + 0.3 * (attempt * 7 % 5))
        done = child.poll() is not None
        if done:
            break
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    option = "--resume" if log.exists() else "--log"
    finish = [*base, option, str(log), "--json", str(cut), "--jobs", "2"]
    assert subprocess.run(finish, capture_output=True).returncode == 0
    assert cut.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_ten_kills_resume_to_the_same_bytes(tmp_path):
    kill_and_resume(tmp_path, 10)


def test_one_run(capsys):
    options = ["--arms", "2", "--horizon", "2000", "--one-run"]
    assert run(["audit", "ucb", *options, "--epsilon", "0.05"]) == 1
    assert "guesses right" in capsys.readouterr().out
    assert run(["audit", "adap_klucb", *options]) == 0
    assert "not a proof" in capsys.readouterr().out
    assert run(["audit", f"{FILE}:Private", *options[:2], "--horizon", "20", "--one-run"]) == 0
    said = capsys.readouterr().out
    assert "16 runs, made again" in said and "neighbour" not in said  # there was none


WEAK = """
from dataclasses import dataclass
from dpaudit.core.algorithm import Release
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.noise import Laplace

@dataclass(frozen=True, kw_only=True)
class Weak(AdapUCB):
    def release(self, rows):
        return Release(rows.arm, rows, Laplace(0.05), divisor=len(rows))
"""


def test_an_algorithm_declared_in_a_file_is_run_as_declared(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(WEAK)
    options = ["--arms", "2", "--horizon", "100", "--runs", "4000"]
    outputs = []
    for jobs in ("1", "2"):
        assert run(["audit", f"{path}:Weak", *options, "--jobs", jobs]) == 1
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert "REFUTED" in outputs[0]
    module = "dpaudit.core.algorithms.ucb:UCB"
    assert run(["audit", module, "--arms", "2", "--horizon", "100", "--runs", "1000"]) == 1


def test_what_a_proof_stumbles_on_is_where_an_audit_looks_first():
    """Too little noise charges a reward too much: pairs at that decision are favoured ones."""
    from dpaudit.commands.audit import _leads
    from dpaudit.sample.boxes import file_box

    wrong = file_box(f"{FILE}:TooLittleNoise", 2, 30, 1.0, 60.0)
    found = [lead.pair(30) for lead in _leads(wrong, 1.0)]
    assert found and all(pair.name.startswith("aimed") for pair in found)
    assert not _leads(file_box(f"{FILE}:Private", 2, 30, 1.0, 60.0), 1.0)

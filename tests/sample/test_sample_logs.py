"""Logs of audits: continued only by the same code, and never in place of another file."""

import os

import msgspec
import pytest

from dpaudit.cli import run

HELPER = "import numpy as np\nSCALE = 1.0\n"
POLICY = """
from log_helper import SCALE

def policy(stream, rng):
    noisy = float(stream[0]) + rng.laplace(0, SCALE)
    return [0] + [int(noisy > 0.5)] * (len(stream) - 1)
"""
DECLARED = """
from dataclasses import dataclass
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from log_helper import SCALE

@dataclass(frozen=True, kw_only=True)
class Mine(AdapUCB):
    pass
"""
OPTIONS = ["--arms", "2", "--horizon", "6", "--runs", "400"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "log_helper", raising=False)
    (tmp_path / "log_helper.py").write_text(HELPER)
    (tmp_path / "policy.py").write_text(POLICY)
    (tmp_path / "mine.py").write_text(DECLARED)
    return tmp_path


@pytest.mark.parametrize("target", ["policy.py:policy", "mine.py:Mine"])
def test_a_log_of_other_code_is_refused_with_the_file_that_changed(folder, target, capsys):
    log = folder / "audit.log"
    audit = ["audit", f"{folder}/{target}", *OPTIONS]
    assert run([*audit, "--log", str(log)]) == 0
    whole = log.read_bytes()
    assert run([*audit, "--resume", str(log)]) == 0
    (folder / "log_helper.py").write_text(HELPER.replace("1.0", "0.1"))
    assert run([*audit, "--resume", str(log)]) == 2
    error = capsys.readouterr().err
    assert "is the log of other code: log_helper.py has changed" in error
    assert error.count("\n") == 1 and log.read_bytes() == whole


def test_a_log_of_other_packages_or_another_engine_is_refused(folder, capsys):
    log = folder / "audit.log"
    audit = ["audit", f"{folder}/policy.py:policy", *OPTIONS]
    assert run([*audit, "--log", str(log)]) == 0
    first, *rest = log.read_bytes().splitlines(keepends=True)
    header = msgspec.json.decode(first)[1]
    for change, said in [
        ({"target": {**header["target"], "packages": {"numpy": "0"}}}, "numpy has changed"),
        ({"engine": "0"}, "its engine is different"),
    ]:
        line = msgspec.json.encode(["audit", {**header, **change}])
        log.write_bytes(line + b"\n" + b"".join(rest))
        assert run([*audit, "--resume", str(log)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", [b"my notes", b"", b"[", b"my notes\n", b"[1]\n", b'["audit", 3]\n', b"\x00\xff"]
)
def test_a_file_that_is_no_log_is_left_alone(folder, capsys, text):
    path = folder / "notes"
    path.write_bytes(text)
    code = run(["audit", f"{folder}/policy.py:policy", *OPTIONS, "--resume", str(path)])
    if b'["audit",'.startswith(text):
        assert code == 0  # the beginning of a log that was killed at once
        return
    assert code == 2 and "is not a log of an audit" in capsys.readouterr().err
    assert path.read_bytes() == text


def test_what_is_no_regular_file_is_left_alone(folder, capsys):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    assert run(["audit", f"{folder}/policy.py:policy", *OPTIONS, "--resume", str(pipe)]) == 2
    assert "is not a regular file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda block: {**block, "counts": [[1e9, 0]] * len(block["counts"])}, "cannot give"),
        (lambda block: {**block, "counts": [[-1, 0]] * len(block["counts"])}, "cannot give"),
        (lambda block: {**block, "counts": []}, "cannot give"),
        (lambda block: {**block, "marks": [[10**6, "a", "b"]]}, "cannot give"),
        (lambda block: {**block, "counts": [["x", None]]}, "is not a block"),
        (lambda block: {"counts": block["counts"]}, "is not a block"),
        (lambda block: 7, "is not a block"),
    ],
)
def test_damaged_blocks_are_refused(folder, capsys, change, said):
    log = folder / "audit.log"
    audit = ["audit", f"{folder}/policy.py:policy", *OPTIONS]
    assert run([*audit, "--log", str(log)]) == 0
    lines = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]
    place = next(n for n, (name, _) in enumerate(lines) if name.startswith("block"))
    lines[place][1] = change(lines[place][1])
    log.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    capsys.readouterr()
    assert run([*audit, "--resume", str(log)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_forged_evidence_is_not_believed(folder, capsys):
    """Counts that would refute are made again before they do."""
    log = folder / "audit.log"
    audit = ["audit", f"{folder}/policy.py:policy", *OPTIONS]
    assert run([*audit, "--log", str(log)]) == 0
    lines = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()]
    rounds = 10
    for name, block in lines:
        if name.startswith("block"):
            block["counts"] = [[len(block["marks"]), 0] for _ in block["counts"]]
            block["marks"] = [[n, "0" * 16, "1" * 16] for n, _, _ in block["marks"]]
        elif name.startswith("training"):
            for event in block:
                event |= {"swapped": 0, "hits": rounds, "hits_other": 0, "rounds": rounds}
    log.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    assert run([*audit, "--resume", str(log)]) == 2
    assert "does not repeat itself" in capsys.readouterr().err

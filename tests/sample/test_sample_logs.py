"""Logs of audits: continued only by the same code, and never in place of another file."""

import os
import sys
from pathlib import Path

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


def written(folder):
    sys.modules.pop("log_helper", None)
    (folder / "log_helper.py").write_text(HELPER)
    (folder / "policy.py").write_text(POLICY)
    (folder / "mine.py").write_text(DECLARED)
    return folder


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Return an audit and the lines of its log."""
    folder = written(tmp_path_factory.mktemp("logged"))
    audit = ["audit", f"{folder}/policy.py:policy", *OPTIONS]
    log = folder / "audit.log"
    assert run([*audit, "--log", str(log)]) == 0
    return audit, log.read_bytes()


def lines_of(logged):
    return [msgspec.json.decode(line) for line in logged[1].splitlines()]


def resumed(logged, path, lines):
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return run([*logged[0], "--resume", str(path)])


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


def test_a_log_of_other_packages_or_another_engine_is_refused(logged, tmp_path, capsys):
    (_, header), *rest = lines_of(logged)
    for change, said in [
        ({"target": {**header["target"], "packages": {"numpy": "0"}}}, "numpy has changed"),
        ({"engine": "0"}, "its engine is different"),
    ]:
        lines = [["audit", {**header, **change}], *rest]
        assert resumed(logged, tmp_path / "audit.log", lines) == 2
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


def more(counts, by):
    """Counts of one cell changed."""
    return [[[[row[0] + by, *row[1:]] for row in both] for both in piece] for piece in counts]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda block: {**block, "counts": more(block["counts"], 1)}, "cannot give"),
        (lambda block: {**block, "counts": more(block["counts"], -(10**9))}, "cannot give"),
        (lambda block: {**block, "counts": []}, "cannot give"),
        (lambda block: {**block, "tables": []}, "is not a block"),
        (lambda block: {**block, "marks": [[10**6, "a", "b"]]}, "cannot give"),
        (lambda block: {**block, "counts": [["x", None]]}, "is not a block"),
        (lambda block: {"counts": block["counts"]}, "is not a block"),
        (lambda block: 7, "is not a block"),
    ],
)
def test_damaged_blocks_are_refused(logged, tmp_path, capsys, change, said):
    lines = lines_of(logged)
    place = next(n for n, (name, it) in enumerate(lines) if "block" in name and it["counts"][0])
    lines[place][1] = change(lines[place][1])
    assert resumed(logged, tmp_path / "audit.log", lines) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_logged_evidence_is_made_again_before_it_refutes(tmp_path, capsys):
    """The log of a refutation, with other digests of its runs: nothing in it is believed."""
    target = f"{Path(__file__).parent}/policies.py:FirstRewardPlain"
    log = tmp_path / "audit.log"
    audit = ["audit", target, *OPTIONS]
    assert run([*audit, "--log", str(log)]) == 1
    lines = lines_of((audit, log.read_bytes()))
    for name, block in lines:
        if name.startswith("block"):
            block["marks"] = [[n, "0" * 16, "1" * 16] for n, _, _ in block["marks"]]
    assert resumed((audit, b""), tmp_path / "forged.log", lines) == 2
    assert "did not come out again as it was logged" in capsys.readouterr().err

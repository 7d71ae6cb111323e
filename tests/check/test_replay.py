"""A witness is data: it names what dpaudit has, or what the user names too, and runs no more."""

from __future__ import annotations

import json
import os

import pytest

from dpaudit.cli import run
from dpaudit.replay import line, read
from dpaudit.verdict import Enclosure, Witness

WITNESS = {
    "dpaudit": "witness",
    "schema": 2,
    "target": "ucb",
    "parameters": {"arms": 2},
    "actions": [0, 1, 0],
    "stream": [0.0, 0.0, 0.0],
    "neighbour": [0.0, 1.0, 0.0],
    "position": 1,
    "likelihood": {"lower": 1.0, "upper": 1.0, "certified": True},
    "likelihood_neighbour": {"lower": 0.0, "upper": 0.0, "certified": True},
    "loss": {"lower": "inf", "upper": "inf", "certified": True},
    "epsilon": 1.0,
}
OWN = """
from dataclasses import dataclass
from pathlib import Path

from dpaudit.core.algorithms.ucb import UCB

Path("imported").touch()


@dataclass(frozen=True, kw_only=True)
class Own(UCB):
    label: str = "plain"
    weight: float = 1.0


def made(arms=2):
    return Own(arms=arms, weight=2.0)
"""


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Return a function that replays a changed witness: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)

    def tell(change, *words):
        data = change if isinstance(change, bytes) else json.dumps(WITNESS | change).encode()
        (tmp_path / "w.json").write_bytes(data)
        capsys.readouterr()
        code = run(["replay", "w.json", *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, " ".join(out.split()), err

    return tell


def test_the_witness_itself(told):
    code, out, err = told({})
    assert (code, err) == (0, "") and "CONFIRMED" in out


def test_the_first_schema_said_neither_kind_nor_version(told):
    old = {name: value for name, value in WITNESS.items() if name not in ("dpaudit", "schema")}
    code, out, err = told(json.dumps(old).encode())
    assert (code, err) == (0, "") and "CONFIRMED" in out


@pytest.mark.parametrize(
    "target",
    ["os:popen", "os:system", "subprocess:check_output", "own.py:Own", "own:Own", "./own.py:made"],
)
def test_code_outside_dpaudit_does_not_run_unless_the_user_names_it(told, target):
    code, out, err = told({"target": target, "parameters": {"cmd": "touch imported"}})
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"to run it, add --target {target}" in err
    assert not os.path.exists("imported")


def test_the_user_names_another_object_than_the_file(told):
    code, _, err = told({"target": "own.py:Own"}, "--target", "os:popen")
    assert (code, err.count("\n")) == (2, 1) and "is not what w.json is about" in err
    code, _, err = told({}, "--target", "own.py:Own")
    assert code == 2 and not os.path.exists("imported")


def test_code_that_the_user_names_too(told):
    parameters = {"arms": 2, "label": "plain", "weight": 1}
    code, out, err = told(
        {"target": "own.py:Own", "parameters": parameters}, "--target", "own.py:Own"
    )
    assert (code, err) == (0, "") and "own.py:Own with arms 2, label plain, weight 1" in out
    # what a function fixes must be what the file says
    change = {"target": "own.py:made", "parameters": parameters | {"weight": 2.0}}
    assert told(change, "--target", "own.py:made")[0] == 0
    change["parameters"]["weight"] = 1.0
    code, _, err = told(change, "--target", "own.py:made")
    assert code == 2 and "weight=1.0 is not a parameter of made" in err


def test_a_command_in_a_parameter_is_no_number(told):
    words = ("--target", "os:popen")
    code, _, err = told({"target": "os:popen", "parameters": {"cmd": "touch imported"}}, *words)
    assert (code, err) == (2, "dpaudit: cmd=touch imported must be a number.\n")
    assert not os.path.exists("imported")


def test_an_impossible_sequence_confirms_nothing(told):
    rows = {"actions": [1, 1, 1], "loss": {"lower": 0.0, "upper": 0.0, "certified": True}}
    code, _, err = told(rows | {"epsilon": -1.0})
    assert (code, err.count("\n")) == (2, 1) and "epsilon = -1 must be positive" in err
    code, out, _ = told(rows | {"epsilon": 1e-300})
    assert code == 1 and "NOT CONFIRMED" in out and "impossible on both streams" in out
    assert told(rows, "--epsilon", "-1")[2] == "dpaudit: epsilon=-1.0 must be positive.\n"


def test_the_claim_is_the_algorithm_s_own_whatever_the_file_says(told):
    change = {"target": "adap_ucb", "parameters": {"arms": 2, "epsilon": 1.0, "alpha": 3.1}}
    code, out, _ = told(change | {"epsilon": 0.001})
    assert code == 1 and "not above 1." in out and "The file is about a claim of 0.001" in out
    assert told(change | {"epsilon": 0.001}, "--epsilon", "0.001")[0] == 0


FORGED = {
    "unknown parameter": ({"parameters": {"arms": 2, "cmd": "ls"}}, "cmd=ls is not a parameter"),
    "text for a number": ({"parameters": {"arms": "2"}}, "arms=2 must be a number"),
    "truth for a number": ({"parameters": {"arms": True}}, "got `bool`"),
    "list for a number": ({"parameters": {"arms": [2]}}, "got `array`"),
    "too many arms": ({"parameters": {"arms": 10**12}}, "at most 1,000"),
    "foreign field": ({"__class__": "os"}, "'__class__' is no part of one"),
    "reward above 1": ({"neighbour": [0.0, 7.0, 0.0]}, "must lie in [0, 1]"),
    "action below 0": ({"actions": [0, 1, -1]}, "must lie in 0..1"),
    "no actions": ({"actions": [], "stream": [], "neighbour": []}, "no actions"),
    "equal streams": ({"neighbour": [0.0, 0.0, 0.0]}, "where the streams differ"),
    "crossing ends": ({"loss": {"lower": 2, "upper": 1, "certified": True}}, "lower <= upper"),
    "nan as text": ({"loss": {"lower": "nan", "upper": 1, "certified": True}}, "got `str`"),
    "infinite claim": ({"epsilon": "inf"}, "Expected `float`, got `str`"),
    "long name": ({"target": "a" * 5000}, "its target is no name"),
    "terminal commands": ({"target": "\x1b[2Jucb"}, "U+001B"),
    "newer schema": ({"schema": 3}, "upgrade dpaudit"),
    "odd schema": ({"schema": True}, "is not a witness of dpaudit"),
    "another kind": ({"dpaudit": "lock"}, "is a lock of dpaudit, not a witness"),
    "a mutant's path": ({"target": "mutants/../../setup"}, "No mutant"),
    "a module": ({"target": "os"}, "No algorithm 'os'"),
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_witnesses(told, kind):
    change, said = FORGED[kind]
    code, out, err = told(change)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err and len(err) < 2000


def test_the_line_that_replays(tmp_path):
    from dpaudit.judging import PrivacyClaim

    claim = PrivacyClaim("my file.py:Own", "Own", {}, 0.5, 2, 3, True, "one reward", own=False)
    assert line("w.json", claim) == (
        "python -m dpaudit replay w.json --target 'my file.py:Own' --epsilon 0.5"
    )
    (tmp_path / "w.json").write_text(json.dumps(WITNESS))
    found = read(tmp_path / "w.json")
    assert isinstance(found, Witness) and found.loss == Enclosure(float("inf"), float("inf"), True)

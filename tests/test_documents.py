"""Damaged files are one line and are left as they are, whichever command opens them."""

from __future__ import annotations

import json
import os

import pytest

from dpaudit.cli import run
from dpaudit.documents import LARGEST, parse, shown
from dpaudit.errors import InvalidArgument
from dpaudit.sample.log import BlockLog

DAMAGED = {
    "empty": b"",
    "truncated": b'{"target": "ucb", "par',
    "not UTF-8": b'{"target": "\xff\xfe"}',
    "binary": bytes(range(256)),
    "deep lists": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "key twice": b'{"schema": 1, "schema": 1}',
    "nan": b'{"epsilon": NaN}',
    "infinity": b'{"epsilon": -Infinity}',
    "beyond doubles": b'{"epsilon": 1e999}',
    "huge integer": b'{"epsilon": ' + b"9" * 100_000 + b"}",
    "terminal commands": b'{"target": "\\u001b]0;owned\\u0007"}',
    "half a surrogate": b'{"target": "\\ud800"}',
    "turned writing": '{"target": "\u202e"}'.encode(),
    "two documents": b"{} {}",
}
OPENS = {
    "replay": ("replay", "x"),
    "report": ("report", "x", "-o", "page.html"),
    "gate": ("gate", "--lock", "x"),
    "lock": ("lock", "--update", "--reason", "y", "--lock", "x"),
    "audit pair": ("audit", "ucb", "--arms", "2", "--horizon", "10", "--pair", "x"),
    "audit replay": ("audit", "ucb", "--replay", "x"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, command):
    code = run(OPENS[command])
    out, err = capsys.readouterr()
    assert code in ((2, 4) if command in ("gate", "lock") else (2,))
    assert (out, err.count("\n")) == ("", 1) and "Traceback" not in err and len(err) < 500
    return err


@pytest.mark.parametrize("command", OPENS)
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_content(here, capsys, kind, command):
    (here / "x").write_bytes(DAMAGED[kind])
    refused(capsys, command)
    assert (here / "x").read_bytes() == DAMAGED[kind]
    assert os.listdir(here) == ["x"]


@pytest.mark.parametrize("command", OPENS)
def test_what_is_no_file_of_a_sane_size(here, capsys, command):
    path = here / "x"
    refused(capsys, command)
    path.mkdir()
    refused(capsys, command)
    path.rmdir()
    os.mkfifo(path)
    refused(capsys, command)  # and does not wait for a writer
    path.unlink()
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    assert "more than" in refused(capsys, command)
    path.unlink()
    path.symlink_to(path)
    refused(capsys, command)


HEAD = b'["audit", {"seed": 1}]\n'
FORGED_LOGS = {
    "a line of another kind": HEAD + b'{"block": 1}\n',
    "three parts": HEAD + b'["block", 1, 2]\n',
    "another seed": b'["audit", {"seed": 2}]\n',
    "no head": b'["block", 1]\n',
    "a head that is no object": b'["audit", [1]]\n',
    "another schema": b'["audit", {"dpaudit": "log", "schema": 9, "seed": 2}]\n',
}
FORGED_LOGS |= {
    f"{kind} in a block": HEAD + b'["block", ' + content + b"]\n"
    for kind, content in DAMAGED.items()
    if kind not in ("terminal commands", "half a surrogate", "turned writing")
}


@pytest.mark.parametrize("kind", FORGED_LOGS)
def test_damaged_logs(here, kind):
    (here / "x").write_bytes(FORGED_LOGS[kind])
    with pytest.raises(InvalidArgument) as refused:
        BlockLog.resume("x", {"seed": 1})
    assert "\n" not in str(refused.value)
    assert (here / "x").read_bytes() == FORGED_LOGS[kind]


POLICY = """
class Copy:
    def __init__(self, arms):
        self.last = 0

    def select(self):
        return self.last

    def update(self, arm, reward):
        self.last = int(reward >= 0.5)
"""
FORGED_REPORTS = {
    "no witness": {"witness": None},
    "a list for a witness": {"witness": [1]},
    "no delta": {"delta": None},
    "negative delta": {"delta": -1.0},
    "delta above 1": {"delta": 2.0},
    "negative claim": {"epsilon": -1.0},
    "infinite claim": {"epsilon": "inf"},
    "endless rounds": {"rounds": 10**30},
    "no rounds": {"rounds": 0},
    "text for a direction": {"swapped": "no"},
    "endless stream": {"pair": {"stream": [[0.5, 10**30]], "position": 0, "value": 1.0}},
    "stream of 80 GB": {"pair": {"stream": [[0.5, 10**10]], "position": 0, "value": 1.0}},
    "reward of 7": {"pair": {"stream": [[0.5, 6]], "position": 0, "value": 7.0}},
    "foreign statistic": {"event": {"statistic": "os", "of": {}, "condition": "OneOf"}},
    "foreign condition": {"event": {"statistic": "Pulls", "of": {}, "condition": "eval"}},
    "another target": {"target": {"policy": "other.py:Copy"}},
    "too many arms": {"arms": 10**30},
    "one arm": {"arms": 1},
}


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    (folder / "policy.py").write_text(POLICY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        sizes = ("--horizon", "6", "--runs", "800")
        assert run(["audit", "policy.py:Copy", *sizes, "--json", "whole.json"]) == 1
    return folder


def test_the_report_of_an_audit_itself(audited, monkeypatch, capsys):
    monkeypatch.chdir(audited)
    assert run(["audit", "policy.py:Copy", "--replay", "whole.json"]) == 1
    assert "REFUTED again" in capsys.readouterr().out


@pytest.mark.parametrize("kind", FORGED_REPORTS)
def test_forged_reports_of_audits(audited, monkeypatch, capsys, kind):
    monkeypatch.chdir(audited)
    data = json.loads((audited / "whole.json").read_text())
    for name, value in FORGED_REPORTS[kind].items():
        (data["witness"] if name in data["witness"] else data)[name] = value
    text = json.dumps(data)
    (audited / "forged.json").write_text(text)
    capsys.readouterr()
    code = run(["audit", "policy.py:Copy", "--replay", "forged.json"])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1) and "Traceback" not in err
    assert (audited / "forged.json").read_text() == text


def test_plain_data_passes():
    text = '{"a": [1, -2.5e3, "\\u00e9\\n", null, true], "b": {"a": {}}}'
    assert parse(text.encode()) == {"a": [1, -2500.0, "é\n", None, True], "b": {"a": {}}}


def test_a_message_shows_strangers_text_in_one_short_line():
    assert shown("a\x1b[2J\nb") == "a [2J b"
    assert shown("x" * 1000) == "x" * 80 + "..."
    assert shown(["\n"]) == r"['\n']"

"""The page on the gate, followed literally: its files, its commands, its outputs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from gate_samples import HALVED, command, forget, spoil

from dpaudit.formats.result import ProblemRule

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gate.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.M | re.S)
SESSIONS = [text for kind, text in BLOCKS if not kind and text.startswith("$ python -m dpaudit")]


@pytest.fixture
def page(project):
    mine, test = (text for kind, text in BLOCKS[:3] if kind == "python")
    assert '"mine.py:Mine"' in test
    (project / "mine.py").write_text(mine)
    forget("mine")
    return project


def follow(capsys, number):
    """Run a session of the page; assert that it prints what the page says; return the exit code."""
    typed, _, printed = SESSIONS[number].partition("\n")
    code, out, err = command(capsys, *shlex.split(typed.removeprefix("$ python -m dpaudit ")))
    # which known flaw is the nearest may change as more of them are collected
    lines = [line for line in out.splitlines(True) if "Nearest known flaw" not in line]
    assert "".join(lines) + err == printed
    return code


def test_the_page_is_what_happens(page, capsys):
    lock, green, red, refused, stale = range(5)
    assert follow(capsys, lock) == 0
    assert follow(capsys, green) == 0
    spoil(page, *HALVED)
    assert follow(capsys, red) == 1
    assert follow(capsys, refused) == 1
    spoil(page, *HALVED[::-1])
    spoil(page, "A private bandit.", "A private bandit, documented.")
    assert follow(capsys, stale) == 4


def test_every_rule_is_explained():
    for rule in ProblemRule:
        assert f"| {rule.id} | {rule.label} |" in PAGE


def test_the_action_and_the_hook_call_commands_that_exist(capsys):
    for name in ("action.yml", ".pre-commit-hooks.yaml"):
        text = (ROOT / name).read_text()
        assert "python -m dpaudit gate" in text
        for option in re.findall(r"--(?:lock|sarif|junit|fresh|github)\b", text):
            assert option in command(capsys, "gate", "--help")[1]


def test_the_workflow_says_when_it_runs_and_may_upload_what_it_writes():
    [workflow] = [text for kind, text in BLOCKS if kind == "yaml" and "jobs:" in text]
    keys = re.findall(r"^(\w+):", workflow, flags=re.M)
    assert keys == ["on", "permissions", "jobs"]
    assert "upload-sarif" in workflow and "security-events: write" in workflow

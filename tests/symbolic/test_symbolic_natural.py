"""Policies as people write them: the right ones are proved, of the wrong ones none."""

import ast
import re
from pathlib import Path

import pytest

from dpaudit.symbolic.prove import prove
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

FILE = Path(__file__).with_name("natural.py")
FOUND = re.findall(r'^(?:class|def) (\w+)[^\n]*\n    """(right|wrong)', FILE.read_text(), re.M)
RIGHT = [name for name, kind in FOUND if kind == "right"]
WRONG = [name for name, kind in FOUND if kind == "wrong"]
QUICK = ("DataclassETC", "VecElimination", "RiverGreedy", "stream_etc", "RRCount", "HeapPolicy")
CHOSEN = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RIGHT]


def alone(name, folder):
    """Return a target with a policy and what it uses, on the lines where they stand."""
    tree = ast.parse(FILE.read_text())
    named = (ast.ClassDef, ast.FunctionDef)
    parts = {it.name: it for it in tree.body if isinstance(it, named)}
    kept = [it for it in tree.body if not isinstance(it, named)]
    pending = [*kept, parts.pop(name)]
    while pending:
        kept.append(pending.pop())
        used = {it.id for it in ast.walk(kept[-1]) if isinstance(it, ast.Name)}
        pending += [parts.pop(it) for it in sorted(used & parts.keys())]
    lines = FILE.read_text().splitlines()
    shown = {line for it in kept for line in range(_first(it), it.end_lineno + 1)}
    text = "\n".join(line if n in shown else "" for n, line in enumerate(lines, 1))
    (folder / "natural.py").write_text(f"{text}\n")
    return f"{folder / 'natural.py'}:{name}"


def _first(node):
    return min([node.lineno, *(it.lineno for it in getattr(node, "decorator_list", []))])


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("arms", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_right_code_is_proved(name, arms, tmp_path):
    if (name, arms) == ("stream_etc", 3):
        pytest.skip("it is written for two arms")
    found = prove(CodeTarget(alone(name, tmp_path), arms, 14, 1.0), 60.0).finding
    assert found.status is Status.PROVED, found.reason
    assert found.horizon == 14 and found.epsilon_upper <= 1


@pytest.mark.parametrize("name", WRONG)
def test_wrong_code_is_not_proved(name, tmp_path):
    found = prove(CodeTarget(alone(name, tmp_path), 2, 20, 1.0), 60.0).finding
    assert found.status is Status.SILENT and "charged" in found.reason

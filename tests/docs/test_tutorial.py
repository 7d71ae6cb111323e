"""The tutorial: every block is run, in order, in an empty directory, and prints what it says."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
specification = importlib.util.spec_from_file_location("tutorial_build", DOCS / "build.py")
build = importlib.util.module_from_spec(specification)
sys.modules["tutorial_build"] = build
specification.loader.exec_module(build)


def cells(source):
    """Yield the code of every cell, and what is said to be printed (None where nothing is)."""
    blocks = build.BLOCK.findall(source)
    for number, (language, name, content) in enumerate(blocks):
        if language == "python" and name:
            Path(name).write_text(content, encoding="utf-8")
        elif language == "python":
            after = blocks[number + 1] if number + 1 < len(blocks) else ("", "", "")
            yield content, after[2] if after[0] == "output" else ""


def played(source):
    """Return what the cells print and what they are said to print."""
    scope: dict = {"__name__": "__tutorial__"}
    found = []
    with build.workplace():
        for code, said in cells(source):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, "tutorial", "exec"), scope)
            found.append((out.getvalue(), said))
    return found


def test_the_tutorial_runs_and_prints_what_it_says():
    found = played((DOCS / "tutorial.md").read_text(encoding="utf-8"))
    assert len(found) >= 7
    for printed, said in found:
        assert printed == said


def test_a_wrong_output_is_noticed():
    source = "```python\nprint(1 + 1)\n```\n\n```output\n3\n```\n"
    assert played(source) == [("2\n", "3\n")]

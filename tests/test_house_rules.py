"""What keeps the package readable: one meaning for a class name, functions and files of a size."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "dpaudit"  # an installed one holds the proofs too
LONGEST_FUNCTION = 60
LONGEST_FILE = 420
LONGER = {"symbolic/values.py"}  # every operator that a symbol answers


def sources(root: Path) -> dict[str, str]:
    """Return the text of every module, by its path."""
    return {str(file.relative_to(root)): file.read_text() for file in sorted(root.rglob("*.py"))}


def class_names(text: str) -> list[str]:
    """Return the names of all classes, those inside functions as well."""
    return [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]


def long_functions(text: str) -> list[tuple[str, int]]:
    """Return the functions that are too long, with their lines."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            found += [(node.name, lines)] if lines > LONGEST_FUNCTION else []
    return found


def broken(root: Path) -> list[str]:
    """Return every breach below a folder."""
    texts = sources(root)
    names = Counter(name for text in texts.values() for name in class_names(text))
    found = [f"{name} is {count} classes" for name, count in names.items() if count > 1]
    for path, text in texts.items():
        found += [f"{path}: {name} has {lines} lines" for name, lines in long_functions(text)]
        lines = len(text.splitlines())
        long = lines > LONGEST_FILE and path not in LONGER
        found += [f"{path} has {lines} lines"] if long else []
    return found


def test_the_package_keeps_its_rules():
    assert len(sources(ROOT)) > 200
    assert broken(ROOT) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Twice: pass\n", ["Twice is 2 classes"]),
        ("class Once: pass\ndef f():\n    class Twice: pass\n", ["Twice is 2 classes"]),
        ("def f():\n" + "    1\n" * LONGEST_FUNCTION, ["b.py: f has 61 lines"]),
        ("1\n" * (LONGEST_FILE + 1), [f"b.py has {LONGEST_FILE + 1} lines"]),
    ],
)
def test_a_breach_is_seen(tmp_path, text, said):
    (tmp_path / "a.py").write_text("class Twice: pass\n")
    (tmp_path / "b.py").write_text(text)
    assert broken(tmp_path) == said

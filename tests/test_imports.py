"""Packages import downwards only: the graph between them has no cycle, lazy imports included."""

from __future__ import annotations

import ast
from pathlib import Path

import dpaudit

ROOT = Path(dpaudit.__file__).parent


def imported(tree: ast.AST) -> set[str]:
    """Return the packages and top modules of dpaudit that a source imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "dpaudit":
            names = [f"dpaudit.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute here, or this test does not see them"
            names = [node.module]
        parts = [name.split(".") for name in names]
        found |= {part[1] for part in parts if part[0] == "dpaudit" and len(part) > 1}
    return found


def graph(root: Path) -> dict[str, set[str]]:
    """Return for every package and top module what it imports of the others."""
    edges: dict[str, set[str]] = {}
    for file in sorted(root.rglob("*.py")):
        owner = file.relative_to(root).with_suffix("").parts[0]
        edges.setdefault(owner, set()).update(imported(ast.parse(file.read_text())) - {owner})
    return edges


def cyclic(edges: dict[str, set[str]]) -> set[str]:
    """Return what is left when everything that imports nothing that is left is taken away."""
    left = dict(edges)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    return set(left)


def test_no_package_imports_one_above_it():
    edges = graph(ROOT)
    assert {"core", "exact", "structure", "judging", "commands"} <= edges.keys()
    assert cyclic(edges) == set()


def test_a_cycle_is_seen(tmp_path):
    for name, text in (
        ("a.py", "def late():\n    from dpaudit.b.inner import thing\n"),
        ("b/inner.py", "from dpaudit import c\n"),
        ("c.py", "import dpaudit.a.deep\n"),
        ("d.py", "import dpaudit.a\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert cyclic(graph(tmp_path)) == {"a", "b", "c", "d"}
    (tmp_path / "c.py").write_text("import json\n")
    assert cyclic(graph(tmp_path)) == set()

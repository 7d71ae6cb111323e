"""The list of modules that verdicts rest on is in step with the package."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTED, SPARED = (
    re.findall(r"^\| `(dpaudit/[\w/.]+)` \| (.+) \|$", part, re.MULTILINE)
    for part in (ROOT / "docs" / "trusted-base.md").read_text().split("\nWhat these modules")
)


def imported(path: Path) -> set[Path]:
    """The files of the package that a file imports."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpaudit"):
            base = ROOT.joinpath(*(node.module or "").split("."))
            places = [base.with_suffix(".py"), *(base / f"{it.name}.py" for it in node.names)]
            found |= {place for place in places if place.is_file()}
    return found


def test_every_module_exists_once_and_has_a_reason():
    names = [name for name, _ in LISTED]
    assert len(names) == len(set(names)) > 20
    assert [name for name in names if not (ROOT / name).is_file()] == []
    assert all(len(why.split()) >= 3 for _, why in LISTED)
    assert all(why for _, why in SPARED)


def test_all_that_a_listed_module_imports_is_listed_or_spared_with_a_reason():
    listed = {name for name, _ in LISTED}
    reached = {str(it.relative_to(ROOT)) for name in listed for it in imported(ROOT / name)}
    reached |= {str(it.relative_to(ROOT)) for it in (ROOT / "dpaudit/structure").glob("[!_]*.py")}
    spared = tuple(name for name, _ in SPARED)
    assert [name for name in reached - listed if not name.startswith(spared)] == []
    assert [name for name in spared if not (ROOT / name).exists()] == []
    assert [name for name in listed if name.startswith(spared)] == []  # no folder spares a part
    assert all(any(it.startswith(name) for it in reached - listed) for name in spared)


def test_all_that_is_certified_is_listed():
    certified = {
        str(it.relative_to(ROOT)) for it in (ROOT / "dpaudit/exact/balls").glob("[!_]*.py")
    }
    assert certified - {name for name, _ in LISTED} == set()


def test_every_listed_module_has_tests_that_guard_it(monkeypatch):
    """The mutation campaign cannot overlook a module: it knows which tests to run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "mutation")
    guarded = importlib.import_module("choice").GUARDED
    for name, _ in LISTED:
        module = name.removeprefix("dpaudit/").removesuffix(".py")
        assert any(module.startswith(it) for it in guarded), name
    tests = {it for value in guarded.values() for it in value.split()}
    files = [ROOT / "tests" / it.replace("/", "/test_") for it in tests]
    assert [it for it in files if not it.with_suffix(".py").is_file()] == []


def test_the_mathematics_names_files_that_exist():
    text = (ROOT / "docs" / "mathematics.md").read_text()
    named = re.findall(r"`((?:dpaudit|proofs|tests)/[\w./]+)`", text)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []

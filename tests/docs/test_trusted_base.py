"""The list of modules that verdicts rest on is in step with the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTED = re.findall(
    r"^\| `(dpaudit/[\w/]+\.py)` \| (.+) \|$",
    (ROOT / "docs" / "trusted-base.md").read_text(),
    re.MULTILINE,
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


def test_all_that_the_structure_check_runs_on_is_listed():
    """The one check that proves; algorithms that it only recognises by identity are no part."""
    pending = sorted((ROOT / "dpaudit" / "structure").glob("[!_]*.py"))
    reached: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached.add(path)
            pending += imported(path)
    names = {str(path.relative_to(ROOT)) for path in reached}
    spared = ("dpaudit/errors.py", "dpaudit/core/algorithms/", "dpaudit/core/perstep.py")
    unlisted = {name for name in names if not name.startswith(spared)} - {it for it, _ in LISTED}
    assert unlisted == set()

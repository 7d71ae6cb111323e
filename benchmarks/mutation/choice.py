"""Which test files may notice a change of a function: those that speak of it, most closely first.

A map of lines to tests, measured under coverage, costs twice the whole suite before the first
mutant is tried. The texts of the tests say nearly as much: a file that imports the changed module,
says the names of the changed function and class, or lies in the folder of the module's package.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from operators import Mutant

TEXTUAL = {"test_structure_quotes.py", "test_gate_docs.py", "test_trusted_base.py"}
FOLDERS = {  # of tests/, by the beginning of a module's path; later ones win
    "dpaudit/": "check",
    "dpaudit/core/": "core",
    "dpaudit/core/canonical": "structure",
    "dpaudit/core/unchanged": "structure",
    "dpaudit/core/walk": "structure",
    "dpaudit/core/episodes": "structure",
    "dpaudit/core/phases": "structure",
    "dpaudit/structure/": "structure",
    "dpaudit/exact/": "exact",
    "dpaudit/sample/": "sample",
    "dpaudit/gate/": "gate",
    "dpaudit/sources": "gate",
    "dpaudit/noise": "core",
    "dpaudit/symbolic/": "symbolic",
    "dpaudit/code": "symbolic",
    "dpaudit/affine": "symbolic",
    "dpaudit/verify": "symbolic",
}
BESIDE = {"core": "structure", "structure": "core", "exact": "check", "gate": "check"}
MOST = 9  # files


@dataclass(frozen=True)
class Choice:
    """The texts of all test files, by their names."""

    texts: dict[str, str]

    @classmethod
    def read(cls, root: Path) -> Choice:
        """Read every test file whose tests run the package."""
        found = (it for it in sorted((root / "tests").rglob("test_*.py")) if it.name not in TEXTUAL)
        return cls({str(it.relative_to(root)): it.read_text() for it in found})

    def files(self, mutant: Mutant) -> list[str]:
        """Return the files that speak of a mutant, the closest first and of these the shortest."""
        folder = [name for start, name in FOLDERS.items() if mutant.module.startswith(start)][-1]
        dotted = mutant.module.removesuffix(".py").replace("/", ".")
        package, _, module = dotted.rpartition(".")
        imported = re.compile(rf"{dotted}\b|from {package} import [^\n]*\b{module}\b")
        names = [re.compile(rf"\b{re.escape(it)}\b") for it in words(mutant)]

        def closeness(path: str) -> tuple[float, int]:
            text = self.texts[path]
            points = 4.0 * bool(imported.search(text))
            points += sum(2.0 for name in names if name.search(text))
            near = path.split("/")[1]
            points += 4.0 * (near == folder) + 2.0 * (near == BESIDE.get(folder))
            points += 5.0 * (module in path)
            return -points, len(text)

        ranked = sorted(self.texts, key=closeness)
        return [it for it in ranked if closeness(it)[0] < 0][:MOST]


def words(mutant: Mutant) -> list[str]:
    """Return the names of the changed function and of what it lies in."""
    return [it for it in mutant.function.split(".") if it and not it.startswith("__")]


def functions_of(source: str) -> Iterator[tuple[str, range]]:
    """Yield the qualified name and the lines of every function, outer ones first."""

    def inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                if isinstance(child, ast.FunctionDef):
                    yield name, range(child.lineno, (child.end_lineno or child.lineno) + 1)
                yield from inside(child, f"{name}.")
            else:
                yield from inside(child, prefix)

    yield from inside(ast.parse(source), "")

"""Which test runs which line: every test once under coverage, each in a context of its own.

A pytest plugin (`-p cover`) and the map that it writes. Only tests that pass enter the map. A map
outlives small edits: where a file has changed since, its functions are looked up by name instead
of by line, and a test file that has changed is measured again on its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

TARGET = "DPAUDIT_MUTATION_MAP"


def digest(path: Path) -> str:
    """Return a name for a file's content."""
    return sha256(path.read_bytes()).hexdigest()[:16]


@dataclass
class Map:
    """Tests with their seconds, and for each module and line the tests that run it."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, frozenset[str]]]
    functions: dict[str, dict[str, frozenset[str]]]
    digests: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Map:
        """Return the map that all the parts in a folder make together."""
        whole = cls({}, {}, {}, {})
        for part in sorted(folder.glob("*.json")):
            data = json.loads(part.read_text())
            sets = [frozenset(tests) for tests in data["sets"]]
            whole.seconds |= data["seconds"]
            for module, digested in data["digests"].items():
                if whole.digests.setdefault(module, digested) != digested:
                    whole.digests[module] = "several"
            for kind, found in (("lines", whole.lines), ("functions", whole.functions)):
                for module, places in data[kind].items():
                    mine: dict[Any, frozenset[str]] = found.setdefault(module, {})  # type: ignore
                    for place, number in places.items():
                        key = int(place) if kind == "lines" else place
                        mine[key] = mine.get(key, frozenset()) | sets[number]
        return whole

    def tests(self, path: Path, module: str, lines: Iterable[int], function: str) -> set[str]:
        """Return the tests that run one of the lines, or the function if the file has changed.

        What runs at import, or in no test, is left to every test that reaches the module.
        """
        functions, found = self.functions.get(module, {}), set[str]()
        if function in functions and self.digests[module] == digest(path):
            found.update(*(self.lines[module].get(line, ()) for line in lines))
        elif function in functions:
            found.update(functions[function])
        return found or set().union(*functions.values())


def measure(root: Path, folder: Path, files: list[Path], again: bool) -> None:
    """Measure test files, one process each; what has been measured only if it is wanted again."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        name = str(file.relative_to(root)).replace("/", "-").removesuffix(".py")
        part = folder / f"{name}-{digest(file)}.json"
        if part.exists() and not again:
            continue
        for old in folder.glob(f"{name}-*.json"):
            old.unlink()
        here = str(Path(__file__).parent)
        path = os.pathsep.join([here, str(root), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, TARGET: str(part), "PYTHONPATH": path}
        begun = time.monotonic()
        words = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "cover", str(file)]
        words += ["-p", "no:cacheprovider", "--hypothesis-seed=0"]
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True)
        last = (done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2]
        print(f"{file.relative_to(root)}: {last} [{time.monotonic() - begun:.0f} s]", flush=True)


def functions_of(source: str) -> Iterator[tuple[str, range]]:
    """Yield the qualified name and the lines of every function, outer ones first."""
    import ast

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


class Recorder:
    """The plugin's memory: one coverage context per test, seconds, and what passed."""

    def __init__(self, target: Path, root: Path) -> None:
        import coverage

        self.target, self.root = target, root
        self.cover = coverage.Coverage(data_file=None, source=[str(root / "dpaudit")])
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_sessionstart(self) -> None:
        self.cover.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        begun = time.process_time()
        self.cover.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.cover.switch_context("")
            self.seconds[item.nodeid] = round(time.process_time() - begun, 3)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.cover.stop()
        data = self.cover.get_data()
        good = self.seconds.keys() - self.failed
        sets: dict[frozenset[str], int] = {}
        lines: dict[str, dict[int, int]] = {}
        functions: dict[str, dict[str, int]] = {}
        digests = {}
        for name in data.measured_files():
            path = Path(name)
            module = str(path.relative_to(self.root))
            digests[module] = digest(path)
            by_line = {
                line: frozenset(good.intersection(tests))
                for line, tests in data.contexts_by_lineno(name).items()
            }
            lines[module] = {
                line: sets.setdefault(tests, len(sets)) for line, tests in by_line.items() if tests
            }
            functions[module] = {}
            for function, span in functions_of(path.read_text()):
                tests = frozenset().union(*(by_line.get(line, frozenset()) for line in span))
                if tests:
                    functions[module][function] = sets.setdefault(tests, len(sets))
        whole = {
            "seconds": {test: self.seconds[test] for test in sorted(good)},
            "sets": [sorted(tests) for tests in sets],
            "lines": lines,
            "functions": functions,
            "digests": digests,
        }
        self.target.write_text(json.dumps(whole))


def pytest_configure(config: pytest.Config) -> None:
    """Record, where a target is named; otherwise this file is an ordinary module."""
    if TARGET in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ[TARGET]), Path.cwd()))

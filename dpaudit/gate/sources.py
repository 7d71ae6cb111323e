"""Which source a claim rests on, and its digests: what makes a lock stale.

A claim rests on the file that defines the algorithm, on every file of the same project that it
imports (followed through the text of the imports, also those inside functions), on the files of its
base classes, and on the parts of `dpaudit.core` among them, which are summed up in one digest.
Other installed packages are recorded by version only. Line endings do not count; comments do.
What a file reads as data, and modules imported by computed names, are not followed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import inspect
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit.core.algorithm import Algorithm
from dpaudit.gate.places import file_of
from dpaudit.gate.subject import Subject

PACKAGE = Path(dpaudit.__file__).resolve().parent
CORE = PACKAGE / "core"
JUDGES = (
    "check.py",
    "horizons.py",
    "hunt.py",
    "verdict.py",
    "core",
    "exact",
    "structure",
    "sample",
)
MEASURING = ("numpy", "scipy", "python-flint")
INSTALLED = {"site-packages", "dist-packages"}


def digests(subject: Subject, root: Path) -> dict[str, str]:
    """Return the digest of every source file that a subject rests on, by path from `root`."""
    found = files(subject, root.resolve())
    core = sorted(path for path in found if path.is_relative_to(CORE))
    own = {_label(path, root.resolve()): _digest([path]) for path in found if path not in core}
    return own | ({"dpaudit.core": _digest(core)} if core else {})


def files(subject: Subject, root: Path) -> set[Path]:
    """Return the files that a subject rests on: its own, and what they import of the project."""
    start = file_of(subject.text, subject.source)
    pending = [start] if start else []
    kind = type(subject.source) if isinstance(subject.source, Algorithm) else subject.source
    for base in inspect.getmro(kind) if inspect.isclass(kind) else ():
        pending += [path] if (path := _module_file(base.__module__)) else []
    found: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in found or not (path == start or _followed(path, root, start)):
            continue
        found.add(path)
        places = (path.parent, root)
        pending += [it for name in _imported(path) if (it := _module_file(name, *places))]
    return found


def _followed(path: Path, root: Path, start: Path | None) -> bool:
    """Tell whether a file is part of the project, of the target's own package, or of the core."""
    if path.is_relative_to(PACKAGE):
        return path.is_relative_to(CORE)
    if start is not None and path.is_relative_to(_top(start)):
        return True
    project = [root] if start is None else [root, _top(start).parent]
    return not _installed(path) and any(path.is_relative_to(place) for place in project)


def _installed(path: Path) -> bool:
    return bool(INSTALLED & set(path.parts))


def _top(path: Path) -> Path:
    """Return the directory of the outermost package that a file is in, or the file itself."""
    top = path
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return top


def _imported(path: Path) -> Iterator[str]:
    """Yield the absolute names that the text of a file imports, modules and members alike."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _prefixes(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node.level) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield from _prefixes(module)
            yield from (f"{module}.{alias.name}" for alias in node.names if module)


def _prefixes(name: str) -> Iterator[str]:
    """Importing a.b.c runs a, a.b and a.b.c."""
    parts = name.split(".")
    yield from (".".join(parts[: n + 1]) for n in range(len(parts)))


def _base(path: Path, level: int) -> str:
    """Return the package that a relative import of a file starts from."""
    folder = path.parent
    for _ in range(level - 1):
        folder = folder.parent
    parts = [folder.name]
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
        parts.insert(0, folder.name)
    return ".".join(parts)


def _module_file(name: str, *places: Path) -> Path | None:
    """Return the source file of a module by name, without running anything."""
    for place in places:
        if path := _below(place, name):
            return path
    known = getattr(sys.modules.get(name), "__file__", None)
    package, _, last = name.rpartition(".")
    if known is None and package:
        above = _module_file(package, *places)
        return _below(above.parent, last) if above and above.name == "__init__.py" else None
    if known is None and name not in sys.stdlib_module_names:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            spec = None
        known = spec.origin if spec else None
    path = Path(known) if known else None
    return path.resolve() if path and path.suffix == ".py" and path.is_file() else None


def _below(place: Path, name: str) -> Path | None:
    path = place.joinpath(*name.split("."))
    found = [it for it in (path / "__init__.py", path.with_suffix(".py")) if it.is_file()]
    return found[0].resolve() if found else None


def _label(path: Path, root: Path) -> str:
    if not _installed(path):
        return Path(os.path.relpath(path, root)).as_posix()
    return path.relative_to(_top(path).parent).as_posix()


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


@cache
def engine_digest() -> str:
    """Return the digest of the code that judges; another one is worth a note, not a failure."""
    paths: list[Path] = []
    for name in JUDGES:
        place = PACKAGE / name
        paths += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return _digest(paths)


def versions() -> dict[str, str]:
    """Return what judged: dpaudit, its engine's digest, Python and the numerical packages."""
    found: dict[str, Any] = {"dpaudit": dpaudit.__version__, "engine": engine_digest()[:16]}
    found["python"] = platform.python_version()
    for name in MEASURING:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found

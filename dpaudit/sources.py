"""Which source a target rests on: digests of its files, versions of the packages they import.

A target rests on the file that defines it, on the files of its base classes, and on everything that
these import (followed through the text of the imports, also those inside functions) from outside
the standard library and installed packages, wherever it lies; the parts of `dpaudit.core` among
them are summed up in one digest. Installed packages are recorded by version. Line endings do not
count; comments do. What a file reads as data, and modules imported by computed names, are not
followed; a lock adds what the process of its target had loaded in the end (`covering`). Locks, logs
of audits and certificates all use these digests.
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
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit.core.algorithm import Algorithm

PACKAGE = Path(dpaudit.__file__).resolve().parent
CORE = PACKAGE / "core"
JUDGES = (
    "affine.py",
    "code.py",
    "checks.py",
    "symbolic",
    "judging.py",
    "options.py",
    "verdict.py",
    "core",
    "exact",
    "structure",
    "sample",
)
MEASURING = ("numpy", "scipy", "python-flint")
INSTALLED = {"site-packages", "dist-packages"}
STANDARD = tuple(Path(sysconfig.get_path(it)).resolve() for it in ("stdlib", "platstdlib"))
SUFFIXES = tuple(sorted(all_suffixes(), key=lambda suffix: suffix != ".py"))


@dataclass(frozen=True)
class Sources:
    """The digest of every file by its path, and the version of every installed package by name."""

    files: dict[str, str]
    packages: dict[str, str]


def sources_of(text: str, source: Any, root: Path) -> Sources:
    """Return what a target rests on (its name, the object behind it), with paths from `root`."""
    root = root.resolve()
    found, names = _walk(text, source, root)
    core = sorted(path for path in found if path.is_relative_to(CORE))
    own = {_label(path, root): _digest([path]) for path in sorted(found - set(core))}
    known = {name: _version(name) for name in sorted(names)}
    return Sources(
        own | ({"dpaudit.core": _digest(core)} if core else {}),
        {name: version for name, version in known.items() if version},
    )


def covering(found: Sources, loaded: Iterable[Path], root: Path) -> Sources:
    """Return the sources with the digests of files that were loaded and that no text names."""
    known = set(found.files)
    more = {_label(path, root.resolve()): path for path in loaded if not _installed(path)}
    added = {label: _digest([path]) for label, path in more.items() if label not in known}
    return replace(found, files=dict(sorted((found.files | added).items())))


def digests(text: str, source: Any, root: Path) -> dict[str, str]:
    """Return the digest of every source file that a target rests on, by path from `root`."""
    return sources_of(text, source, root).files


def files(text: str, source: Any, root: Path) -> set[Path]:
    """Return the files that a target rests on: its own, and what they import."""
    return _walk(text, source, root.resolve())[0]


def file_of(text: str, source: Any) -> Path | None:
    """Return the file of a target: the one that its name gives, else where Python found it."""
    place = text.rpartition(":")[0]
    return Path(place).resolve() if place.endswith(".py") else source_file(source)


def source_file(thing: Any) -> Path | None:
    """Return the file that defines an object, if there is one."""
    try:
        file = inspect.getsourcefile(code_of(thing))
    except TypeError:
        return None
    return Path(file).resolve() if file and Path(file).is_file() else None


def code_of(thing: Any) -> Any:
    """Return a class or function itself, and the class of anything else."""
    return thing if inspect.isclass(thing) or inspect.isfunction(thing) else type(thing)


def _walk(text: str, source: Any, root: Path) -> tuple[set[Path], set[str]]:
    """Return the files that a target rests on, and the installed packages that they import."""
    start = file_of(text, source)
    pending = [start] if start else []
    kind = type(source) if isinstance(source, Algorithm) else source
    for base in inspect.getmro(kind) if inspect.isclass(kind) else ():
        # another file of the same name may be loaded under the name of the target's own
        if start is None or base.__module__ != kind.__module__:
            pending += [path] if (path := _module_file(base.__module__)) else []
    found: set[Path] = set()
    packages: set[str] = set()
    module_file = cache(_module_file)  # most files import what others do
    while pending:
        path = pending.pop()
        if path in found or not (path == start or _followed(path, start)):
            continue
        found.add(path)
        for name in _of_core(path) if path.is_relative_to(CORE) else _imported(path):
            known = module_file(name, path.parent, root)
            if known is not None:
                pending.append(known)
            if known is None or _installed(known):
                packages.add(name.partition(".")[0])
    return found, packages - set(sys.stdlib_module_names)


def _followed(path: Path, start: Path | None) -> bool:
    """Tell whether a file is read: not one of an installed package, of Python, or of dpaudit.

    The core of dpaudit and the target's own package are, wherever they are installed.
    """
    if path.is_relative_to(PACKAGE):
        return path.is_relative_to(CORE)
    if start is not None and path.is_relative_to(_top(start)):
        return True
    return not is_installed(path)


def is_installed(path: Path) -> bool:
    """Tell whether a file belongs to Python or to an installed package."""
    return _installed(path) or any(path.is_relative_to(place) for place in STANDARD)


def _installed(path: Path) -> bool:
    return bool(INSTALLED & set(path.parts))


@cache
def _distributions() -> dict[str, list[str]]:
    return {
        name: list(found) for name, found in importlib.metadata.packages_distributions().items()
    }


def _version(name: str) -> str:
    """Return the version of the installed package that a module belongs to, or nothing."""
    if name == dpaudit.__name__:
        return ""
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    for distribution in _distributions().get(name, ()):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(distribution)
    return ""


def _top(path: Path) -> Path:
    """Return the directory of the outermost package that a file is in, or the file itself."""
    top = path
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return top


def _imported(path: Path) -> Iterator[str]:
    """Yield the absolute names that the text of a file imports, modules and members alike."""
    if path.suffix != ".py":
        return
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


@cache
def _of_core(path: Path) -> tuple[str, ...]:
    """Return what a file of dpaudit's own imports, which does not change while it runs."""
    return tuple(dict.fromkeys(_imported(path)))


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
        if above is not None:
            return _below(above.parent, last) if above.name == "__init__.py" else None
        # a package without an __init__.py has no file of its own
        searched = (_below(Path(place), name) for place in sys.path)
        return next((path for path in searched if path), None)
    if known is None and name not in sys.stdlib_module_names:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            spec = None
        known = spec.origin if spec else None
    path = Path(known) if known else None
    return path.resolve() if path and path.is_file() else None


def _below(place: Path, name: str) -> Path | None:
    path = os.path.join(place, *name.split("."))
    tried = (os.path.join(path, "__init__.py"), *(path + end for end in SUFFIXES))
    return next((Path(it).resolve() for it in tried if os.path.isfile(it)), None)


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

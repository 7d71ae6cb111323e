"""The real program with probes: what it computes is kept, and its reading is held against that.

The target's file and the modules beside it are executed by Python itself, with real numpy and real
draws; only the probes are added (`probes`). Functions that are compiled, or whose results are kept,
either get none, or lose the decorator that leaves calls out.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from operator import is_
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dpaudit.symbolic.likeness import like, sketch
from dpaudit.symbolic.probes import AT, OF, Probes
from dpaudit.symbolic.run import Disagreement
from dpaudit.target import ImportedAs, imported_as

FILE = 24  # bits of a probe's number within its file


class Record:
    """What the probes of a real run have seen, file by file."""

    def __init__(self, probes: Probes) -> None:
        self.probes = probes
        self.files: set[str] = set()
        self.begun: set[int] = set()
        """The probes at the beginning of blocks that were reached."""
        self.seen: dict[int, list[tuple[int, Any]]] = defaultdict(list)

    def calls(self) -> dict[str, Any]:
        """Return the probes that record."""
        seen = self.seen

        def at(number: int) -> None:
            seen[number >> FILE].append((number, None))
            self.begun.add(number)

        def of(number: int, value: Any) -> Any:
            seen[number >> FILE].append((number, sketch(value)))
            return value

        return {AT: at, OF: of}

    def blocks(self) -> set[int]:
        """Return which probes were reached."""
        return {number for part in self.seen.values() for number, _ in part}


class Following:
    """Probes of the reading: every one must be the next of the record, with the same value."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.after: dict[int, int] = defaultdict(int)

    def _next(self, number: int) -> Any:
        file = number >> FILE
        seen, position = self.record.seen[file], self.after[file]
        self.after[file] = position + 1
        if position >= len(seen) or seen[position][0] != number:
            raise self._apart(number, "it is not what the program does next")
        return seen[position][1]

    def _apart(self, number: int, why: str) -> Disagreement:
        file, line = self.record.probes.places[number]
        return Disagreement(f"{Path(file).name}:{line}: {why}")

    def calls(self) -> dict[str, Any]:
        """Return the probes that compare."""

        def of(number: int, value: Any) -> Any:
            real = self._next(number)
            if not like(real, value):
                raise self._apart(number, f"the program has a {_told(real)} here")
            return value

        return {AT: self._next, OF: of}

    def finished(self) -> None:
        """Raise unless the reading has done all that the program has."""
        for file, seen in self.record.seen.items():
            if self.after[file] != len(seen):
                raise self._apart(seen[self.after[file]][0], "the program goes on here")


def _told(real: Any) -> str:
    kind = real[0]
    name = kind if isinstance(kind, str) else kind.__name__
    return f"{name} {real[1]!r:.40}" if len(real) == 2 else name


class _Recorder(SourceFileLoader):
    """Loads a file with probes."""

    record: Record

    def get_code(self, fullname: str) -> CodeType:
        path, probes = self.get_filename(fullname), self.record.probes
        self.record.files.add(path)
        if path not in probes.real:
            tree = probes.inserted(ast.parse(self.get_data(path), path), path, True, True)
            probes.real[path] = compile(tree, path, "exec", dont_inherit=True)
        return probes.real[path]

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.record.calls())
        super().exec_module(module)


class _Beside:
    """Finds the modules that lie beside the target, for the recorder."""

    def __init__(self, folder: Path, kind: type[_Recorder], package: str = "") -> None:
        self.folder, self.kind, self.package = folder, kind, package

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a module of the folder, or of the package that lies there."""
        place = Path(next(iter(path), "")) if path is not None else self.folder
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or not place.is_relative_to(self.folder):
            return None
        if self.package and top != self.package:
            return None
        found = FileFinder(str(place), (self.kind, [".py"])).find_spec(name)
        return found if found is not None and found.loader is not None else None


@contextmanager
def recorded(path: Path, name: str, record: Record) -> Iterator[Any]:
    """Give the object of the target, its file and those beside it executed anew with probes."""
    kind = type("Recorder", (_Recorder,), {"record": record})
    folder, place = path.absolute().parent, imported_as(path.absolute())
    known = _taken(folder, record.probes.elsewhere, place)
    others = record.probes.elsewhere = dict(sys.modules)
    finders: list[Any] = [_Beside(folder, kind)]
    if place.above is not None:
        finders.append(_Beside(place.above, kind, place.package))
    sys.meta_path[:0] = finders
    try:
        if place.above is not None:
            module = importlib.import_module(place.name)
        else:
            spec = importlib.util.spec_from_file_location(
                path.stem, path.absolute(), loader=kind(path.stem, str(path.absolute()))
            )
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
        yield getattr(module, name)
    finally:
        for finder in finders:
            sys.meta_path.remove(finder)
        _taken(folder, others, place)
        sys.modules.update(known)


def _taken(folder: Path, others: dict[str, Any], place: ImportedAs) -> dict[str, Any]:
    """Take away the modules of a folder, and of a package that it is in.

    Those of an environment in it stay, and so do others.
    """
    package = place.package
    within = f"{folder if place.above is None else place.above / package}{os.sep}"
    found: dict[str, Any] = {}
    # thousands of them, again for every stream: most lie as they did, in the order of then
    names, modules, first = list(sys.modules), list(sys.modules.values()), len(others)
    if names[:first] != list(others) or not all(map(is_, modules, others.values())):
        first = 0
    for it, module in zip(names[first:], modules[first:], strict=True):
        if others.get(it) is module:
            continue
        if str(getattr(module, "__file__", None)).startswith(within):
            top = str(getattr(module, "__name__", "")).partition(".")[0]
            if top == package or (folder / f"{top}.py").is_file() or (folder / top).is_dir():
                found[it] = sys.modules.pop(it)
    return found

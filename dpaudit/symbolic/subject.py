"""From `file.py:object` to code that can be walked: load it with stand-ins, say how it is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.core.mutants import find as find_mutant
from dpaudit.errors import InvalidArgument
from dpaudit.sample.boxes import accepted
from dpaudit.sources import CORE, is_installed
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.drivers import driver_of
from dpaudit.symbolic.loading import Loader
from dpaudit.symbolic.probes import Probes, marking
from dpaudit.symbolic.roots import Roots
from dpaudit.symbolic.run import Run, active
from dpaudit.symbolic.walk import Subject
from dpaudit.target import MUTANTS, imported_as


def located(text: str) -> tuple[Path, str]:
    """Return the file and the object that TARGET names."""
    if text.startswith(MUTANTS):
        mutant = find_mutant(text.removeprefix(MUTANTS))
        return Path(mutant.file), mutant.source.__name__
    place, _, name = text.rpartition(":")
    path = Path(place)
    if not place.endswith(".py") or not path.is_file() or not name:
        raise InvalidArgument("TARGET", text, "must be file.py:object to be read on symbols.")
    return Path(os.path.abspath(path)), name  # without `..`: files are compared by their paths


def readable(text: str) -> bool:
    """Tell whether TARGET names an object in a file that is not Python's or a package's own."""
    try:
        path, _ = located(text)
    except InvalidArgument:
        return False
    return not is_installed(path.resolve()) or path.resolve().is_relative_to(CORE)


def loader_of(path: Path, **real: Any) -> Loader:
    """Return a loader for a file; in dpaudit's own core the package is part of the judged code."""
    resolved = path.resolve()
    root = CORE.parent.parent if resolved.is_relative_to(CORE) else None
    return Loader(path.parent, root, place=imported_as(path), **real)


@dataclass(frozen=True)
class CodeTarget:
    """`file.py:object` and the instance that is judged."""

    text: str
    arms: int
    horizon: int
    epsilon: float

    @property
    def readable(self) -> bool:
        """Whether there is a file to read."""
        return readable(self.text)

    @property
    def path(self) -> Path:
        """The file."""
        return located(self.text)[0]

    @property
    def name(self) -> str:
        """The object in it."""
        return located(self.text)[1]

    def builder(self, source: Any, rng: Any) -> Callable[[], Any]:
        """Return how a policy is built: with those of the four keywords that it accepts."""
        names = accepted(source)
        values = {"arms": self.arms, "horizon": self.horizon, "epsilon": self.epsilon, "rng": rng}
        if names is None:
            return lambda: source
        given = {name: values[word] for name, word in names.items()}
        return lambda: source(**given)


def subject_of(target: CodeTarget) -> Subject:
    """Return the code that a target names, loaded to meet symbols."""
    probes, reached = Probes(), set[int]()
    loader = loader_of(target.path, probes=probes, calls=marking(reached))
    run = Run(drawing=False)
    with active(run):
        source = loader.target(target.path, target.name, target.text)
        if run.escaped is not None:
            raise run.escaped
        roots = Roots(loader.own, loader.modules.values())
    build = target.builder(source, Source(False))
    files = frozenset(loader.files)
    return Subject(build, driver_of, target.arms, files, roots, reached, loader.compiled)

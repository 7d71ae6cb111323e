"""What `report --all` judges: every algorithm and every mutant.

Mutants are the modules of `dpaudit.core.mutants` with a `flaw`; a version without that package has
none. One that is a policy and not a declaration is listed too, as what `check` cannot judge.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from dpaudit.core import algorithms
from dpaudit.core.algorithm import Algorithm

MUTANTS = "dpaudit.core.mutants"


@dataclass(frozen=True)
class Subject:
    """One algorithm of the index; `flaw` is empty for those that should be right."""

    name: str
    target: str
    title: str
    flaw: str = ""

    @property
    def kind(self) -> str:
        """What it is."""
        return "mutant" if self.flaw else "algorithm"


def subjects() -> Iterator[Subject]:
    """Yield the algorithms by name, then the mutants."""
    for name in algorithms.names():
        module = importlib.import_module(f"{algorithms.__name__}.{name}")
        yield Subject(name, name, first_line(module))
    yield from mutants()


def mutants(package: str = MUTANTS) -> Iterator[Subject]:
    """Yield the known-wrong variants; none where there is no such package."""
    try:
        root = importlib.import_module(package)
    except ModuleNotFoundError:
        return
    for found in sorted(pkgutil.iter_modules(root.__path__), key=lambda item: item.name):
        module = importlib.import_module(f"{package}.{found.name}")
        flaw, wrong = str(getattr(module, "flaw", "")), wrong_class(module)
        if flaw and wrong is not None:
            target = f"{module.__name__}:{wrong.__name__}"
            yield Subject(found.name, target, first_line(module), flaw)


def wrong_class(module: ModuleType) -> type | None:
    """Return what a module is about: the algorithm it declares, or else its first class."""
    own = [
        item
        for item in vars(module).values()
        if inspect.isclass(item)
        and item.__module__ == module.__name__
        and not inspect.isabstract(item)
    ]
    declared = [item for item in own if issubclass(item, Algorithm)]
    return next(iter([*declared, *own]), None)


def first_line(module: ModuleType) -> str:
    """Return what a module says of itself in its first line."""
    return (module.__doc__ or "").strip().partition("\n")[0]

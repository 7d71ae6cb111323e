"""What `report --all` judges: every algorithm, and every mutant that is declared as one.

Mutants are the modules of `dpaudit.core.mutants` with a `flaw`; a version without that package has
none.
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
    """Yield the known-wrong variants that are declared; none where there is no such package."""
    try:
        root = importlib.import_module(package)
    except ModuleNotFoundError:
        return
    for found in sorted(pkgutil.iter_modules(root.__path__), key=lambda item: item.name):
        module = importlib.import_module(f"{package}.{found.name}")
        declared = declaration(module)
        flaw = getattr(module, "flaw", "")
        if declared is not None and flaw:
            target = f"{module.__name__}:{declared.__name__}"
            yield Subject(found.name, target, first_line(module), str(flaw))


def declaration(module: ModuleType) -> type[Algorithm] | None:
    """Return the algorithm that a module declares; None where it declares a policy or several."""
    found = [
        item
        for item in vars(module).values()
        if inspect.isclass(item)
        and issubclass(item, Algorithm)
        and item.__module__ == module.__name__
        and not inspect.isabstract(item)
    ]
    return found[0] if len(found) == 1 else None


def first_line(module: ModuleType) -> str:
    """Return what a module says of itself in its first line."""
    return (module.__doc__ or "").strip().partition("\n")[0]

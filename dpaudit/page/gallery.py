"""What `report --all` judges: every algorithm and every mutant.

Mutants are the modules of `dpaudit.core.mutants` with a `flaw`; a version without that package has
none. One that is a policy and not a declaration is judged by an audit of real runs.
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
    """One algorithm of the index; `flaw` is empty for those that should be right.

    A mutant may name the size at which its flaw shows: epsilon, arms, rounds of the exact check.
    """

    name: str
    target: str
    title: str
    flaw: str = ""
    epsilon: float | None = None
    arms: int = 2
    exact_horizon: int | None = None

    @property
    def kind(self) -> str:
        """What it is."""
        return "mutant" if self.flaw else "algorithm"


@dataclass(frozen=True)
class Policy(Subject):
    """A mutant that is no declaration: rewards in, actions out; only runs can judge it."""

    horizon: int = 16
    runs: int = 2_000


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
        wrong = wrong_class(module)
        if getattr(module, "flaw", "") and wrong is not None:
            yield mutant(found.name, module, wrong)


def mutant(name: str, module: ModuleType, wrong: type) -> Subject:
    """Return a mutant with the sizes that its module names.

    `refuted_by` lists ways to refute it: those with `runs` are the sampler's, others exact.
    """
    ways = getattr(module, "refuted_by", ())
    sampled = next((way for way in ways if hasattr(way, "runs")), None)
    exact = next((way.horizon for way in ways if not hasattr(way, "runs")), None)
    said = (first_line(module), str(getattr(module, "flaw", "")))
    size = (float(getattr(module, "epsilon", 1.0)), int(getattr(module, "arms", 2)))
    if issubclass(wrong, Algorithm):
        return Subject(name, f"{module.__name__}:{wrong.__name__}", *said, *size, exact)
    target = f"{module.__file__}:{wrong.__name__}"
    if sampled is None:
        return Policy(name, target, *said, *size)
    return Policy(name, target, *said, *size, None, sampled.horizon, sampled.runs)


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

"""What `report --all` judges: every algorithm, and every mutant where its flaw shows."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from dpaudit.core import algorithms, mutants
from dpaudit.core.mutant import Mutant

SHORT = 16  # rounds of a policy that names no size of its own


@dataclass(frozen=True)
class GallerySubject:
    """One algorithm of the index; `flaw` is empty for those that should be right.

    A mutant names the size at which its flaw shows; a policy, which only its own runs and a reading
    of its code can judge, also the rounds and the runs.
    """

    name: str
    target: str
    title: str
    flaw: str = ""
    epsilon: float | None = None
    arms: int = 2
    exact_horizon: int | None = None
    horizon: int | None = None
    runs: int | None = None

    @property
    def kind(self) -> str:
        """What it is."""
        return "mutant" if self.flaw else "algorithm"


def subjects() -> Iterator[GallerySubject]:
    """Yield the algorithms by name, then the mutants."""
    for name in algorithms.names():
        module = importlib.import_module(f"{algorithms.__name__}.{name}")
        yield GallerySubject(name, name, first_line(module))
    for name in mutants.names():
        yield known_wrong(mutants.find(name))


def known_wrong(mutant: Mutant) -> GallerySubject:
    """Return a mutant with the sizes that its module names."""
    title = first_line(sys.modules[mutant.source.__module__])
    exact = None if mutant.exact is None else mutant.exact.horizon
    said = (mutant.name, mutant.target, title, mutant.flaw, mutant.epsilon, mutant.arms, exact)
    if mutant.declared:
        return GallerySubject(*said)
    way = mutant.sample
    return GallerySubject(*said, *((SHORT, None) if way is None else (way.horizon, way.runs)))


def first_line(module: ModuleType) -> str:
    """Return what a module says of itself in its first line."""
    return (module.__doc__ or "").strip().partition("\n")[0]

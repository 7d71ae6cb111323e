"""Known-wrong variants, one file each; the TARGET on the command line is `mutants/NAME`.

Mutants are discovered by walking this package. Each module holds `flaw` and `refuted_by` (or
`why_not`), see `dpaudit.core.mutant`, and one class: a declared algorithm where the flaw fits into
a declaration, otherwise handwritten code, which only the sampler can judge. The first word of a
name is the family of the flaw.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import defined_in
from dpaudit.core.handwritten import Handwritten
from dpaudit.core.mutant import Mutant
from dpaudit.core.nearest import nearest_flaw
from dpaudit.errors import InvalidArgument, UnknownName

__all__ = ["find", "names", "nearest_flaw"]


def names() -> list[str]:
    """Return the names of all mutants, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache
def find(name: str) -> Mutant:
    """Return a mutant by its name."""
    if name not in names():
        raise UnknownName("mutant", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    source = defined_in(module, Algorithm, Handwritten)
    mutant = Mutant(
        name=name,
        flaw=module.flaw,
        source=source,
        file=str(module.__file__),
        refuted_by=getattr(module, "refuted_by", ()),
        why_not=getattr(module, "why_not", ""),
        epsilon=source.epsilon,
        arms=getattr(module, "arms", 2),
    )
    if bool(mutant.refuted_by) == bool(mutant.why_not):
        rule = "must hold either refuted_by or, where nothing refutes it, why_not."
        raise InvalidArgument("module", module.__name__, rule)
    return mutant

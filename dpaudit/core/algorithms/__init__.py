"""The algorithms, one file each; the module's name is the name on the command line.

Algorithms are discovered by walking this package: there is no list to forget.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields
from types import ModuleType
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import InvalidArgument, UnknownName


def names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def defined_in(module: ModuleType, *kinds: type) -> Any:
    """Return the one concrete class of some kinds that a module defines."""
    found = [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and issubclass(item, kinds)
        and item.__module__ == module.__name__
        and not inspect.isabstract(item)
    ]
    if len(found) != 1:
        rule = f"must define one {' or '.join(it.__name__ for it in kinds)}, not {len(found)}."
        raise InvalidArgument("module", module.__name__, rule)
    return found[0]


def find(name: str) -> type[Algorithm]:
    """Return the class of an algorithm by its name."""
    if name not in names():
        raise UnknownName("algorithm", name, names())
    found: type[Algorithm] = defined_in(importlib.import_module(f"{__name__}.{name}"), Algorithm)
    return found


def parameters(algorithm: type[Algorithm]) -> dict[str, Any]:
    """Return the parameters of an algorithm with their defaults (`dataclasses.MISSING` if none)."""
    return {field.name: field.default for field in fields(algorithm)}


def load(name: str, **values: Any) -> Algorithm:
    """Build an algorithm by name: `load("adap_klucb", arms=5, epsilon=1.0, alpha=3.1)`."""
    return build(find(name), name, **values)


def build(algorithm: type[Algorithm], name: str, **values: Any) -> Algorithm:
    """Build an algorithm from its class, with one-line errors for wrong or missing parameters."""
    known = parameters(algorithm)
    for given in values:
        if given not in known:
            rule = f"is not a parameter of {name}; it takes {', '.join(known)}."
            raise InvalidArgument(given, values[given], rule)
    required = [field.name for field in fields(algorithm) if field.default is field.default_factory]
    for missing in required:
        if missing not in values:
            raise InvalidArgument(missing, "(missing)", f"is required by {name}.")
    return algorithm(**values)

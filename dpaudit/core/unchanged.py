"""Whose method an object really has: looked up as Python does, running nothing that it brings.

`getattr` on a class asks its metaclass and its descriptors, which may show one function to who asks
the class and another to who calls the instance. What is looked up here lies in the tables of the
classes themselves, which a metaclass of Python's own does not veil.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable
from types import GetSetDescriptorType
from typing import Any

METACLASSES = (type, ABCMeta)
_order = vars(type)["__mro__"].__get__
_table = vars(type)["__dict__"].__get__


def held(kind: type, name: str) -> Any:
    """Return what a class holds under a name, itself or by its bases; None where nothing does.

    Its metaclass comes last, as where `getattr` looks.
    """
    for base in (*_order(kind), *_order(type(kind))):
        table = _table(base)
        if name in table:
            return table[name]
    return None


def plain(value: object) -> bool:
    """Tell whether an object's attributes are those of its table and its classes' tables."""
    kind = type(value)
    return (
        type(kind) in METACLASSES
        and held(kind, "__getattribute__") is object.__getattribute__
        and type(held(kind, "__dict__")) is GetSetDescriptorType
    )


def unchanged(value: object, base: type, names: Iterable[str]) -> bool:
    """Tell whether an object has some methods from a base: no class or field in their place."""
    return plain(value) and all(
        held(type(value), name) is held(base, name) and name not in vars(value) for name in names
    )


def stored(value: object, name: str) -> Any:
    """Return a field that an object holds and that no descriptor answers for, else None."""
    default = held(type(value), name)
    if not plain(value) or held(type(default), "__get__") is not None:
        return None
    return vars(value).get(name)

"""Public states as plain keys: two states with one key cannot differ in what a step reads.

The model checker remembers states by a key that it builds itself, so that a custom `__eq__` or
`__hash__`, `1 == True`, or a list hidden in a tuple cannot make it skip a state it has not seen.
Only immutable plain data is accepted; anything else is distrusted.
"""

from __future__ import annotations

from abc import ABC, ABCMeta
from dataclasses import fields, is_dataclass
from enum import Enum, EnumType, Flag
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Generic

from dpaudit.core.algorithm import Algorithm


class Distrust(Exception):
    """The declaration leaves the model that the proof speaks of; its reason is one sentence."""


PLAIN = frozenset({int, str, bytes, type(None)})
KINDS = (type, ABCMeta, EnumType)  # a metaclass of one's own may call different classes equal
BASES = frozenset({object, ABC, Generic})


def canonical(value: Any) -> Any:
    """Return a key of plain tuples that names every type; raise `Distrust` for mutable data."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple:
        return (tuple, *map(canonical, value))
    if kind is Fraction:
        return (Fraction, value.numerator, value.denominator)
    if type(kind) in KINDS:
        if isinstance(value, tuple) and not kind.__dictoffset__:
            return (kind, *map(canonical, tuple.__iter__(value)))
        if kind is bool:
            return (bool, int(value))
        if isinstance(value, Flag) and kind._value2member_map_.get(value._value_) is value:
            # most combinations of bits have no name; a value, unlike a name, tells them apart
            return (kind, canonical(value._value_))
        if isinstance(value, Enum) and kind.__members__.get(value._name_) is value:
            return (kind, value._name_)
        if kind is float:
            return (float, value.hex())
        if kind is frozenset:
            return (frozenset, frozenset(map(canonical, value)))
        content = _content(value, kind)
        if content is not None:
            return (kind, *[(name, canonical(content[name])) for name in sorted(content)])
    raise Distrust(
        f"a public state or parameter holds a {kind.__name__}; only immutable plain data "
        "(int, float, str, Fraction, tuple, NamedTuple, frozenset, frozen dataclass) is trusted"
    )


def _content(value: Any, kind: type) -> dict[str, Any] | None:
    """Return all that a frozen dataclass holds; None for anything that may hold more."""
    names = _names(kind)
    if names is None:
        return None
    held = vars(value) if hasattr(value, "__dict__") else {}
    if held.keys() != names:
        held = held | {name: getattr(value, name) for name in names - held.keys()}
    return held if held.keys() == names else None


@lru_cache(maxsize=256)
def _names(kind: type) -> frozenset[str] | None:
    """Return the fields of a frozen dataclass whose every base is one as well, else None.

    A builtin or a class of another kind may carry content that no field shows.
    """
    if not is_dataclass(kind):
        return None
    names = frozenset(field.name for field in fields(kind))
    for base in kind.__mro__:
        settings, slots = vars(base).get("__dataclass_params__"), vars(base).get("__slots__", ())
        slots = {slots} if isinstance(slots, str) else set(slots)
        known = base in BASES or (settings is not None and settings.frozen)
        if not known or not slots - {"__weakref__"} <= names:
            return None
    return names


def parameters(algorithm: Algorithm) -> Any:
    """Return the key of an algorithm's parameters; raise `Distrust` for anything hidden."""
    kind = type(algorithm)
    known = {field.name for field in fields(algorithm)}
    for name in vars(algorithm):
        if name not in known:
            if not isinstance(getattr(kind, name, None), cached_property):
                raise Distrust(f"the algorithm holds {name!r}, which is not one of its parameters")
            canonical(vars(algorithm)[name])  # remembered, so it must not change
    return tuple((name, canonical(getattr(algorithm, name))) for name in sorted(known))

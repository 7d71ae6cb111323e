"""Public states as plain keys: two states with one key cannot differ in what a step reads.

The model checker remembers states by a key that it builds itself, so that a custom `__eq__` or
`__hash__`, `1 == True`, or a list hidden in a tuple cannot make it skip a state it has not seen.
Only immutable plain data is accepted; anything else is distrusted.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpaudit.core.algorithm import Algorithm, Rows


class Distrust(Exception):
    """The declaration leaves the model that the proof speaks of; its reason is one sentence."""


PLAIN = frozenset({int, str, bytes, type(None)})


def canonical(value: Any) -> Any:
    """Return a key of plain tuples that names every type; raise `Distrust` for mutable data."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is Rows:
        return (Rows, canonical(value.arm), canonical(value.first), canonical(value.stop))
    if isinstance(value, tuple) and not kind.__dictoffset__:
        return (kind, *map(canonical, tuple.__iter__(value)))
    if kind is bool:
        return (bool, int(value))
    if isinstance(value, Enum):
        return (kind, value.name)
    if kind is float:
        return (float, value.hex())
    if kind is Fraction:
        return (Fraction, value.numerator, value.denominator)
    if kind is frozenset:
        return (frozenset, frozenset(map(canonical, value)))
    if is_dataclass(kind) and kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        names = [field.name for field in fields(kind)]
        if set(getattr(value, "__dict__", names)) <= set(names):
            return (kind, *(canonical(getattr(value, name)) for name in names))
    raise Distrust(
        f"a public state or parameter holds a {kind.__name__}; only immutable plain data "
        "(int, float, str, Fraction, tuple, NamedTuple, frozenset, frozen dataclass) is trusted"
    )


def parameters(algorithm: Algorithm) -> Any:
    """Return the key of an algorithm's parameters; raise `Distrust` for anything hidden."""
    kind = type(algorithm)
    known = {field.name for field in fields(algorithm)}
    for name in vars(algorithm):
        if name not in known and not isinstance(getattr(kind, name, None), cached_property):
            raise Distrust(f"the algorithm holds {name!r}, which is not one of its parameters")
    return tuple((name, canonical(getattr(algorithm, name))) for name in sorted(known))

"""What judged code may make text of: what has the same text in every run.

The text of a function, or of an object without a `__repr__`, tells where it lies in memory. Copies
lie elsewhere, so that code which compares such texts would be read as another program.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from string import Formatter
from types import FunctionType
from typing import Any

import numpy as np

from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.run import current, named
from dpaudit.symbolic.values import Tracked

PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex, Fraction, range))
DEEPEST = 20  # containers within containers


def stands_in(value: Any) -> bool:
    """Tell whether a function, a class or an object is one of ours."""
    owner = value if isinstance(value, (type, FunctionType)) else type(value)
    return str(getattr(owner, "__module__", "")).startswith("dpaudit.symbolic")


def shown(value: Any) -> Any:
    """Return a value that is about to become text, unless its text would tell who or where it
    is."""
    _require(value, 0)
    return value


def _require(value: Any, depth: int) -> None:
    kind = type(value)
    if isinstance(value, float | np.floating) and value == 0:
        raise current().escape("the text of 0.0 or -0.0", "in real arithmetic zero has no sign")
    if kind in PLAIN or isinstance(value, np.generic | Tracked | Array):
        return  # a symbol refuses by itself
    if isinstance(value, type):
        if stands_in(value) and not hasattr(value, "real_type"):
            raise current().escape("the text of what stands in for something else")
        return
    parts: tuple[Any, ...] = ()
    if isinstance(value, dict):
        parts = (*value.keys(), *value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        parts = tuple(value)
    elif isinstance(value, enum.Enum):
        parts = (value.value,)
    elif stands_in(value) or not isinstance(kind.__repr__, FunctionType):
        raise current().escape(f"the text of a {named(kind)}", "it may tell where it lies")
    elif isinstance(value, BaseException) or not hasattr(value, "__dict__"):
        raise current().escape(f"the text of a {named(kind)}")
    if depth > DEEPEST:
        raise current().escape("the text of a deeply nested value")
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    parts += tuple(getattr(value, field.name, None) for field in fields)
    for part in (*parts, *getattr(value, "__dict__", {}).values()):
        _require(part, depth + 1)


def texting(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return `repr`, `format` or `ascii` of what may be shown."""

    def apply(value: Any, *more: Any) -> Any:
        return real(shown(value), *more)

    return apply


def printing(*given: Any, file: Any = None, **named: Any) -> None:
    """Stand in for `print`, whose text nobody can read again."""
    if file is not None:
        raise current().escape("print to an object")
    builtins.print(*given, **named)


def formatting(value: Any, name: str) -> Any:
    """Return the method `format` or `format_map` of a text; fields may not ask for attributes."""
    real = getattr(value, name)
    if not isinstance(value, str | type):
        return real

    def apply(*given: Any, **named: Any) -> Any:
        pattern = value if isinstance(value, str) else given[0]
        _require_names(pattern)
        for part in (*given, *named.values()):
            shown(part)
        return real(*given, **named)

    return apply


def _require_names(pattern: Any) -> None:
    for _, field, more, _ in Formatter().parse(pattern):
        if field is not None and ("." in field or "[" in field):
            raise current().escape("a format that asks for attributes or elements")
        if more and "{" in more:
            _require_names(more)

"""When a value of the reading is the value of the real program: its type, and what it holds.

A symbol stands for a float of Python or numpy and carries its double; an outcome of a comparison
stands for a truth value of either. Everything else has the very type of the real value. Of objects
the class is compared, of functions and the like that they are such.
"""

from __future__ import annotations

import enum
import math
import random
from collections import deque
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.poison import Poison
from dpaudit.symbolic.values import Linear, Opaque, Tracked

CLOSE = 1e-7  # doubles of sums that numpy adds in another order
MOST = 48  # elements of a container that are looked at, from its end
DEEP = 3
NUMBERS = (int, float, np.number)
CHANCE = (np.random.Generator, np.random.RandomState, random.Random)
PLAIN = (bool, np.bool_, *NUMBERS, complex, str, bytes, type(None))
HELD = (list, tuple, dict, set, frozenset, deque)
OTHER = "something else"


def sketch(value: Any, depth: int = 0) -> Any:
    """Return what is kept of a real value: numbers and texts as they are, containers by parts."""
    kind = type(value)
    if isinstance(value, PLAIN) and not isinstance(value, enum.Enum):
        return kind, value
    if isinstance(value, np.ndarray):
        return np.ndarray, value.dtype.kind, value.shape, value.copy()
    holder = _holder(kind)
    if holder is not None and depth < DEEP:
        return holder, len(value), [sketch(part, depth + 1) for part in _parts(holder, value)]
    return OTHER, _named(value)


def _holder(kind: type) -> type | None:
    """Return what kind of container a type is, if it is one."""
    return next((it for it in HELD if issubclass(kind, it)), None)


def _parts(holder: type, value: Any) -> list[Any]:
    """Return the last elements of a container; a set's have no order."""
    if holder is dict:
        return [part for item in list(value.items())[-MOST:] for part in item]
    if holder in (set, frozenset):
        return []
    return list(tuple.__iter__(value) if holder is tuple else value)[-MOST:]


def _named(value: Any) -> Any:
    """Return what can be said of any other value, real or not."""
    if isinstance(value, CHANCE):
        return "chance"
    if isinstance(value, enum.Enum):
        return type(value).__name__, value.name
    if isinstance(value, type):
        return "class"
    if isinstance(value, ModuleType):
        return "module"
    if callable(value) and type(value).__flags__ & 1 << 9 == 0:
        return "function"
    return ""


def like(real: Any, value: Any) -> bool:
    """Tell whether a value of the reading is what a sketch of the real one says."""
    kind: Any = real[0]
    if isinstance(value, Poison):
        return True  # using it ends the run
    if isinstance(value, Tracked):
        return kind in (float, np.float64, int, np.int64) and _close(real[1], value)
    if isinstance(value, Answer):
        return kind in (bool, np.bool_) and bool(real[1]) is value.truth
    if isinstance(value, Array):
        if kind is not np.ndarray or real[2] != value.shape:
            return False
        if real[1] != value.kind and not (value.loose and real[1] == "i"):
            return False
        pairs = zip(real[3].flat, value.store.flat, strict=True)
        return all(_close(one, two) for one, two in pairs)
    if kind is OTHER:
        return (
            isinstance(value, Source)
            or not real[1]
            or real[1] == _named(value)
            or (real[1] in ("function", "class") and callable(value))
        )
    if kind in HELD:
        holder = _holder(type(value))
        if holder is None or holder is not kind or real[1] != len(value):
            return False
        return all(map(like, real[2], _parts(holder, value)))
    return type(value) is kind and (value == real[1] or (value != value and real[1] != real[1]))


def _close(real: Any, value: Any) -> bool:
    """Tell whether a number has the double of the real program."""
    if isinstance(value, Linear | Opaque):
        number = value.shadow
        if number is None and isinstance(value, Linear) and not value.forms():
            number = value.rest
        if number is None:
            return False
        number, real = float(number), float(real)
        if number != number or real != real:
            return number != number and real != real
        return number == real or math.isclose(number, real, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(value == real) or bool(value != value and real != real)

"""What judged modules hold once they are imported: by Python itself, and by their reading.

Both execute the same text, but whether they execute it, which of two files of one name, and what an
import binds is for Python's import system to say. So every module that was read must be one that
Python has loaded from the same file, with the same names; numbers, texts and containers must be
equal, classes and functions must be of the same module, name and line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from dpaudit.symbolic.likeness import like, sketch
from dpaudit.symbolic.poison import Poison, PoisonModule


def differing(read: list[ModuleType]) -> Iterator[str]:
    """Yield what is something else in the modules that Python has loaded now."""
    real = {}
    for module in list(sys.modules.values()):
        if isinstance(file := vars(module).get("__file__"), str):
            real[str(Path(file).absolute())] = module
    own = {module.__name__ for module in read}
    for module in read:
        path = Path(vars(module)["__file__"])
        found = real.get(str(path))
        if found is None or found.__name__ != module.__name__:
            yield f"the module {module.__name__}"
            continue
        for name in _tables(vars(found), vars(module), own):
            yield f"{name} of {path.name}"


def _tables(real: Mapping[str, Any], read: Mapping[str, Any], own: set[str]) -> Iterator[str]:
    """Yield the names that are not the same in two tables."""
    names = [{it for it in table if not it.startswith("__")} for table in (real, read)]
    yield from sorted(names[0] ^ names[1])
    for name in sorted(names[0] & names[1]):
        one, two = real[name], read[name]
        if not _same(one, two, own):
            yield name
        elif isinstance(one, type) and isinstance(two, type) and one.__module__ in own:
            yield from (f"{name}.{it}" for it in _tables(vars(one), vars(two), own))


def _same(real: Any, read: Any, own: set[str]) -> bool:
    """Tell whether a value is what Python has, as far as they can be compared."""
    origins = [_origin(it, own) for it in (real, read)]
    if isinstance(read, Poison | PoisonModule):  # using it ends in silence
        return origins[0] is None or (isinstance(real, ModuleType) and real.__name__ not in own)
    if any(origins) or isinstance(real, ModuleType):
        return bool(origins[0] == origins[1]) and like(sketch(_defaults(real)), _defaults(read))
    return like(sketch(real), read)


def _defaults(value: Any) -> list[Any]:
    """Return the defaults of a function; they are of when it was made."""
    made = getattr(value, "__wrapped__", value)
    if not isinstance(made, FunctionType):
        return []
    return [*(made.__defaults__ or ()), *(made.__kwdefaults__ or {}).values()]


def _origin(value: Any, own: set[str]) -> Any:
    """Return where a module, or a class or function of a judged one, comes from."""
    if isinstance(value, ModuleType):
        return "module", value.__name__
    made = getattr(value, "__wrapped__", value)
    if not isinstance(made, type | FunctionType) or made.__module__ not in own:
        return None
    line = made.__code__.co_firstlineno if isinstance(made, FunctionType) else 0
    return made.__module__, made.__qualname__, line

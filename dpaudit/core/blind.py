"""Whether a declaration looks at who calls it: by the names that its code, and what it uses, says.

A declaration is a pure function of its state. One that walks the stack upwards, asks the collector
of garbage for objects or makes code out of texts can find the rewards or the generator of a run and
act on them, where no walk over its states shows it. So every function that its classes lead to is
looked at, bytecode and constants; dpaudit's own functions, the standard library's and those of
installed packages are not. It is a net with meshes: names that are put together while the code runs
pass.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from enum import EnumType
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

MODULES = frozenset(("gc", "ctypes", "_ctypes", "inspect", "traceback", "bdb", "pdb", "importlib"))
MAKING = frozenset(("exec", "eval", "compile", "__import__", "breakpoint"))
ATTRIBUTES = frozenset(
    (
        *("_getframe", "_current_frames", "_current_exceptions", "f_back", "f_locals", "f_globals"),
        *("tb_frame", "__traceback__", "gi_frame", "cr_frame", "ag_frame", "currentframe"),
        *("settrace", "setprofile", "monitoring", "get_referrers", "get_objects"),
        *("__globals__", "__closure__", "__code__", "__builtins__", "__subclasses__"),
    )
)
HOLDING = (classmethod, staticmethod, property, MethodType, tuple, list, set, frozenset, dict)
MOST = 5000  # functions and classes; what leads to more of them is not looked at any further


@lru_cache(maxsize=64)
def looking(kind: type) -> str | None:
    """Return where a class of declarations may look at its caller, and by which name; else None."""
    for count, value in enumerate(_reached(kind)):
        if count == MOST:
            return f"{kind.__name__} leads to more than {MOST:,} functions"
        if isinstance(value, FunctionType) and (said := _said(value.__code__, value.__globals__)):
            return said
    return None


def noted(kind: type) -> dict[tuple[int, str], Any]:
    """Return what stands in the variables and containers that a class of declarations leads to.

    A declaration that writes a note there and reads it later is no function of its state.
    """
    found: dict[tuple[int, str], Any] = {}
    for value in islice(_reached(kind), MOST):
        if isinstance(value, FunctionType):
            names = {it for code in _codes(value.__code__) for it in code.co_names}
            home = value.__globals__
            found |= {(id(home), it): _content(home[it]) for it in names if it in home}
        elif isinstance(value, list | dict | set):
            found[id(value), "its content"] = _content(value)
        elif isinstance(value, type) or not callable(value):
            found |= {(id(value), name): _content(it) for name, it in _held(value).items()}
    return found


def _content(value: Any) -> Any:
    """Return what a value says if it is plain, or holds what is; of anything else, which it is."""
    if type(value) in (int, float, str, bytes, bool, complex, Fraction):
        return type(value), repr(value)
    if isinstance(value, dict):
        return [(_content(name), _content(it)) for name, it in value.items()]
    if isinstance(value, list | tuple):
        return [*map(_content, value)]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    return id(value)


def _reached(kind: type) -> Iterator[Any]:
    """Yield every function, class and object of one's own that a class leads to."""
    pending: list[Any] = [kind]
    met: dict[int, Any] = {}
    while pending:
        value = pending.pop()
        if id(value) in met or _known(value):
            continue
        met[id(value)] = value
        yield value
        if isinstance(value, FunctionType):
            pending += _used(value)
        elif isinstance(value, type):
            pending += [*value.__mro__[1:], type(value), *_held(value).values()]
        else:
            pending += [type(value), *_behind(value)]


def _held(value: Any) -> dict[str, Any]:
    """Return an object's or a class's own table; what an enum remembers of itself is Python's."""
    table = getattr(value, "__dict__", {})
    if isinstance(value, EnumType):
        return {name: it for name, it in table.items() if not name.startswith("_")}
    return {str(name): it for name, it in table.items()}


def _known(value: Any) -> bool:
    """Tell whether something is a known module's own, by where it lies and not by what it says."""
    if isinstance(value, FunctionType):
        name = value.__globals__.get("__name__", "")
        home = sys.modules.get(name) if isinstance(name, str) else None
        return _listed(name) and home is not None and vars(home) is value.__globals__
    if isinstance(value, type):
        found: Any = sys.modules.get(value.__module__)
        for part in value.__qualname__.split("."):
            found = getattr(found, part, None)
        return _listed(value.__module__) and found is value
    return type(value).__module__ == "builtins" and not isinstance(value, HOLDING)


def _listed(name: Any) -> bool:
    """Tell whether a module is dpaudit's, the standard library's, or of an installed package."""
    if not isinstance(name, str) or name in MODULES:
        return False
    root = name.partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root == "dpaudit" or root in sys.stdlib_module_names or "-packages" in file


def _said(code: CodeType, home: dict[str, Any]) -> str | None:
    """Return where code says a name by which it can look around, with the code inside of it."""
    line = code.co_firstlineno
    for it in dis.get_instructions(code):
        line = it.starts_line or line
        name, free = it.argval, it.opname in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME")
        if isinstance(name, CodeType):
            if said := _said(name, home):
                return said
        elif isinstance(name, str):
            named = home.get(name) if free else None
            real = getattr(named, "__name__", name) if named is not None else name
            root = real.partition(".")[0] if isinstance(real, str) else ""
            if real in ATTRIBUTES or (free and (root in MODULES or real in MAKING)):
                place = f"{Path(code.co_filename).name}:{line}"
                return f"{place} says {real}, by which code can look at its caller"
    return None


def _used(function: FunctionType) -> Iterator[Any]:
    """Yield what a function's code names, has closed over, or falls back on."""
    for code in _codes(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                value = function.__globals__[name]
                yield value
                if isinstance(value, ModuleType) and not _listed(value.__name__):
                    yield from (vars(value)[it] for it in code.co_names if it in vars(value))
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from vars(function).values()


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all that lies inside of it."""
    yield code
    for it in code.co_consts:
        if isinstance(it, CodeType):
            yield from _codes(it)


def _behind(value: Any) -> Iterator[Any]:
    """Yield what an object holds: the functions of a descriptor, the content of a container."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, tuple | list | set | frozenset):
        yield from value
    elif not isinstance(value, ModuleType):
        yield from _held(value).values()
        for name in ("__func__", "fget", "fset", "func"):
            found = getattr(value, name, None)
            if isinstance(found, FunctionType):
                yield found

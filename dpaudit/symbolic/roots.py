"""What lies at module level: names, class attributes, defaults, closures. None of it may change.

Copies of a state need not contain it then. Between two runs every name table is compared with what
it was, object by object; what was there is kept alive, so that no other object can pass for it.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field, make_dataclass
from functools import cached_property
from itertools import chain
from operator import is_
from pathlib import Path
from types import (
    BuiltinFunctionType,
    DynamicClassAttribute,
    FunctionType,
    GenericAlias,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any

from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.poison import Poison
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.snapshot import ATOMS, HEAP, SHARED, Copier, imported, texts_of
from dpaudit.symbolic.stand_ins import Float, Int, Str
from dpaudit.symbolic.values import Linear, Opaque, Tracked

UNREAD = frozenset(
    [
        "__builtins__",
        "__dict__",
        "__weakref__",
        "__doc__",
        "__abstractmethods__",
        "_abc_impl",
        "__annotations__",
        "__match_args__",
        "__parameters__",
        "__orig_bases__",
        "__protocol_attrs__",
        "__non_callable_proto_members__",
    ]
)  # judged code cannot name them
GETTER: Any = type(vars(namedtuple("Pair", "first"))["first"])  # what a namedtuple reads by
QUIET = ("typing", "__future__")
FACTORY: Any = type(
    inspect.signature(make_dataclass("It", [("x", list, field(default_factory=list))]))
    .parameters["x"]
    .default
)
STATELESS = (GETTER, FACTORY, MemberDescriptorType, WrapperDescriptorType, MethodDescriptorType)
EMPTY = type(...)  # in place of what a variable that has no value yet holds


class NameTables:
    """Name tables, and what was in them, end to end: thousands are compared after every round."""

    __slots__ = ("tables", "sizes", "keys", "names", "held", "values")

    def __init__(self, tables: Iterable[Mapping[str, Any]] = ()) -> None:
        self.tables: list[Mapping[str, Any]] = []
        self.sizes: list[int] = []
        # live views of the tables that are not empty: of the others the size says all
        self.keys: list[Iterable[str]] = []
        self.names: list[str] = []
        self.held: list[Iterable[Any]] = []
        self.values: list[Any] = []
        for table in tables:
            self.add(table)

    def add(self, table: Mapping[str, Any]) -> None:
        """Keep a table as it is now."""
        self.tables.append(table)
        self.sizes.append(len(table))
        if table:
            self.keys.append(table.keys())
            self.names += table
            self.held.append(table.values())
            self.values += table.values()

    def same(self) -> bool:
        """Tell whether the very same objects have the very same names."""
        return (
            list(map(len, self.tables)) == self.sizes
            and list(chain.from_iterable(self.keys)) == self.names
            and all(map(is_, self.values, chain.from_iterable(self.held)))
        )


class Roots:
    """What the judged code's modules hold, as it was; `around` is all that they can name."""

    def __init__(self, modules: Iterable[ModuleType], around: Iterable[ModuleType]) -> None:
        self.modules = list(modules)
        self.named = {module.__name__ for module in self.modules}
        self.files = {str(vars(module).get("__file__", "")) for module in self.modules}
        self.kinds: dict[type, bool] = {}
        self.members: dict[type, list[tuple[str, Any]]] = {}
        around = list(around)
        self.outside = NameTables(_tables(around, self.modules))
        self.known = {id(module) for module in (*self.modules, *around)}
        self.fixed: set[int] = set()
        """What lies at module level and could change: a state has the very same, not a copy."""
        Survey(self)  # so that `known` is complete when the marks are made
        self.before = Survey(self)
        self.fixed = self.before.lying()

    def judged(self, kind: type) -> bool:
        """Tell whether a class belongs to the judged code."""
        return kind.__module__ in self.named

    def is_own(self, kind: type) -> bool:
        """Tell whether objects of a class are plain data: of the judged code's classes alone."""
        if kind not in self.kinds:
            known = (*self.named, "abc", "typing")
            self.kinds[kind] = self.judged(kind) and all(
                base.__module__ in known or base in (object, tuple) for base in kind.__mro__
            )
        return self.kinds[kind]

    def slots(self, kind: type) -> list[tuple[str, Any]]:
        """Return the slots of a class and of its bases."""
        if kind not in self.members:
            self.members[kind] = [
                (name, slot)
                for base in kind.__mro__
                for name, slot in vars(base).items()
                if isinstance(slot, MemberDescriptorType)
            ]
        return self.members[kind]

    def changed(self) -> str:
        """Return the name of what has changed since; nothing if nothing has."""
        if not self.outside.same():
            return "something in an imported module"
        if any(source.position() != before for source, before in self.before.seeded):
            return "a seeded generator at module level"
        if self.before.same():
            return ""
        marks = Survey(self).marks
        for name, mark in marks.items():
            if self.before.marks.get(name) != mark:
                return name
        return "a name"


class Survey:
    """Everything at module level: a mark of it by its name, and what holds it, for a quick look."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.marks: dict[str, Any] = {}
        self.seen: set[int] = set()
        self.kept: list[Any] = []  # so that no other object can get the same id
        self.tables = NameTables()
        self.defaults: list[tuple[FunctionType, Any, Any]] = []
        self.closures: list[tuple[FunctionType, list[Any]]] = []
        self.data: list[tuple[Any, Any]] = []
        self.seeded: list[tuple[Source, Any]] = []
        self.lies: list[Any] = []
        self.texts: list[tuple[Any, tuple[Any, ...]]] = []
        for module in roots.modules:
            if not isinstance(module.__doc__, str | None):
                raise Escape(f"the text of {module.__name__}, which is no text")
            self._table(module.__name__, vars(module), lambda name: name not in UNREAD)

    def same(self) -> bool:
        """Tell whether every table, function and object is as it was."""
        return (
            self.tables.same()
            and all(f.__defaults__ is a and f.__kwdefaults__ is b for f, a, b in self.defaults)
            and all(all(map(is_, cells, _closure(f))) for f, cells in self.closures)
            and all(self._key(value)[0] == key for value, key in self.data)
            and all(texts_of(value) == texts for value, texts in self.texts)
        )

    def _table(self, name: str, table: Mapping[str, Any], read: Callable[[str], bool]) -> None:
        self.tables.add(table)
        for part, value in list(table.items()):
            if read(part):
                self._add(f"{name}.{part}", value)

    def lying(self) -> set[int]:
        """Return who lies at module level: containers, objects, arrays and their memory, cells."""
        arrays = [value.store for value in self.lies if type(value) is Array]
        owners = [store if store.base is None else store.base for store in arrays]
        self.kept += owners
        return {id(value) for value in (*self.lies, *owners)}

    def _key(self, value: Any) -> tuple[Any, Any]:
        copier = Copier(self.roots, keyed=True, whole=True)
        copier(value)
        return tuple(copier.key or ()), copier

    def _add(self, name: str, value: Any) -> None:
        self.kept.append(value)
        if type(value) is MethodType:
            self._add(f"{name}.__self__", value.__self__)
            value = value.__func__
        elif type(value) in (staticmethod, classmethod):
            self.tables.add(vars(value))
            value = value.__func__
        self.kept.append(value)
        if object.__getattribute__(value, "__class__") is not type(value):
            raise Escape(f"{name} at module level, whose class is not what it says")
        self.marks[name] = id(value)
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        if type(value) is BuiltinFunctionType and not isinstance(
            value.__self__, ModuleType | type | None
        ):
            raise Escape(f"{name} at module level, a method of a {type(value.__self__).__name__}")
        if isinstance(value, FunctionType | property | type):
            if not all(it is None or type(it) is str for it in texts_of(value)):
                raise Escape(f"{name} at module level, whose name or text is no text")
            self.texts.append((value, texts_of(value)))
            self.marks[name] = id(value), texts_of(value)
        self._add_held(name, value)

    def _add_held(self, name: str, value: Any) -> None:
        """Add what a value that was not met before holds, by its kind."""
        if isinstance(value, FunctionType):
            self.roots.known.add(id(value))
            path = value.__code__.co_filename  # it cannot be forged
            if path in self.roots.files or not Path(path).is_absolute():
                self._function(name, value)
        elif isinstance(value, ModuleType):
            if id(value) not in self.roots.known:
                if sys.modules.get(value.__name__) is not value:
                    raise Escape(f"the module {name}, made by the code")
                self.roots.known.add(id(value))
                self.tables.add(vars(value))
        elif type(value) is object:
            self.lies.append(value)  # a sentinel
        elif isinstance(value, Source) and value.fixed:
            self.seeded.append((value, value.position()))
            self.lies.append(value)
        elif isinstance(value, DynamicClassAttribute | cached_property):
            self._table(name, vars(value), lambda part: part != "lock")
        elif type(value) is property:
            self.roots.known.add(id(value))
            for accessor in (value.fget, value.fset, value.fdel):
                if accessor is not None:
                    self._add(f"{name}.{getattr(accessor, '__name__', 'accessor')}", accessor)
        elif isinstance(value, type):
            if self.roots.judged(value):
                self.roots.known.add(id(value))
                self._table(name, vars(value), _in_class)
            elif value.__flags__ & HEAP and not imported(value):
                raise Escape(f"the class {name}, which is of no module")
        elif isinstance(value, enum.Enum):
            self._table(name, vars(value), lambda part: not part.startswith("__"))
        elif isinstance(value, GenericAlias | UnionType) and imported(type(value)):
            for number, part in enumerate(value.__args__):
                self._add(f"{name}[{number}]", part)
        elif not _data(value):
            held = (*getattr(value, "__args__", ()), *getattr(value, "__metadata__", ()))
            for number, part in enumerate(held):
                self._add(f"{name}[{number}]", part)
            if hasattr(type(value), "__dict__") and hasattr(value, "__dict__"):
                self.tables.add(vars(value))
        elif type(value) not in ATOMS and (
            not isinstance(value, SHARED) or isinstance(value, property)
        ):
            key, copier = self._key(value)
            if copier.met:
                raise Escape(f"{name} at module level holds rewards or noise")
            self.kept.append(copier.kept)
            self.lies += [part for part in copier.kept if type(part) is not tuple]
            self.data.append((value, key))
            self.marks[name] = (id(value), key)

    def _function(self, name: str, function: FunctionType) -> None:
        """Add what a function carries from one call to the next."""
        defaults, named, cells = function.__defaults__, function.__kwdefaults__, _closure(function)
        self.defaults.append((function, defaults, named))
        if cells:
            self.closures.append((function, cells))
            self.lies += function.__closure__ or ()
        for number, part in enumerate((*(defaults or ()), *cells)):
            self._add(f"{name}.carried {number}", part)
        for table in (vars(function), named or {}):
            self._table(name, table, lambda part: True)


def _in_class(name: str) -> bool:
    return name not in UNREAD and not name.startswith("__dataclass")


def _closure(function: FunctionType) -> list[Any]:
    cells: list[Any] = [EMPTY] * len(function.__closure__ or ())
    for number, cell in enumerate(function.__closure__ or ()):
        with suppress(ValueError):
            cells[number] = cell.cell_contents
    return cells


def _tables(around: Iterable[ModuleType], own: list[ModuleType]) -> list[Any]:
    """Return the name tables of everything outside of the judged code that it can write to."""
    found: dict[int, Any] = {}
    reachable: list[Any] = [Array, Float, Int, Str, Source, Poison, Tracked, Linear, Opaque]
    for module in around:
        if module in own:
            continue
        found[id(vars(module))] = vars(module)
        reachable += vars(module).values()
    for value in reachable:
        if isinstance(value, FunctionType) or (isinstance(value, type) and value.__flags__ & HEAP):
            found[id(value)] = vars(value)
    return list(found.values())


def _data(value: Any) -> bool:
    """Tell whether a value at module level could carry something; typing's names cannot."""
    kind = type(value)
    quiet = (kind.__module__ in QUIET and imported(kind)) or kind in STATELESS
    return not quiet and kind is not re.Pattern

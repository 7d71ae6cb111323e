"""Copies of a policy's reachable data, with its symbols replaced, and a canonical key of it.

Everything that can carry something from one call to the next must be known here: plain data,
containers, arrays, objects of the judged code's own classes, functions with what they close over.
Any other object ends in silence, by its type. What lies at module level may not change at all
(`Roots`), so copies need not contain it.
"""

from __future__ import annotations

import enum
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.loading import Poison
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.values import Linear, Opaque, Tracked

ATOMS = (int, float, str, bool, type(None), bytes, complex, Fraction, range, np.generic, type(...))
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
    ]
)  # judged code cannot name them
QUIET = ("typing", "types", "re", "functools", "__future__", "abc", "dataclasses")
SHARED = (type, ModuleType, BuiltinFunctionType, Source, Poison, enum.Enum, property, np.dtype)


class Names:
    """Canonical names: symbols by their first use."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.draws: dict[int, int] = {}
        self.publics: dict[int, int] = {}

    def mark(self, value: Tracked) -> Any:
        """Return a tracked value as the key has it."""
        if isinstance(value, Linear):
            return (
                "l",
                value.rest,
                self._named(value.publics, self.publics),
                self._named(value.rows, self.rows),
                self._named(value.draws, self.draws),
            )
        assert isinstance(value, Opaque)
        return ("o", tuple(self.form(rows, draws) for rows, draws in value.basis))

    def form(self, rows: dict[int, Any], draws: dict[int, Any]) -> Any:
        """Return a form as the key has it."""
        return self._named(rows, self.rows), self._named(draws, self.draws)

    @staticmethod
    def _named(weights: dict[int, Any], names: dict[int, int]) -> Any:
        return tuple(
            (names.setdefault(name, len(names)), weights[name]) for name in sorted(weights)
        )


class Copier:
    """One copy of a body; `replace` maps tracked values, `key` collects what it is made of."""

    def __init__(
        self,
        own: Callable[[type], bool],
        loaded: frozenset[int],
        replace: dict[int, Tracked] | None = None,
        keyed: bool = False,
    ) -> None:
        self.own, self.loaded, self.replace = own, loaded, replace
        self.memo: dict[int, Any] = {}
        self.kept: list[Any] = []  # ids are only names while their objects live
        self.buffers: set[int] = set()
        self.key: list[Any] | None = [] if keyed else None
        self.names = Names()
        self.tracked: dict[int, Tracked] = {}

    def __call__(self, value: Any) -> Any:
        """Return the copy of a value."""
        if isinstance(value, Tracked):
            found = value if self.replace is None else self.replace.get(id(value), value)
            self.tracked[id(value)] = value
            if self.key is not None:
                self.key.append(self.names.mark(found))
            return found
        kind = type(value)
        if kind in ATOMS or isinstance(value, np.generic):
            if self.key is not None:
                self.key.append(_atom(value, kind))
            return value
        if isinstance(value, SHARED) or (kind is FunctionType and id(value) in self.loaded):
            if self.key is not None:
                self.key.append(("shared", id(value)))
            return value
        if id(value) in self.memo:
            if self.key is not None:
                self.key.append(("again", list(self.memo).index(id(value))))
            return self.memo[id(value)]
        self.kept.append(value)
        return self._container(value, kind)

    def _begin(self, value: Any, new: Any, *mark: Any) -> Any:
        self.memo[id(value)] = new
        if self.key is not None:
            self.key.append(mark)
        return new

    def _container(self, value: Any, kind: type) -> Any:
        if kind is list:
            new: Any = self._begin(value, [], "list", len(value))
            new.extend(map(self, value))
            return new
        if kind is tuple:
            self._begin(value, value, "tuple", len(value))
            found = tuple(map(self, value))
            self.memo[id(value)] = found
            return found
        if kind in (dict, OrderedDict, Counter, defaultdict):
            new = defaultdict(value.default_factory) if kind is defaultdict else kind()
            self._begin(value, new, kind.__name__, len(value))
            for name, part in value.items():
                new[self(name)] = self(part)
            return new
        if kind in (set, frozenset):
            parts = sorted(value, key=repr)
            self._begin(value, value, kind.__name__, len(parts))
            new = kind(self(part) for part in parts)
            self.memo[id(value)] = new
            return new
        if kind is deque:
            new = self._begin(value, deque(maxlen=value.maxlen), "deque", len(value), value.maxlen)
            new.extend(map(self, value))
            return new
        return self._object(value, kind)

    def _object(self, value: Any, kind: type) -> Any:
        if kind is Array:
            return self._array(value)
        if kind is MethodType:
            self._begin(value, value, "method", id(value.__func__))
            new = MethodType(value.__func__, self(value.__self__))
            self.memo[id(value)] = new
            return new
        if kind is FunctionType:
            return self._function(value)
        if isinstance(value, tuple) and self.own(kind) and not hasattr(value, "__dict__"):
            self._begin(value, value, "tuple", id(kind), len(value))
            new = tuple.__new__(kind, tuple(map(self, tuple(value))))
            self.memo[id(value)] = new
            return new
        if not self.own(kind):
            raise Escape(
                f"an object of type {kind.__module__}.{kind.__qualname__} kept between rounds",
                "keep numbers, lists, dicts, arrays and objects of your own classes",
            )
        new = self._begin(value, object.__new__(kind), "object", id(kind))
        for name, part in _attributes(value):
            if self.key is not None:
                self.key.append(name)
            object.__setattr__(new, name, self(part))
        return new

    def _array(self, value: Array) -> Array:
        owner = value.store if value.store.base is None else value.store.base
        if id(owner) in self.buffers:
            raise Escape(
                "two arrays kept between rounds that share their memory", "copy one of them"
            )
        self.buffers.add(id(owner))
        new = Array(np.empty(value.shape, dtype=object), value.kind)
        self._begin(value, new, "array", value.kind, value.shape)
        for index in np.ndindex(value.shape):
            new.store[index] = self(value.store[index])
        return new

    def _function(self, value: FunctionType) -> Any:
        cells = [CellType() for _ in value.__closure__ or ()]
        new = FunctionType(
            value.__code__, value.__globals__, value.__name__, value.__defaults__, tuple(cells)
        )
        self._begin(value, new, "function", id(value.__code__), len(cells))
        for cell, old in zip(cells, value.__closure__ or (), strict=True):
            if id(old) in self.memo:
                raise Escape("two functions kept between rounds that share a variable")
            self.memo[id(old)] = cell
            self.kept.append(old)
            try:
                cell.cell_contents = self(old.cell_contents)
            except ValueError:
                continue
        if value.__defaults__:
            new.__defaults__ = self(value.__defaults__)
        if value.__kwdefaults__:
            new.__kwdefaults__ = self(value.__kwdefaults__)
        if vars(value):
            raise Escape("a function with attributes kept between rounds")
        return new


def _atom(value: Any, kind: type) -> Any:
    if isinstance(value, float) and (value == 0 or value != value):
        return kind.__name__, "nan" if value != value else math.copysign(1.0, value)
    return kind.__name__, value


def _attributes(value: Any) -> Iterable[tuple[str, Any]]:
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)
    yield from getattr(value, "__dict__", {}).items()


class Roots:
    """What lies at module level: names, class attributes, defaults, closures. It may not change."""

    def __init__(self, modules: Iterable[ModuleType], own: Callable[[type], bool]) -> None:
        self.modules, self.own = list(modules), own
        self.functions: set[int] = set()
        self.before = self._print()
        self.loaded = frozenset(self.functions)

    def changed(self) -> str:
        """Return the name of what has changed since; nothing if nothing has."""
        after = self._print()
        if after == self.before:
            return ""
        for name, mark in after.items():
            if self.before.get(name) != mark:
                return name
        return "a name"

    def _print(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        seen: set[int] = set()
        for module in self.modules:
            for name, value in vars(module).items():
                if name not in UNREAD:
                    self._add(found, f"{module.__name__}.{name}", value, seen)
        return found

    def _add(self, found: dict[str, Any], name: str, value: Any, seen: set[int]) -> None:
        value = getattr(value, "__func__", value)
        found[name] = id(value)
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, FunctionType):
            self._add_function(found, name, value, seen)
        elif isinstance(value, property):
            for part in (value.fget, value.fset, value.fdel):
                if part is not None:
                    self._add(found, f"{name}.{part.__name__}", part, seen)
        elif isinstance(value, type):
            if self.own(value):
                for part, inner in list(vars(value).items()):
                    if part not in UNREAD and not part.startswith("__dataclass"):
                        self._add(found, f"{name}.{part}", inner, seen)
        elif not isinstance(value, (*ATOMS, *SHARED, np.generic)) and _data(value):
            copier = Copier(self.own, frozenset(self.functions), keyed=True)
            copier(value)
            if copier.tracked:
                raise Escape(f"{name} at module level holds rewards or noise")
            found[name] = (id(value), tuple(map(repr, copier.key or ())))

    def _add_function(self, found: dict[str, Any], name: str, value: Any, seen: set[int]) -> None:
        self.functions.add(id(value))
        for number, part in enumerate(value.__defaults__ or ()):
            self._add(found, f"{name} default {number}", part, seen)
        for key, part in {**(value.__kwdefaults__ or {}), **vars(value)}.items():
            self._add(found, f"{name}.{key}", part, seen)
        for key, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                self._add(found, f"{name}.{key}", cell.cell_contents, seen)
            except ValueError:
                found[f"{name}.{key}"] = None


def _data(value: Any) -> bool:
    """Tell whether a value at module level could carry something; typing's names cannot."""
    return type(value).__module__ not in QUIET

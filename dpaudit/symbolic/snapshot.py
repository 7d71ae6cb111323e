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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.loading import Poison
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.stand_ins import Float, Int
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
        self, roots: Roots, replace: dict[int, Tracked] | None = None, keyed: bool = False
    ) -> None:
        self.roots, self.replace = roots, replace
        self.memo: dict[int, Any] = {}
        self.kept: list[Any] = []  # ids are only names while their objects live
        self.buffers: set[int] = set()
        self.key: list[Any] | None = [] if keyed else None
        self.names = Names()
        self.tracked: dict[int, Tracked] = {}
        self.inside_array = False

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
            if value != value and not self.inside_array:
                raise Escape("nan kept between rounds", "lists compare it by identity")
            if self.key is not None:
                self.key.append(_atom(value, kind))
            return value
        if isinstance(value, SHARED) or (kind is FunctionType and id(value) in self.roots.known):
            self._require_known(value)
            if self.key is not None:
                self.key.append(("shared", id(value)))
            return value
        if id(value) in self.memo:
            if self.key is not None:
                self.key.append(("again", list(self.memo).index(id(value))))
            return self.memo[id(value)]
        self.kept.append(value)
        return self._container(value, kind)

    def _require_known(self, value: Any) -> None:
        """Refuse what could carry something and was made while the code ran."""
        if (
            isinstance(value, type)
            and self.roots.judged(value)
            and id(value) not in self.roots.known
        ):
            raise Escape(f"the class {value.__name__}, made while the policy runs")
        bound = getattr(value, "__self__", None) if type(value) is BuiltinFunctionType else None
        if bound is not None and not isinstance(bound, ModuleType):
            raise Escape(
                f"the method {value.__name__} of a {type(bound).__name__} kept between rounds"
            )

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
            if getattr(value, "__dict__", None):
                raise Escape(f"attributes put on a {kind.__name__}")
            new = defaultdict(self(value.default_factory)) if kind is defaultdict else kind()
            self._begin(value, new, kind.__name__, len(value))
            for name, part in value.items():
                new[self(name)] = self(part)
            return new
        if kind in (set, frozenset):
            _require_ordered(value)
            self._begin(value, value, kind.__name__, len(value), value.__sizeof__())
            new = kind(map(self, value))
            if new.__sizeof__() != value.__sizeof__():
                raise Escape("a set that was larger, kept between rounds", "use a list")
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
            self._begin(value, value, "method")
            new = MethodType(self(value.__func__), self(value.__self__))
            self.memo[id(value)] = new
            return new
        if kind is FunctionType:
            return self._function(value)
        own = self.roots.own(kind)
        if isinstance(value, tuple) and own and not hasattr(value, "__dict__"):
            self._begin(value, value, "tuple", id(kind), len(value))
            new = tuple.__new__(kind, tuple(map(self, tuple(value))))
            self.memo[id(value)] = new
            return new
        if not own or isinstance(value, tuple):
            raise Escape(
                f"an object of type {kind.__module__}.{kind.__qualname__} kept between rounds",
                "keep numbers, lists, dicts, arrays and objects of your own classes",
            )
        self._require_known(kind)
        new = self._begin(value, object.__new__(kind), "object", id(kind))
        for base in kind.__mro__:
            for name, slot in vars(base).items():
                if isinstance(slot, MemberDescriptorType):
                    with suppress(AttributeError):
                        part = slot.__get__(value)
                        self._mark(name)
                        slot.__set__(new, self(part))
        for name, part in getattr(value, "__dict__", {}).items():
            self._mark(name)
            vars(new)[name] = self(part)
        return new

    def _mark(self, name: str) -> None:
        if self.key is not None:
            self.key.append(name)

    def _array(self, value: Array) -> Array:
        owner = value.store if value.store.base is None else value.store.base
        if id(owner) in self.buffers:
            raise Escape(
                "two arrays kept between rounds that share their memory", "copy one of them"
            )
        self.buffers.add(id(owner))
        new = Array(np.empty(value.shape, dtype=object), value.kind)
        self._begin(value, new, "array", value.kind, value.shape)
        self.inside_array = True
        for index in np.ndindex(value.shape):
            new.store[index] = self(value.store[index])
        self.inside_array = False
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


def _require_ordered(value: Any) -> None:
    """Refuse a set whose order may depend on more than what it holds: on its past, on hashes.

    Small whole numbers below the size of its table have a place of their own there.
    """
    if len(value) < 2:
        return
    table = max(8, (value.__sizeof__() - set().__sizeof__()) // 16)
    if not all(type(part) is int and 0 <= part < table for part in value):
        raise Escape("a set kept between rounds", "its order is not fixed; use a list")


def _atom(value: Any, kind: type) -> Any:
    if isinstance(value, range):
        return kind.__name__, value.start, value.stop, value.step  # equal ranges may differ
    if isinstance(value, float) and value == 0:
        return kind.__name__, math.copysign(1.0, value)
    if isinstance(value, float | complex | np.generic) and value != value:
        return kind.__name__, "nan"
    return kind.__name__, value


class Roots:
    """What lies at module level: names, class attributes, defaults, closures. It may not change.

    `modules` are the judged code's own, `around` all that it can name.
    """

    def __init__(self, modules: Iterable[ModuleType], around: Iterable[ModuleType]) -> None:
        self.modules = list(modules)
        self.named = {module.__name__ for module in self.modules}
        self.known: set[int] = set()
        self.kept: list[Any] = []  # so that no other object can get the same id
        self.around = _tables(around, self.modules)
        self.outside = self._outside()
        self.before = self._print(self.kept)

    def judged(self, kind: type) -> bool:
        """Tell whether a class belongs to the judged code."""
        return kind.__module__ in self.named

    def own(self, kind: type) -> bool:
        """Tell whether objects of a class are plain data: of the judged code's classes alone."""
        known = (*self.named, "abc", "typing")
        return self.judged(kind) and all(
            base.__module__ in known or base in (object, tuple) for base in kind.__mro__
        )

    def _outside(self) -> list[tuple[int, ...]]:
        return [tuple(map(id, table.values())) for table in self.around]

    def changed(self) -> str:
        """Return the name of what has changed since; nothing if nothing has."""
        if self._outside() != self.outside:
            return "something in an imported module"
        after = self._print([])
        if after == self.before:
            return ""
        for name, mark in after.items():
            if self.before.get(name) != mark:
                return name
        return "a name"

    def _print(self, kept: list[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        seen: set[int] = set()
        for module in self.modules:
            for name, value in vars(module).items():
                if name not in UNREAD:
                    kept.append(value)
                    self._add(found, f"{module.__name__}.{name}", value, seen, kept)
        return found

    def _add(
        self, found: dict[str, Any], name: str, value: Any, seen: set[int], kept: list[Any]
    ) -> None:
        value = getattr(value, "__func__", value)
        kept.append(value)
        found[name] = id(value)
        if id(value) in seen:
            return
        seen.add(id(value))

        def add(part: str, inner: Any) -> None:
            self._add(found, f"{name}.{part}", inner, seen, kept)

        if isinstance(value, FunctionType):
            self.known.add(id(value))
            for part, inner in _carried(value):
                add(part, inner)
        elif isinstance(value, property):
            for accessor in (value.fget, value.fset, value.fdel):
                if accessor is not None:
                    add(getattr(accessor, "__name__", "accessor"), accessor)
        elif isinstance(value, type):
            if self.judged(value):
                self.known.add(id(value))
                for part, inner in list(vars(value).items()):
                    if part not in UNREAD and not part.startswith("__dataclass"):
                        add(part, inner)
        elif isinstance(value, enum.Enum):
            for part, inner in vars(value).items():
                if not part.startswith("__"):
                    add(part, inner)
        elif not isinstance(value, (*ATOMS, *SHARED, np.generic)) and _data(value):
            copier = Copier(self, keyed=True)
            copier(value)
            if copier.tracked:
                raise Escape(f"{name} at module level holds rewards or noise")
            kept.append(copier.kept)
            found[name] = (id(value), tuple(map(repr, copier.key or ())))


def _carried(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function carries from one call to the next."""
    for number, part in enumerate(function.__defaults__ or ()):
        yield f"default {number}", part
    yield from {**(function.__kwdefaults__ or {}), **vars(function)}.items()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            yield name, cell.cell_contents


def _tables(around: Iterable[ModuleType], own: list[ModuleType]) -> list[Any]:
    """Return the name tables of everything outside of the judged code that it can write to."""
    found: dict[int, Any] = {}
    reachable: list[Any] = [Array, Float, Int, Source, Poison, Tracked, Linear, Opaque]
    for module in around:
        if module in own:
            continue
        found[id(vars(module))] = vars(module)
        reachable += vars(module).values()
    for value in reachable:
        if isinstance(value, FunctionType) or (isinstance(value, type) and value.__flags__ & HEAP):
            table = vars(value)
            found[id(value)] = table
    return list(found.values())


HEAP = 1 << 9  # a class that Python code made, and can write to


def _data(value: Any) -> bool:
    """Tell whether a value at module level could carry something; typing's names cannot."""
    return type(value).__module__ not in QUIET

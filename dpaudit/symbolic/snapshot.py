"""Copies of a policy's reachable data, with its symbols replaced, and a canonical key of it.

Everything that can carry something from one call to the next must be known here: plain data,
containers, arrays, objects of the judged code's own classes, functions with what they close over.
Any other object ends in silence, by its type. What lies at module level may not change at all
(`Roots`), so copies need not contain it.
"""

from __future__ import annotations

import enum
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from contextlib import suppress
from fractions import Fraction
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.other_modules import FrozenLaw
from dpaudit.symbolic.poison import Poison
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.values import Linear, Opaque, Tracked, finite

if TYPE_CHECKING:
    from dpaudit.symbolic.roots import Roots

SCALARS = [
    kind
    for kind in vars(np).values()
    if isinstance(kind, type) and issubclass(kind, np.number | np.bool_)
]
ATOMS = frozenset(
    (int, float, str, bool, type(None), bytes, complex, Fraction, range, type(...), *SCALARS)
)
COPIED = frozenset((list, tuple, dict, Array))
HEAP = 1 << 9  # a class that Python code made, and can write to
TEXTS = ("__name__", "__qualname__", "__module__", "__doc__")
OPEN = object()  # where the key of a tracked value belongs
SHARED: tuple[Any, ...] = (type, ModuleType, BuiltinFunctionType, Source, Poison, enum.Enum)
SHARED += (property, np.dtype, FrozenLaw)

UNFINISHED = object()  # in place of the copy of what cannot be made before its parts


class Copier:
    """One copy of a body; `replace` maps tracked values, `key` collects what it is made of.

    The place of a tracked value is left open in the key: `met` has the values in their order.
    `instead` has what is put at some places of the key; `whole` copies what lies at module level
    too.
    """

    def __init__(
        self,
        roots: Roots,
        replace: dict[int, Tracked] | None = None,
        keyed: bool = False,
        instead: dict[int, Linear] | None = None,
        whole: bool = False,
    ) -> None:
        self.roots, self.replace, self.instead = roots, replace, instead
        self.fixed: set[int] = set() if whole else roots.fixed
        self.memo: dict[int, Any] = {}
        self.kept: list[Any] = []  # ids are only names while their objects live
        self.buffers: set[int] = set()
        self.key: list[Any] | None = [] if keyed else None
        self.met: list[Tracked] = []
        self.functions: dict[int, int] = {}  # of symbols, by their place among `met`
        self.inside_array = False

    def __call__(self, value: Any) -> Any:
        """Return the copy of a value."""
        kind = type(value)
        if kind is Linear or kind is Opaque:
            if self.key is not None:
                if not finite(value):  # lists find nan by its identity
                    self.key.append(("which", self.functions.setdefault(id(value), len(self.met))))
                self.key.append(OPEN)
                self.met.append(value)
                if self.instead is not None:
                    return self.instead.get(len(self.key) - 1, value)
            return value if self.replace is None else self.replace.get(id(value), value)
        if kind is Answer:
            if self.key is not None:
                self.key.append(("answer", value.truth))
            return value
        if kind in ATOMS:
            if value != value and not self.inside_array:
                raise Escape("nan kept between rounds", "lists compare it by identity")
            if self.key is not None:
                self.key.append((*_atom(value, kind), *("element",) * self.inside_array))
                if self.instead is not None:
                    return self.instead.get(len(self.key) - 1, value)
            return value
        if id(value) in self.fixed or (kind not in COPIED and self._shared(value, kind)):
            if self.key is not None:
                self.key.append(("shared", id(value)))
            return value
        if id(value) in self.memo:
            if self.key is not None:
                self.key.append(("again", list(self.memo).index(id(value))))
            if self.memo[id(value)] is UNFINISHED:
                raise Escape(f"a {kind.__name__} that contains itself", "keep it in an object")
            return self.memo[id(value)]
        self.kept.append(value)
        return self._container(value, kind)

    def _shared(self, value: Any, kind: type) -> bool:
        """Tell whether a value cannot change, so that a copy may have the very same."""
        if isinstance(value, Source) and value.fixed:
            return False
        if self.roots.is_own(kind):
            return False
        if isinstance(value, SHARED) or (kind is FunctionType and id(value) in self.roots.known):
            self._require_known(value)
            return True
        return False

    def _require_known(self, value: Any) -> None:
        """Refuse what could carry something and was made while the code ran."""
        ours = isinstance(value, type) and value.__flags__ & HEAP and not imported(value)
        if ours and id(value) not in self.roots.known:
            raise Escape(f"the class {value.__name__}, made while the policy runs")
        known = type(value) if isinstance(value, enum.Enum) else value
        made = isinstance(value, ModuleType | property | enum.Enum)
        if made and id(known) not in self.roots.known:
            raise Escape(f"a {type(value).__name__}, made while the policy runs")
        if isinstance(value, np.dtype) and value.isbuiltin != 1:
            raise Escape(f"the type of an array, {value}, kept between rounds")
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
            self._begin(value, UNFINISHED, "tuple", len(value))
            found = tuple(map(self, value))
            self.memo[id(value)] = found
            return found
        if kind in (dict, OrderedDict, Counter, defaultdict):
            if getattr(value, "__dict__", None):
                raise Escape(f"attributes put on a {kind.__name__}")
            new = kind()
            self._begin(value, new, kind.__name__, len(value))
            if kind is defaultdict:
                new.default_factory = self(value.default_factory)
            for name, part in value.items():
                _require_fixed(name)
                new[self(name)] = self(part)
            return new
        if kind in (set, frozenset):
            _require_ordered(value)
            for part in value:
                _require_fixed(part)
            self._begin(value, UNFINISHED, kind.__name__, len(value), value.__sizeof__())
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
        if isinstance(value, Source):
            return self._begin(value, value.again(), "seeded", *value.position())
        if kind is MethodType:
            self._begin(value, UNFINISHED, "method")
            new = MethodType(self(value.__func__), self(value.__self__))
            self.memo[id(value)] = new
            return new
        if kind is FunctionType:
            return self._function(value)
        if kind is partial:
            if vars(value):
                raise Escape("attributes put on a partial function")
            self._begin(value, UNFINISHED, "partial", len(value.args), tuple(value.keywords))
            parts = [*value.args, *value.keywords.values()]
            function, *parts = map(self, [value.func, *parts])
            more = parts[len(value.args) :]
            named = dict(zip(value.keywords, more, strict=True))
            self.memo[id(value)] = partial(function, *parts[: len(value.args)], **named)
            return self.memo[id(value)]
        if kind is SimpleNamespace:
            new = self._begin(value, SimpleNamespace(), "namespace", len(vars(value)))
            for name, part in vars(value).items():
                self._mark(name)
                setattr(new, name, self(part))
            return new
        own = self.roots.is_own(kind)
        if isinstance(value, tuple) and own and not hasattr(value, "__dict__"):
            self._begin(value, UNFINISHED, "tuple", id(kind), len(value))
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
        for name, slot in self.roots.slots(kind):
            with suppress(AttributeError):
                part = slot.__get__(value)
                self._mark(name)
                slot.__set__(new, self(part))
        attributes = attributes_of(value)
        self._mark(len(attributes))
        for name, part in attributes.items():
            if type(name) is not str:
                raise Escape(f"an attribute whose name is a {type(name).__name__}")
            self._mark(name)
            attributes_of(new)[name] = self(part)
        return new

    def _mark(self, name: Any) -> None:
        if self.key is not None:
            self.key.append(("name", name))

    def _array(self, value: Array) -> Array:
        owner = value.store if value.store.base is None else value.store.base
        if not value.store.flags.c_contiguous:
            raise Escape("an array that is not laid out row by row, kept between rounds", "copy it")
        if id(owner) in self.buffers or id(owner) in self.fixed:
            raise Escape("arrays kept between rounds that share their memory", "copy one of them")
        self.buffers.add(id(owner))
        new = Array(np.empty(value.shape, dtype=object), value.kind, value.loose)
        self._begin(value, new, "array", value.kind, value.loose, value.shape)
        self.inside_array = True
        places = new.store.reshape(-1)  # a view: the storage is new and contiguous
        for number, part in enumerate(value.store.flat):
            places[number] = self(part)
        self.inside_array = False
        return new

    def _function(self, value: FunctionType) -> Any:
        cells = [CellType() for _ in value.__closure__ or ()]
        new = FunctionType(
            value.__code__, value.__globals__, value.__name__, value.__defaults__, tuple(cells)
        )
        self._begin(value, new, "function", id(value.__code__), len(cells))
        for cell, old in zip(cells, value.__closure__ or (), strict=True):
            if id(old) in self.memo or id(old) in self.fixed:
                raise Escape("two functions kept between rounds that share a variable")
            self.memo[id(old)] = cell
            self.kept.append(old)
            try:
                content = old.cell_contents
            except ValueError:
                self._mark(OPEN)  # nothing else is marked by it
                continue
            cell.cell_contents = self(content)
        if value.__defaults__:
            new.__defaults__ = self(value.__defaults__)
        if value.__kwdefaults__:
            new.__kwdefaults__ = self(value.__kwdefaults__)
        if vars(value) or texts_of(value) != texts_of(new):
            raise Escape("a function with attributes kept between rounds")
        return new


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, whatever its class says of them."""
    for base in type(value).__mro__:
        found = vars(base).get("__dict__")
        if type(found) is GetSetDescriptorType:
            attributes: dict[str, Any] = found.__get__(value)
            return attributes
        if found is not None:
            raise Escape(f"a class with a __dict__ of its own, {base.__name__}")
    return {}


def imported(kind: type) -> bool:
    """Tell whether a class is what its module has under its name, and no impostor."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def texts_of(value: Any) -> tuple[Any, ...]:
    """Return what a function or a class says of itself: code can write it, and read it again."""
    return tuple(getattr(value, name, None) for name in TEXTS)


def _require_fixed(key: Any) -> None:
    """Refuse a key whose hash its class makes up: it may have been another when it was put in."""
    kind = type(key)
    for part in key if kind is tuple else ():
        _require_fixed(part)
    own: Any = kind.__hash__
    fixed = kind in (*ATOMS, tuple) or isinstance(key, type | enum.Enum | Tracked | FunctionType)
    if not fixed and own is not object.__hash__:
        raise Escape(f"a {kind.__name__} as a key or in a set, kept between rounds")


def _require_ordered(value: Any) -> None:
    """Refuse a set whose order may depend on more than what it holds: on its past, on hashes.

    Small whole numbers below the size of its table have a place of their own there.
    """
    if len(value) < 2:
        return
    table = max(8, (value.__sizeof__() - set().__sizeof__()) // 16)
    if not all(type(part) is int and 0 <= part < table for part in value):
        raise Escape("a set kept between rounds", "its order is not fixed; use a list")


def _atom(value: Any, kind: type) -> tuple[Any, ...]:
    if kind is range:
        return kind, value.start, value.stop, value.step  # equal ranges may differ
    if isinstance(value, complex | np.complexfloating):
        return kind, *_part(value.real), *_part(value.imag)
    return kind, *_part(value)


def _part(value: Any) -> tuple[Any, ...]:
    """Return what tells a number from others; 0.0 and -0.0 are equal, and may not act alike."""
    real = isinstance(value, float | np.floating)
    if value != value or (real and not value):
        return str(value), bool(np.signbit(value))
    return (value,)

"""What judged code may write to: what it made itself.

A policy can hide a reward only where it can write. An attribute of a library's function, an object
that a library keeps for everybody, the name table of a class: no copy of the state contains them,
so that every write to such a thing ends in silence.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.poison import Poison
from dpaudit.symbolic.run import current, named

CONTAINERS = frozenset((list, dict, OrderedDict, Counter, defaultdict, deque, Array))
LOOKED_UP = (list, dict, tuple, OrderedDict, Counter, defaultdict, Array)
MUTABLE = (list, dict, set, deque, bytearray)
OPEN = (ModuleType, Poison, SimpleNamespace, super)


def is_private(name: str) -> bool:
    """Tell whether a name has a leading underscore and is not one of Python's own."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


class Writing:
    """The modules of the judged code, and the builtins that its functions have."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.builtins: dict[str, Any] = {}
        self.kinds: dict[type, bool] = {}

    def _made(self, value: Any) -> bool:
        """Tell whether the judged code made an object, a class or a function."""
        if type(value) is SimpleNamespace:
            return True
        if type(value).__module__ in self.modules:
            return not isinstance(value, enum.Enum) or not _finished(value)
        if isinstance(value, type):
            return value.__module__ in self.modules
        if isinstance(value, FunctionType):
            return value.__globals__.get("__builtins__") is self.builtins
        return False

    def owned(self, value: Any) -> Any:
        """Return what an attribute is written to."""
        if not self._made(value):
            raise current().escape(
                f"an attribute of a {named(type(value))}, written to",
                "the code may write to its own objects only",
            )
        return value

    def container(self, value: Any) -> Any:
        """Return what an element is written to."""
        kind = type(value)
        if kind in CONTAINERS or kind.__module__ in self.modules:
            return value
        raise current().escape(f"an element of a {named(kind)}, written to")

    def listed(self, value: Any, name: str) -> Any:
        """Return whose attribute is asked for that is not on the list: the judged code's own.

        Modules have lists of their own.
        """
        kind = type(value)
        if kind not in self.kinds:
            own = kind.__module__ in self.modules or issubclass(kind, OPEN)
            self.kinds[kind] = own
        if self.kinds[kind] or self._made(value):
            return value
        raise current().escape(
            f"the attribute {name} of a {named(kind)}", "it is not among what can be followed"
        )

    def private(self, value: Any, name: str) -> Any:
        """Return whose attribute with a leading underscore is asked for: not a library's own.

        Libraries keep tables there that all share.
        """
        own = self._made(value) or type(value) is super or type(value).__module__ in self.modules
        if isinstance(value, ModuleType):
            own = vars(value).get("__builtins__") is self.builtins
        kind = value if isinstance(value, type) else type(value)
        holder = next((base for base in kind.__mro__ if name in vars(base)), None)
        foreign = holder is not None and holder.__module__ not in self.modules
        if not own or (foreign and isinstance(vars(holder)[name], MUTABLE)):
            raise current().escape(f"the attribute {name} of a {named(type(value))}")
        return value

    def asked(self, value: Any, name: str) -> Any:
        """Return whose attribute is asked for that not everybody may be asked for."""
        return (self.private if is_private(name) else self.listed)(value, name)

    def method(self, value: Any, name: str) -> Callable[..., Any]:
        """Return `__getitem__` of what may be looked up; what writes, for the code's own alone."""
        real: Callable[..., Any] = getattr(value, name)
        if name == "__getitem__":
            kind = value if isinstance(value, type) else type(value)
            if kind in LOOKED_UP or kind is super or kind.__module__ in self.modules:
                return real
            raise current().escape(f"the method {name} of a {named(kind)}")

        def apply(*given: Any, **named: Any) -> Any:
            thing: Any = value
            if isinstance(value, type):
                thing = given[0] if given else None
            elif type(value) is super:
                thing = object.__getattribute__(value, "__self__")
            if name == "__setattr__" and str(given[-2] if given[1:] else "").startswith("__"):
                raise current().escape("a name of Python's own, written to")
            self.owned(thing)
            return real(*given, **named)

        return apply

    def marking(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return a decorator that writes to what it is given: only to the judged code's own."""

        def apply(*given: Any, **named: Any) -> Any:
            for value in given:
                if isinstance(value, type | FunctionType):
                    self.owned(value)
            found = real(*given, **named)
            return found if given else self.marking(found)

        return apply

    def wraps(self, wrapped: Any, *given: Any, **named: Any) -> Callable[..., Any]:
        """Stand in for `functools.wraps`."""

        def apply(wrapper: Any) -> Any:
            return update_wrapper(self.owned(wrapper), wrapped, *given, **named)

        return apply


def _finished(member: enum.Enum) -> bool:
    """Tell whether a member of an enumeration is past its `__init__`."""
    return any(member is known for known in type(member)._value2member_map_.values()) or (
        "_sort_order_" in vars(member)
    )

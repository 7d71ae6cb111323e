"""Modules in place of real ones: what is not followed ends in silence when it is used."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dpaudit.symbolic.run import Escape, current, running


class StandIn(ModuleType):
    """A module of which only what is written here exists, and which cannot be changed."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise current().escape(f"an assignment to {self.__name__}.{name}")

    def __repr__(self) -> str:
        raise current().escape(f"the text of the module {self.__name__}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not running():
            raise AttributeError(name)
        raise current().escape(f"{self.__name__}.{name}", "it is not among what can be followed")


class Poison:
    """A name of a module that is not followed; using it ends in silence."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _used(self, *_: Any, **__: Any) -> Any:
        if not running():
            raise Escape(f"the use of {self._name}")
        raise current().escape(
            f"the use of {self._name}", "what it does cannot be followed; keep it out of the policy"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Poison(f"{self._name}.{name}")

    __call__ = __getitem__ = __iter__ = __enter__ = __mro_entries__ = __add__ = __bool__ = _used
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __mul__ = __truediv__ = _used
    __radd__ = __rmul__ = __sub__ = __rsub__ = __float__ = __int__ = __index__ = __contains__ = (
        _used
    )
    __hash__ = object.__hash__
    __repr__ = _used


class PoisonModule(ModuleType):
    """A module that can be imported and named."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise current().escape(f"an assignment to {self.__name__}.{name}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Poison(f"{self.__name__}.{name}")

"""functools' caches, warnings, logging and scipy.stats' laws, as judged code meets them."""

from __future__ import annotations

import logging
import math
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.poison import Poison, StandIn
from dpaudit.symbolic.run import current
from dpaudit.symbolic.texts import shown
from dpaudit.symbolic.values import Linear, Opaque, Tracked

OURS = "dpaudit.symbolic"
LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "setLevel")
TOLD = (int, float, str, bool, type(None))  # nobody sees whether a text is made of it
CACHED = (int, float, str, bool, type(None), Linear, Opaque)  # a symbol is refused by its name


def memo_free(function: Any = None, *_: Any, **__: Any) -> Any:
    """Stand in for `functools.cache`: no cache, and a check that none could be noticed."""
    if not callable(function):
        return memo_free
    kinds: dict[Any, type] = {}

    def call(*given: Any, **named: Any) -> Any:
        run = current()
        before = run.next_symbol, len(run.trace)
        _require_pure(function, set())
        for place, value in (*enumerate(given), *named.items()):
            negative = isinstance(value, float) and value == 0 and math.copysign(1, value) < 0
            if kinds.setdefault(place, type(value)) is not type(value) or negative:
                raise run.escape("a cached function of 1 and 1.0, or 0.0 and -0.0, taken for one")
        found = function(*given, **named)
        if not all(type(it) in CACHED for it in (*given, *named.values(), found)):
            raise run.escape("a cached function of something that can change", "do not cache it")
        if isinstance(found, Tracked) or before != (run.next_symbol, len(run.trace)):
            raise run.escape(
                "a cached function that draws or depends on rewards", "do not cache noise"
            )
        return found

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def _require_pure(function: Any, seen: set[int]) -> None:
    """Refuse a function that reads more than its arguments, modules and functions like it."""
    function = getattr(function, "__wrapped__", function)
    if id(function) in seen or str(getattr(function, "__module__", "")).startswith(OURS):
        return
    seen.add(id(function))
    if type(function) is not FunctionType or function.__closure__ or function.__kwdefaults__:
        raise current().escape("a cached function that may remember", "do not cache it")
    if any(type(value) not in CACHED for value in function.__defaults__ or ()):
        raise current().escape("a cached function with a default that can change")
    codes = [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        for name in code.co_names:
            value = function.__globals__.get(name, codes)
            if isinstance(value, FunctionType):
                _require_pure(value, seen)
            elif value is not codes and not isinstance(value, StandIn):
                raise current().escape(f"a cached function that reads {name}", "do not cache it")


def warnings_module() -> ModuleType:
    """Return what `import warnings` gives: no warning is shown, none becomes an error."""

    def ask(action: str = "", *_: Any, **__: Any) -> None:
        if action == "error":
            raise current().escape("warnings that become errors")

    module = StandIn("warnings")
    quiet = {"warn": lambda said, *_, **__: _told(said), "filterwarnings": ask, "simplefilter": ask}
    vars(module).update(quiet)
    return module


class Logger(Poison):
    """A logger: what it is told must be public, and nothing comes back from it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return _told if name in LEVELS else super().__getattr__(name)


def _told(*given: Any, **_: Any) -> None:
    for value in given:
        if type(value) not in TOLD and not isinstance(value, np.generic | Tracked):
            raise current().escape(f"a {type(value).__name__} told to a logger or a warning")
        str(shown(value))  # a symbol has no text


def logging_module() -> ModuleType:
    """Return what `import logging` gives."""
    module = StandIn("logging")
    quiet = {name: _told for name in LEVELS if name != "setLevel"}
    numbers = {name: getattr(logging, name) for name in ("DEBUG", "INFO", "WARNING", "ERROR")}
    vars(module).update(quiet | numbers | {"basicConfig": lambda **_: None, "Logger": Logger})
    vars(module)["getLogger"] = lambda *_: Logger("a logger")
    return module


class FrozenLaw:
    """A law of scipy.stats: its draws."""

    __slots__ = ("source", "kind")

    def __init__(self, source: Source, kind: str) -> None:
        self.source, self.kind = source, kind

    def rvs(self, loc: Any = 0, scale: Any = 1, size: Any = None, random_state: Any = None) -> Any:
        """Return draws."""
        if current().tally is not None:
            raise current().escape("scipy's noise, whose algorithm is not known")
        source = random_state if isinstance(random_state, Source) else self.source
        if random_state is not None and source is not random_state:
            source = Source(True)
        if self.kind == "uniform":
            return source.uniform(loc, loc + scale, size)
        return getattr(source, self.kind)(loc, scale, size)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"scipy.stats: {self.kind}.{name}")

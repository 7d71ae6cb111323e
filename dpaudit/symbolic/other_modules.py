"""functools' caches, warnings and the laws of scipy.stats, as judged code meets them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.poison import StandIn
from dpaudit.symbolic.run import current
from dpaudit.symbolic.values import Linear, Opaque, Tracked

CACHED = (int, float, str, bool, type(None), Linear, Opaque)  # a symbol is refused by its name


def memo_free(function: Any = None, *_: Any, **__: Any) -> Any:
    """Stand in for `functools.cache`: no cache, and a check that none could be noticed."""
    if not callable(function):
        return memo_free

    def call(*given: Any, **named: Any) -> Any:
        run = current()
        before = run.next_symbol, len(run.trace)
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


def warnings_module() -> ModuleType:
    """Return what `import warnings` gives: no warning is shown, none becomes an error."""

    def ask(action: str = "", *_: Any, **__: Any) -> None:
        if action == "error":
            raise current().escape("warnings that become errors")

    module = StandIn("warnings")
    quiet = {"warn": lambda *_, **__: None, "filterwarnings": ask, "simplefilter": ask}
    vars(module).update(quiet)
    return module


class FrozenLaw:
    """A law of scipy.stats: its draws."""

    __slots__ = ("source", "kind")

    def __init__(self, source: Source, kind: str) -> None:
        self.source, self.kind = source, kind

    def rvs(self, loc: Any = 0, scale: Any = 1, size: Any = None, random_state: Any = None) -> Any:
        """Return draws."""
        if current().guarded:
            raise current().escape(f"scipy.stats.{self.kind} in a guarded run")
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

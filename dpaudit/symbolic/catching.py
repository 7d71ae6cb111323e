"""Exceptions that judged code catches: of those that stand-ins may raise otherwise, none.

Where a stand-in raises in another place than the real thing, code that catches goes another way.
What a lookup or a division by a public zero raises is the same; a handler of anything else ends in
silence where its body is entered, because no stand-in is known to raise wherever Python does; and
so does an operation on symbols that might raise within reach of a handler.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from dpaudit.symbolic.run import Escape, current

SAME = (KeyError, IndexError, StopIteration, ImportError, ZeroDivisionError)


class Catching:
    """What handlers and contexts of the judged code ask; `modules` are its own."""

    def __init__(self, modules: set[str], quiet: tuple[type, ...]) -> None:
        self.modules, self.quiet = modules, (*quiet, nullcontext)

    def entered(self, *kinds: Any) -> None:
        """Look at the types that the handlers of a body name."""
        for kind in kinds:
            for part in kind if isinstance(kind, tuple) else (kind,):
                own = getattr(part, "__module__", "") in self.modules
                if not own and not (isinstance(part, type) and issubclass(part, SAME)):
                    name = getattr(part, "__name__", "that")
                    raise current().escape(
                        f"a handler of {name}",
                        "what raises it in Python is not all known; test for it beforehand, or "
                        f"catch one of {', '.join(it.__name__ for it in SAME)}",
                    )

    def caught(self, error: BaseException | None = None) -> None:
        """Look at the exception that is being handled."""
        error = sys.exc_info()[1] if error is None else error
        if isinstance(error, Escape):
            raise error
        own = type(error).__module__ in self.modules
        if error is not None and not own and not isinstance(error, SAME):
            raise current().escape(
                f"a {type(error).__name__} that is caught", "it may be raised elsewhere in Python"
            )

    def context(self, value: Any) -> Any:
        """Return the context that a with statement enters."""
        if type(value) in self.quiet:
            return value
        known = vars(value).get("_exceptions") if type(value) is suppress else None
        self.entered(*(known or (BaseException,)))
        current().catching = True
        return Watched(value, self.caught)


class Watched:
    """A context manager, and a look at what it swallows."""

    __slots__ = ("_value", "_caught")

    def __init__(self, value: Any, caught: Callable[[Any], None]) -> None:
        self._value, self._caught = value, caught

    def __enter__(self) -> Any:
        return type(self._value).__enter__(self._value)

    def __exit__(self, *error: Any) -> Any:
        swallowed = type(self._value).__exit__(self._value, *error)
        if swallowed and error[1] is not None:
            self._caught(error[1])
        return swallowed

"""Exceptions that judged code catches: of those that stand-ins may raise otherwise, none.

Where a stand-in raises in another place than the real thing, code that catches goes another way.
What a lookup or a division by a public zero raises is the same; anything else that is caught ends
in silence, and so does an operation on symbols that might raise within reach of a handler.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from dpaudit.symbolic.run import Escape, current

SAME = (KeyError, IndexError, StopIteration, ImportError, ZeroDivisionError)


class Catching:
    """What handlers and contexts of the judged code ask; `modules` are its own."""

    def __init__(self, modules: set[str], quiet: tuple[type, ...]) -> None:
        self.modules, self.quiet = modules, (*quiet, nullcontext)

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

"""Exceptions that judged code catches: of those that stand-ins may raise otherwise, none.

Where a stand-in raises in another place than the real thing, code that catches goes another way,
and no stand-in of a library is known to raise wherever the library does. So a handler of anything
but a lookup, a division by zero or an end ends in silence where its body is entered; and within
reach of a handler of a lookup or a division, judged code may call no stand-in of a library at all:
containers of Python raise by themselves, and what is left is arithmetic of symbols (`PLAIN`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from dpaudit.symbolic.run import Escape, current

RAISED = (KeyError, IndexError, ZeroDivisionError)
"""What libraries raise as well."""
SAME = (*RAISED, StopIteration, ImportError)
HERE = Path(__file__).resolve().parent
LOOKING = frozenset(
    str(HERE / f"{name}.py") for name in ("catching", "identity", "probes", "writing")
)
SYMBOLS = ("Tracked", "Linear", "Opaque", "Answer", "TypeStandIn")
_PLAIN = """
    add sub rsub mul truediv rtruediv neg pos abs lt le gt ge eq ne bool call instancecheck"""
PLAIN = frozenset(f"__{name}__" for name in _PLAIN.split())
"""Methods of symbols, of truth values, of `float` and `int`."""
BUILTIN = frozenset(
    ("is_instance", "kind_of", "absolute", "added_up", "answered", "_chosen.<locals>.apply")
)


def _is_plain(code: CodeType) -> bool:
    """Tell whether a function of the reader is known to raise just where Python does."""
    if code.co_filename in LOOKING:
        return True
    if code.co_qualname in BUILTIN:
        return code.co_filename == str(HERE / "stand_ins.py")
    return code.co_name in PLAIN and code.co_qualname.partition(".")[0] in SYMBOLS


def _watch(frame: FrameType, event: str, _: Any) -> None:
    """Refuse a stand-in of a library that judged code calls."""
    caller = frame.f_back
    if event != "call" or caller is None or _is_reader(caller) or not _is_reader(frame):
        return
    if not _is_plain(frame.f_code) and not current().guarded:
        raise current().escape(
            "a function of a library within reach of a handler",
            "what it raises is not all known; call it before `try`",
        )


def _is_reader(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(HERE))


def _is_ours(error: BaseException) -> bool:
    """Tell whether the reader has raised an exception, and not the judged code."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _is_reader(trace.tb_frame) and not current().guarded


def _parts(kinds: tuple[Any, ...]) -> Iterator[Any]:
    for kind in kinds:
        yield from kind if isinstance(kind, tuple) else (kind,)


class Catching:
    """What handlers and contexts of the judged code ask; `modules` are its own."""

    def __init__(self, modules: set[str], quiet: tuple[type, ...]) -> None:
        self.modules, self.quiet = modules, (*quiet, nullcontext)
        self.within: list[Any] = []
        """For every handler within reach: what there was before it."""

    def entered(self, *kinds: Any) -> None:
        """Look at the types that the handlers of a body name, and at what it calls from now on."""
        watched = False
        for part in _parts(kinds):
            own = getattr(part, "__module__", "") in self.modules
            if not own and not (isinstance(part, type) and issubclass(part, SAME)):
                name = getattr(part, "__name__", "that")
                raise current().escape(
                    f"a handler of {name}",
                    "what raises it in Python is not all known; test for it beforehand, or "
                    f"catch one of {', '.join(it.__name__ for it in SAME)}",
                )
            watched = watched or issubclass(part, RAISED)
        self.within.append((sys.getprofile(), current().caught))
        if watched:
            sys.setprofile(_watch)
            current().caught = True

    def left(self) -> None:
        """Look no more at what is called, as it was before the body."""
        before, current().caught = self.within.pop()
        sys.setprofile(before)

    def caught(self, error: BaseException | None = None) -> None:
        """Look at the exception that is being handled."""
        error = sys.exc_info()[1] if error is None else error
        if isinstance(error, Escape):
            raise error
        own = type(error).__module__ in self.modules
        if error is not None and not own and (not isinstance(error, SAME) or _is_ours(error)):
            raise current().escape(
                f"a {type(error).__name__} that is caught", "it may be raised elsewhere in Python"
            )

    def context(self, value: Any) -> Any:
        """Return the context that a with statement enters."""
        if type(value) in self.quiet:
            return value
        known = vars(value).get("_exceptions") if type(value) is suppress else None
        return Watched(value, self, known or (BaseException,))


class Watched:
    """A context manager, and a look at what it swallows."""

    __slots__ = ("_value", "_catching", "_kinds")

    def __init__(self, value: Any, catching: Catching, kinds: tuple[Any, ...]) -> None:
        self._value, self._catching, self._kinds = value, catching, kinds

    def __enter__(self) -> Any:
        self._catching.entered(*self._kinds)
        return type(self._value).__enter__(self._value)

    def __exit__(self, *error: Any) -> Any:
        self._catching.left()
        swallowed = type(self._value).__exit__(self._value, *error)
        if swallowed and error[1] is not None:
            self._catching.caught(error[1])
        return swallowed

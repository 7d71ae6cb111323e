"""The errors that dpaudit raises on purpose, and the one-line form they share.

Every message names the argument, its value, the rule it breaks and, where there is one, the
remedy: `epsilon=-1 must be positive.` The command line prints the message alone and exits with
the code that the class carries.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import Any

MOST_NAMED = 24  # in one line


class DpauditError(Exception):
    """Base of every error that dpaudit raises on purpose."""

    exit_code = 2


class InvalidArgument(DpauditError, ValueError):
    """An argument breaks a rule."""

    def __init__(self, name: str, value: object, rule: str) -> None:
        shown = f"{value:,}" if type(value) is int and name != "seed" else value
        super().__init__(f"{name}={shown} {rule}")
        self.given = (name, value, rule)

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive the way back from a worker process."""
        return type(self), self.given


class UnknownName(DpauditError, LookupError):
    """A name that nothing answers to; the message suggests the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        more = f" and {len(known) - MOST_NAMED:,} more" * (len(known) > MOST_NAMED)
        hint = f"Known: {', '.join(known[:MOST_NAMED])}{more}."
        hint = f"Did you mean {near[0]!r}?" if near else hint
        super().__init__(f"No {kind} {name!r}. {hint}")
        self.given = (kind, name, known)

    def __reduce__(self) -> tuple[Any, ...]:
        """Survive the way back from a worker process."""
        return type(self), self.given


class Unsupported(DpauditError):
    """An interpreter met a request it cannot answer; it stays silent rather than guess."""


class BadDeclaration(DpauditError):
    """A declaration breaks its contract; the message names the class, the state and the rule."""


class Contradiction(DpauditError):
    """The same claim was proved and refuted: a bug in dpaudit, never in the algorithm."""


def is_positive_double(value: Any) -> bool:
    """Tell whether a number is above zero and finite, also once it is rounded to a double."""
    try:
        return bool(value > 0) and 0.0 < float(value) < math.inf
    except OverflowError:
        return False


def is_finite_double(value: Any) -> bool:
    """Tell whether a number is finite, also once it is rounded to a double."""
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def require_positive(name: str, value: Any) -> None:
    """Raise unless `value` is a finite number above zero."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidArgument(name, value, "must be a number.")
    if isinstance(value, float) and math.isnan(value):
        raise InvalidArgument(name, value, "must be a number, not nan.")
    if value <= 0:
        raise InvalidArgument(name, value, "must be positive.")
    if not is_positive_double(value):
        raise InvalidArgument(name, value, "must be finite.")


def require_integer(name: str, value: Any, minimum: int) -> None:
    """Raise unless `value` is an integer of at least `minimum`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidArgument(name, value, "must be an integer.")
    if value < minimum:
        raise InvalidArgument(name, value, f"must be at least {minimum:,}.")

"""Numbers as people type them on a command line; errors name the argument."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from dpaudit.errors import InvalidArgument


def integer(name: str, text: str) -> int:
    """Return a whole number; `1e7` and `10_000_000` are fine, `1.5` is not."""
    try:
        value = Decimal(text)
        if value.is_finite() and value == value.to_integral_value() and abs(value) < 10**30:
            return int(value)
    except InvalidOperation:
        pass
    raise InvalidArgument(name, text, "must be a whole number, such as 1000 or 1e7.")


def number(name: str, text: str) -> float:
    """Return a number; the caller judges its range."""
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(name, text, "must be a number.") from None


def assignment(text: str) -> tuple[str, int | float]:
    """Return the name and the value of `NAME=VALUE`; whole numbers stay integers."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidArgument("param", text, "must look like name=value.")
    try:
        return name, int(value)
    except ValueError:
        return name, number(name, value)

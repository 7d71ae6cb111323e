"""Numbers as people type them on a command line; errors name the argument."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from dpaudit.core.notions import Stated

CLAIM = ("epsilon", "delta", "rho", "mu", "unit")
TARGET = "a name, mutants/NAME, package.module:object or file.py:object"
NOISES = ("declared", "lattice")
GRID = 1024


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


def numbers(name: str, text: str) -> tuple[float, ...]:
    """Return the numbers of a text such as `0.9,0.5`."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        rule = "must be numbers separated by commas, such as 0.9,0.5."
        raise InvalidArgument(name, text, rule) from None


def matrix(name: str, text: str) -> tuple[tuple[float, ...], ...]:
    """Return the rows of a text such as `1,0;0,1`."""
    return tuple(numbers(name, row) for row in text.split(";"))


def assignment(text: str) -> tuple[str, Any]:
    """Return the name and the value of `NAME=VALUE`; whole numbers stay integers.

    A value with a semicolon is a matrix, row by row.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InvalidArgument("param", text, "must look like name=value.")
    if ";" in value:
        return name, matrix(name, value)
    try:
        return name, int(value)
    except ValueError:
        return name, number(name, value)


def written(value: Any) -> str:
    """Return a parameter as `assignment` reads it."""
    if isinstance(value, tuple | list):
        return ";".join(",".join(f"{x:.17g}" for x in row) for row in value)
    return str(value)


def add_param(parser: argparse.ArgumentParser) -> None:
    """Declare the option for parameters that have none of their own (`assignment` reads it)."""
    about = "any other parameter of a declared algorithm"
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help=about)


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Declare the parameters of a declared algorithm (`parameters_of` reads them)."""
    add = parser.add_argument
    add("--alpha", metavar="A", help="exploration, where the algorithm has it (default 3.1)")
    add_param(parser)
    add("--noise", metavar="KIND", help="as declared (default), or lattice: exact integer noise")
    add("--grid", metavar="G", help=f"lattice: rewards are rounded to 1/G (default {GRID})")
    add("--rounding", metavar="HOW", help="lattice: nearest (default) or stochastic")


def parameters_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the options of `add_parameters` stand for."""
    alpha = {} if arguments.alpha is None else {"alpha": number("alpha", arguments.alpha)}
    return alpha | dict(map(assignment, arguments.param)) | noise(arguments)


def noise(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return where noise is drawn, as parameters of an algorithm."""
    kind = arguments.noise or NOISES[0]
    if kind not in NOISES:
        raise InvalidArgument("noise", kind, f"must be one of {', '.join(NOISES)}.")
    given = {name: getattr(arguments, name) for name in ("grid", "rounding")}
    given = {name: text for name, text in given.items() if text is not None}
    if kind == "lattice":
        return {**given, "grid": integer("grid", given.get("grid", str(GRID)))}
    for name, text in given.items():
        raise InvalidArgument(name, text, "is for --noise lattice.")
    return {}


def add_claim(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that state a claim: a notion, its level and the unit of privacy."""
    add = parser.add_argument
    add("--epsilon", metavar="E", help="the claim to judge (default its own, else 1)")
    add("--delta", metavar="D", help="with --epsilon: (epsilon, delta)-DP")
    add("--rho", metavar="R", help="zero-concentrated DP in place of epsilon")
    add("--mu", metavar="M", help="Gaussian DP in place of epsilon")
    add("--local", action="store_true", help="local DP: every reward is released alone")
    add("--unit", metavar="N", help="rewards of one person (default 1)")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Declare what machines read (`dpaudit.formats.options` writes it)."""
    add = parser.add_argument
    add("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")
    add("--junit", metavar="FILE", help="write JUnit XML")
    add("--sarif", metavar="FILE", help="write SARIF 2.1.0")
    add("--github", action="store_true", help="print GitHub annotations")


def judged_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a judgement that were given, parsed."""
    readers = {"budget": number, "horizon": integer, "exact_horizon": integer}
    readers |= {"runs": integer, "seed": integer}
    typed = {name: getattr(arguments, name) for name in readers}
    found: dict[str, Any] = {
        name: readers[name](name, text) for name, text in typed.items() if text is not None
    }
    stated = stated_claim(arguments)
    if stated.epsilon is not None:
        found["epsilon"] = stated.epsilon
    if stated.texts.keys() - {"epsilon"}:
        found["stated"] = stated
    given = parameters_of(arguments)
    if arguments.arms is not None:
        given["arms"] = integer("arms", arguments.arms)
    if given:
        found["given"] = given
    if arguments.method is not None:
        found["methods"] = tuple(name.strip() for name in arguments.method.split(","))
    return found


def stated_claim(arguments: argparse.Namespace) -> Stated:
    """Return what the flags state; raise where they exclude each other."""
    from dpaudit.core.notions import Stated

    typed = {name: getattr(arguments, name) for name in ("epsilon", "rho", "mu", "delta")}
    values = {name: number(name, text) for name, text in typed.items() if text is not None}
    unit = None if arguments.unit is None else integer("unit", arguments.unit)
    return Stated(**values, local=arguments.local, unit=unit)

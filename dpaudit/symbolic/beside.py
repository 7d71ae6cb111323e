"""Every stand-in of a library answers beside the function that it stands in for.

The real function is asked as well, with numbers in place of symbols: whether it takes such
arguments at all, and what type and shape it answers with, does not depend on the numbers. Where no
symbol is involved, its answer must be the very same. What differs is not followed, on any path;
real runs (`guard`) compare values, but only on the paths that they happen to take.
"""

from __future__ import annotations

import math
import random
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import wraps
from itertools import count
from typing import Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import KINDS, Array, holds_symbol
from dpaudit.symbolic.run import current, named, running
from dpaudit.symbolic.values import Tracked

FIRST = (0.375, 1.375)  # of the numbers that are tried: some functions begin at 1
STEP = 1 / 1024
PLAIN = (int, float, bool, complex, str, bytes, type(None), Fraction, range, slice, deque)
SCALARS = (float, np.float64, int, np.int64)
GENERATORS: dict[str, Callable[[int], Any]] = {
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,  # noqa: NPY002  as judged code has it
    "Random": random.Random,
}


class Numbers:
    """Arguments as the real function gets them."""

    def __init__(self, first: float) -> None:
        self.next, self.symbols = first, False

    def _number(self) -> float:
        self.next, self.symbols = self.next + STEP, True
        return self.next

    def __call__(self, value: Any) -> Any:
        """Return an argument, with numbers in place of symbols."""
        if isinstance(value, Tracked):
            return self._number()
        if isinstance(value, Array):
            if value.kind != "f" or not holds_symbol(value.store):
                return value.real
            numbers = [self(element) for element in value.store.flat]
            return np.array(numbers, dtype=KINDS["f"]).reshape(value.shape)
        if isinstance(value, Answer):
            return bool(value)
        if type(value) in (list, tuple):
            return type(value)([self(part) for part in value])
        if isinstance(value, type):
            return getattr(value, "real_type", value)
        if type(value) not in PLAIN and not isinstance(value, np.generic | np.dtype):
            kind = named(type(value))
            raise current().escape(f"a function of a library on a {kind}", "give it numbers")
        return deque(map(self, value)) if type(value) is deque else value


class Nested:
    """Whether a stand-in is being asked already: what it calls is its own affair."""

    busy = False


def beside(name: str, real: Callable[..., Any], stand_in: Any, drawn: bool = False) -> Any:
    """Return a stand-in that asks the real function, too; of draws the values differ."""

    @wraps(stand_in)
    def apply(*given: Any, **named: Any) -> Any:
        if Nested.busy or not running() or current().guarded:
            return stand_in(*given, **named)
        if any(hasattr(value, "__next__") for value in given):
            raise current().escape(f"{name} of a generator", "make a list of it")
        questions = [_question(Numbers(first), given, named) for first in FIRST]
        Nested.busy = True
        try:
            found = stand_in(*given, **named)
        finally:
            Nested.busy = False
        expected = _answer(name, real, questions)
        exact = not drawn and not questions[0][0].symbols
        if not _alike(expected, found, exact):
            raise current().escape(f"{name} of such arguments, which is read otherwise")
        return found

    return apply


def _question(numbers: Numbers, given: Any, named: Any) -> tuple[Numbers, list[Any], Any]:
    more = {key: numbers(value) for key, value in named.items() if key != "p"}
    if "p" in named:
        before, numbers.symbols = numbers.symbols, False
        chances = numbers(named["p"])
        if numbers.symbols:  # probabilities must add up to 1
            chances = np.full(np.shape(chances), 1 / max(1, np.size(chances)))
        more["p"], numbers.symbols = chances, before or numbers.symbols
    return numbers, [numbers(value) for value in given], more


def _answer(name: str, real: Callable[..., Any], questions: list[Any]) -> Any:
    """Return what the real function answers to the first question that it takes."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for _, given, named in questions:
            try:
                return real(*given, **named)
            except Exception as error:
                said = type(error).__name__
    raise current().escape(f"{name} of such arguments, which raises {said}")


def _alike(expected: Any, found: Any, exact: bool) -> bool:
    """Tell whether an answer has the type and shape of the real one; its values, if exact."""
    if isinstance(found, Tracked):
        return type(expected) in SCALARS
    if isinstance(found, Answer):
        return type(expected) in (bool, np.bool_)
    if isinstance(found, Array):
        if not isinstance(expected, np.ndarray) or expected.shape != found.shape:
            return False
        if expected.dtype != KINDS[found.kind]:
            return False
        return not exact or all(map(_same, expected.flat, found.store.flat))
    if isinstance(found, list | tuple):
        fits = type(found) is type(expected) and len(found) == len(expected)
        return fits and all(_alike(*pair, exact) for pair in zip(expected, found, strict=True))
    return type(found) is type(expected) and (not exact or _same(expected, found))


def _same(one: Any, two: Any) -> bool:
    if one == two:
        return not isinstance(one, float) or math.copysign(1, one) == math.copysign(1, two)
    return bool(one != one and two != two)


_THROWN_AWAY: dict[str, Any] = {}
_UNKNOWN = count()  # not objects: one that is gone may give its place, and so its hash, to another


def drawing(kind: type, names: Iterable[str]) -> None:
    """Let the draws of a class of generators be asked beside those of a real one."""
    for name in {*names, "spawn"} & {*vars(kind)} - {"seed"}:
        setattr(kind, name, _noted(name, vars(kind)[name]))


def _noted(name: str, stand_in: Any) -> Any:
    """Return a draw that a seeded generator takes note of: what it draws next depends on it."""

    @wraps(stand_in)
    def apply(source: Any, *given: Any, **named: Any) -> Any:
        if source.fixed and not Nested.busy:
            source.advance((name, _key(given), _key(tuple(sorted(named.items())))))
        if name in ("shuffle", "spawn"):
            return stand_in(source, *given, **named)
        drawn = lambda *given, **named: stand_in(source, *given, **named)  # noqa: E731
        real = lambda *given, **named: getattr(_thrown_away(source.kind), name)(*given, **named)  # noqa: E731
        return beside(f"the draw {name}", real, drawn, True)(*given, **named)

    return apply


def _thrown_away(kind: str) -> Any:
    if kind not in _THROWN_AWAY:
        _THROWN_AWAY[kind] = GENERATORS[kind](0)
    return _THROWN_AWAY[kind]


def _key(value: Any) -> Any:
    """Return what tells arguments apart; those that are not known are like no others."""
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if isinstance(value, int | float | str | np.generic | type(None)):
        return type(value).__name__, str(value)
    if isinstance(value, Array) and (real := value.real) is not None:
        return value.kind, value.shape, real.tobytes()
    current().unmatched = True
    return next(_UNKNOWN)


def arrays_beside(names: Iterable[str]) -> None:
    """Let the methods of arrays be asked beside numpy's."""
    for name in {*names} & {*vars(Array)}:
        real = getattr(np.ndarray, name)
        setattr(Array, name, beside(f"{name} of an array", real, vars(Array)[name]))

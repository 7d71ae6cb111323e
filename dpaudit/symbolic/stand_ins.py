"""What stands in for the builtins and for math: the same on public values, an allowlist on
symbols."""

from __future__ import annotations

import builtins
import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpaudit.symbolic.allowed import (
    ASKED,
    BUILTINS,
    MEMBERS,
    NAMES,
    OPAQUE_MATH,
    SPECIAL,
    TOTAL,
    UNANSWERED,
)
from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.beside import beside
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.doubles import implied, in_any_order
from dpaudit.symbolic.elementwise import FINITE, LIPSCHITZ, between, is_finite
from dpaudit.symbolic.handmade import shape_of_function
from dpaudit.symbolic.questions import largest
from dpaudit.symbolic.run import current
from dpaudit.symbolic.texts import formatting, printing, shown, stands_in, texting
from dpaudit.symbolic.values import Linear, Tracked, finite, function, may_raise
from dpaudit.symbolic.writing import Writing, is_private

ORDERLY = (int, float, bool, str, Fraction)


class TypeStandIn(type):
    """`float` and `int` as names of types that also know symbols."""

    real_type: type

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return cls.convert(*given, **named)

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, Tracked):
            return cls.real_type is float
        return builtins.isinstance(value, cls.real_type)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return builtins.issubclass(getattr(kind, "real_type", kind), cls.real_type)

    def __repr__(cls) -> str:
        return repr(cls.real_type)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real_type, name)

    def __eq__(cls, other: Any) -> bool:
        return other is cls or other is cls.real_type

    def __hash__(cls) -> int:
        return hash(cls.real_type)


class Float(metaclass=TypeStandIn):
    """`float`: a symbol stays a symbol."""

    real_type = float

    @staticmethod
    def convert(value: Any = 0.0) -> Any:
        """Return a float, or the symbol itself."""
        if isinstance(value, Array) and value.size == 1:
            value = value.item()
        return value.renewed() if isinstance(value, Tracked) else float(value)


class Int(metaclass=TypeStandIn):
    """`int`: of a symbol it ends in silence."""

    real_type = int

    @staticmethod
    def convert(*given: Any, **named: Any) -> Any:
        """Return an int."""
        if len(given) == 1 and is_known(given[0]):
            return int(told(given[0]))  # of a number whose type alone is not known
        return int(*given, **named)


class Str(metaclass=TypeStandIn):
    """`str`: of what may be shown."""

    real_type = str

    @staticmethod
    def convert(*given: Any, **named: Any) -> Any:
        """Return a text."""
        return str(*map(shown, given), **named)


def is_instance(value: Any, kinds: Any) -> bool:
    """Tell the type of a value, as Python would of what it stands in for."""
    kinds = _real_kinds(kinds)
    value = type if value is kind_of else value
    if isinstance(value, Tracked):
        # it may be Python's number or numpy's, and where max() chose among types a whole number
        answers = {isinstance(it, kinds) for it in (0.5, np.float64(0.5), 1, np.int64(1), True)}
        if len(answers) > 1:
            raise current().escape("the type of a reward or of noise")
        return answers.pop()
    if isinstance(value, Array):
        return isinstance(np.zeros(1), kinds)
    if isinstance(value, Source):
        if kinds is not Source or value.kind != "Generator":
            raise current().escape("the type of a random generator")
        return True
    if stands_in(value) and not isinstance(value, type):
        raise current().escape("the type of what stands in for something else")
    return isinstance(value, kinds)


def _real_kinds(kinds: Any) -> Any:
    """Return types as Python has them, in place of what stands in for them."""
    if isinstance(kinds, tuple):
        return tuple(map(_real_kinds, kinds))
    if isinstance(kinds, UnionType) or get_origin(kinds) is Union:
        return tuple(map(_real_kinds, get_args(kinds)))
    if kinds is kind_of:
        return type
    if kinds is Array:
        return np.ndarray
    return getattr(kinds, "real_type", kinds)


CHANCE = {
    "Generator": np.random.Generator,
    "RandomState": np.random.RandomState,
    "Random": random.Random,
}


def is_plain(value: Any) -> bool:
    """Tell whether a value is a number, a text or a tuple, whose identity says nothing."""
    return isinstance(value, (Tracked, int, float, complex, str, bytes, tuple, range, np.generic))


def described(value: Any, name: str) -> Any:
    """Return what a value says of itself; what stands in for something says nothing."""
    if value in (Float, Int, Str):
        return getattr(value.real_type, name)
    if name == "__class__" and isinstance(value, (Tracked, float, int, str)):
        return kind_of(value)
    if stands_in(value) or isinstance(value, (Tracked, ModuleType)):
        if name == "__name__" and type(value) is ModuleType:
            return value.__name__
        raise current().escape(f"{name} of what stands in for something else")
    return getattr(value, name)


def kind_of(*given: Any) -> Any:
    """Return the type of a value (a symbol is a float), or make a class."""
    if len(given) == 1 and isinstance(given[0], Tracked | Answer):
        raise current().escape("the type of a reward or of noise")
    if len(given) == 1 and isinstance(given[0], int | float | complex | np.generic):
        raise current().escape("the type of a number", "ask isinstance()")
    if len(given) == 1 and (given[0] is kind_of or isinstance(given[0], TypeStandIn)):
        return kind_of
    if len(given) == 1 and isinstance(given[0], ModuleType):
        return ModuleType
    if len(given) == 1 and stands_in(given[0]) and not isinstance(given[0], (Array, TypeStandIn)):
        raise current().escape("the type of what stands in for something else")
    if len(given) == 3 and any(str(name).startswith("__") for name in given[2]):
        raise current().escape("a class made by type(), with names of Python's own")
    found = type(*given)
    known: dict[Any, Any] = {float: Float, int: Int, str: Str, type: kind_of}
    return known.get(found, found) if len(given) == 1 else found


def real_base(kind: Any) -> Any:
    """Return the real type to derive an enumeration from."""
    return getattr(kind, "real_type", kind)


def _chosen(larger: bool) -> Callable[..., Any]:
    real = max if larger else min
    missing = object()

    def apply(*given: Any, key: Any = None, default: Any = missing) -> Any:
        values, keys = [], []
        for value in given[0] if len(given) == 1 else given:
            values.append(value)
            keys.append(value if key is None else key(value))  # before the next one is made
        if not values:
            if default is missing:
                raise ValueError(f"{real.__name__}() arg is an empty sequence")
            return default
        if key is not None and not all(map(_is_orderly, keys)):
            raise current().escape(f"{real.__name__}() by a key that is no number")
        symbols = sum(isinstance(value, Tracked) for value in keys)
        if all(not isinstance(value, Tracked) or is_known(value) for value in keys):
            known = [told(value) if isinstance(value, Linear) else value for value in keys]
            return values[real(range(len(keys)), key=known.__getitem__)]
        public = [value for value in keys if not isinstance(value, Tracked)]
        if key is None and symbols == 1 and public:
            return between(next(v for v in keys if isinstance(v, Tracked)), real(public), larger)
        return values[largest(keys, 1 if larger else -1)]

    return apply


def _is_orderly(key: Any) -> bool:
    """Tell whether comparing a key shows nobody that it is compared."""
    if type(key) in (tuple, list):
        return all(map(_is_orderly, key))
    return key is None or isinstance(key, Tracked | Answer | np.generic) or type(key) in ORDERLY


def _refuse(name: str) -> Callable[..., Any]:
    def refused(*_: Any, **__: Any) -> Any:
        raise current().escape(f"the call of {name}()", "what it does cannot be followed")

    return refused


def _named(real: Callable[..., Any], writing: Writing) -> Callable[..., Any]:
    def apply(thing: Any, name: Any, *more: Any) -> Any:
        if isinstance(name, str) and name.startswith("__") and name not in NAMES:
            raise current().escape(f"the name {name}", "it can reach around what is followed")
        if name == "register":
            raise current().escape("a class that is registered with another")
        if not str(name).startswith("_") and name not in MEMBERS:
            writing.asked(thing, name)
        if isinstance(thing, Source) and name not in dir(CHANCE[thing.kind]):
            raise current().escape(f"whether a generator has {name}")
        if stands_in(thing) and real in (hasattr, getattr) and not hasattr(thing, str(name)):
            raise current().escape(f"whether a stand-in has {name}")
        if real in (setattr, delattr):
            if str(name).startswith("__"):
                raise current().escape(f"the name {name}, written to", "it is for Python to say")
            return real(writing.owned(thing), name, *more)
        if real is getattr and not more:
            return _read(thing, name, writing)
        try:
            # whether it is there says nothing of what it is; who gets it is looked at
            found = getattr(thing, name) if real is hasattr else _read(thing, name, writing)
        except AttributeError as error:
            _require_missing(error, name)
            return False if real is hasattr else more[0]
        return True if real is hasattr else found

    return apply


def _read(thing: Any, name: str, writing: Writing) -> Any:
    """Return an attribute as the text `thing.name` would get it."""
    if name in SPECIAL:
        return answered(writing, thing, name)
    return getattr(writing.private(thing, name) if is_private(name) else thing, name)


def answered(writing: Writing, thing: Any, name: str) -> Any:
    """Return an attribute that is answered for."""
    if name in ASKED:
        return described(thing, name)
    if name in UNANSWERED:
        raise current().escape(f"the attribute {name}", "it can reach around what is followed")
    return (writing.method if name.startswith("__") else formatting)(thing, name)


def _require_missing(error: AttributeError, name: str) -> None:
    """Refuse an AttributeError from within the judged code, a property's: it is no answer."""
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename in current().files:
            raise current().escape(f"an AttributeError within {name}, which is swallowed") from None
        frame = frame.tb_next


def absolute(value: Any) -> Any:
    """Return |value|."""
    return abs(value)


def rounded(value: Any, digits: Any = None) -> Any:
    """Return a rounded public number."""
    return round(value) if digits is None else round(value, digits)


def added_up(values: Any, /, start: Any = 0) -> Any:
    """Return a sum; from Python 3.12 on, one of floats is compensated."""
    parts = list(values)
    return in_any_order([start, *parts], sum(parts, start))


def substituted(importer: Callable[..., Any], writing: Writing) -> dict[str, Any]:
    """Return the builtins of judged code."""
    allowed = BUILTINS.split()
    found = {
        name: value if name in allowed else _refuse(name) for name, value in vars(builtins).items()
    }
    found |= {
        "float": Float,
        "int": Int,
        "str": Str,
        "repr": texting(repr),
        "ascii": texting(ascii),
        "format": texting(format),
        "print": printing,
        "abs": absolute,
        "min": _chosen(False),
        "max": _chosen(True),
        "round": rounded,
        "sum": added_up,
        "isinstance": is_instance,
        "type": kind_of,
        "getattr": _named(getattr, writing),
        "setattr": _named(setattr, writing),
        "hasattr": _named(hasattr, writing),
        "delattr": _named(delattr, writing),
        "__import__": importer,
    }
    return found


@cache
def math_functions() -> dict[str, Any]:
    """Return the names of `math`."""
    found = {name: value for name, value in vars(math).items() if not callable(value)}
    for name, real in vars(math).items():
        if callable(real):
            found[name] = beside(f"math.{name}", real, _math(name, real))
    return found


def is_known(value: Any) -> bool:
    """Tell whether a number is known, and only its type is not."""
    return isinstance(value, Linear) and not value.forms() and not value.publics


def told(value: Linear) -> Any:
    """Return a known number; in doubles it may be another, which ends a walk of doubles."""
    implied(current(), value)
    return value.rest


def sign(value: float) -> float:
    """Return -1 or 1."""
    return math.copysign(1.0, value)


def _zero(value: Any) -> bool:
    return told(value) == 0 if is_known(value) else isinstance(value, float) and value == 0


def _math(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*given: Any, **named: Any) -> Any:
        if named:
            if any(isinstance(value, Tracked | Array) for value in (*given, *named.values())):
                raise current().escape(f"math.{name} with {', '.join(named)}")
            return real(*given, **named)
        given = tuple(v.item() if isinstance(v, Array) and v.size == 1 else v for v in given)
        if name in ("fsum", "prod", "dist", "sumprod"):
            given = tuple(list(part) for part in given)
            if any(isinstance(value, Tracked) for part in given for value in part):
                if name == "fsum":
                    if not all(finite(part) for part in given[0] if isinstance(part, Tracked)):
                        may_raise("math.fsum of what may be infinite", *given[0])
                    return added_up(given[0])
                raise current().escape(f"math.{name} of rewards or noise")
            return real(*given)
        if name in ("copysign", "atan2") and any(map(_zero, given)):
            raise current().escape(f"math.{name} of zero", "in real arithmetic it has no sign")
        if not any(isinstance(value, Tracked) for value in given):
            return real(*given)
        if name in FINITE:
            return is_finite(name, given[0])
        if name == "copysign" and not isinstance(given[0], Tracked):
            return abs(given[0]) * function(sign, given[1])
        if name == "fabs":
            return abs(given[0])
        if name in OPAQUE_MATH:
            sound = all(finite(part) for part in given if isinstance(part, Tracked))
            total = name in TOTAL and sound  # of what is infinite some raise
            if not total and not shape_of_function(current(), name, given[0]):
                may_raise(f"math.{name} of a value that depends on rewards or noise", *given)
            return function(real, *given, lipschitz=LIPSCHITZ.get(name))
        raise current().escape(f"math.{name} of rewards or noise")

    return apply

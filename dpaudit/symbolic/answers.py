"""What a comparison of symbols gives: true or false, of Python's type or of numpy's.

A number from an array compares to numpy's truth value, another one to Python's. They agree in
conditions and in `int()`; beside numbers they give numbers whose type is not known. Where they do
not agree (`~`, a sum of two, an index, a text, `is True`), it ends in silence.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.symbolic.run import current

TRUTHS = (bool, np.bool_)
WIDE = (np.float64, np.int64)  # with these both truth values give the same type


def constant(number: int) -> Any:
    """Return a known number of a type that is not known."""
    from dpaudit.symbolic.values import Linear  # which needs answers

    return Linear(number, {}, {}, number)


def _refused(what: str) -> Callable[..., Any]:
    def refuse(self: Answer, *_: Any) -> Any:
        raise current().escape(f"{what} of the outcome of a comparison", "write int() around it")

    return refuse


def _beside(operation: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    """Return arithmetic with a number: a symbol without parts, for its type is not known."""

    def apply(self: Answer, other: Any) -> Any:
        if isinstance(other, (Answer, *TRUTHS)):
            raise current().escape("arithmetic of the outcomes of two comparisons", "use int()")
        if not isinstance(other, int | float | np.number):
            return NotImplemented
        one: Any = int(self.truth) if type(other) in WIDE else constant(int(self.truth))
        return operation(other, one) if swapped else operation(one, other)

    return apply


def _both(name: str) -> Callable[..., Any]:
    def apply(self: Answer, other: Any) -> Any:
        if not isinstance(other, (Answer, *TRUTHS)):
            raise current().escape("bits of the outcome of a comparison", "write int() around it")
        return Answer(getattr(self.truth, name)(bool(other)))

    return apply


class Answer:
    """The outcome of a comparison on this path."""

    __slots__ = ("truth",)

    def __init__(self, truth: bool) -> None:
        self.truth = bool(truth)

    def __bool__(self) -> bool:
        return self.truth

    def __int__(self) -> int:
        return int(self.truth)

    def __float__(self) -> float:
        return float(self.truth)

    def __hash__(self) -> int:
        return hash(self.truth)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the attribute {name} of the outcome of a comparison")

    __index__ = _refused("an index")
    __repr__ = __str__ = __format__ = _refused("the text")
    __invert__ = __neg__ = __pos__ = __abs__ = __round__ = _refused("the negative or inverse")
    __reduce_ex__ = _refused("a copy")


for _name in ("and", "or", "xor"):
    setattr(Answer, f"__{_name}__", _both(f"__{_name}__"))
    setattr(Answer, f"__r{_name}__", _both(f"__{_name}__"))
for _name in ("eq", "ne"):
    setattr(Answer, f"__{_name}__", _both(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge"):
    setattr(Answer, f"__{_name}__", _beside(getattr(operator, _name)))
for _name in ("add", "sub", "mul"):
    setattr(Answer, f"__r{_name}__", _beside(getattr(operator, _name), swapped=True))
for _name in ("mod", "floordiv", "pow", "lshift", "rshift", "divmod"):
    setattr(Answer, f"__{_name}__", _refused("arithmetic"))
    setattr(Answer, f"__r{_name}__", _refused("arithmetic"))

"""Operators and reductions of arrays that may hold symbols: what numpy's give, element by element.

They are put on `Array` here. Where no symbol is involved, real numpy computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import (
    Array,
    array,
    cast_one,
    concrete,
    element_kind,
    is_typed,
    kind_of,
    own,
    storage,
    wrap,
)
from dpaudit.symbolic.doubles import in_any_order
from dpaudit.symbolic.questions import largest
from dpaudit.symbolic.run import current, named
from dpaudit.symbolic.values import Tracked
from dpaudit.symbolic.weights import is_number


def elementwise(operation: Callable[..., Any], a: Any, b: Any) -> Any:
    """Return a binary operation, broadcast; by real numpy where no symbol is involved."""
    if isinstance(a, list | tuple):
        a = array(a)
    if isinstance(b, list | tuple):
        b = array(b)
    a, b = (bool(side) if isinstance(side, Answer) else side for side in (a, b))
    for side in (a, b):
        if not isinstance(side, Array | Tracked) and not is_number(side):
            raise current().escape(f"an operation of an array and a {named(type(side))}")
    reals = [side.real if isinstance(side, Array) else side for side in (a, b)]
    if all(side is not None and not isinstance(side, Tracked) for side in reals):
        return wrap(operation(*reals))
    found = np.frompyfunc(operation, 2, 1)(storage(a), storage(b))
    return _collected(found, operation is not operator.truediv and is_typed(a) and is_typed(b))


def _collected(found: Any, loose: bool) -> Any:
    """Return what an element-by-element operation gave as an array (or a scalar)."""
    if not isinstance(found, np.ndarray):
        return found
    kinds = {element_kind(element) for element in found.flat} or {"f"}
    kind = "f" if "f" in kinds else "i" if "i" in kinds else "b"
    for index in np.ndindex(found.shape):
        found[index] = cast_one(found[index], kind)
    return Array(found, kind, loose and kind == "f")


def mapped(operation: Callable[[Any], Any], a: Array) -> Any:
    """Return a unary operation, element by element."""
    return _collected(np.frompyfunc(operation, 1, 1)(a.store), a.loose)


def reduced(a: Array, name: str, axis: Any, **more: Any) -> Any:
    """Return a reduction over all elements or one axis."""
    if any(isinstance(value, Tracked | Array) for value in more.values()):
        raise current().escape(f"np.{name} with a value that depends on rewards or noise")
    if a.real is not None:
        return wrap(getattr(np, name)(a.real, axis=axis, **more))
    if axis is not None and not -a.ndim <= axis < a.ndim:
        raise current().escape(f"the axis {axis} of an array of {a.ndim} axes")
    if axis is not None and a.ndim > 1:
        moved = np.moveaxis(a.store, axis, -1)
        parts = [
            reduced(Array(moved[i], a.kind), name, None, **more)
            for i in np.ndindex(moved.shape[:-1])
        ]
        return _like(array(parts).reshape(moved.shape[:-1]), a)
    values = a.store.ravel().tolist()
    if name in ("sum", "mean"):
        total: Any = 0.0
        for value in values:
            total = total + value
        total = in_any_order(values, total)
        return total if name == "sum" else total / len(values)
    if name in ("argmax", "argmin"):
        return np.int64(largest(values, 1 if name == "argmax" else -1))
    if name in ("max", "min"):
        return own(values[largest(values, 1 if name == "max" else -1)])
    from dpaudit.symbolic.elementwise import spread

    return spread(name, values, **more)


def _binary(operation: Callable[..., Any]) -> tuple[Any, Any, Any]:
    def forward(self: Array, other: Any) -> Any:
        return elementwise(operation, self, other)

    def backward(self: Array, other: Any) -> Any:
        return elementwise(operation, other, self)

    def inplace(self: Array, other: Any) -> Any:
        found = elementwise(operation, self, other)
        if found is NotImplemented:
            return found
        if isinstance(found, Array) and "bif".index(found.kind) > "bif".index(self.kind):
            raise TypeError(f"Cannot cast ufunc output to dtype('{self.dtype}')")
        self[...] = found
        return self

    return forward, backward, inplace


for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]:
    _operation = getattr(operator, f"__{_name}__")
    _forward, _backward, _inplace = _binary(_operation)
    setattr(Array, f"__{_name}__", _forward)
    setattr(Array, f"__r{_name}__", _backward)
    setattr(Array, f"__i{_name}__", _inplace)
for _name in ["lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(Array, f"__{_name}__", _binary(getattr(operator, f"__{_name}__"))[0])


def _unary(operation: Callable[[Any], Any]) -> Callable[[Array], Any]:
    def apply(self: Array) -> Any:
        return wrap(operation(self.real)) if self.real is not None else mapped(operation, self)

    return apply


for _name in ("neg", "pos", "abs", "invert"):
    setattr(Array, f"__{_name}__", _unary(getattr(operator, f"__{_name}__")))


def cumsum(self: Array, axis: Any = None) -> Array:
    """Return the running sums of a row."""
    if self.real is not None:
        found: Array = wrap(np.cumsum(self.real, axis=axis))
        return found
    if self.ndim != 1 or axis not in (None, -1, 0):
        raise current().escape("cumsum of rows that hold rewards or noise")
    total, sums = 0.0, []
    for value in self.store.ravel():
        total = total + value
        sums.append(total)
    return _like(array(sums), self)


def _like(found: Array, a: Array) -> Array:
    """Return an array whose type is that of another one."""
    found.loose = found.loose and a.loose
    return found


def dot(self: Array, other: Any) -> Any:
    """Return the inner product of two rows."""
    other = array(other) if isinstance(other, list | tuple) else other
    if isinstance(other, Array) and self.real is not None and other.real is not None:
        return wrap(np.dot(self.real, other.real))
    if not isinstance(other, Array) or (self.ndim, other.ndim) != (1, 1):
        raise current().escape("a product of matrices that hold rewards or noise")
    return reduced(elementwise(operator.mul, self, other), "sum", None)


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(self: Array, axis: Any = None, **more: Any) -> Any:
        dtype = more.pop("dtype", None)
        if dtype is not None and kind_of(dtype) != self.kind:
            raise current().escape(f"{name} with dtype={dtype}")
        if more.keys() - ({"ddof"} if name in ("var", "std") else set()):
            raise current().escape(f"{name} with {', '.join(more)}")
        return reduced(self, name, axis, **more)

    return reduce


def _truth(name: str) -> Callable[..., Any]:
    def reduce(self: Array, axis: Any = None) -> Any:
        return wrap(getattr(np, name)(concrete(self), axis=axis))

    return reduce


for _name in ("sum", "mean", "max", "min", "argmax", "argmin", "var", "std"):
    setattr(Array, _name, _reduction(_name))
for _name in ("any", "all"):
    setattr(Array, _name, _truth(_name))
setattr(Array, "cumsum", cumsum)  # noqa: B010
setattr(Array, "dot", dot)  # noqa: B010
setattr(Array, "__matmul__", dot)  # noqa: B010

"""numpy's and math's functions on tracked values: what each gives when a symbol meets it.

A function of a noisy value is opaque in its forms. Of a single raw reward, those that move it by at
most a constant (clip, abs, maximum with a number) give a new symbol with that constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.array_operators import elementwise, mapped
from dpaudit.symbolic.arrays import Array, array, is_typed, storage, wrap
from dpaudit.symbolic.questions import asked
from dpaudit.symbolic.run import current
from dpaudit.symbolic.values import Tracked, finite, function
from dpaudit.symbolic.weights import exact, is_number

UNARY = [
    "sqrt",
    "log",
    "log2",
    "log10",
    "log1p",
    "exp",
    "expm1",
    "square",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "arctan",
    "floor",
    "ceil",
    "rint",
    "sign",
    "cbrt",
    "reciprocal",
    "trunc",
    "negative",
]
LIPSCHITZ = {"abs": 1, "absolute": 1, "fabs": 1, "sin": 1, "cos": 1, "tanh": 1, "arctan": 1}
BINARY = {
    "add": "__add__",
    "subtract": "__sub__",
    "multiply": "__mul__",
    "divide": "__truediv__",
    "true_divide": "__truediv__",
    "floor_divide": "__floordiv__",
    "mod": "__mod__",
    "power": "__pow__",
    "greater": "__gt__",
    "greater_equal": "__ge__",
    "less": "__lt__",
    "less_equal": "__le__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}
FINITE = {"isnan": False, "isinf": False, "isfinite": True}


def is_finite(name: str, value: Any) -> bool:
    """Answer isnan, isinf or isfinite of a tracked value."""
    if finite(value):
        return FINITE[name]
    return asked(lambda: bool(getattr(np, name)(value.shadow)), value)


def lifted(value: Any) -> Any:
    """Return lists as arrays, and everything else as it is."""
    if isinstance(value, Answer):
        return bool(value)
    return array(value) if isinstance(value, list | tuple) else value


def unary(name: str) -> Callable[..., Any]:
    """Return numpy's function of one argument."""
    real: Any = getattr(np, name)

    def one(value: Any) -> Any:
        if not isinstance(value, Tracked):
            return real(value)
        if name in FINITE:
            return np.bool_(is_finite(name, value))
        if name == "negative":
            return -value
        return function(real, value, lipschitz=LIPSCHITZ.get(name))

    def apply(value: Any, out: Any = None, **more: Any) -> Any:
        value = lifted(value)
        if more:
            raise current().escape(f"np.{name} with {', '.join(more)}")
        if isinstance(value, Array):
            found = wrap(real(value.real)) if value.real is not None else mapped(one, value)
        else:
            found = one(value)
        return found if out is None else placed(name, found, out)

    return apply


def placed(name: str, found: Any, out: Any) -> Array:
    """Return `out` after the result of a function was put into it."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, Array):
        raise current().escape(f"np.{name} with out={type(target).__name__}")
    if isinstance(found, Array) and found.shape != target.shape:
        raise current().escape(f"np.{name} into an array of another shape")
    kinds = "bif"
    kind = found.kind if isinstance(found, Array) else array([found]).kind
    if kinds.index(kind) > kinds.index(target.kind):
        raise TypeError(f"Cannot cast ufunc '{name}' output to a smaller type")
    target[...] = found
    return target


def between(a: Any, b: Any, larger: bool) -> Any:
    """Return the larger (or smaller) of two values, without a branch."""
    real = np.maximum if larger else np.minimum
    if not isinstance(a, Tracked) and not isinstance(b, Tracked):
        return real(a, b)
    for one, other in ((a, b), (b, a)):
        if is_number(one) and math.isinf(one) and finite(other):
            if (one > 0) == larger:
                raise current().escape("the larger of rewards or noise and infinity")
            return other
    public = [value for value in (a, b) if is_number(value)]
    if not public or not math.isfinite(public[0]):
        return function(real, a, b)
    _require_bound(public[0])
    bound, choose = exact(public[0]), max if larger else min
    return function(real, a, b, lipschitz=1, moves=lambda x: choose(x, bound))


def binary(name: str) -> Callable[..., Any]:
    """Return numpy's function of two arguments."""
    real: Any = getattr(np, name)
    if name in ("maximum", "minimum", "fmax", "fmin"):
        larger = name in ("maximum", "fmax")

        def operation(a: Any, b: Any) -> Any:
            if not isinstance(a, Tracked) and not isinstance(b, Tracked):
                return real(a, b)
            return between(a, b, larger)
    else:
        import operator

        operation = getattr(operator, BINARY[name])

    def apply(a: Any, b: Any, out: Any = None, **more: Any) -> Any:
        if more:
            raise current().escape(f"np.{name} with {', '.join(more)}")
        a, b = lifted(a), lifted(b)
        if isinstance(a, Array) or isinstance(b, Array):
            found = elementwise(operation, a, b)
        elif isinstance(a, Tracked) or isinstance(b, Tracked):
            found = operation(a, b)
        else:
            found = real(a, b)
        return found if out is None else placed(name, found, out)

    return apply


def _require_bound(value: Any) -> None:
    if isinstance(value, float | np.floating) and value == 0 and math.copysign(1, value) < 0:
        raise current().escape("a bound of -0.0", "in real arithmetic zero has no sign")


def clip(value: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    """Return numbers moved into an interval; a reward stays a symbol of its own."""
    low = more.pop("a_min", more.pop("min", low))
    high = more.pop("a_max", more.pop("max", high))
    if more:
        raise current().escape(f"np.clip with {', '.join(more)}")
    value, low, high = lifted(value), lifted(low), lifted(high)
    if isinstance(low, Array) or isinstance(high, Array):  # as numpy defines it
        for name, bound in (("maximum", low), ("minimum", high)):
            value = value if bound is None else binary(name)(value, bound)
        return value
    if isinstance(value, Array):
        if value.real is not None and not isinstance(low, Tracked):
            return wrap(np.clip(value.real, low, high))
        return mapped(lambda one: _clipped(one, low, high), value)
    return _clipped(value, low, high)


def _clipped(value: Any, low: Any, high: Any) -> Any:
    if not any(isinstance(part, Tracked) for part in (value, low, high)):
        return np.clip(value, low, high)
    if isinstance(low, Tracked) or isinstance(high, Tracked):
        return function(np.clip, value, low, high)
    if low is None and high is None:
        return value
    _require_bound(low)
    _require_bound(high)
    if low == math.inf or high == -math.inf:
        raise current().escape("a clip to infinity")
    limits = [None if end is None or math.isinf(end) else exact(end) for end in (low, high)]

    def moves(x: Any) -> Any:
        x = x if limits[0] is None else max(x, limits[0])
        return x if limits[1] is None else min(x, limits[1])

    return function(lambda x: np.clip(x, low, high), value, lipschitz=1, moves=moves)


def where(condition: Any, *rest: Any) -> Any:
    """Return elements of two arrays, by a public condition."""
    from dpaudit.symbolic.arrays import concrete

    chosen = np.asarray(concrete(lifted(condition)))
    if not rest:
        return tuple(wrap(found) for found in np.nonzero(chosen))
    yes, no = (lifted(part) for part in rest)
    if not any(_symbolic(part) for part in (yes, no)):
        return wrap(np.where(chosen, *(p.real if isinstance(p, Array) else p for p in (yes, no))))
    shapes = [part.shape if isinstance(part, Array) else () for part in (yes, no)]
    shape = np.broadcast_shapes(chosen.shape, *shapes)
    parts = [np.broadcast_to(storage(part), shape) for part in (yes, no)]
    chosen = np.broadcast_to(chosen, shape)
    if not shape:
        raise current().escape("np.where of a single condition, which is an array")
    found = [parts[0][i] if chosen[i] else parts[1][i] for i in np.ndindex(shape)]
    made = array(found, float).reshape(shape)
    made.loose = is_typed(yes) and is_typed(no)
    return made


def _symbolic(value: Any) -> bool:
    return isinstance(value, Tracked) or (isinstance(value, Array) and value.real is None)


def spread(name: str, values: list[Any], ddof: int = 0) -> Any:
    """Return the variance or deviation of values that hold symbols."""
    real: Any = getattr(np, name)
    return function(lambda *numbers: real(np.array(numbers, dtype=float), ddof=ddof), *values)

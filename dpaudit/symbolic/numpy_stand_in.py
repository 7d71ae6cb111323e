"""What stands in for numpy: an allowlist; public arguments go to the real functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit.symbolic import elementwise as by_element
from dpaudit.symbolic.allowed import CONSTANTS, PUBLIC, SIZES, TYPES
from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.arrays import KINDS, Array, array, cast, concrete, is_typed, kind_of, wrap
from dpaudit.symbolic.beside import arrays_beside, beside
from dpaudit.symbolic.elementwise import lifted
from dpaudit.symbolic.poison import Poison, StandIn
from dpaudit.symbolic.run import current
from dpaudit.symbolic.values import Tracked

KEYWORDS = {"axis", "dtype", "endpoint", "decimals", "a", "q", "weights", "minlength", "side", "k"}
ARGUMENTS = {
    **dict.fromkeys(
        ["diff", "logical_not", "nan_to_num", "count_nonzero", "argwhere", "identity"], 1
    ),
    **dict.fromkeys(["arange", "linspace", "logspace", "searchsorted", "interp"], 3),
    **dict.fromkeys(["isclose", "allclose"], 4),
    **dict.fromkeys(["meshgrid", "broadcast_shapes", "result_type"], 9),
}
"""How many positional arguments a function may get; the next one would be `out`."""
ALONE = {"errstate", "seterr", "ndarray", "__version__"}
_METHODS = """
    sum mean max min argmax argmin any all var std cumsum dot nonzero argsort clip round reshape
    flatten ravel astype tolist copy fill item repeat squeeze transpose __matmul__ __rmatmul__"""
METHODS = _METHODS.split()


def _plain(value: Any) -> Any:
    return concrete(value) if isinstance(value, Array | list | tuple | Tracked) else value


def _public(name: str) -> Callable[..., Any]:
    real: Any = getattr(np, name)

    def apply(*given: Any, **named: Any) -> Any:
        named = {key: _type(value) for key, value in named.items()}
        if len(given) > ARGUMENTS.get(name, 2) or not named.keys() <= KEYWORDS:
            raise current().escape(f"np.{name} with more arguments than are followed")
        if any(_symbol(value) for value in (*given, *named.values())):
            raise current().escape(f"np.{name} of rewards or noise")
        return wrap(real(*map(_real, given), **{key: _real(v) for key, v in named.items()}))

    return apply


def _symbol(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_symbol(part) for part in value)
    return isinstance(value, Tracked) or (isinstance(value, Array) and value.real is None)


def _real(value: Any) -> Any:
    if isinstance(value, Answer):
        return bool(value)
    if isinstance(value, Array):
        return value.real
    if isinstance(value, list | tuple):
        return type(value)(_real(part) for part in value)
    return _type(value)


def _type(value: Any) -> Any:
    return getattr(value, "real_type", value) if isinstance(value, type) else value


def _filled(value: Any) -> Callable[..., Any]:
    def apply(shape: Any, dtype: Any = float, order: str = "C") -> Array:
        kind = kind_of(dtype)
        if order != "C":
            raise current().escape(f"an array in order {order!r}")
        store = np.empty(
            _real(shape) if not isinstance(shape, Array) else concrete(shape), dtype=object
        )
        one = KINDS[kind](value)
        store.fill(one)
        return Array(store, kind)

    return apply


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """Return an array of one value."""
    like = array(fill_value, dtype)
    found: Array = _filled(0)(shape, KINDS[like.kind])
    found[...] = fill_value
    found.loose = like.loose
    return found


def _like(value: Any) -> Callable[..., Any]:
    def apply(other: Any, dtype: Any = None) -> Array:
        other = lifted(other)
        kind = other.kind if dtype is None else kind_of(dtype)
        found: Array = _filled(value)(other.shape, KINDS[kind])
        found.loose = other.loose and dtype is None
        return found

    return apply


def full_like(other: Any, fill_value: Any, dtype: Any = None) -> Array:
    """Return an array of one value, in the shape of another."""
    found: Array = _like(0)(other, dtype)
    found[...] = fill_value
    return found


def _array(value: Any, dtype: Any = None, copy: bool = True) -> Array:
    """Stand in for `np.array`."""
    if not copy:
        raise current().escape("np.array with copy=False")
    return array(value, dtype)


def asarray(value: Any, dtype: Any = None) -> Array:
    """Return an array; one that is there already is not copied."""
    if isinstance(value, Array):
        return value if dtype is None else value.astype(dtype, copy=False)
    return array(value, dtype)


def _joined(name: str) -> Callable[..., Any]:
    def apply(parts: Any, axis: int = 0) -> Array:
        arrays = [
            lifted(part) if not isinstance(part, Tracked) else array([part]) for part in parts
        ]
        arrays = [part if isinstance(part, Array) else array([part]) for part in arrays]
        kinds = {part.kind for part in arrays}
        kind = "f" if "f" in kinds else "i" if "i" in kinds else "b"
        stores = [cast(part.store, part.kind, kind) for part in arrays]
        real: Any = getattr(np, name)
        found = real(stores, axis=axis) if name in ("concatenate", "stack") else real(stores)
        return Array(found, kind, kind == "f" and all(map(is_typed, arrays)))

    return apply


def append(values: Any, more: Any, axis: Any = None) -> Array:
    """Return an array with elements added at its end."""
    if axis is not None:
        raise current().escape("np.append with an axis")
    found: Array = _joined("concatenate")(
        [
            lifted(values).ravel(),
            array(more).ravel(),
        ]
    )
    return found


def _method(name: str) -> Callable[..., Any]:
    def apply(value: Any, *given: Any, **named: Any) -> Any:
        value = lifted(value)
        if hasattr(value, "__next__"):
            raise current().escape(f"np.{name} of a generator")
        if not isinstance(value, Array):
            value = array([value])
        if named.pop("keepdims", False):
            raise current().escape(f"np.{name} with keepdims")
        return getattr(value, name)(*given, **named)

    return apply


def _reordered(name: str) -> Callable[..., Any]:
    real: Any = getattr(np, name)

    def apply(value: Any, *given: Any, **named: Any) -> Any:
        value = lifted(value)
        value = value if isinstance(value, Array) else array(value)
        if named.pop("order", "C") != "C":
            raise current().escape(f"np.{name} in another order")
        found = real(value.store, *map(_real, given), **named)
        return Array(found, value.kind, value.loose)

    return apply


def flatnonzero(value: Any) -> Array:
    """Return the positions of elements that are not zero."""
    found: Array = wrap(np.flatnonzero(concrete(lifted(value))))
    return found


class Quiet:
    """What is done with numpy's warnings; making errors of them is not followed."""

    def __init__(self, **given: Any) -> None:
        if not {*given.values()} <= {"ignore", "warn", "print", None}:
            raise current().escape("floating-point warnings that become errors")

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        raise current().escape("np.errstate as a decorator")


def numpy_module(random: ModuleType) -> StandIn:
    """Return what `import numpy` gives."""
    module = StandIn("numpy")
    vars(module).update(_names(), random=random)
    return module


@cache
def _names() -> dict[str, Any]:
    names: dict[str, Any] = {name: getattr(np, name) for name in CONSTANTS}
    names |= {name: getattr(np, name) for name in TYPES if hasattr(np, name)}
    names |= {name: _public(name) for name in PUBLIC if hasattr(np, name)}
    for name in (*by_element.UNARY, *by_element.FINITE, "abs", "absolute", "fabs"):
        names[name] = by_element.unary(name)
    for name in (*by_element.BINARY, "maximum", "minimum", "fmax", "fmin"):
        names[name] = by_element.binary(name)
    for name in [
        "sum",
        "mean",
        "max",
        "min",
        "argmax",
        "argmin",
        "any",
        "all",
        "var",
        "std",
        "cumsum",
        "dot",
        "nonzero",
        "argsort",
    ]:
        names[name] = _method(name)
    for name in ["reshape", "ravel", "repeat", "tile", "squeeze", "expand_dims", "transpose"]:
        names[name] = _reordered(name)
    for name in ["concatenate", "stack", "vstack", "hstack", "column_stack"]:
        names[name] = _joined(name)
    for name in SIZES:
        names[name] = lambda value, name=name: getattr(asarray(value), name)
    names |= {
        "amax": names["max"],
        "amin": names["min"],
        "inner": names["dot"],
        "array": _array,
        "asarray": asarray,
        "copy": lambda value: array(value),
        "zeros": _filled(0),
        "ones": _filled(1),
        "full": full,
        "zeros_like": _like(0),
        "ones_like": _like(1),
        "full_like": full_like,
        "append": append,
        "flatnonzero": flatnonzero,
        "clip": by_element.clip,
        "where": by_element.where,
        "errstate": Quiet,
        "seterr": lambda **given: Quiet(**given) and Poison("what np.seterr returns"),
        "ndarray": Array,
        "__version__": np.__version__,
    }
    for name in names.keys() - ALONE - {*CONSTANTS, *TYPES, *PUBLIC}:
        names[name] = beside(f"np.{name}", getattr(np, name), names[name])
    return names


arrays_beside(METHODS)

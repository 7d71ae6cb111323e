"""Arrays that may hold tracked values: numpy's own storage, with symbols among the numbers.

Where no symbol is involved, real numpy computes on real dtypes, so that public arithmetic is the
same
as in the real program. Where one is, the operation goes element by element. What is not written
here
ends in silence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.questions import may_be_equal
from dpaudit.symbolic.run import current, named
from dpaudit.symbolic.values import Linear, Opaque, Tracked, finite
from dpaudit.symbolic.weights import exact, is_number

KINDS = {"f": np.float64, "i": np.int64, "b": np.bool_}
DTYPES = [np.dtype(it) for it in (np.float64, np.int64, np.bool_)]  # others round or overflow


def kind_of(dtype: Any) -> str:
    """Return f, i or b for a dtype; anything else ends in silence."""
    real = getattr(dtype, "real_type", dtype)
    if np.dtype(real) not in DTYPES:
        raise current().escape(
            f"an array of dtype {np.dtype(real)}", "it may overflow, or hold text"
        )
    return str(np.dtype(real).kind)


def holds_symbol(storage: Any) -> bool:
    """Tell whether an object array holds a tracked value."""
    return any(isinstance(value, Tracked) for value in storage.flat)


def _require_rows(order: str) -> None:
    if order != "C":
        raise current().escape(f"an array in order {order!r}")


def own(value: Any) -> Any:
    """Return an element as it is read: a new object each time, which lists tell by identity."""
    return value.renewed() if isinstance(value, Tracked) else value


class Array:
    """What the judged code has in place of an ndarray."""

    __slots__ = ("store", "kind", "loose")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, store: Any, kind: str, loose: bool = False) -> None:
        self.store, self.kind, self.loose = store, kind, loose
        """Loose: its type is that of the rewards, and so whole numbers if they are."""

    # -- what it is -----------------------------------------------------------------------------

    @property
    def real(self) -> Any:
        """The numbers as a real array, or None where there is a symbol or the type is not known."""
        if self.kind != "f" or not (self.loose or holds_symbol(self.store)):
            return self.store.astype(KINDS[self.kind])
        return None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.store.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.store.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.store.size)

    @property
    def dtype(self) -> Any:
        """The dtype that the real program sees."""
        if self.loose:
            raise current().escape("the type of an array of rewards", "give it a dtype")
        return np.dtype(KINDS[self.kind])

    @property
    def T(self) -> Array:  # noqa: N802  numpy's name
        """The transposed view."""
        return Array(self.store.T, self.kind, self.loose)

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self.store)))  # as they are when it gets there

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        return bool(self.store.item())

    def __index__(self) -> int:
        return operator.index(self.real)

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __contains__(self, value: Any) -> bool:
        return any(bool(item == value) for item in self.store.flat)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"the attribute {name} of an array")

    def __repr__(self) -> str:
        if self.real is None:
            raise current().escape("the text of an array that depends on rewards or noise")
        return repr(self.real)

    def __str__(self) -> str:
        return repr(self) and str(self.real)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise current().escape("pickling of an array")

    # -- elements ---------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        found = self.store[index_of(key)]
        if isinstance(found, np.ndarray):
            return Array(found, self.kind, self.loose)
        return self._read(found)

    def _read(self, element: Any) -> Any:
        """Return an element as it is read; of an array of rewards its type is not known."""
        known = self.loose and not isinstance(element, Tracked)
        return Linear(exact(element), {}, {}) if known else own(element)

    def __setitem__(self, key: Any, value: Any) -> None:
        place = index_of(key)
        if self.loose and not is_whole(value):
            raise current().escape(
                "a number put into an array of rewards",
                "it is rounded where rewards are whole numbers; make the array with dtype=float",
            )
        if isinstance(value, Array):
            found = cast(value.store, value.kind, self.kind)
            self.store[place] = found if value.ndim else found.item()
        elif isinstance(value, list | tuple):
            new = array(value)
            self.store[place] = cast(new.store, new.kind, self.kind)
        elif isinstance(value, Tracked | Answer) or is_number(value) or isinstance(value, bool):
            found = cast_one(value, self.kind)
            if isinstance(self.store[place], np.ndarray):
                spread = np.empty(self.store[place].shape, dtype=object)
                for index in np.ndindex(spread.shape):
                    spread[index] = found
                self.store[place] = spread
            else:
                self.store[place] = found
        else:
            raise current().escape(f"a {named(type(value))} put into an array")

    def item(self, *index: int) -> Any:
        """Return an element as a plain number."""
        found = self._read(self.store.item(*index))
        return found.item() if isinstance(found, np.generic) else found

    def copy(self, order: str = "C") -> Array:
        """Return an array of its own."""
        _require_rows(order)
        return Array(self.store.copy(), self.kind, self.loose)

    def tolist(self) -> Any:
        """Return the elements as lists of plain numbers."""
        if self.ndim == 0:
            return self.item()
        if self.ndim > 1:
            return [row.tolist() for row in self]
        return [self.item(place) for place in range(self.size)]

    def fill(self, value: Any) -> None:
        """Set every element."""
        self[...] = value

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """Return a copy of another dtype; itself if it has it and no copy is asked for."""
        kind = kind_of(dtype)
        if not copy and self.loose:
            raise current().escape("an array of rewards that may be copied or not", "copy it")
        if not copy and kind == self.kind:
            return self
        return Array(cast(self.store, self.kind, kind).copy(), kind)

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """Return a view of another shape."""
        _require_rows(order)
        return Array(self.store.reshape(*shape), self.kind, self.loose)

    def flatten(self, order: str = "C") -> Array:
        """Return the elements in order."""
        _require_rows(order)
        return Array(self.store.flatten(), self.kind, self.loose)

    def ravel(self, order: str = "C") -> Array:
        """Return the elements in order, a view if possible."""
        _require_rows(order)
        return Array(self.store.ravel(), self.kind, self.loose)

    # -- the rest: operators and reductions are those of `array_operators` ---------------------

    def nonzero(self) -> tuple[Array, ...]:
        """Return the positions of elements that are not zero."""
        return tuple(wrap(found) for found in np.nonzero(concrete(self)))

    def argsort(self, axis: int = -1, kind: Any = None) -> Array:
        """Return the positions in increasing order."""
        if self.ndim != 1 or axis not in (-1, 0) or kind not in (None, "stable", "mergesort"):
            raise current().escape("argsort of rows, or in an order that is not stable")
        if self.real is not None:
            found: Array = wrap(np.argsort(self.real, kind=kind))
            return found
        pairs = combinations(self.store.flat, 2)
        if kind is None and any(may_be_equal(a, b) for a, b in pairs):
            raise current().escape("argsort in an order that is not stable", "give kind='stable'")
        if not all(finite(v) if isinstance(v, Tracked) else v == v for v in self.store.flat):
            raise current().escape("argsort of what may be nan")
        return array(sorted(range(len(self)), key=self.store.__getitem__))

    def clip(self, low: Any = None, high: Any = None, **more: Any) -> Any:
        """Return the elements, clipped."""
        from dpaudit.symbolic.elementwise import clip

        return clip(self, low, high, **more)

    def round(self, decimals: int = 0) -> Any:
        """Return rounded public numbers."""
        return wrap(np.round(concrete(self), decimals))


def concrete(value: Any) -> Any:
    """Return an array, list or number as real numpy has it; a symbol among them ends in silence."""
    if isinstance(value, Tracked):
        raise current().escape(
            "a value that depends on rewards or noise where none can be followed"
        )
    if isinstance(value, list | tuple):
        value = array(value)
    if isinstance(value, Array):
        found = value.real
        if found is None:
            raise current().escape("an array with rewards or noise where none can be followed")
        return found
    return value


def cast_one(value: Any, kind: str) -> Any:
    """Return an element as an array of a kind holds it."""
    if isinstance(value, Tracked):
        if kind != "f":
            raise current().escape(
                "a reward or noise put into an array of integers or truth values"
            )
        # an array's integers are numpy's, which end somewhere
        return value.renewed() if isinstance(value, Linear) and value.whole else value
    return KINDS[kind](value)


def cast(store: Any, before: str, after: str) -> Any:
    """Return elements as an array of another kind holds them."""
    if before == after:
        return store
    found = np.empty(store.shape, dtype=object)
    for index in np.ndindex(store.shape):
        found[index] = cast_one(store[index], after)
    return found


def index_of(key: Any) -> Any:
    """Return an index as real numpy takes it."""
    if isinstance(key, tuple):
        return tuple(index_of(part) for part in key)
    if isinstance(key, Array | list):
        return concrete(key)
    if isinstance(key, Tracked):
        operator.index(key)  # refuses
    return key


def storage(value: Any) -> Any:
    """Return what holds the elements of an array, or a number in a box of its own."""
    if isinstance(value, Array):
        return value.store
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def stored(real: Any) -> Any:
    """Return a real array as storage: numpy's own scalars as objects."""
    found = np.empty(real.shape, dtype=object)
    for index in np.ndindex(real.shape):
        found[index] = real[index]
    return found


def wrap(value: Any) -> Any:
    """Return what real numpy has answered as the judged code sees it."""
    if isinstance(value, np.ndarray):
        kind = kind_of(value.dtype)
        return Array(stored(value), kind)
    if isinstance(value, tuple | list):
        return type(value)(wrap(part) for part in value)
    return value


def array(value: Any, dtype: Any = None) -> Array:
    """Return an array of (nested) lists, arrays and numbers."""
    if isinstance(value, Array):
        return value.astype(dtype) if dtype is not None else value.copy()
    if not isinstance(value, list | tuple | range | Tracked | Answer) and not is_number(value):
        _refused(value)
    shape = _shape(value)
    store = np.empty(shape, dtype=object)
    _fill(store, value, ())
    kinds = {element_kind(element) for element in store.flat} or {"f"}
    kind = "f" if "f" in kinds else "i" if "i" in kinds else "b"
    kind = kind if dtype is None else kind_of(dtype)
    loose = dtype is None and holds_symbol(store) and all(map(is_typed, store.flat))
    for index in np.ndindex(shape):
        store[index] = cast_one(store[index], kind)
    return Array(store, kind, loose)


def is_typed(value: Any) -> bool:
    """Tell whether a value has the type of a whole number if all rewards have."""
    if isinstance(value, Array):
        return value.loose or value.kind != "f"
    if isinstance(value, Opaque) or (isinstance(value, Linear) and (value.whole or value.publics)):
        return True  # perhaps: a product of whole rewards is, a root is not
    if isinstance(value, Linear) and value.draws:  # integer draws are, others are not
        return all(current().laws[name].steps is not None for name in value.draws)
    return not isinstance(value, float | np.floating) and is_whole(value)


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number if all rewards are."""
    if isinstance(value, Linear):
        parts = (value.rest, *value.rows.values())
        return not value.draws and not value.publics and all(int(it) == it for it in parts)
    if isinstance(value, Array):
        return value.loose or all(map(is_whole, value.store.flat))
    if isinstance(value, list | tuple):
        return all(map(is_whole, value))
    if isinstance(value, float | np.floating):
        return math.isfinite(value) and float(value).is_integer()
    return isinstance(value, int | np.integer | np.bool_ | Answer)


def _refused(value: Any) -> Any:
    raise current().escape(f"an array of a {named(type(value))}")


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, Array):
        return value.shape
    if hasattr(value, "__len__") and not isinstance(value, str | bytes | dict | set):
        parts = [_shape(part) for part in value]
        if any(part != parts[0] for part in parts):
            raise current().escape("an array of rows of different lengths")
        return (len(parts), *(parts[0] if parts else ()))
    return ()


def _fill(store: Any, value: Any, index: tuple[int, ...]) -> None:
    if len(index) == store.ndim:
        found = value.store.item() if isinstance(value, Array) else value
        found = bool(found) if isinstance(found, Answer) else found
        if not isinstance(found, Tracked) and not is_number(found):
            raise current().escape(f"an array of {type(found).__name__}")
        if isinstance(found, np.generic):
            kind_of(found.dtype)
        store[index] = found
        return
    for number, part in enumerate(value):
        _fill(store, part, (*index, number))


def element_kind(value: Any) -> str:
    """Return the kind of array that an element alone would make."""
    if isinstance(value, bool | np.bool_ | Answer):
        return "b"
    return "i" if isinstance(value, int | np.integer) else "f"

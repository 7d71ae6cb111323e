"""Compiled functions whose cache on disk knows the files they are made from.

Numba's cache looks at the file of a function alone: a change in a function that it calls, in
another file, would go unnoticed, and yesterday's engine would answer for today's. Here every file
of the compiled engine is part of every stamp.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

_FILES = (
    "panels.py",
    "thresholds.py",
    "messages.py",
    "fast.py",
    "pairing.py",
    "../core/kernels.py",
)
_HERE = Path(__file__).parent
_STAMP = tuple(crc32(path.read_bytes()) for name in _FILES if (path := _HERE / name).exists())


def _stamped(function: Any) -> Any:
    file = function._cache._cache_file
    file._source_stamp = (file._source_stamp, _STAMP)
    return function


def compiled(function: F) -> F:
    """Compile a function; it releases the interpreter lock and divides by zero without raising."""
    made: F = _stamped(njit(cache=True, nogil=True, error_model="numpy")(function))
    return made


def summing(function: F) -> F:
    """Compile a function whose sums may be reordered."""
    reordered = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
    made: F = _stamped(reordered(function))
    return made

"""Compiled functions whose cache on disk knows the files they are made from.

Numba's cache looks at the file of a function alone: a change in a function that it calls, in
another file, would go unnoticed, and yesterday's engine would answer for today's. Here the cache is
a folder whose name is a digest of every file that holds compiled functions. Constants that compiled
code reads must be written in such a file too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

F = TypeVar("F", bound=Callable[..., Any])

_SETTINGS: Any = config  # whose names are made at run time
_PACKAGE = Path(__file__).parents[1]
_COMPILES = re.compile(rb"^from (numba|dpaudit\.exact\.compiling) import", re.MULTILINE)


def compiled_files() -> list[Path]:
    """Return every file of the package that holds compiled functions."""
    return sorted(path for path in _PACKAGE.rglob("*.py") if _COMPILES.search(path.read_bytes()))


def digest(files: Iterable[Path]) -> str:
    """Return a name for the contents of some files, in their order."""
    together = sha256()
    for path in files:
        together.update(sha256(path.read_bytes()).digest())
    return together.hexdigest()[:16]


@njit(cache=True)
def _anywhere() -> None:
    """Do nothing: it tells in which folder numba keeps what is made from this one."""


_FOUND: Any = _anywhere.stats
CACHE = Path(_FOUND.cache_path) / f"dpaudit-{digest(compiled_files())}"


def _cached(function: F, **options: Any) -> F:
    before = _SETTINGS.CACHE_DIR
    _SETTINGS.CACHE_DIR = str(CACHE)
    try:
        made: F = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        _SETTINGS.CACHE_DIR = before
    return made


def compiled(function: F) -> F:
    """Compile a function; it releases the interpreter lock and divides by zero without raising."""
    return _cached(function)


def summing(function: F) -> F:
    """Compile a function whose sums may be reordered."""
    return _cached(function, fastmath={"reassoc", "contract"})

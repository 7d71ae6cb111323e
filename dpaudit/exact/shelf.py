"""Many functions of a register in one place, compiled: panels side by side in shared arrays.

A function is put on the shelf as Chebyshev coefficients of log g, panel by panel, together with the
largest value of each panel and whether log g turns on it, which is what meeting functions ask for.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled
from dpaudit.exact.panels import Function
from dpaudit.exact.polynomials import (
    AT_LEFT,
    AT_RIGHT,
    CHEBYSHEV_VALUES,
    ORDER,
    ROWS,
    TERMS,
    TO_CHEBYSHEV,
    Array,
    dot,
)


class Shelf(NamedTuple):
    """Many functions in a row: panels of function j are numbers start[j] to start[j + 1] - 1.

    Edges have one entry more per function, breakpoints their own starts. `words` are the decisions
    of the suffix, the first one lowest, below a leading 1.
    """

    start: NDArray[np.int64]
    edges: Array
    terms: Array
    peaks: Array
    bent: NDArray[np.bool_]  # whether log g is not monotone on the panel
    tails: Array
    break_start: NDArray[np.int64]
    breaks: Array
    words: NDArray[np.int64]


@compiled
def shelf(functions: int, panels: int) -> Shelf:
    """Return an empty shelf."""
    return Shelf(
        np.zeros(functions + 1, dtype=np.int64),
        np.empty(panels + functions),
        np.empty((panels, TERMS)),
        np.empty(panels),
        np.empty(panels, dtype=np.bool_),
        np.empty((functions, 2)),
        np.zeros(functions + 1, dtype=np.int64),
        np.empty(panels + functions),
        np.zeros(functions, dtype=np.int64),
    )


@compiled
def put(these: Shelf, j: int, function: Function, word: int) -> bool:
    """Put a function at place j, after those before it; False where the shelf is full."""
    n, m = function.size[0], function.size[1]
    at, at_break = these.start[j], these.break_start[j]
    if at + n > len(these.peaks) or at_break + m > len(these.breaks):
        return False
    these.start[j + 1], these.break_start[j + 1] = at + n, at_break + m
    for i in range(n + 1):
        these.edges[at + j + i] = function.edges[i]
    for i in range(m):
        these.breaks[at_break + i] = function.breaks[i]
    for i in range(n):
        for k in range(TERMS):
            these.terms[at + i, k] = dot(TO_CHEBYSHEV, k, function.values, i)
        these.peaks[at + i] = _peak(function.values, i)
        these.bent[at + i] = _bent(function.values, i)
    these.tails[j, 0], these.tails[j, 1] = function.tails[0], function.tails[1]
    these.words[j] = word
    return True


@compiled
def _peak(rows: Array, p: int) -> float:
    found = max(dot(ROWS, AT_LEFT, rows, p), dot(ROWS, AT_RIGHT, rows, p))
    for j in range(ORDER):
        found = max(found, rows[p, j])
    return found


@compiled
def _bent(rows: Array, p: int) -> bool:
    rising = rows[p, ORDER - 1] > rows[p, 0]
    turns = 0
    for j in range(1, ORDER):
        turns += (rows[p, j] > rows[p, j - 1]) != rising
    return turns > 0


@compiled
def take(these: Shelf, j: int, target: Function) -> None:
    """Copy function j of a shelf."""
    at, at_break = these.start[j], these.break_start[j]
    n, m = these.start[j + 1] - at, these.break_start[j + 1] - at_break
    target.size[0], target.size[1] = n, m
    for i in range(n + 1):
        target.edges[i] = these.edges[at + j + i]
    for i in range(m):
        target.breaks[i] = these.breaks[at_break + i]
    for p in range(n):
        for i in range(ORDER):
            total = 0.0
            for k in range(TERMS):
                total += CHEBYSHEV_VALUES[i, k] * these.terms[at + p, k]
            target.values[p, i] = total
    target.tails[0], target.tails[1] = these.tails[j, 0], these.tails[j, 1]


def grown(books: Shelf) -> Shelf:
    """Return a shelf with the same functions and twice the panels."""
    more = shelf(len(books.words), 2 * len(books.peaks))
    for new, old in zip(more, books, strict=True):
        new[: len(old)] = old
    return more

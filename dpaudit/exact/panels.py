"""Positive functions of one register, known by their logarithm on panels, in compiled code.

A function is a row of panels of Gauss-Legendre nodes that hold log g; beyond the outer ends it goes
on as an exponential, or is zero. Logarithms keep relative accuracy however small g is. Panels end
where g is not smooth and are halved until the Legendre coefficients of log g have died out, so they
adapt to each function: log(sum of exponentials) bends at places that nothing tells in advance.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled
from dpaudit.exact.polynomials import (
    AT_LEFT,
    AT_RIGHT,
    ORDER,
    ROWS,
    SLOPE_LEFT,
    SLOPE_RIGHT,
    TERMS,
    Array,
    dot,
)

MOST = 400  # panels of one function; more than this is an error, never a truncation
RESOLVED = 1e-12
ROUNDING = 2e-15
FAINT = 1e-13  # further allowance per unit of log g below its largest value


class Function(NamedTuple):
    """The arrays of one function; `size`: panels and breakpoints in use.

    `tails`: slopes of log g beyond the left and right end, nan where g is zero there. `terms`,
    `prim`, `steep`, `top`, `head`, `tail` belong to a function with its integrals (`cumulate`).
    """

    size: NDArray[np.int64]
    edges: Array
    values: Array
    breaks: Array
    tails: Array
    terms: Array
    prim: Array
    steep: NDArray[np.bool_]
    top: Array
    head: Array
    tail: Array


@compiled
def empty() -> Function:
    """Return room for one function."""
    return Function(
        np.zeros(2, dtype=np.int64),
        np.zeros(MOST + 1),
        np.zeros((MOST, ORDER)),
        np.zeros(MOST + 1),
        np.zeros(2),
        np.zeros((MOST, TERMS)),
        np.zeros((MOST, TERMS)),
        np.zeros(MOST, dtype=np.bool_),
        np.zeros(MOST),
        np.zeros(MOST + 1),
        np.zeros(MOST + 1),
    )


@compiled
def unresolved(
    rows: Array, p: int, at_left: float, at_right: float, share: float, largest: float
) -> float:
    """Return by how much a panel misses what is allowed (1 is the limit).

    The last Legendre coefficients must have died out, and the polynomial must go through the values
    at the ends: a layer next to a breakpoint may be thinner than the distance to the first node.
    """
    low, high = rows[p, 0], rows[p, 0]
    for j in range(1, ORDER):
        low = min(low, rows[p, j])
        high = max(high, rows[p, j])
    rest = max(abs(dot(ROWS, 0, rows, p)), abs(dot(ROWS, 1, rows, p)), abs(dot(ROWS, 2, rows, p)))
    if math.isfinite(at_left):
        rest = max(rest, 0.1 * abs(at_left - dot(ROWS, AT_LEFT, rows, p)))
    if math.isfinite(at_right):
        rest = max(rest, 0.1 * abs(at_right - dot(ROWS, AT_RIGHT, rows, p)))
    return rest * share / allowance(low, high, largest)


@compiled
def allowance(low: float, high: float, largest: float) -> float:
    """Return the error allowed in log g where it lies between low and high."""
    return RESOLVED + FAINT * (largest - high) + ROUNDING * max(abs(low), abs(high))


@compiled
def panel_of(edges: Array, count: int, x: float) -> int:
    """Return the panel that holds a point (the nearest one outside)."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if edges[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@compiled
def set_tails(function: Function, left_open: bool, right_open: bool) -> None:
    """Read the slopes of log g at the outer ends, where it goes on."""
    n = function.size[0]
    function.tails[0] = math.nan
    function.tails[1] = math.nan
    if left_open:
        width = function.edges[1] - function.edges[0]
        function.tails[0] = dot(ROWS, SLOPE_LEFT, function.values, 0) * 2 / width
    if right_open:
        width = function.edges[n] - function.edges[n - 1]
        function.tails[1] = dot(ROWS, SLOPE_RIGHT, function.values, n - 1) * 2 / width


@compiled
def largest_value(function: Function) -> float:
    """Return the largest node value."""
    found = -math.inf
    for p in range(function.size[0]):
        for j in range(ORDER):
            found = max(found, function.values[p, j])
    return found

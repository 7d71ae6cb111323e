"""Polynomials on one panel, compiled: Gauss-Legendre nodes and Chebyshev coefficients.

A polynomial of degree below ORDER is known by its values at the nodes (a row of values) or by its
Chebyshev coefficients (a row of terms). What is linear in the values is a matrix made once: the
coefficients, the primitive, the halves of the panel, values and slopes at its ends.

Rows are passed as (array, index): slices cost more than the arithmetic here.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled, summing

Array = NDArray[np.float64]

ORDER = 16
NODES, WEIGHTS = (np.ascontiguousarray(part) for part in legendre.leggauss(ORDER))
_LEGENDRE = np.linalg.inv(legendre.legvander(NODES, ORDER - 1))
BARYCENTRIC = np.array([1.0 / np.prod(x - np.delete(NODES, i)) for i, x in enumerate(NODES)])

# Chebyshev coefficients of degree up to ORDER are kept with the even ones first: the two halves of
# Clenshaw's recurrence then run side by side.
TERMS = ORDER + 1
EVENS = ORDER // 2 + 1
_PLACES = np.argsort([*range(0, TERMS, 2), *range(1, TERMS, 2)])


def _shuffled(rows: Any) -> Array:
    out = np.zeros((TERMS, np.shape(rows)[1]))
    out[_PLACES[: len(rows)]] = rows
    return np.ascontiguousarray(out)


def _at(points: Any) -> Array:
    return np.ascontiguousarray(legendre.legvander(np.asarray(points), ORDER - 1) @ _LEGENDRE)


_CHEBYSHEV = np.linalg.inv(chebyshev.chebvander(NODES, ORDER - 1))
TO_CHEBYSHEV = _shuffled(_CHEBYSHEV)
TO_PRIMITIVE = _shuffled(np.stack([chebyshev.chebint(c, lbnd=-1) for c in _CHEBYSHEV.T], axis=1))
LEFT_HALF, RIGHT_HALF = _at((NODES - 1) / 2), _at((NODES + 1) / 2)
DERIVATIVE = np.ascontiguousarray(
    np.stack([legendre.legval(NODES, legendre.legder(c)) for c in np.eye(ORDER)], axis=1)
    @ _LEGENDRE
)
# rows: the last three Legendre coefficients, the values at both ends, the slopes at both ends
_K = np.arange(ORDER)
_END_SLOPE = _K * (_K + 1) / 2
ROWS = np.ascontiguousarray(
    np.vstack(
        [
            _LEGENDRE[-3:],
            _at([-1.0, 1.0]),
            (_END_SLOPE * (-1.0) ** (_K + 1)) @ _LEGENDRE,
            _END_SLOPE @ _LEGENDRE,
        ]
    )
)
AT_LEFT, AT_RIGHT, SLOPE_LEFT, SLOPE_RIGHT = 3, 4, 5, 6
_T = np.zeros((TERMS + 1, TERMS))  # T_k at the nodes; last row unused
_DT = np.zeros((TERMS + 1, TERMS))
for _k in range(TERMS):
    _unit = np.eye(TERMS)[_k]
    _T[:ORDER, _PLACES[_k]] = chebyshev.chebval(NODES, _unit)
    _DT[:ORDER, _PLACES[_k]] = chebyshev.chebval(NODES, chebyshev.chebder(_unit))
CHEBYSHEV_VALUES, CHEBYSHEV_SLOPES = _T, _DT


@summing
def dot(matrix: Array, i: int, rows: Array, p: int) -> float:
    """Return the product of a row of a matrix with a row of node values."""
    total = 0.0
    for j in range(ORDER):
        total += matrix[i, j] * rows[p, j]
    return total


@summing
def interpolate(rows: Array, p: int, t: float) -> float:
    """Return the polynomial through a row of node values at t in [-1, 1]."""
    top = 0.0
    bottom = 0.0
    for j in range(ORDER):
        share = BARYCENTRIC[j] / (t - NODES[j] + 1e-300)
        top += share * rows[p, j]
        bottom += share
    return top / bottom


@compiled
def evaluate(terms: Array, p: int, t: float) -> float:
    """Return the polynomial with a row of Chebyshev coefficients at t."""
    u = 2 * t * t - 1
    twice = 2 * u
    a, b = terms[p, EVENS - 1], 0.0
    c, d = 0.0, 0.0
    for k in range(EVENS - 2, 0, -1):
        a, b = terms[p, k] + twice * a - b, a
        c, d = terms[p, EVENS + k] + twice * c - d, c
    # odd terms: T_(2k+1)(t) = t (2 T_k(u) - ...) runs on V_k(u) with V_0 = 1, V_1 = 2 u - 1
    return terms[p, 0] + u * a - b + t * (terms[p, EVENS] + (twice - 1) * c - d)


@compiled
def halve(rows: Array, source: int, left: int, right: int) -> None:
    """Write the node values of both halves of a panel into other rows, the source's own last."""
    first, second = np.empty(ORDER), np.empty(ORDER)
    for i in range(ORDER):
        first[i] = dot(LEFT_HALF, i, rows, source)
        second[i] = dot(RIGHT_HALF, i, rows, source)
    for i in range(ORDER):
        rows[left, i] = first[i]
        rows[right, i] = second[i]

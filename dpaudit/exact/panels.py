"""Positive functions of one register, known by their logarithm on panels, in compiled code.

A function is a row of panels of Gauss-Legendre nodes that hold log g; beyond the outer ends it goes
on as an exponential, or is zero. Logarithms keep relative accuracy however small g is. Panels end
where g is not smooth and are halved until the Legendre coefficients of log g have died out, so they
adapt to each function: log(sum of exponentials) bends at places that nothing tells in advance.

Integrals: on a panel where log g varies little, g itself is integrated as a polynomial. Where it
varies much, the integral of g is r g with r' + (log g)' r = 1, whose smooth solution is found by
collocation: a steep exponential of any length costs one panel.

Rows are passed as (array, index): slices cost more than the arithmetic here.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled, summing

Array = NDArray[np.float64]

ORDER = 16
MOST = 400  # panels of one function; more than this is an error, never a truncation
FLAT = 4.0  # variation of log g up to which g is integrated as a polynomial
RESOLVED = 1e-12
ROUNDING = 2e-15
FAINT = 1e-13  # further allowance per unit of log g below its largest value

NODES, WEIGHTS = (np.ascontiguousarray(part) for part in legendre.leggauss(ORDER))
_LEGENDRE = np.linalg.inv(legendre.legvander(NODES, ORDER - 1))
BARYCENTRIC = np.array([1.0 / np.prod(x - np.delete(NODES, i)) for i, x in enumerate(NODES)])

# Chebyshev coefficients of degree up to ORDER are kept with the even ones first: the two halves of
# Clenshaw's recurrence then run side by side.
TERMS = ORDER + 1
_EVENS = ORDER // 2 + 1
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
_SLOPES = legendre.legvander(NODES, ORDER - 1)
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
    a, b = terms[p, _EVENS - 1], 0.0
    c, d = 0.0, 0.0
    for k in range(_EVENS - 2, 0, -1):
        a, b = terms[p, k] + twice * a - b, a
        c, d = terms[p, _EVENS + k] + twice * c - d, c
    # odd terms: T_(2k+1)(t) = t (2 T_k(u) - ...) runs on V_k(u) with V_0 = 1, V_1 = 2 u - 1
    return terms[p, 0] + u * a - b + t * (terms[p, _EVENS] + (twice - 1) * c - d)


@compiled
def log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    if a == -math.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@compiled
def log_survival(x: float, centre: float, scale: float) -> float:
    """Return log P(X > x) of a Laplace variable."""
    z = (x - centre) / scale
    if z > 0:
        return -z - 0.6931471805599453
    return math.log1p(-0.5 * math.exp(z))


@compiled
def log_cumulative(x: float, centre: float, scale: float) -> float:
    """Return log P(X < x) of a Laplace variable."""
    return log_survival(-x, -centre, scale)


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
    return rest * share / _allowance(low, high, largest)


@compiled
def _allowance(low: float, high: float, largest: float) -> float:
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


@compiled
def solve(matrix: Array, vector: Array) -> bool:
    """Solve a small linear system in place by elimination with pivots; False if it is singular."""
    n = len(vector)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        if matrix[best, k] == 0.0:
            return False
        if best != k:
            for j in range(k, n):
                matrix[k, j], matrix[best, j] = matrix[best, j], matrix[k, j]
            vector[k], vector[best] = vector[best], vector[k]
        pivot = 1.0 / matrix[k, k]
        for i in range(k + 1, n):
            share = matrix[i, k] * pivot
            for j in range(k + 1, n):
                matrix[i, j] -= share * matrix[k, j]
            vector[i] -= share * vector[k]
    for k in range(n - 1, -1, -1):
        total = vector[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * vector[j]
        vector[k] = total / matrix[k, k]
    return True


@compiled
def ratio_of_integral(
    rows: Array,
    p: int,
    half: float,
    prim: Array,
    q: int,
    matrix: Array,
    vector: Array,
    allowed: float,
) -> bool:
    """Write the coefficients of r with (r g)' = g on a panel; False where no smooth r is resolved.

    Any solution will do: it is fixed at the low end of g, where the choice does not spread, by the
    first terms 1 / l' (1 + l'' / l'^2) of its expansion, which make it smooth.
    """
    rising = rows[p, ORDER - 1] > rows[p, 0]
    for i in range(ORDER):
        slope = dot(DERIVATIVE, i, rows, p)
        if (slope > 0) != rising:
            return False
        for k in range(TERMS):
            matrix[i, k] = CHEBYSHEV_SLOPES[i, k] + slope * CHEBYSHEV_VALUES[i, k]
        vector[i] = half
    end = 0 if rising else ORDER - 1
    slope = dot(ROWS, SLOPE_LEFT if rising else SLOPE_RIGHT, rows, p)
    inner = dot(DERIVATIVE, end, rows, p)
    bend = (inner - slope) / (NODES[end] + (1.0 if rising else -1.0)) / (slope * slope)
    if abs(bend) > 0.3:
        bend = 0.0
    for k in range(TERMS):
        matrix[ORDER, k] = -1.0 if rising and k >= _EVENS else 1.0
    vector[ORDER] = half / slope * (1 + bend)
    if not solve(matrix, vector):
        return False
    largest = 0.0
    for k in range(TERMS):
        largest = max(largest, abs(vector[k]))
        prim[q, k] = vector[k]
    rest = max(abs(vector[_EVENS - 1]), abs(vector[TERMS - 1]), abs(vector[_EVENS - 2]))
    return rest <= allowed * largest


@compiled
def cumulate(source: Function, target: Function) -> bool:
    """Copy a function with its integrals; panels that are neither flat nor steep are halved.

    Returns False where there is no room left.
    """
    target.size[1] = source.size[1]
    for i in range(source.size[1]):
        target.breaks[i] = source.breaks[i]
    target.tails[0], target.tails[1] = source.tails[0], source.tails[1]
    matrix, vector = np.empty((TERMS, TERMS)), np.empty(TERMS)
    rows, scaled = np.empty((64, ORDER)), np.empty((1, ORDER))
    rights = np.empty(64)
    largest = largest_value(source)
    count = 0
    target.edges[0] = source.edges[0]
    for p in range(source.size[0]):
        for j in range(ORDER):
            rows[0, j] = source.values[p, j]
        rights[0] = source.edges[p + 1]
        depth = 1
        while depth > 0:
            if count >= MOST or depth > 60:
                return False
            last = depth - 1
            left, right = target.edges[count], rights[last]
            half = 0.5 * (right - left)
            low, high = rows[last, 0], rows[last, 0]
            for j in range(1, ORDER):
                low = min(low, rows[last, j])
                high = max(high, rows[last, j])
            steep = False
            if high - low > FLAT and half > 4e-15 * (abs(left) + abs(right)):
                allowed = 10 * _allowance(low, high, largest)
                steep = ratio_of_integral(
                    rows, last, half, target.prim, count, matrix, vector, allowed
                )
                if not steep:
                    rights[depth] = 0.5 * (left + right)
                    halve(rows, last, depth, last)
                    depth += 1
                    continue
            for j in range(ORDER):
                target.values[count, j] = rows[last, j]
            for k in range(TERMS):
                target.terms[count, k] = dot(TO_CHEBYSHEV, k, rows, last)
            target.steep[count] = steep
            if steep:
                at_left, at_right = dot(ROWS, AT_LEFT, rows, last), dot(ROWS, AT_RIGHT, rows, last)
                top = max(at_left, at_right)
                mass = math.exp(at_right - top) * evaluate(target.prim, count, 1.0)
                mass -= math.exp(at_left - top) * evaluate(target.prim, count, -1.0)
            else:
                top = high
                for j in range(ORDER):
                    scaled[0, j] = half * math.exp(rows[last, j] - top)
                for k in range(TERMS):
                    target.prim[count, k] = dot(TO_PRIMITIVE, k, scaled, 0)
                mass = 0.0
                for j in range(ORDER):
                    mass += WEIGHTS[j] * scaled[0, j]
            target.top[count] = top
            # for now the panel's own mass; summed up below
            target.head[count + 1] = top + math.log(mass)
            count += 1
            target.edges[count] = right
            depth -= 1
    target.size[0] = count
    target.tail[count] = _outer(target, 1)
    for p in range(count - 1, -1, -1):
        target.tail[p] = log_add(target.tail[p + 1], target.head[p + 1])
    target.head[0] = _outer(target, 0)
    for p in range(count):
        target.head[p + 1] = log_add(target.head[p], target.head[p + 1])
    return True


@compiled
def _outer(function: Function, side: int) -> float:
    """Return the logarithm of the integral beyond an end; nan where it does not converge."""
    rate = function.tails[side]
    if math.isnan(rate):
        return -math.inf
    if side == 0:
        return dot(ROWS, AT_LEFT, function.values, 0) - math.log(rate)
    return dot(ROWS, AT_RIGHT, function.values, function.size[0] - 1) - math.log(-rate)


@compiled
def log_total(function: Function) -> float:
    """Return the logarithm of the whole integral of a cumulated function."""
    return log_add(function.tail[0], function.head[0])


@compiled
def log_value(function: Function, x: float) -> float:
    """Return log g(x) anywhere, of a cumulated function."""
    n = function.size[0]
    if x < function.edges[0]:
        rate = function.tails[0]
        if math.isnan(rate):
            return -math.inf
        return dot(ROWS, AT_LEFT, function.values, 0) + rate * (x - function.edges[0])
    if x > function.edges[n]:
        rate = function.tails[1]
        if math.isnan(rate):
            return -math.inf
        return dot(ROWS, AT_RIGHT, function.values, n - 1) + rate * (x - function.edges[n])
    p = panel_of(function.edges, n, x)
    left, right = function.edges[p], function.edges[p + 1]
    return evaluate(function.terms, p, (2 * x - left - right) / (right - left))


@compiled
def log_mass(function: Function, x: float, upper: bool) -> float:
    """Return the logarithm of the integral from x on, or up to x, of a cumulated function."""
    n = function.size[0]
    if x >= function.edges[n]:
        rate = function.tails[1]
        if upper:
            if math.isnan(rate):
                return -math.inf
            return function.tail[n] + rate * (x - function.edges[n])
        if math.isnan(rate):
            return function.head[n]
        gap = -math.expm1(rate * (x - function.edges[n]))
        return log_add(function.head[n], function.tail[n] + math.log(gap))
    if x <= function.edges[0]:
        rate = function.tails[0]
        if not upper:
            if math.isnan(rate):
                return -math.inf
            return function.head[0] + rate * (x - function.edges[0])
        if math.isnan(rate):
            return function.tail[0]
        gap = -math.expm1(rate * (x - function.edges[0]))
        return log_add(function.tail[0], function.head[0] + math.log(gap))
    p = panel_of(function.edges, n, x)
    left, right = function.edges[p], function.edges[p + 1]
    t = (2 * x - left - right) / (right - left)
    base = function.tail[p + 1] if upper else function.head[p]
    if function.steep[p]:
        here = evaluate(function.terms, p, t)
        end = 1.0 if upper else -1.0
        there = evaluate(function.terms, p, end)
        top = max(base, here, there)
        part = math.exp(there - top) * evaluate(function.prim, p, end)
        part -= math.exp(here - top) * evaluate(function.prim, p, t)
        total = math.exp(base - top) + end * part
    else:
        part = evaluate(function.prim, p, t)
        if upper:
            part = evaluate(function.prim, p, 1.0) - part
        top = max(base, function.top[p])
        total = math.exp(base - top) + math.exp(function.top[p] - top) * max(part, 0.0)
    if not total > 0:
        return -math.inf
    return top + math.log(total)

"""Integrals of a function on panels, by their logarithm, in compiled code.

On a panel where log g varies little, g itself is integrated as a polynomial. Where it varies much,
the integral of g is r g with r' + (log g)' r = 1, whose smooth solution is found by collocation: a
steep exponential of any length costs one panel. Beyond the outer ends g is an exponential.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

import numpy as np

from dpaudit.exact.compiling import compiled
from dpaudit.exact.laplace import log_add
from dpaudit.exact.panels import MOST, Function, allowance, largest_value, panel_of
from dpaudit.exact.polynomials import (
    AT_LEFT,
    AT_RIGHT,
    CHEBYSHEV_SLOPES,
    CHEBYSHEV_VALUES,
    DERIVATIVE,
    EVENS,
    NODES,
    ORDER,
    ROWS,
    SLOPE_LEFT,
    SLOPE_RIGHT,
    TERMS,
    TO_CHEBYSHEV,
    TO_PRIMITIVE,
    WEIGHTS,
    Array,
    dot,
    evaluate,
    halve,
)

FLAT = 4.0  # variation of log g up to which g is integrated as a polynomial


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
        matrix[ORDER, k] = -1.0 if rising and k >= EVENS else 1.0
    vector[ORDER] = half / slope * (1 + bend)
    if not solve(matrix, vector):
        return False
    largest = 0.0
    for k in range(TERMS):
        largest = max(largest, abs(vector[k]))
        prim[q, k] = vector[k]
    rest = max(abs(vector[EVENS - 1]), abs(vector[TERMS - 1]), abs(vector[EVENS - 2]))
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
                allowed = 10 * allowance(low, high, largest)
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

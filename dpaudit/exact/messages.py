"""The two moves of a chain of decisions between a held and a fresh register, compiled.

`absorb` integrates out the fresh register: g(x) <- g(x) P(fresh on its side of theta(x)).
`carry` integrates out the held one: the mass of g on its side of theta(y), as a function of the
fresh register y, without y's own density; `weigh` multiplies by that. All write the function anew
on panels that resolve it. They return False where there is no room left, or nothing is.

A comparison is a number of `Thresholds`: `to` of the register that is integrated out, as a function
of the other; `back` is the reverse, and tells where breakpoints go.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math

import numpy as np

from dpaudit.exact.compiling import compiled
from dpaudit.exact.integrals import log_mass, log_total
from dpaudit.exact.laplace import log_cumulative, log_survival
from dpaudit.exact.panels import MOST, Function, largest_value, set_tails, unresolved
from dpaudit.exact.polynomials import (
    AT_LEFT,
    AT_RIGHT,
    NODES,
    ORDER,
    ROWS,
    Array,
    dot,
    halve,
    interpolate,
)
from dpaudit.exact.thresholds import KL, Thresholds, exactly, least

_DEEPEST = 60
TAIL = 45.0  # e^-45 is below a double's resolution


@compiled
def _narrow(left: float, right: float) -> bool:
    return right - left <= 4e-15 * (abs(left) + abs(right))


@compiled
def _insert(breaks: Array, count: int, x: float, low: float, high: float) -> int:
    """Put a point of (low, high) among sorted breakpoints; return how many there are."""
    if not (low < x < high) or count >= MOST:
        return count
    place = count
    while place > 0 and breaks[place - 1] > x:
        place -= 1
    if (place > 0 and _narrow(breaks[place - 1], x)) or (
        place < count and _narrow(x, breaks[place])
    ):
        return count
    for i in range(count, place, -1):
        breaks[i] = breaks[i - 1]
    breaks[place] = x
    return count + 1


@compiled
def fresh(target: Function, centre: float, scale: float, reach: float) -> None:
    """Write the density of a release."""
    target.size[0], target.size[1] = 2, 1
    target.breaks[0] = centre
    target.edges[0], target.edges[1], target.edges[2] = centre - reach, centre, centre + reach
    least_log = -math.log(2.0 * scale)
    for p in range(2):
        left, right = target.edges[p], target.edges[p + 1]
        for j in range(ORDER):
            x = 0.5 * (left + right) + 0.5 * (right - left) * NODES[j]
            target.values[p, j] = least_log - abs(x - centre) / scale
    target.tails[0], target.tails[1] = 1 / scale, -1 / scale


@compiled
def constant(target: Function, reach: float) -> None:
    """Write the function that is 1 everywhere."""
    target.size[0], target.size[1] = 1, 0
    target.edges[0], target.edges[1] = -reach, reach
    for j in range(ORDER):
        target.values[0, j] = 0.0
    target.tails[0] = target.tails[1] = 0.0


@compiled
def _side(these: Thresholds, to: int, x: float, upper: bool, centre: float, scale: float) -> float:
    cut = least(these, to, x)
    if upper:
        return log_survival(cut, centre, scale)
    return log_cumulative(cut, centre, scale)


@compiled
def absorb(
    source: Function,
    target: Function,
    these: Thresholds,
    to: int,
    back: int,
    upper: bool,
    centre: float,
    scale: float,
    widest: float,
) -> bool:
    """Write g(x) times the probability that a release lies above (or below) its threshold at x."""
    n = source.size[0]
    low, high = source.edges[0], source.edges[n]
    left_open, right_open = not math.isnan(source.tails[0]), not math.isnan(source.tails[1])
    curved = these.scores[to, 0] == KL
    if curved and upper and these.limits[to, 3] == math.inf and high > these.limits[to, 1]:
        high, right_open = these.limits[to, 1], False
    if curved and not upper and these.limits[to, 2] == -math.inf and low < these.limits[to, 0]:
        low, left_open = these.limits[to, 0], False
    if not low < high:
        return False
    new = np.empty(5)
    news = _insert(new, 0, exactly(these.scores, these.ties, back, centre), low, high)
    if curved:
        news = _insert(new, news, these.limits[to, 0], low, high)
        news = _insert(new, news, these.limits[to, 1], low, high)
    breaks = 0
    for i in range(source.size[1]):
        if low < source.breaks[i] < high:
            target.breaks[breaks] = source.breaks[i]
            breaks += 1
    for i in range(news):
        breaks = _insert(target.breaks, breaks, new[i], low, high)
    target.size[1] = breaks
    largest = largest_value(source)
    rows, trial = np.empty((_DEEPEST + 4, ORDER)), target.values
    rights, before = np.empty(_DEEPEST + 4), np.empty(_DEEPEST + 4)
    count = 0
    target.edges[0] = low
    for p in range(n):
        left, right = source.edges[p], source.edges[p + 1]
        if right <= low or left >= high:
            continue
        start = target.edges[count]
        stop = min(right, high)
        for cut in range(news + 1):
            end = stop
            if cut < news:
                end = new[cut]
                if not start < end < stop or _narrow(start, end) or _narrow(end, stop):
                    continue
            for j in range(ORDER):
                if start == left and end == right:
                    rows[0, j] = source.values[p, j]
                else:
                    x = 0.5 * (start + end) + 0.5 * (end - start) * NODES[j]
                    t = (2 * x - left - right) / (right - left)
                    rows[0, j] = interpolate(source.values, p, t)
            rights[0], before[0] = end, math.inf
            depth = 1
            while depth > 0:
                if count >= MOST:
                    return False
                last = depth - 1
                a, b = target.edges[count], rights[last]
                half = 0.5 * (b - a)
                for j in range(ORDER):
                    x = 0.5 * (a + b) + half * NODES[j]
                    trial[count, j] = rows[last, j] + _side(these, to, x, upper, centre, scale)
                at_left = dot(ROWS, AT_LEFT, rows, last)
                at_left += _side(these, to, a, upper, centre, scale)
                at_right = dot(ROWS, AT_RIGHT, rows, last)
                at_right += _side(these, to, b, upper, centre, scale)
                share = min(1.0, half / widest)
                excess = unresolved(trial, count, at_left, at_right, share, largest)
                stuck = excess < 1e3 and excess > 0.5 * before[last]
                if excess <= 1 or stuck or depth >= _DEEPEST or _narrow(a, b):
                    count += 1
                    depth -= 1
                    target.edges[count] = b
                    continue
                rights[depth] = 0.5 * (a + b)
                before[last] = before[depth] = excess
                halve(rows, last, depth, last)
                depth += 1
            start = end
    target.size[0] = count
    set_tails(target, left_open, right_open)
    return count > 0


@compiled
def carry(
    source: Function,
    target: Function,
    these: Thresholds,
    to: int,
    back: int,
    upper: bool,
    reach: float,
    widest: float,
) -> bool:
    """Write, of a cumulated g, the mass above (or below) the threshold at y, as a function of y."""
    n = source.size[0]
    low, high = -math.inf, math.inf
    left_open, right_open = True, True
    curved = these.scores[to, 0] == KL
    if curved and upper and these.limits[to, 3] == math.inf:
        high, right_open = these.limits[to, 1], False
    if curved and not upper and these.limits[to, 2] == -math.inf:
        low, left_open = these.limits[to, 0], False
    # where g is zero beyond an end, so may its mass be
    if upper and math.isnan(source.tails[1]):
        edge = exactly(these.scores, these.ties, back, source.edges[n])
        if edge < high:
            high, right_open = edge, False
    if not upper and math.isnan(source.tails[0]):
        edge = exactly(these.scores, these.ties, back, source.edges[0])
        if edge > low:
            low, left_open = edge, False
    if not low < high:
        return False
    count = 0
    for i in range(source.size[1]):
        image = exactly(these.scores, these.ties, back, source.breaks[i])
        count = _insert(target.breaks, count, image, low, high)
    if curved:
        count = _insert(target.breaks, count, these.limits[to, 0], low, high)
        count = _insert(target.breaks, count, these.limits[to, 1], low, high)
    first, last = low, high
    if left_open:
        first = (target.breaks[0] if count else (0.0 if right_open else high)) - reach
    if right_open:
        last = (target.breaks[count - 1] if count else (0.0 if left_open else low)) + reach
    target.size[1] = count
    trial = target.values
    rights, before = np.empty(_DEEPEST + 4), np.empty(_DEEPEST + 4)
    largest = log_total(source)
    made = 0
    target.edges[0] = first
    for piece in range(count + 1):
        rights[0] = target.breaks[piece] if piece < count else last
        before[0] = math.inf
        if not target.edges[made] < rights[0]:
            continue
        at_left = log_mass(source, least(these, to, target.edges[made]), upper)
        depth = 1
        while depth > 0:
            if made >= MOST:
                return False
            a, b = target.edges[made], rights[depth - 1]
            half = 0.5 * (b - a)
            for j in range(ORDER):
                y = 0.5 * (a + b) + half * NODES[j]
                trial[made, j] = log_mass(source, least(these, to, y), upper)
            at_right = log_mass(source, least(these, to, b), upper)
            share = min(1.0, half / widest)
            excess = unresolved(trial, made, at_left, at_right, share, largest)
            stuck = excess < 1e3 and excess > 0.5 * before[depth - 1]
            if excess <= 1 or stuck or depth >= _DEEPEST or _narrow(a, b):
                made += 1
                depth -= 1
                target.edges[made] = b
                at_left = at_right
                continue
            before[depth - 1] = before[depth] = excess
            rights[depth] = 0.5 * (a + b)
            depth += 1
    target.size[0] = made
    set_tails(target, left_open, right_open)
    return made > 0


@compiled
def weigh(source: Function, target: Function, centre: float, scale: float, reach: float) -> bool:
    """Write g(x) times the density of a release: exact on panels that end at its centre."""
    n = source.size[0]
    left_open, right_open = not math.isnan(source.tails[0]), not math.isnan(source.tails[1])
    breaks = source.size[1]
    for i in range(breaks):
        target.breaks[i] = source.breaks[i]
    low = -math.inf if left_open else source.edges[0]
    high = math.inf if right_open else source.edges[n]
    target.size[1] = _insert(target.breaks, breaks, centre, low, high)
    least_log = -math.log(2.0 * scale)
    # beyond the outer ends g is an exponential: panels there carry it to the centre and past it
    before = left_open and centre < source.edges[0]
    after = right_open and centre > source.edges[n]
    count = 0
    target.edges[0] = centre - reach if before else source.edges[0]
    for p in range(-2 if before else 0, n + 2 if after else n):
        q = min(max(p, 0), n - 1)
        left, right = source.edges[q], source.edges[q + 1]
        start, stop = left, right
        if p == -2:
            start, stop = centre - reach, centre
        elif p == -1:
            start, stop = centre, source.edges[0]
        elif p == n:
            start, stop = source.edges[n], centre
        elif p == n + 1:
            start, stop = centre, centre + reach
        inside = start < centre < stop and not _narrow(start, centre) and not _narrow(centre, stop)
        for piece in range(2 if inside else 1):
            if count >= MOST:
                return False
            a = centre if inside and piece == 1 else start
            b = centre if inside and piece == 0 else stop
            for j in range(ORDER):
                x = 0.5 * (a + b) + 0.5 * (b - a) * NODES[j]
                if p < 0:
                    value = dot(ROWS, AT_LEFT, source.values, 0)
                    value += source.tails[0] * (x - source.edges[0])
                elif p >= n:
                    value = dot(ROWS, AT_RIGHT, source.values, n - 1)
                    value += source.tails[1] * (x - source.edges[n])
                elif inside:
                    t = (2 * x - left - right) / (right - left)
                    value = interpolate(source.values, p, t)
                else:
                    value = source.values[p, j]
                target.values[count, j] = value + least_log - abs(x - centre) / scale
            count += 1
            target.edges[count] = b
    target.size[0] = count
    target.tails[0] = source.tails[0] + 1 / scale if left_open else math.nan
    target.tails[1] = source.tails[1] - 1 / scale if right_open else math.nan
    return True

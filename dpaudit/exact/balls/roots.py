"""Thresholds between two KL scores, enclosed on a whole grid, with bounds on their derivatives.

For a register value x of one arm, the values of the other arm's register that lose to it are
everything below a threshold theta(x). With v = -log(1 - q) the common score, m and m' the clipped
means and Phi(m, v) = d(m, 1 - e^-v):

  theta solves Phi(m, v) = level, Phi(m', v) = level', m' < q;
  dm'/dm = lambda (q - m') / (lambda' (q - m)), lambda = logit(q) - logit(m), likewise lambda'.

Where a mean is clipped the threshold is constant: 1 and 0 are plateaus, on which the lower arm wins
ties. A double approximates each root; the sign of Phi - level on both sides of it, in intervals,
certifies it (Phi increases in v and decreases in m < q).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dpaudit.core import divergence
from dpaudit.exact.balls.interval import Array, Interval, down, where

Mask = NDArray[np.bool_]
Test = Callable[[Array, Mask], Mask]
_U = np.linspace(0.0, 1.0, 514)[1:-1]
_TABLE = _U**3 * (10 - 15 * _U + 6 * _U**2)  # means, dense at both ends


class Order(IntEnum):
    """How the own level compares with the other's, for certain."""

    BELOW = -1
    EQUAL = 0
    ABOVE = 1


@dataclass(frozen=True)
class Theta:
    """theta at the nodes; on the cells between them theta', which is not negative, and theta''.

    Their ends are infinite where theta may jump or bend without limit.
    """

    at: Interval
    slope: Interval
    bend: Interval


def divergence_of(m: Array, v: Array) -> Interval:
    """Enclose d(m, 1 - e^-v) for doubles; without ends unless 0 < m < 1 and 0 < v < infinity."""
    sound = (m > 0) & (m < 1) & (v > 0) & np.isfinite(v)
    m, v = np.where(sound, m, 0.5), np.where(sound, v, 1.0)
    rest = 1.0 - Interval.of(m)
    q = 1.0 - Interval.of(-v).exp()
    ones = Interval.of(m) * (Interval.of(m).log() - Interval(np.maximum(q.lo, 0), q.hi).log())
    endless = Interval(np.float64(-np.inf), np.float64(np.inf))
    return where(sound, ones + rest * (rest.log() + Interval.of(v)), endless)


def certified_root(guess: Array, spread: Array, beyond_low: Test, beyond_high: Test) -> Interval:
    """Widen a guess until both ends are certified; an end that never is stays infinite."""
    ends = []
    for sign, test in ((-1.0, beyond_low), (1.0, beyond_high)):
        end = np.full_like(guess, sign * np.inf)
        width = spread.copy()
        missing = np.ones(guess.shape, dtype=bool)
        idle = 0  # a width that certifies none, twice in a row, has met what has no root
        while idle < 2 and missing.any():
            trial = guess[missing] + sign * width[missing]
            good = test(trial, missing)
            found = np.flatnonzero(missing)[good]
            end[found], missing[found] = trial[good], False
            idle = 0 if good.any() else idle + 1
            width *= 4
        ends.append(end)
    return Interval(ends[0], ends[1])


def upper_bound(m: Interval, level: Interval) -> Interval:
    """Enclose v = -log(1 - q) for the largest q with d(m, q) <= level, m within (0, 1)."""
    middle = 0.5 * (m.lo + m.hi)
    guess = divergence.upper_bound(middle, 0.5 * (level.lo + level.hi))
    q = -np.expm1(-guess)
    tilt = guess + np.log(q) - np.log(middle) + np.log1p(-middle)
    error = 1e-15 * (2 + guess) * (1 - middle) + 2e-16 + tilt * (m.hi - m.lo)
    spread = 4 * (error + level.hi - level.lo) / np.maximum((q - middle) / q, 1e-300)

    def low(v: Array, index: Mask) -> Mask:
        return np.asarray(divergence_of(m.lo[index], v).hi <= level.lo)

    def high(v: Array, index: Mask) -> Mask:
        beyond = v > -np.log1p(-m.hi[index])
        return np.asarray(beyond & (divergence_of(m.hi[index], v).lo >= level.hi))

    found = certified_root(guess, np.maximum(spread, 4e-16 * guess), low, high)
    return Interval(np.maximum(found.lo, level.lo), found.hi)


def lower_mean(v: Interval, level: Interval) -> Interval:
    """Enclose the m <= q with d(m, 1 - e^-v) = level, for v certainly above level."""
    middle, target = 0.5 * (v.lo + v.hi), 0.5 * (level.lo + level.hi)
    guess = _guess_mean(middle, target)
    q = -np.expm1(-middle)
    tilt = np.maximum(np.log(q) + middle - np.log(guess) + np.log1p(-guess), 1e-300)
    error = 1e-15 * (2 + middle) * (1 - guess) + 2e-16 + (1 - guess) * (v.hi - v.lo)
    spread = 4 * (error + level.hi - level.lo) / tilt + 2e-16 * guess

    def low(m: Array, index: Mask) -> Mask:
        beyond = down(1 - m) > Interval.of(-v.lo[index]).exp().hi  # m is below q = 1 - e^-v
        return np.asarray(beyond & (divergence_of(m, v.lo[index]).lo >= level.hi))

    def high(m: Array, index: Mask) -> Mask:
        return np.asarray(divergence_of(m, v.hi[index]).hi <= level.lo)

    return certified_root(guess, spread, low, high).clip(0.0, 1.0)


def _guess_mean(v: Array, level: Array) -> Array:
    """Approximate `divergence.lower_mean`: a table of the bound itself, then Newton's method."""
    level = np.broadcast_to(level, v.shape)
    if np.any(level != level[0]):
        return np.asarray(divergence.lower_mean(v, level))
    bound = divergence.upper_bound(_TABLE, level[0])
    q = -np.expm1(-v)
    m = np.clip(np.interp(v, bound, _TABLE), 1e-300, q * (1 - 1e-12))
    for _ in range(8):
        value = m * np.log(m / q) + (1 - m) * (np.log1p(-m) + v)
        slope = np.log(m / (1 - m)) - np.log(q) - v
        after = m - (value - level) / slope
        m = np.where((after > 0) & (after < q), after, np.where(after <= 0, m / 8, (m + q) / 2))
    return np.asarray(m)

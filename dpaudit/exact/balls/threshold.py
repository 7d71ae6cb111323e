"""Thresholds between two certified bounds: the register values that lose to a register value.

Arm scores are v(m), m = clip(scale x + shift), as in `bounds.py`. The other arm's values that
lose to x are everything below theta(x), a non-decreasing function. Where both scores are smooth,
theta' = (scale / scale') pace' / pace and the logarithmic derivative of pace' / pace in v is
swing - swing'. Plateaus: both at the bottom, or both endless, is a tie that has mass; which
arm wins it is given. A node whose side of a plateau's end is in doubt keeps the whole line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from dpaudit.exact.balls.bounds import Upper
from dpaudit.exact.balls.interval import Array, Interval, where
from dpaudit.exact.balls.roots import Mask, Order, Theta


class Comparison(Protocol):
    """Two scores: which values of the second's register lose to each value of the first's."""

    @property
    def always(self) -> bool | None:
        """Whether the first always wins (True), the second always does (False), or neither."""

    @property
    def flipped(self) -> Comparison:
        """The same comparison with the roles exchanged."""

    def centred(self, first: Interval, second: Interval) -> Comparison:
        """Return the comparison of registers that are counted from centres."""

    def threshold(self, x: Array | Interval, rough: bool = False) -> Theta:
        """Enclose the threshold on increasing values x of the first's register.

        Where `rough`, its derivatives are not asked for.
        """

    @property
    def marks(self) -> list[Interval]:
        """The first's values at which the threshold may jump or bend sharply."""


@dataclass(frozen=True)
class Placed:
    """A bound of the mean scale x + shift of a register x; scale is positive."""

    bound: Upper
    scale: Interval
    shift: Interval

    def mean(self, x: Interval) -> Interval:
        """Enclose the mean before clipping."""
        return self.scale * x + self.shift

    def register(self, m: Interval) -> Interval:
        """Enclose the register value of a mean."""
        return (m - self.shift).over(self.scale)

    def centred(self, centre: Interval) -> Placed:
        """Return the bound of a register that is counted from a centre."""
        return replace(self, shift=self.shift + self.scale * centre)

    @cached_property
    def endless(self) -> bool:
        """Is the score infinite whatever the register holds?"""
        return bool(self.bound.top.hi <= 0)


@dataclass(frozen=True)
class Rivals:
    """Two placed bounds, how the first's bottom and ceiling compare with the second's, and ties."""

    first: Placed
    second: Placed
    order: Order
    first_wins_ties: bool
    tops: Order = Order.EQUAL

    def centred(self, first: Interval, second: Interval) -> Rivals:
        return replace(self, first=self.first.centred(first), second=self.second.centred(second))

    @cached_property
    def flipped(self) -> Rivals:
        order, tops = Order(-self.order), Order(-self.tops)
        return Rivals(self.second, self.first, order, not self.first_wins_ties, tops)

    @property
    def always(self) -> bool | None:
        first, second = self.first, self.second
        if (
            first.endless
            and self.first_wins_ties
            or first.bound.bottom.lo > second.bound.ceiling.hi
        ):
            return True
        lost = second.endless and not self.first_wins_ties
        return False if lost or second.bound.bottom.lo > first.bound.ceiling.hi else None

    def threshold(self, x: Array | Interval, rough: bool = False) -> Theta:
        own, other = self.first, self.second
        at = x if isinstance(x, Interval) else Interval.of(x)
        m, shape = own.mean(at), at.lo.shape
        top = np.full(shape, True) if own.endless else m.lo >= own.bound.top.hi
        bottom = (m.hi <= 0) & ~top
        inner = (m.lo > 0) & (m.hi < own.bound.top.lo) & ~top
        low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
        roof, floor = self._roof, self._floor
        low[top], high[top] = roof.lo, roof.hi
        low[bottom], high[bottom] = floor.lo, floor.hi
        v, mean = _unknown(shape), _unknown(shape)
        if inner.any():
            found = own.bound.value(m[inner])
            v.lo[inner], v.hi[inner] = found.lo, found.hi
            level, met = _reached(other, found, self.order is not Order.BELOW)
            low[inner], high[inner] = level.lo, level.hi
            mean.lo[inner], mean.hi[inner] = met.lo, met.hi
        if rough:
            endless = np.full(low[1:].shape, np.inf)
            slope, bend = Interval(np.zeros_like(endless), endless), Interval(-endless, endless)
        else:
            slope, bend = self._derivatives(m, v, mean)
        same = (low[1:] == high[:-1]) & (low[:-1] == low[1:]) & (high[:-1] == high[1:])
        flat = (bottom[1:] & bottom[:-1]) | (top[1:] & top[:-1]) | same
        still = Interval.of(np.zeros(flat.shape))
        return Theta(Interval(low, high), where(flat, still, slope), where(flat, still, bend))

    def _derivatives(self, m: Interval, v: Interval, mean: Interval) -> tuple[Interval, Interval]:
        """Enclose theta' and theta'' on each cell; without ends where it may bend without limit."""
        own, other = self.first, self.second
        with np.errstate(all="ignore"):
            mine = Interval(m.lo[:-1], m.hi[1:])
            theirs = Interval(mean.lo[:-1], mean.hi[1:])
            score = Interval(v.lo[:-1], v.hi[1:])
            usable = np.isfinite(mine.lo + mine.hi + theirs.lo + theirs.hi + score.lo + score.hi)
            mine, theirs = _fill(mine, usable, 0.25), _fill(theirs, usable, 0.25)
            score = _fill(score, usable, 1.0)
            pace, swing, sound = own.bound.derivatives(mine, score)
            their_pace, their_swing, also = other.bound.derivatives(theirs, score)
            slope = their_pace.over(pace)
            bend = slope.over(pace) * (swing - their_swing)
            stretch = own.scale.over(other.scale)
            slope, bend = slope * stretch, bend * stretch * own.scale
            usable &= sound & also & (pace.lo > 0) & (score.lo > 0)
            usable &= np.isfinite(slope.lo + slope.hi + bend.lo + bend.hi)
        endless = Interval.of(np.inf)
        slope = where(usable, slope.clip(0.0, np.inf), Interval(np.float64(0.0), endless.hi))
        return slope, where(usable, bend, Interval(-endless.hi, endless.hi))

    @cached_property
    def _roof(self) -> Interval:
        """theta where the own score is at its ceiling."""
        if self.tops is Order.BELOW:
            return _crossing(self.second, self.first.bound.ceiling, self.order is not Order.BELOW)
        wins = self.tops is Order.ABOVE or self.first_wins_ties
        return Interval.of(np.inf) if wins else _last(self.second)

    @cached_property
    def _floor(self) -> Interval:
        """theta where the own mean is clipped at 0 and its score is finite."""
        if self.order is Order.ABOVE and not self.first.endless:
            return _crossing(self.second, self.first.bound.bottom)
        if self.order is Order.EQUAL and self.first_wins_ties:
            return self.second.register(Interval.of(np.float64(0.0)))
        return Interval.of(-np.inf)

    @cached_property
    def marks(self) -> list[Interval]:
        own, other = self.first, self.second
        if own.endless:
            return []
        ends = [own.register(mean) for mean in (Interval.of(np.float64(0.0)), own.bound.top)]
        crossings = []
        if self.order is Order.BELOW and not other.endless:
            crossings.append(_crossing(own, other.bound.bottom))
        if self.tops is Order.ABOVE and other.bound.ceiling.lo > own.bound.bottom.hi:
            crossings.append(_crossing(own, other.bound.ceiling))
        inner = [x for x in crossings if np.isfinite(x.lo) and np.isfinite(x.hi)]
        return [ends[0], *inner, ends[1]]


def _last(placed: Placed) -> Interval:
    """Return the register from which a score is at its ceiling."""
    return Interval.of(-np.inf) if placed.endless else placed.register(placed.bound.top)


def _reached(other: Placed, v: Interval, above: bool) -> tuple[Interval, Interval]:
    """Enclose the registers up to which a score is below v, and its mean there where it is inside.

    All v are above the score's bottom, as exact numbers, if `above` says so.
    """
    least, most = other.bound.bottom, other.bound.ceiling
    low, high = np.full(v.lo.shape, -np.inf), np.full(v.lo.shape, np.inf)
    mean = _unknown(v.lo.shape)
    with np.errstate(invalid="ignore"):
        inside, ended = (v.lo > least.hi) & (v.lo < most.lo), v.hi < most.lo
        # a value next to an infinite ceiling may have no upper end of its own
        high[ended | (v.lo < most.lo) & np.isinf(most.lo)] = _last(other).hi
        high[v.hi < least.lo], low[v.lo > most.hi] = -np.inf, np.inf
    if inside.any():
        ended = ended[inside]
        found = other.bound.inverse(
            Interval(v.lo[inside], np.where(ended, v.hi[inside], v.lo[inside]))
        )
        level = other.register(found)
        low[inside], high[inside] = level.lo, np.where(ended, level.hi, high[inside])
        mean.lo[inside], mean.hi[inside] = found.lo, np.where(ended, found.hi, np.nan)
    if above:
        # all that is clipped at the bottom loses
        low = np.maximum(low, other.register(Interval.of(np.float64(0.0))).lo)
    return Interval(low, high), mean


def _crossing(placed: Placed, v: Interval, above: bool = True) -> Interval:
    """Enclose the register at which a score is v."""
    return _reached(placed, Interval(np.array([v.lo]), np.array([v.hi])), above)[0][0]


def _unknown(shape: tuple[int, ...]) -> Interval:
    return Interval(np.full(shape, np.nan), np.full(shape, np.nan))


def _fill(x: Interval, usable: Mask, value: float) -> Interval:
    return Interval(np.where(usable, x.lo, value), np.where(usable, x.hi, value))

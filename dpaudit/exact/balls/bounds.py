"""Scores that are upper bounds of a clipped mean, certified: values, inverses, two derivatives.

A bound maps the mean m in [0, 1] to v = -log(1 - q) for some q >= m, increasing on [0, top) and
constant from `top` on, where it is `ceiling`: infinite but for scores of one's own. Known are

  mean       q = m (IMED's arm with more pulls)
  entropy    d(m, q) = level (KL-UCB; IMED's arm with fewer pulls)
  private    d_epsilon(m, q) = level, which is d(m, q) = level up to v = log(1 + e^epsilon m / (1 -
             m)) and T(m, q) = level beyond it, T = -epsilon m - log(1 - q + q e^-epsilon)
  stated     v = formula(m + low), as somebody wrote it down

`pace` is dm/dv and `swing` is -d log(pace)/dv along the bound, enclosed for all points of a box of
m and v. T <= d_epsilon <= d everywhere, so where the form is in doubt the two roots still enclose
the true one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import ball
from dpaudit.core.scores import Formula
from dpaudit.core.walk import FOREIGN, said
from dpaudit.errors import Unsupported
from dpaudit.exact.balls import roots
from dpaudit.exact.balls.interval import Array, Interval, down, outward, up, where
from dpaudit.exact.balls.jets import JETS, Jet
from dpaudit.exact.balls.weight import fall

Mask = NDArray[np.bool_]
ENDLESS = Interval(np.float64(np.inf), np.float64(np.inf))
_GRID, _DEEPEST = 512, 40  # cells on which a formula is shown to rise, and how often one is halved


class Upper(Protocol):
    """A certified upper bound of a mean, in the coordinate v."""

    @property
    def bottom(self) -> Interval:
        """The value at m = 0."""

    @property
    def top(self) -> Interval:
        """The mean from which the value is constant; not positive where it always is."""

    @property
    def ceiling(self) -> Interval:
        """The value from there on."""

    def value(self, m: Interval) -> Interval:
        """Enclose v for means certainly inside (0, top)."""

    def inverse(self, v: Interval) -> Interval:
        """Enclose the mean of a finite value certainly above the bottom."""

    def derivatives(self, m: Interval, v: Interval) -> tuple[Interval, Interval, Mask]:
        """Enclose pace and swing on boxes of m and v, and say where that is sound."""


@dataclass(frozen=True)
class Mean:
    """q = m."""

    bottom: Interval = Interval(np.float64(0.0), np.float64(0.0))
    top: Interval = Interval(np.float64(1.0), np.float64(1.0))
    ceiling: Interval = ENDLESS

    def value(self, m: Interval) -> Interval:
        """Return -log(1 - m)."""
        return -(1.0 - m).log()

    def inverse(self, v: Interval) -> Interval:
        """Return 1 - e^-v."""
        return (1.0 - (-v).exp()).clip(0.0, 1.0)

    def derivatives(self, m: Interval, v: Interval) -> tuple[Interval, Interval, Mask]:
        """The pace is 1 - m = e^-v, the swing 1."""
        pace = (-v).exp()
        return pace, Interval(np.ones_like(pace.lo), np.ones_like(pace.hi)), pace.lo > 0


@dataclass(frozen=True)
class Entropy:
    """The largest q with d(m, q) <= level, for a positive level."""

    level: Interval
    top: Interval = Interval(np.float64(1.0), np.float64(1.0))
    ceiling: Interval = ENDLESS

    @property
    def bottom(self) -> Interval:
        """d(0, q) = v."""
        return self.level

    def value(self, m: Interval) -> Interval:
        """Return the root in v."""
        return roots.upper_bound(m, self.level)

    def inverse(self, v: Interval) -> Interval:
        """Return the root in m."""
        return roots.lower_mean(v, self.level)

    def derivatives(self, m: Interval, v: Interval) -> tuple[Interval, Interval, Mask]:
        """With lambda = logit q - logit m the pace is (q - m) / (lambda q)."""
        rest = (-v).exp()
        q = (1.0 - rest).clip(0.0, 1.0)
        tilt, gap = v + q.log() - (m.log() - (1.0 - m).log()), q - m
        sound = (q.lo > 0) & (tilt.lo > 0) & (gap.lo > 0) & (m.lo > 0) & (m.hi < 1)
        pace = gap.over(tilt * q)
        swing = Interval.of(2.0).over(tilt * q)
        swing = swing - pace.over(tilt * m * (1.0 - m)) - (rest * m).over(q * gap)
        return pace, swing, np.asarray(sound)


def expm1(w: Interval) -> Interval:
    """Enclose e^w - 1 for w >= 0, tight also near zero."""
    return w.exp() * fall(w)


@dataclass(frozen=True)
class Private:
    """The largest q with d_epsilon(m, q) <= level, for positive levels certainly not at epsilon."""

    level: Interval
    epsilon: Interval
    ceiling: Interval = ENDLESS

    @cached_property
    def top(self) -> Interval:
        """d_epsilon(m, 1) = epsilon (1 - m)."""
        return 1.0 - self.level.over(self.epsilon)

    @cached_property
    def bottom(self) -> Interval:
        """At m = 0 the second form holds throughout."""
        if self.level.lo >= self.epsilon.hi:
            return Interval(np.float64(np.inf), np.float64(np.inf))
        return self._tilted(Interval.of(np.float64(0.0)))

    def _room(self, m: Interval) -> Interval:
        return self.epsilon * (1.0 - m) - self.level

    def _tilted(self, m: Interval) -> Interval:
        """T(m, q) = level for 1 - q = (e^room - 1) / (e^epsilon - 1)."""
        return expm1(self.epsilon).log() - expm1(self._room(m)).log()

    def _edge(self, m: Interval) -> Interval:
        """The v up to which d_epsilon(m, q) is d(m, q)."""
        odds, rest = (self.epsilon.exp() * m).clip(0.0, np.inf), 1.0 - m
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.maximum(down(odds.lo / rest.hi), 0.0)
            high = np.where(rest.lo > 0, up(odds.hi / rest.lo), np.inf)
        return (1.0 + Interval(low, high)).log()

    def value(self, m: Interval) -> Interval:
        """Return the root of the form that holds, or both where that is in doubt."""
        plain, tilted, edge = Entropy(self.level).value(m), self._tilted(m), self._edge(m)
        either = Interval(plain.lo, tilted.hi)
        return where(plain.hi <= edge.lo, plain, where(tilted.lo >= edge.hi, tilted, either))

    def inverse(self, v: Interval) -> Interval:
        """Return the root of the form that holds, or both where that is in doubt."""
        beta = (-self.epsilon).exp()
        rest = beta + (-v).exp() * (1.0 - beta)
        tilted = ((-self.level) - rest.log()).over(self.epsilon).clip(0.0, 1.0)
        clear = v.lo > self.level.hi
        safe = Interval(
            np.where(clear, v.lo, self.level.hi + 1.0), np.where(clear, v.hi, self.level.hi + 1.0)
        )
        root = Entropy(self.level).inverse(safe)
        plain = Interval(np.where(clear, root.lo, 0.0), np.where(clear, root.hi, 1.0))
        either = Interval(tilted.lo, np.maximum(plain.hi, tilted.lo))
        low = clear & (v.hi <= self._edge(plain).lo) & (plain.lo > 0)
        high = v.lo >= self._edge(tilted).hi
        return where(low, plain, where(high, tilted, either))

    def derivatives(self, m: Interval, v: Interval) -> tuple[Interval, Interval, Mask]:
        """Where T holds, pace = (1 - e^-room) / epsilon and swing = e^-room, by v alone."""
        edge = self._edge(m)
        first = v.lo <= edge.hi  # d_epsilon may be d somewhere in the box
        second = v.hi >= edge.lo
        pace, swing, sound = Entropy(self.level).derivatives(m, v)
        rise = expm1(self.epsilon) * (-v).exp()  # e^room - 1
        decay = Interval.of(1.0).over(1.0 + rise)
        return (
            _hull(pace, (rise * decay).over(self.epsilon), first, second),
            _hull(swing, decay, first, second),
            (sound | ~first) & ((rise.lo > 0) | ~second),
        )


def _hull(a: Interval, b: Interval, first: Mask, second: Mask) -> Interval:
    both = Interval(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi))
    return where(first & second, both, where(first, a, b))


class Written:
    """A formula on [low, high] that was shown to rise, by its derivative on every cell."""

    def __init__(self, score: Formula, certain: Formula) -> None:
        """Examine a score, given in doubles and with parameters that enclose the real ones."""
        self.score, self.certain = score, certain
        low, high = (ball(end) for end in (score.low, score.high))
        if not low < high:
            raise Unsupported(f"{type(score).__name__}: low={score.low} is not below high.")
        self.low, self.top = outward(low), outward(high - low)
        self.bottom, self.ceiling = (self._at(x) for x in (self.low, outward(high)))
        self._examine()

    def _jet(self, m: Interval) -> Jet:
        kind = type(self.score).__name__
        try:
            with np.errstate(all="ignore"):
                found = JETS.number(self.certain.formula(JETS.variable(m + self.low), JETS))
        except FOREIGN as error:
            raise Unsupported(f"{kind}: the formula has no intervals: {said(error)}.") from None
        shape = np.shape(m.lo)
        return Jet(
            *(
                Interval(np.broadcast_to(part.lo, shape), np.broadcast_to(part.hi, shape))
                for part in (found.value, found.first, found.second)
            )
        )

    def _at(self, x: Interval) -> Interval:
        value = self._jet(x - self.low).value
        if not (np.isfinite(value.lo) and np.isfinite(value.hi)):
            kind = type(self.score).__name__
            raise Unsupported(f"{kind}: intervals do not show that the formula is finite.")
        return value

    def _examine(self) -> None:
        """Raise `Unsupported` unless the formula rises everywhere and is what doubles show."""
        kind = type(self.score).__name__
        edges = np.linspace(0.0, float(self.top.hi), _GRID + 1)
        low, high = edges[:-1], edges[1:]
        shown = np.asarray(self.score.value(edges + float(self.low.lo)), dtype=float)
        found = self._jet(Interval.of(edges)).value
        with np.errstate(invalid="ignore"):
            gap = np.maximum(shown - found.hi, found.lo - shown)
        if not (gap <= 1e-9 * (1 + np.abs(shown))).all():
            raise Unsupported(f"{kind}: the formula is not the same in doubles and intervals.")
        for _ in range(_DEEPEST):
            doubt = ~(self._jet(Interval(low, high)).first.lo > 0)
            if not doubt.any():
                return
            low, high = low[doubt], high[doubt]
            middle = 0.5 * (low + high)
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
            if len(low) > 64 * _GRID:
                break
        raise Unsupported(f"{kind}: the formula does not certainly rise at {float(low[0]):.6g}.")

    def value(self, m: Interval) -> Interval:
        """Return the values at both ends: the formula rises."""
        low, high = self._jet(Interval.of(m.lo)).value, self._jet(Interval.of(m.hi)).value
        return Interval(low.lo, high.hi)

    def inverse(self, v: Interval) -> Interval:
        """Return the root in m: values at its ends are certainly on either side."""
        guess = np.asarray(self.score.inverse(0.5 * (v.lo + v.hi)))
        guess = np.clip(guess, self.score.low, self.score.high) - float(self.low.lo)
        slope = self._jet(Interval.of(guess)).first.lo
        slope = np.where(slope > 1e-9, slope, 1e-9)
        spread = 1e-14 * (1 + np.abs(guess)) + (2 * (v.hi - v.lo) + 1e-15 * np.abs(v.hi)) / slope

        def low(m: Array, index: Mask) -> Mask:
            return np.asarray((m <= 0) | (self._jet(Interval.of(m)).value.hi <= v.lo[index]))

        def high(m: Array, index: Mask) -> Mask:
            over = self._jet(Interval.of(m)).value.lo >= v.hi[index]
            return np.asarray((m >= self.top.hi) | over)

        found = roots.certified_root(guess, spread, low, high)
        return Interval(np.maximum(found.lo, 0.0), np.minimum(found.hi, self.top.hi))

    def derivatives(self, m: Interval, v: Interval) -> tuple[Interval, Interval, Mask]:
        """The pace is 1 / v'(m), the swing v'' / v'^2."""
        found = self._jet(m)
        pace = JETS.number(found.first).inverse().value
        swing = found.second * (pace * pace)
        sound = np.isfinite(pace.lo + pace.hi + swing.lo + swing.hi) & (pace.lo > 0)
        return pace, swing, np.asarray(sound)

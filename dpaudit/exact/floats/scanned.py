"""Log-likelihoods by one release's own sum, in doubles, and the steps that are tried on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Bounds
from dpaudit.exact.floats.line import Array, LogFunction
from dpaudit.exact.schedule import Kind

_SCAN = 8  # own sums tried per unit step
_LONG = 64  # rows from which fewer are tried
_FINER = 3


@dataclass(frozen=True, eq=False)
class Scanned:
    """A Laplace law moved over a weight: left and right of its centre two running integrals."""

    function: LogFunction
    kind: Kind

    @cached_property
    def _halves(self) -> tuple[LogFunction, LogFunction]:
        rate = float(self.kind.rate)
        return self.function.tilted(rate), self.function.tilted(-rate)

    def __call__(self, centres: Array) -> Array:
        """Return the log-likelihood for centres of the release."""
        rate = float(self.kind.rate)
        left, right = self._halves
        below = left.log_beyond(centres, upper=False) - rate * centres
        above = right.log_beyond(centres, upper=True) + rate * centres
        return np.asarray(np.logaddexp(below, above) + np.log(rate / 2))

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return the largest gain of the steps that are tried; the upper end is only measured."""
        divisor = float(self.kind.divisor)
        return steps(lambda sums: self(sums / divisor), self.kind.rows, rising, whole)


class Nothing:
    """The likelihood of a path that no noise takes: 0 for every own sum."""

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Return that nothing is lost."""
        return Bounds(0.0, 0.0, Fraction(0), Fraction(0), -math.inf)


def steps(
    phi: Callable[[Array], Array], rows: int, rising: bool, whole: bool, single: bool = False
) -> Bounds:
    """Return the largest gain among steps on a grid of own sums, improved around the best.

    With `single` the worst step is known to leave the sum that is farthest from the others', as it
    does where the log-likelihood is concave.
    """
    per = 1 if whole else max(1, min(_SCAN, _LONG // max(rows, 1)))
    size = 1 if single else rows
    sums = np.arange(size * per + 1) / per
    if not rising:
        sums = rows - sums
    values = phi(sums)
    if not np.isfinite(values).all():
        raise Unsupported("A likelihood is too small for doubles.")
    if whole:
        gains = values[per:] - values[:-per]
        start = int(np.argmax(gains))
        stop = start + per
    else:
        window = np.concatenate([values, np.full(per, -np.inf)])
        reach = np.lib.stride_tricks.sliding_window_view(window, per + 1)[: len(values)]
        start = int(np.argmax(reach.max(1) - values))
        stop = start + int(np.argmax(reach[start]))
    own, other = float(sums[start]), float(sums[stop])
    low, high = float(values[start]), float(values[stop])
    if not whole:
        own, other, low, high = _improved(phi, own, other, low, high, rows, 1 / per)
    gain = max(high - low, 0.0)
    return Bounds(gain, gain, Fraction(own), Fraction(other), high)


def _improved(
    phi: Callable[[Array], Array],
    own: float,
    other: float,
    low: float,
    high: float,
    rows: int,
    spacing: float,
) -> tuple[float, float, float, float]:
    """Move both ends of a step together, then its far end alone, on finer and finer grids."""
    for _ in range(_FINER):
        for both in (True, False):
            moves = np.linspace(-spacing, spacing, 9)
            starts = own + moves if both else np.full(9, own)
            stops = other + moves
            inside = (np.minimum(starts, stops) >= 0) & (np.maximum(starts, stops) <= rows)
            inside &= np.abs(stops - starts) <= 1
            inside &= (stops - own) * (other - own) >= 0
            if other == own or not inside.any():
                continue
            starts, stops = starts[inside], stops[inside]
            before = phi(starts) if both else np.full(len(starts), low)
            after = phi(stops)
            best = int(np.argmax(after - before))
            if after[best] - before[best] > high - low:
                own, other = float(starts[best]), float(stops[best])
                low, high = float(before[best]), float(after[best])
        spacing /= 8
    return own, other, low, high

"""Strictly rising functions of a register made of lines, as Taylor series in balls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise

from flint import arb, arb_series

from dpaudit.core.arithmetic import ball


class Rough(Exception):
    """A function is not known to be smooth on all of a ball."""


class Rise(ABC):
    """A strictly rising function of a register, with its inverse."""

    @cached_property
    def inverse(self) -> Rise:
        """Return the function back."""
        found = self._inverted()
        found.__dict__["inverse"] = self
        return found

    @abstractmethod
    def _inverted(self) -> Rise:
        """Build the function back."""

    @abstractmethod
    def series(self, x: arb_series) -> arb_series:
        """Return its Taylor series at that of x; raise `Rough` where it bends."""

    @abstractmethod
    def at(self, x: arb) -> arb:
        """Enclose its values on a ball."""

    @abstractmethod
    def line(self, x: arb) -> Slope:
        """Return the line that it is on all of a ball; raise `Rough` where it bends."""

    @cached_property
    def kinks(self) -> list[float]:
        """About where it bends: a hint for panels, no more."""
        return []


class Slope(Rise):
    """scale x + shift, for a positive rational scale."""

    def __init__(self, scale: Fraction, shift: arb) -> None:
        self.scale, self.shift, self._scale = scale, shift, ball(scale)

    def _inverted(self) -> Rise:
        return Slope(1 / self.scale, -self.shift / self._scale)

    def series(self, x: arb_series) -> arb_series:
        """Return scale x + shift."""
        found: arb_series = self._scale * x + self.shift
        return found

    def at(self, x: arb) -> arb:
        """Return scale x + shift."""
        found: arb = self._scale * x + self.shift
        return found

    def line(self, x: arb) -> Slope:
        """Return itself."""
        return self

    def ahead(self, other: Slope, x: arb) -> arb:
        """Return how far it is above another line on a ball."""
        found: arb = ball(self.scale - other.scale) * x + (self.shift - other.shift)
        return found


class Outermost(Rise):
    """The largest of some functions, or the smallest."""

    def __init__(self, parts: tuple[Rise, ...], largest: bool) -> None:
        self.parts, self.largest = parts, largest

    def _inverted(self) -> Rise:
        return Outermost(tuple(part.inverse for part in self.parts), not self.largest)

    def series(self, x: arb_series) -> arb_series:
        """Return the series of the one that is ahead on all of the ball."""
        return self.line(x[0]).series(x)

    def line(self, x: arb) -> Slope:
        """Return the one that is ahead on all of the ball."""
        best, *rest = (part.line(x) for part in self.parts)
        for found in rest:
            lead = found.ahead(best, x)
            if not (lead >= 0 or lead <= 0):
                raise Rough
            if (lead >= 0) == self.largest:
                best = found
        return best

    def at(self, x: arb) -> arb:
        """Enclose the outermost value."""
        best, *rest = (part.at(x) for part in self.parts)
        for found in rest:
            best = arb.max(best, found) if self.largest else arb.min(best, found)
        return best

    @cached_property
    def kinks(self) -> list[float]:
        """Kinks of the parts, and where they cross."""
        found = [x for part in self.parts for x in part.kinks]
        for one, two in combinations(self.parts, 2):
            found += crossings(one, two)
        return found


def outermost(parts: Iterable[Rise], largest: bool) -> Rise:
    """Return the largest of some functions, or the smallest; lines of equal slope become one."""
    lines: dict[Fraction, Rise] = {}
    others: list[Rise] = []
    for part in parts:
        same = isinstance(part, Outermost) and part.largest == largest
        for it in part.parts if isinstance(part, Outermost) and same else (part,):
            if not isinstance(it, Slope):
                others.append(it)
                continue
            old = lines.get(it.scale, it)
            assert isinstance(old, Slope)
            shift = (arb.max if largest else arb.min)(old.shift, it.shift)
            lines[it.scale] = it if old is it else Slope(it.scale, shift)
    found = (*lines.values(), *others)
    return found[0] if len(found) == 1 else Outermost(found, largest)


def after(first: Rise, second: Rise) -> Rise:
    """Return the second function of the first."""
    if isinstance(first, Outermost):
        return outermost((after(part, second) for part in first.parts), first.largest)
    if isinstance(second, Outermost):
        return outermost((after(first, part) for part in second.parts), second.largest)
    assert isinstance(first, Slope) and isinstance(second, Slope)
    return Slope(first.scale * second.scale, second.at(first.shift))


def crossings(one: Rise, two: Rise) -> list[float]:
    """Return about where two functions that are made of lines cross."""

    def apart(x: float) -> float:
        return float((one.at(arb(x)) - two.at(arb(x))).mid())

    # between their kinks both are lines, and so they are beyond all of them
    inner = sorted({0.0, *one.kinks, *two.kinks})
    points = [inner[0] - 1e4, *inner, inner[-1] + 1e4]
    found = []
    for low, high in pairwise(points):
        start, stop = apart(low), apart(high)
        if start * stop < 0:
            found.append(low + (high - low) * start / (start - stop))
    return found

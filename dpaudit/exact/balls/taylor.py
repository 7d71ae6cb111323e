"""Densities of one variable that are products of factors, and their masses, by Taylor sums.

A mass is a sum over panels of Taylor sums, the remainder enclosed by the coefficient on the whole
panel; panels are halved until it is small beside the mass, or no more than the noise of the balls,
and slivers around kinks are enclosed by the range of the density. All factors are positive, so a
mass is monotone: its values on a ball lie between those at the ends.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb, arb_series

from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.rises import Rise, Rough, crossings

ORDER = 12  # of Taylor series
RELATIVE = 1e-10  # a panel's remainder beside the mass
SLIVER = 1e-11  # beside the first panels: the width at which one is no longer halved
MOST_HALVINGS = 3_000


class Factor(ABC):
    """A positive function of one variable."""

    key: Hashable
    kinks: Sequence[float] = ()

    @abstractmethod
    def series(self, x: arb_series) -> arb_series:
        """Return the Taylor series at x; raise `Rough` where there is none."""

    @abstractmethod
    def at(self, x: arb) -> arb:
        """Enclose the values on a ball."""


class Peak(Factor):
    """The Laplace density around zero."""

    kinks = (0.0,)

    def __init__(self, rate: Fraction) -> None:
        self.rate, self.key = ball(rate), ("peak", rate)

    def series(self, x: arb_series) -> arb_series:
        """Return the exponential of the side that x is on."""
        if not (x[0] >= 0 or x[0] <= 0):
            raise Rough
        found: arb_series = (-self.rate * x if x[0] >= 0 else self.rate * x).exp() * self.rate / 2
        return found

    def at(self, x: arb) -> arb:
        """Enclose the density by the nearest and the farthest point."""
        far = abs(x)
        ends = [(-self.rate * end).exp() for end in (far.lower(), far.upper())]
        found: arb = ends[0].union(ends[1]) * self.rate / 2
        return found


class Growth(Factor):
    """e^(rate x)."""

    def __init__(self, rate: Fraction) -> None:
        self.rate, self.key = ball(rate), ("growth", rate)

    def series(self, x: arb_series) -> arb_series:
        """Return the exponential."""
        found: arb_series = (self.rate * x).exp()
        return found

    def at(self, x: arb) -> arb:
        """Return the exponential."""
        found: arb = (self.rate * x).exp()
        return found


class Beside(Factor):
    """The mass of another variable on one side of its edge: the side that the mass counts from."""

    def __init__(self, mass: TaylorMass, edge: Rise) -> None:
        self.mass, self.edge, self.key = mass, edge, ("beside", mass.number, id(edge))

    @cached_property
    def kinks(self) -> Sequence[float]:  # type: ignore[override]
        """Kinks of the edge, and what leads to those of the mass."""
        back = self.edge.inverse
        return [*self.edge.kinks, *(float(back.at(arb(x)).mid()) for x in self.mass.kinks)]

    def series(self, x: arb_series) -> arb_series:
        """Return the mass up to the edge's series."""
        found = self.mass.up_to(self.edge.series(x))
        return -found if self.mass.above else found

    def at(self, x: arb) -> arb:
        """Enclose the mass."""
        return self.mass.at(self.edge.at(x))


class Within(Factor):
    """The mass of another variable between two edges; 0 where they have crossed."""

    def __init__(self, mass: TaylorMass, low: Rise, high: Rise) -> None:
        self.mass, self.low, self.high = mass, low, high
        self.key = "within", mass.number, id(low), id(high)

    @cached_property
    def kinks(self) -> Sequence[float]:  # type: ignore[override]
        """Kinks at either end, and where the ends cross."""
        ends = (Beside(self.mass, it).kinks for it in (self.low, self.high))
        return [*(x for kinks in ends for x in kinks), *crossings(self.low, self.high)]

    def _between(self, low: arb, high: arb) -> arb:
        if high <= low:
            return arb(0)
        found = self.mass.at(high) - self.mass.at(low)
        return arb.max(-found if self.mass.above else found, arb(0))

    def series(self, x: arb_series) -> arb_series:
        """Return the difference of both ends.

        Of two lines of one slope that cannot be told apart, it is that or 0, on all of the ball.
        """
        low, high = self.low.line(x[0]), self.high.line(x[0])
        lead = high.ahead(low, x[0])
        if lead <= 0:
            return arb_series([0])
        if not lead > 0 and low.scale != high.scale:
            raise Rough
        found = self.mass.up_to(high.series(x)) - self.mass.up_to(low.series(x))
        if lead > 0:
            return found
        return arb_series([found[k].union(arb(0)) for k in range(ORDER + 1)])

    def at(self, x: arb) -> arb:
        """Enclose the difference."""
        return self._between(self.low.at(x), self.high.at(x))


@dataclass(frozen=True)
class Expansion:
    """A panel: the Taylor sum of the density's primitive around its middle, and its remainder."""

    start: float
    stop: float
    terms: tuple[arb, ...]
    rest: arb
    base: arb = arb(0)  # what the primitive is added to, or taken from

    def primitive(self, x: arb) -> arb:
        """Return the mass between the middle and x."""
        step, found = x - arb(0.5 * (self.start + self.stop)), self.rest
        for term in reversed(self.terms):
            found = found * step + term
        return found * step


class TaylorMass:
    """A product of factors as a density within the window, and its mass below or above a point."""

    def __init__(self, number: int, factors: Sequence[Factor], window: float, above: bool) -> None:
        self.number, self.factors, self.window, self.above = number, factors, window, above
        self.total, self.halvings = arb(0), 0
        self.panels: list[Expansion] = []
        self.kinks = _apart([x for factor in factors for x in factor.kinks], window)

    def measured(self, step: float) -> TaylorMass:
        """Lay the panels, from the side that the mass counts from."""
        self.step = step
        points = [-self.window]
        for low, high in pairwise([-self.window, *self.kinks, self.window]):
            edge = min(1e-13 * (1 + abs(low) + abs(high)), (high - low) / 8)
            parts = math.ceil((high - low) / step)
            inner = [low + (high - low) * k / parts for k in range(1, parts)]
            points += [low + edge, *inner, high - edge]
        cells = list(pairwise([*points, self.window]))
        for start, stop in reversed(cells) if self.above else cells:
            self._add(start, stop)
        if self.above:
            self.panels.reverse()
        self.starts = [panel.start for panel in self.panels]
        return self

    def density(self, x: arb_series) -> arb_series:
        """Return the Taylor series of the density."""
        found = self.factors[0].series(x)
        for factor in self.factors[1:]:
            found = found * factor.series(x)
        return found

    def _add(self, start: float, stop: float) -> None:
        """Add a panel, or its halves."""
        wide = arb(start).union(arb(stop))
        if stop - start <= SLIVER * self.step:
            self._lay(Expansion(start, stop, (), self.range(wide)))
            return
        middle = 0.5 * (start + stop)
        try:
            found = self._expanded(start, stop, wide, middle)
        except Rough:
            found = None
        if found is not None:
            self._lay(found)
            return
        self.halvings += 1
        if self.halvings > MOST_HALVINGS:
            raise Unsupported("A density has too many panels.")
        halves = [(start, middle), (middle, stop)]
        for half in reversed(halves) if self.above else halves:
            self._add(*half)

    def _expanded(self, start: float, stop: float, wide: arb, middle: float) -> Expansion | None:
        """Return a panel whose remainder is small beside the mass, or no more than its noise."""
        over = self.density(arb_series([wide, 1]))
        rest, width = over[ORDER] / (ORDER + 1), arb(stop) - arb(start)
        if not rest.is_finite():
            return None
        # a primitive spans half of the panel on either side of the middle
        error = (abs(rest) * width ** (ORDER + 1) * arb(2) ** -ORDER).upper()
        if not error <= RELATIVE * arb.max(self.total, abs(over[0]) * width).upper():
            return None
        around = self.density(arb_series([arb(middle), 1]))
        found = Expansion(start, stop, tuple(around[k] / (k + 1) for k in range(ORDER)), rest)
        plain = replace(found, rest=arb(0))
        mass = plain.primitive(arb(stop)) - plain.primitive(arb(start))
        small = error < RELATIVE * self.total.lower() or error < RELATIVE * mass.lower()
        return found if small or error <= mass.rad() else None

    def range(self, x: arb) -> arb:
        """Enclose the density on a ball."""
        found = arb(1)
        for factor in self.factors:
            found = found * factor.at(x)
        return found

    def _lay(self, panel: Expansion) -> None:
        low, high = panel.primitive(arb(panel.start)), panel.primitive(arb(panel.stop))
        base = self.total + high if self.above else self.total - low
        self.panels.append(replace(panel, base=base))
        self.total = self.total + high - low

    def _inside(self, x: arb) -> arb | None:
        """Return the mass at a ball inside one panel."""
        if x == (self.window if self.above else -self.window):
            return arb(0)
        index = bisect_right(self.starts, float(x.mid())) - 1
        for near in (index, index - 1, index + 1):
            if 0 <= near < len(self.panels):
                panel = self.panels[near]
                if x >= panel.start and x <= panel.stop:
                    part = panel.primitive(x)
                    found: arb = panel.base - part if self.above else panel.base + part
                    return found
        return None

    def at(self, x: arb) -> arb:
        """Enclose the mass on the counted side of a ball: it is monotone."""
        found = self._inside(x) if x.rad() < 1e-13 else None
        if found is not None:
            return found
        window = arb(self.window)
        ends = (arb.max(arb.min(end, window), -window) for end in (x.lower(), x.upper()))
        low, high = (self._inside(end) for end in ends)
        if low is None or high is None:
            raise Unsupported("A point lies on no panel.")
        return low.union(high)

    def up_to(self, x: arb_series) -> arb_series:
        """Return the series of the mass below x, up to a constant."""
        value = -self.at(x[0]) if self.above else self.at(x[0])
        if x[0] >= self.window or x[0] <= -self.window:
            return arb_series([value])
        if not (x[0] < self.window and x[0] > -self.window):
            raise Rough
        return (self.density(x) * x.derivative()).integral() + value


def _apart(points: Sequence[float], window: float) -> list[float]:
    """Return points in order, without those that hardly differ or lie outside."""
    found: list[float] = []
    for point in sorted(points):
        if abs(point) < window - 1e-9 and (not found or point - found[-1] > 1e-9):
            found.append(point)
    return found

"""Exponential moments of a piecewise exponential polynomial on either side of any point."""

from __future__ import annotations

from flint import arb

from dpaudit.exact.balls.piecewise import Piecewise, Point, definite, evaluate


class Moments:
    """The integrals of one function against exponential tails on either side of any point.

    With r = k u: below(x) is the integral over t < x of w(t) e^(r (t - x)), above(x) the one over
    t > x of w(t) e^(-r (t - x)). Integrals between breakpoints are computed once.
    """

    def __init__(self, function: Piecewise, k: int) -> None:
        self.function, self.k = function, k
        self._sums: dict[tuple[int, int], arb] = {}

    def _piece(self, index: int, by: int) -> arb:
        points = self.function.points
        low = points[index - 1] if index > 0 else None
        high = points[index] if index < len(points) else None
        return definite(self.function.pieces[index], by, self.function.unit, low, high)

    def _up_to(self, index: int, by: int) -> arb:
        """Return the integral left of point number `index`."""
        known = self._sums.get((index, by))
        if known is None:
            known = self._piece(index, by) + (self._up_to(index - 1, by) if index else arb(0))
            self._sums[index, by] = known
        return known

    def _from(self, index: int, by: int) -> arb:
        """Return the integral right of point number `index`."""
        known = self._sums.get((~index, by))
        if known is None:
            last = index + 1 == len(self.function.points)
            known = self._piece(index + 1, by) + (arb(0) if last else self._from(index + 1, by))
            self._sums[~index, by] = known
        return known

    def _sliver(self, index: int, here: Point, by: int) -> arb:
        """Return the integral from point number `index` to an overlapping point."""
        point = self.function.points[index]
        both = Point.at(point.x.union(here.x), self.function.unit)
        left, right = self.function.pieces[index], self.function.pieces[index + 1]
        value = evaluate(left, both).union(evaluate(right, both))
        return (here.x - point.x) * value * both.exp(by)

    def _left(self, here: Point, by: int) -> arb:
        points, pieces = self.function.points, self.function.pieces
        index, gap = self.function.place(here.x)
        if gap is not None:
            return self._up_to(index, by) + self._sliver(index, here, by)
        low = points[index - 1] if index else None
        inner = definite(pieces[index], by, self.function.unit, low, here)
        return inner + (self._up_to(index - 1, by) if index else arb(0))

    def _right(self, here: Point, by: int) -> arb:
        points, pieces = self.function.points, self.function.pieces
        index, gap = self.function.place(here.x)
        if gap is not None:
            return self._from(index, by) - self._sliver(index, here, by)
        high = points[index] if index < len(points) else None
        inner = definite(pieces[index], by, self.function.unit, here, high)
        return inner + (arb(0) if high is None else self._from(index, by))

    def at(self, x: arb) -> tuple[arb, arb]:
        """Return below(x) and above(x)."""
        here = Point.at(x, self.function.unit)
        below = self._left(here, self.k) * here.exp(-self.k)
        return below, self._right(here, -self.k) * here.exp(self.k)

    def masses(self, x: arb) -> tuple[arb, arb]:
        """Return the integrals left and right of x."""
        here = Point.at(x, self.function.unit)
        return self._left(here, 0), self._right(here, 0)

"""Piecewise exponential polynomials in balls: closed under all that affine scores and Laplace need.

A function is a list of certainly increasing breakpoints and, between them, sums of
c x^j exp(k u x) with a rational unit rate u, integers k and j, and ball coefficients c. Products,
shifts and antiderivatives stay in the class and round outward, so every number that comes out
encloses the real one; nothing is truncated.

The only comparison is the place of one function's breakpoints among another's. Where the balls of
two points overlap (they are equal, or nearer than the precision tells) one moves onto the other: a
positive function, continued past its breakpoint, changes by the ratio of its pieces there, so the
product carries the ball of that ratio.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import gcd, lcm, prod
from typing import Any

from flint import arb, arb_poly

from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Imprecise

ZERO, ONE = arb_poly([]), arb_poly([1])
Terms = dict[int, arb_poly]  # the polynomial beside exp(k u x), by k


def _multiply(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for (ka, pa), (kb, pb) in product(a.items(), b.items()):
        found[ka + kb] = found.get(ka + kb, ZERO) + pa * pb
    return found


def unit_of(rates: Iterable[Fraction]) -> Fraction:
    """Return the largest rate of which all rates are integer multiples."""
    given = [*rates]
    denominator = lcm(*(rate.denominator for rate in given))
    return Fraction(gcd(*(int(rate * denominator) for rate in given)), denominator)


@dataclass(frozen=True)
class Point:
    """A breakpoint and exp(u x) at it."""

    x: arb
    base: arb

    @staticmethod
    def at(x: arb, unit: Fraction) -> Point:
        """Return the point at `x`."""
        return Point(x, (ball(unit) * x).exp())


def evaluate(terms: Terms, point: Point) -> arb:
    """Return the value of one piece at a point."""
    return sum((p(point.x) * point.base**k for k, p in terms.items()), arb(0))


def _antiderivative(terms: Terms, unit: Fraction) -> Terms:
    """Return terms of which these are the derivative: p / a - p' / a^2 + p'' / a^3 - ... at a."""
    found: Terms = {}
    inverse = 1 / ball(unit)
    for k, p in terms.items():
        if k == 0:
            found[0] = p.integral()
            continue
        step = inverse / k
        found[k] = part = p * step
        for _ in range(p.degree()):
            part = part.derivative() * -step
            found[k] += part
    return found


def _met(
    a: Point, left: Sequence[Terms], b: Point, right: Sequence[Terms], unit: Fraction
) -> tuple[Point, arb]:
    """Return where two overlapping points meet, and what moving one of them changes at most."""
    for side, last in ((0, arb.max), (1, arb.min)):
        if not left[side] and not right[side]:
            return Point.at(last(a.x, b.x), unit), arb(1)
    here = Point.at(a.x.union(b.x), unit)
    for kept, (before, after) in ((a, right), (b, left)):
        ratio = evaluate(before, here) / evaluate(after, here)
        inverse = 1 / ratio
        if ratio.is_finite() and inverse.is_finite():
            return kept, ratio.union(inverse).union(arb(1))
    raise Imprecise("breakpoints are not separated at this precision.")


@dataclass(frozen=True)
class Piecewise:
    """A piecewise exponential polynomial on the real line."""

    unit: Fraction
    points: tuple[Point, ...]
    pieces: Sequence[Terms]

    @staticmethod
    def smooth(unit: Fraction, terms: Terms) -> Piecewise:
        """Return a function without breakpoints."""
        return Piecewise(unit, (), (terms,))

    @staticmethod
    def laplace(unit: Fraction, rate: Fraction, centre: arb) -> Piecewise:
        """Return the density of Laplace noise at a centre, its rate a multiple of the unit."""
        here, half, k = Point.at(centre, unit), ball(rate) / 2 * ONE, int(rate / unit)
        return Piecewise(unit, (here,), ({k: half * here.base**-k}, {-k: half * here.base**k}))

    def place(self, x: arb) -> tuple[int, arb | None]:
        """Return the index of the piece that holds x, or of the point it overlaps and how far."""
        middle = x.mid()
        index = bisect_left(self.points, middle, key=lambda point: point.x.mid())
        near = [k for k in range(max(index - 2, 0), index + 2) if self._meets(k, x)]
        if len(near) > 1:  # two pieces next to a point would not be all
            raise Imprecise("breakpoints are not separated at this precision.")
        if near:
            return near[0], (self.points[near[0]].x - x).abs_upper()
        return index, None

    def _meets(self, k: int, x: arb) -> bool:
        return k < len(self.points) and bool(self.points[k].x.overlaps(x))

    def product(self, other: Piecewise) -> Piecewise:
        """Return the product of two functions that are positive, or zero on one side of a point.

        Where a point of one overlaps one of the other's, it moves onto it: between the two the
        function is one of its neighbouring pieces, so the ball of their ratio covers the change.
        Of two functions that are zero on the same side the product is zero there up to the last.
        """
        if self.unit != other.unit:
            unit = unit_of([self.unit, other.unit])
            return self._in(unit).product(other._in(unit))
        points: list[Point] = []
        bends: list[arb] = []
        places = [(0, 0)]
        while True:
            i, j = places[-1]
            a = self.points[i] if i < len(self.points) else None
            b = other.points[j] if j < len(other.points) else None
            if a is None and b is None:
                break
            if b is None or (a is not None and a.x < b.x):
                points.append(a)  # type: ignore[arg-type]
                places.append((i + 1, j))
            elif a is None or b.x < a.x:
                points.append(b)
                places.append((i, j + 1))
            else:
                here, moved = _met(a, self.pieces[i : i + 2], b, other.pieces[j : j + 2], self.unit)
                bends.append(moved)
                points.append(here)
                places.append((i + 1, j + 1))
        if any(not one.x < two.x for one, two in pairwise(points)):
            raise Imprecise("breakpoints are not separated at this precision.")
        factors = other.pieces
        if bends:
            bend = prod(bends, start=arb(1))
            factors = [{k: p * bend for k, p in piece.items()} for piece in factors]
        pieces = tuple(_multiply(self.pieces[i], factors[j]) for i, j in places)
        return Piecewise(self.unit, tuple(points), pieces)

    def _in(self, unit: Fraction) -> Piecewise:
        """Return the same function in a unit of which the old one is a multiple."""
        times = int(self.unit / unit)
        points = tuple(Point.at(point.x, unit) for point in self.points)
        pieces = ({k * times: p for k, p in piece.items()} for piece in self.pieces)
        return Piecewise(unit, points, tuple(pieces))

    def parted(self, x: arb) -> tuple[Piecewise, Piecewise]:
        """Return the parts left and right of a point that is no breakpoint, zero beyond it."""
        index, gap = self.place(x)
        if gap is not None:
            raise Imprecise("a function is parted at a breakpoint.")
        here = Point.at(x, self.unit)
        left = Piecewise(self.unit, (*self.points[:index], here), (*self.pieces[: index + 1], {}))
        return left, Piecewise(self.unit, (here, *self.points[index:]), ({}, *self.pieces[index:]))

    def decays(self, right: bool) -> bool:
        """Tell whether the function goes to zero on one side fast enough to have an integral."""
        rates = self.pieces[-1 if right else 0]
        return all(k < 0 for k in rates) if right else all(k > 0 for k in rates)

    def integral(self) -> arb:
        """Return the integral over the real line (the tails must decay)."""
        if not self.decays(right=True):
            raise Unsupported("A function that does not decay has no integral.")
        # what is left of the last mass beyond all points is its constant
        return self.running(right=False).pieces[-1].get(0, ZERO)[0]

    def running(self, right: bool) -> Piecewise:
        """Return x -> the integral of this function left (or right) of x, where it decays."""
        if not self.decays(right):
            raise Unsupported("A function that does not decay has no integral.")
        return Piecewise(self.unit, self.points, Running(self, right))

    def along(self, slope: Fraction, shift: arb) -> Piecewise:
        """Return y -> this function at slope y + shift, for a positive slope."""
        by, unit, times = Point.at(shift, self.unit).base, self.unit * slope, ball(slope)
        line = arb_poly([shift, times])
        points = (Point.at((point.x - shift) / times, unit) for point in self.points)
        pieces = ({k: p(line) * by**k for k, p in piece.items()} for piece in self.pieces)
        return Piecewise(unit, tuple(points), tuple(pieces))

    def tilted(self, by: int) -> Piecewise:
        """Return this function times exp(by u x)."""
        pieces = ({k + by: p for k, p in piece.items()} for piece in self.pieces)
        return Piecewise(self.unit, self.points, tuple(pieces))

    def __call__(self, x: Any) -> arb:
        """Return the value at `x`."""
        index, gap = self.place(ball(x))
        here = Point.at(ball(x), self.unit)
        value = evaluate(self.pieces[index], here)
        return value if gap is None else value.union(evaluate(self.pieces[index + 1], here))


class Running(Sequence[Terms]):
    """The pieces of a running mass, computed when they are looked at: own sums look at some."""

    def __init__(self, function: Piecewise, right: bool) -> None:
        self.function, self.right = function, right
        self._known: dict[int, Terms] = {}

    def __len__(self) -> int:
        return len(self.function.pieces)

    def __getitem__(self, at: Any) -> Any:
        """Return a piece, or a slice of them."""
        found = range(len(self))[at]
        return self._piece(found) if isinstance(found, int) else [*map(self._piece, found)]

    def _piece(self, i: int) -> Terms:
        """Return a piece; it begins with what the one before it ends with."""
        if i not in self._known:
            function, before = self.function, i + 1 if self.right else i - 1
            piece = _antiderivative(function.pieces[i], function.unit)
            if self.right:
                piece = {k: -p for k, p in piece.items()}
            if 0 <= before < len(self):
                at = function.points[min(i, before)]
                piece[0] = piece.get(0, ZERO) + (evaluate(self[before], at) - evaluate(piece, at))
            self._known[i] = piece
        return self._known[i]

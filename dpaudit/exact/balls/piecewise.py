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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm, prod
from typing import Any

from flint import arb, fmpq

from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Imprecise

Terms = dict[int, list[arb]]


def _multiply(a: Terms, b: Terms) -> Terms:
    found: Terms = {}
    for ka, pa in a.items():
        for kb, pb in b.items():
            k = ka + kb
            into = found.get(k)
            length = len(pa) + len(pb) - 1
            if into is None:
                into = found[k] = [arb(0)] * length
            elif len(into) < length:
                into.extend([arb(0)] * (length - len(into)))
            for i, x in enumerate(pa):
                for j, y in enumerate(pb):
                    into[i + j] += x * y
    return found


class Unit:
    """The unit rate u: its ball and the balls of 1 / (k u) at the precision it was made for."""

    def __init__(self, value: Fraction) -> None:
        self.value, self.ball = value, ball(value)
        self._inverses: dict[int, arb] = {}

    @staticmethod
    def common(rates: Sequence[Fraction]) -> Unit:
        """Return the largest rate of which all rates are integer multiples."""
        denominator = lcm(*(rate.denominator for rate in rates))
        return Unit(Fraction(gcd(*(int(rate * denominator) for rate in rates)), denominator))

    def inverse(self, k: int) -> arb:
        """Return 1 / (k u)."""
        known = self._inverses.get(k)
        if known is None:
            rational = 1 / (self.value * k)
            known = arb(fmpq(rational.numerator, rational.denominator))
            self._inverses[k] = known
        return known


@dataclass(frozen=True)
class Point:
    """A breakpoint and exp(u x) at it, with the powers met so far."""

    x: arb
    powers: dict[int, arb]

    @staticmethod
    def at(x: arb, unit: Unit) -> Point:
        """Return the point at `x`."""
        return Point(x, {0: arb(1), 1: (unit.ball * x).exp()})

    def exp(self, k: int) -> arb:
        """Return exp(k u x)."""
        power = self.powers.get(k)
        if power is None:
            power = self.powers[k] = self.powers[1] ** k
        return power


def evaluate(terms: Terms, point: Point) -> arb:
    """Return the value of one piece at a point."""
    total = arb(0)
    for k, coefficients in terms.items():
        value = coefficients[-1]
        for j in range(len(coefficients) - 2, -1, -1):
            value = value * point.x + coefficients[j]
        total += value * point.exp(k)
    return total


def _primitive(coefficients: list[arb], step: arb) -> list[arb]:
    """Return q with (q e^(a x))' = p e^(a x) for step = 1 / a, from the top power down."""
    if len(coefficients) == 1:
        return [coefficients[0] * step]
    result = [arb(0)] * len(coefficients)
    carry = arb(0)
    for j in range(len(coefficients) - 1, -1, -1):
        carry = (coefficients[j] - (j + 1) * carry) * step
        result[j] = carry
    return result


def _antiderivative(terms: Terms, unit: Unit) -> Terms:
    found: Terms = {}
    for k, coefficients in terms.items():
        if k == 0:
            found[0] = [arb(0), *(c / (j + 1) for j, c in enumerate(coefficients))]
        else:
            found[k] = _primitive(coefficients, unit.inverse(k))
    return found


def _shift(terms: Terms, point: Point) -> Terms:
    """Return x -> terms(x + point.x)."""
    found: Terms = {}
    for k, coefficients in terms.items():
        factor = point.exp(k)
        result = [c * factor for c in coefficients]
        for start in range(len(result) - 1):
            for j in range(len(result) - 2, start - 1, -1):
                result[j] += result[j + 1] * point.x
        found[k] = result
    return found


def _add_constant(terms: Terms, constant: arb) -> Terms:
    found = dict(terms)
    old = found.get(0)
    found[0] = [constant] if old is None else [old[0] + constant, *old[1:]]
    return found


def _met(
    a: Point, left: Sequence[Terms], b: Point, right: Sequence[Terms], unit: Unit
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

    unit: Unit
    points: tuple[Point, ...]
    pieces: Sequence[Terms]

    @staticmethod
    def one(unit: Unit) -> Piecewise:
        """Return the constant 1."""
        return Piecewise.smooth(unit, {0: [arb(1)]})

    @staticmethod
    def smooth(unit: Unit, terms: Terms) -> Piecewise:
        """Return a function without breakpoints."""
        return Piecewise(unit, (), (terms,))

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
        if self.unit is not other.unit and self.unit.value != other.unit.value:
            unit = Unit.common([self.unit.value, other.unit.value])
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
            factors = [{k: [c * bend for c in cs] for k, cs in piece.items()} for piece in factors]
        pieces = tuple(_multiply(self.pieces[i], factors[j]) for i, j in places)
        return Piecewise(self.unit, tuple(points), pieces)

    def _in(self, unit: Unit) -> Piecewise:
        """Return the same function in a unit of which the old one is a multiple."""
        times = int(self.unit.value / unit.value)
        points = tuple(Point.at(point.x, unit) for point in self.points)
        pieces = ({k * times: terms for k, terms in piece.items()} for piece in self.pieces)
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
        return self.running(right=False).pieces[-1].get(0, [arb(0)])[0]

    def running(self, right: bool) -> Piecewise:
        """Return x -> the integral of this function left (or right) of x, where it decays."""
        if not self.decays(right):
            raise Unsupported("A function that does not decay has no integral.")
        return Piecewise(self.unit, self.points, RunningPieces(self, right))

    def along(self, slope: Fraction, shift: arb) -> Piecewise:
        """Return y -> this function at slope y + shift, for a positive slope."""
        by, unit = Point.at(shift, self.unit), self.unit
        points = [point.x - shift for point in self.points]
        pieces = [_shift(piece, by) for piece in self.pieces]
        if slope != 1:
            unit, times = Unit(unit.value * slope), ball(slope)
            points = [x / times for x in points]
            pieces = [
                {k: [c * times**j for j, c in enumerate(terms)] for k, terms in piece.items()}
                for piece in pieces
            ]
        return Piecewise(unit, tuple(Point.at(x, unit) for x in points), tuple(pieces))

    def tilted(self, by: int) -> Piecewise:
        """Return this function times exp(by u x)."""
        pieces = ({k + by: terms for k, terms in piece.items()} for piece in self.pieces)
        return Piecewise(self.unit, self.points, tuple(pieces))

    def __call__(self, x: Any) -> arb:
        """Return the value at `x`."""
        index, gap = self.place(ball(x))
        here = Point.at(ball(x), self.unit)
        value = evaluate(self.pieces[index], here)
        return value if gap is None else value.union(evaluate(self.pieces[index + 1], here))


@dataclass(frozen=True)
class RunningPieces(Sequence[Terms]):
    """The pieces of a running mass, computed when they are looked at: own sums look at some."""

    function: Piecewise
    right: bool
    known: dict[int, Terms] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.function.pieces)

    def __getitem__(self, at: Any) -> Any:
        """Return a piece, or a slice of them."""
        found = range(len(self))[at]
        return self._piece(found) if isinstance(found, int) else [*map(self._piece, found)]

    def _piece(self, i: int) -> Terms:
        if i not in self.known:
            primitive = _antiderivative(self.function.pieces[i], self.function.unit)
            if self.right:
                primitive = {k: [-c for c in terms] for k, terms in primitive.items()}
            start, before = (i, i + 1) if self.right else (i - 1, i - 1)
            if 0 <= start < len(self.function.points):
                point = self.function.points[start]
                constant = evaluate(self._piece(before), point) - evaluate(primitive, point)
                primitive = _add_constant(primitive, constant)
            self.known[i] = primitive
        return self.known[i]


class LaplaceLaw:
    """A Laplace law of rational rate k u and ball centre as functions of one kink."""

    def __init__(self, rate: Fraction, centre: arb, unit: Unit) -> None:
        self.rate, self.centre, self.unit = rate, centre, unit
        self.k = int(rate / unit.value)

    def _kink(
        self, shift: arb, left: Callable[[arb], Terms], right: Callable[[arb], Terms]
    ) -> Piecewise:
        here = Point.at(self.centre - shift, self.unit)
        pieces = left(here.exp(-self.k)), right(here.exp(self.k))
        return Piecewise(self.unit, (here,), pieces)

    def density(self) -> Piecewise:
        """Return x -> f(x)."""
        half = ball(self.rate) / 2
        return self._kink(arb(0), lambda e: {self.k: [half * e]}, lambda e: {-self.k: [half * e]})

    def below(self, shift: arb) -> Piecewise:
        """Return x -> P(value < x + shift)."""
        return self._kink(
            shift, lambda e: {self.k: [e / 2]}, lambda e: {0: [arb(1)], -self.k: [-e / 2]}
        )

    def above(self, shift: arb) -> Piecewise:
        """Return x -> P(value > x + shift)."""
        return self._kink(
            shift, lambda e: {0: [arb(1)], self.k: [-e / 2]}, lambda e: {-self.k: [e / 2]}
        )

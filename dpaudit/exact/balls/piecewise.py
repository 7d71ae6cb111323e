"""Piecewise exponential polynomials in balls: closed under all that affine scores and Laplace need.

A function is a list of certainly increasing breakpoints and, between them, sums of
c x^j exp(k u x) with a rational unit rate u, integers k and j, and ball coefficients c. Products,
shifts and antiderivatives stay in the class and round outward, so every number that comes out
encloses the real one; nothing is truncated.

The only comparison is the place of a Laplace kink among the breakpoints. Where the balls of two
points overlap (they are equal, or nearer than the precision tells) the kink moves onto the
breakpoint. A Laplace density or tail of rate r, continued past its kink by delta, changes by a
factor within exp(+-2 r delta) as long as r delta <= 1/10, so the factor carries that ball.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from dpaudit.core.arithmetic import ball
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
        for c in reversed(coefficients[:-1]):
            value = value * point.x + c
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


def definite(terms: Terms, by: int, unit: Unit, low: Point | None, high: Point | None) -> arb:
    """Return the integral of terms(x) exp(by u x) from low to high; None is infinity."""
    total = arb(0)
    for k, coefficients in terms.items():
        rate = k + by
        if rate == 0:
            primitive = [arb(0), *(c / (j + 1) for j, c in enumerate(coefficients))]
        elif (low is None and rate < 0) or (high is None and rate > 0):
            raise ArithmeticError("the integral of a function that does not decay")
        else:
            primitive = _primitive(coefficients, unit.inverse(rate))
        if rate == 0 and (low is None or high is None):
            raise ArithmeticError("the integral of a function that does not decay")
        if len(primitive) == 1:
            if low is None:
                total += primitive[0] * high.exp(rate)  # type: ignore[union-attr]
            elif high is None:
                total -= primitive[0] * low.exp(rate)
            else:
                total += primitive[0] * (high.exp(rate) - low.exp(rate))
            continue
        for sign, point in ((1, high), (-1, low)):
            if point is not None:
                value = primitive[-1]
                for c in reversed(primitive[:-1]):
                    value = value * point.x + c
                total += sign * (value * point.exp(rate))
    return total


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


@dataclass(frozen=True)
class Kink:
    """A factor with one kink: terms to the left and to the right of `x`, log-Lipschitz `rate`."""

    x: arb
    left: Terms
    right: Terms
    rate: Fraction


class LaplaceLaw:
    """A Laplace law of rational rate k u and ball centre as factors of a message."""

    def __init__(self, rate: Fraction, centre: arb, unit: Unit) -> None:
        self.rate, self.centre, self.unit = rate, centre, unit
        self.k = int(rate / unit.value)

    def _kink(
        self, shift: arb, left: Callable[[arb], Terms], right: Callable[[arb], Terms]
    ) -> Kink:
        x = self.centre - shift
        exponent = (ball(self.rate) * x).exp()
        return Kink(x, left(1 / exponent), right(exponent), self.rate)

    def density(self, shift: arb) -> Kink:
        """Return x -> f(x + shift)."""
        half = ball(self.rate) / 2
        return self._kink(shift, lambda e: {self.k: [half * e]}, lambda e: {-self.k: [half * e]})

    def below(self, shift: arb) -> Kink:
        """Return x -> P(value < x + shift)."""
        return self._kink(
            shift, lambda e: {self.k: [e / 2]}, lambda e: {0: [arb(1)], -self.k: [-e / 2]}
        )

    def above(self, shift: arb) -> Kink:
        """Return x -> P(value > x + shift)."""
        return self._kink(
            shift, lambda e: {0: [arb(1)], self.k: [-e / 2]}, lambda e: {-self.k: [e / 2]}
        )


@dataclass(frozen=True)
class Piecewise:
    """A piecewise exponential polynomial on the real line."""

    unit: Unit
    points: tuple[Point, ...]
    pieces: tuple[Terms, ...]

    @staticmethod
    def one(unit: Unit) -> Piecewise:
        """Return the constant 1."""
        return Piecewise(unit, (), ({0: [arb(1)]},))

    def place(self, x: arb) -> tuple[int, arb | None]:
        """Return the index of the piece that holds x, or of the point it overlaps and how far."""
        middle = x.mid()
        index = bisect_left(self.points, middle, key=lambda point: point.x.mid())
        for near in (index - 1, index):
            if 0 <= near < len(self.points) and self.points[near].x.overlaps(x):
                return near, (self.points[near].x - x).abs_upper()
        below = index == 0 or self.points[index - 1].x < x
        above = index == len(self.points) or x < self.points[index].x
        if not (below and above):
            raise Imprecise("breakpoints are not separated at this precision.")
        return index, None

    def times(self, kink: Kink) -> Piecewise:
        """Return the product with a factor of one kink."""
        index, gap = self.place(kink.x)
        left, right = kink.left, kink.right
        if gap is not None:
            reach = ball(kink.rate) * gap
            if not reach < ball(Fraction(1, 10)):
                raise Imprecise("a kink's ball is too wide.")
            bend = arb(0, 2 * reach.upper()).exp()
            left = {k: [c * bend for c in terms] for k, terms in left.items()}
            right = {k: [c * bend for c in terms] for k, terms in right.items()}
            pieces = tuple(
                _multiply(piece, left if i <= index else right)
                for i, piece in enumerate(self.pieces)
            )
            return Piecewise(self.unit, self.points, pieces)
        here = Point.at(kink.x, self.unit)
        points = (*self.points[:index], here, *self.points[index:])
        pieces = tuple(_multiply(piece, left) for piece in self.pieces[: index + 1]) + tuple(
            _multiply(piece, right) for piece in self.pieces[index:]
        )
        return Piecewise(self.unit, points, pieces)

    def product(self, other: Piecewise) -> Piecewise:
        """Return the product of two positive functions.

        Where a point of `other` overlaps one of this function's, it moves onto it: between the two
        `other` is one of its neighbouring pieces, so the ball of their ratio covers the change.
        """
        points: list[Point] = []
        pieces: list[Terms] = []
        bend: arb | None = None
        i = j = 0
        while True:
            pieces.append(_multiply(self.pieces[i], other.pieces[j]))
            a = self.points[i] if i < len(self.points) else None
            b = other.points[j] if j < len(other.points) else None
            if a is None and b is None:
                break
            if b is None or (a is not None and a.x < b.x):
                points.append(a)  # type: ignore[arg-type]
                i += 1
            elif a is None or b.x < a.x:
                points.append(b)
                j += 1
            else:
                here = Point.at(a.x.union(b.x), self.unit)
                ratio = evaluate(other.pieces[j], here) / evaluate(other.pieces[j + 1], here)
                inverse = 1 / ratio
                if not (ratio.is_finite() and inverse.is_finite()):
                    raise Imprecise("breakpoints are not separated at this precision.")
                either = ratio.union(inverse).union(arb(1))
                bend = either if bend is None else bend * either
                points.append(a)
                i, j = i + 1, j + 1
        if bend is not None:
            pieces = [{k: [c * bend for c in cs] for k, cs in piece.items()} for piece in pieces]
        return Piecewise(self.unit, tuple(points), tuple(pieces))

    def _cumulative(self) -> tuple[list[Terms], list[arb], arb]:
        """Antiderivatives of the pieces, their values at each point (left, right), the total."""
        primitives = [_antiderivative(piece, self.unit) for piece in self.pieces]
        masses = []
        for i, primitive in enumerate(primitives):
            high = evaluate(primitive, self.points[i]) if i < len(self.points) else arb(0)
            low = evaluate(primitive, self.points[i - 1]) if i > 0 else arb(0)
            masses.append(high - low)
        return primitives, masses, sum(masses, arb(0))

    def integral(self) -> arb:
        """Return the integral over the real line (the tails must decay)."""
        self._require_decay()
        return self._cumulative()[2]

    def _require_decay(self) -> None:
        if any(k <= 0 for k in self.pieces[0]) or any(k >= 0 for k in self.pieces[-1]):
            raise ArithmeticError("the integral of a function that does not decay")

    def mass_below(self, shift: arb) -> Piecewise:
        """Return y -> integral of this function over (-inf, y + shift)."""
        self._require_decay()
        primitives, masses, _ = self._cumulative()
        pieces, before = [], arb(0)
        for i, primitive in enumerate(primitives):
            if i:
                primitive = _add_constant(
                    primitive, before - evaluate(primitive, self.points[i - 1])
                )
            pieces.append(primitive)
            before += masses[i]
        return self._moved(pieces, shift)

    def mass_above(self, shift: arb) -> Piecewise:
        """Return y -> integral of this function over (y + shift, inf)."""
        self._require_decay()
        primitives, masses, _ = self._cumulative()
        pieces: list[Terms] = []
        after = arb(0)
        for i in range(len(primitives) - 1, -1, -1):
            negative = {k: [-c for c in terms] for k, terms in primitives[i].items()}
            if i < len(self.points):
                negative = _add_constant(negative, after + evaluate(primitives[i], self.points[i]))
            pieces.append(negative)
            after += masses[i]
        return self._moved(pieces[::-1], shift)

    def _moved(self, pieces: list[Terms], shift: arb) -> Piecewise:
        unit = self.unit
        by = Point.at(shift, unit)
        points = tuple(Point.at(point.x - shift, unit) for point in self.points)
        return Piecewise(self.unit, points, tuple(_shift(piece, by) for piece in pieces))

    def __call__(self, x: Any) -> arb:
        """Return the value at `x`."""
        index, gap = self.place(ball(x))
        here = Point.at(ball(x), self.unit)
        value = evaluate(self.pieces[index], here)
        return value if gap is None else value.union(evaluate(self.pieces[index + 1], here))

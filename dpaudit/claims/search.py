"""Counterexamples: found in floating point, shortened, and confirmed in ball arithmetic.

Nothing is reported unless the ball of the gap at an exact point of the domain lies on the wrong
side of zero and every constraint certainly holds there.
"""

from __future__ import annotations

import itertools
import math
import random
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from dpaudit.claims.balls import evaluate
from dpaudit.claims.domain import Domain, Expression
from dpaudit.claims.identity import sample
from dpaudit.errors import DpauditError

Point = dict[Expression, Fraction]


@dataclass(frozen=True)
class Counterexample:
    """An exact point where the claim certainly fails, with both sides in short decimals."""

    point: dict[str, str]
    left: str
    right: str

    def describe(self) -> str:
        """Return `x = 1/2: left 3 > right 2` in words."""
        where = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        return f"{where or 'always'}: left side {self.left}, right side {self.right}"


def confirm(
    left: Expression, right: Expression, relation: str, domain: Domain, point: Point
) -> Counterexample | None:
    """Return the counterexample when ball arithmetic confirms it at the exact `point`."""
    if not _inside(domain, point):
        return None
    try:
        gap = evaluate(right - left, dict(point))
        sides = [evaluate(part, dict(point)) for part in (left, right)]
    except DpauditError:
        return None
    wrong = gap < 0 if relation == "<=" else gap <= 0 if relation == "<" else (gap > 0 or gap < 0)
    if not wrong:
        return None
    shown = [_decimal(side, 8) for side in sides]
    if shown[0] == shown[1]:
        shown = [_decimal(side, 25) for side in sides]
    names = {str(s): _exactly(v) for s, v in point.items()}
    return Counterexample(names, shown[0], shown[1])


def inhabitant(domain: Domain, hints: Sequence[Point] = ()) -> Point | None:
    """Return an exact point that is certainly in the domain, or None when none was found."""
    source = random.Random(7)
    ends = [[end for end in (side.low, side.high) if end.is_finite] for side in domain.box.values()]
    corners = itertools.islice(itertools.product(*ends), 64)
    tries = itertools.chain(
        hints,
        (sample(domain, source) for _ in range(300)),
        (dict(zip(domain.box, corner, strict=True)) for corner in corners),
    )
    for point in tries:
        exact = {s: Fraction(int(v.numerator), int(v.denominator)) for s, v in point.items()}
        if set(exact) == set(domain.box) and _inside(domain, exact):
            return exact
    return None


def _inside(domain: Domain, point: Point) -> bool:
    if not all(side.contains(sympy.Rational(point[s])) for s, side in domain.box.items()):
        return False
    try:
        return all(evaluate(g, dict(point)) >= 0 for g in domain.constraints)
    except DpauditError:
        return False


def _exactly(value: Fraction) -> str:
    """Return a fraction, or its decimals where they end and the fraction is long."""
    if value.denominator > 10**6:
        shown = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(shown) == value:
            return str(shown)
    return str(value)


def _decimal(value: Any, digits: int) -> str:
    if not value.is_finite():
        return "?"
    return str(sympy.Float(value.mid().str(digits + 12, radius=False), digits))


def search(
    left: Expression,
    right: Expression,
    relation: str,
    domain: Domain,
    hints: Sequence[Point] = (),
) -> Counterexample | None:
    """Look for a counterexample: hints first, then random points, then descent from the worst."""
    for hint in hints:
        found = confirm(left, right, relation, domain, {s: hint[s] for s in domain.box})
        if found is not None:
            return found
    symbols = list(domain.box)
    if not symbols:
        return confirm(left, right, relation, domain, {})
    gap = right - left
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        starts = _starts(gap if relation != "==" else -sympy.Abs(gap), domain, symbols)
    for start in starts:
        found = _shorten(left, right, relation, domain, dict(zip(symbols, start, strict=True)))
        if found is not None:
            return found
    return None


class _Score:
    """A gap in doubles at points of a domain, one by one or many at once; inf where there is none.

    It only says where to look: what is found is confirmed in balls.
    """

    def __init__(self, gap: Expression, domain: Domain, symbols: list[Expression]) -> None:
        modules = ["scipy", "numpy"]
        self.value = sympy.lambdify(symbols, gap, modules)
        self.walls = [sympy.lambdify(symbols, g, modules) for g in domain.constraints]

    def at(self, point: Sequence[float]) -> float:
        """Return the gap at one point."""
        try:
            if any(not wall(*point) >= 0 for wall in self.walls):
                return math.inf
            result = float(np.real(self.value(*point)))
        except (ArithmeticError, ValueError, TypeError):
            return math.inf
        return result if math.isfinite(result) else math.inf

    def along(self, points: list[list[float]]) -> NDArray[np.float64]:
        """Return the gaps at many points."""
        columns = list(np.array(points).T)
        try:
            found = np.real(self.value(*columns)) + np.zeros(len(points))
            inside = [wall(*columns) >= 0 for wall in self.walls]
        except (ArithmeticError, ValueError, TypeError):  # a formula that takes numbers alone
            return np.array([self.at(point) for point in points])
        kept = np.logical_and.reduce([np.isfinite(found), *inside])
        return np.where(kept, found, math.inf)


def _place(low: float, high: float, share: float) -> float:
    """Return a point of an interval, which may have no ends, by its share."""
    if math.isfinite(high - low):
        return low + (high - low) * share
    stretch = share / (1 - share)
    if math.isfinite(low):
        return low + stretch
    if math.isfinite(high):
        return high - stretch
    return math.log(stretch) * 4


def _starts(gap: Expression, domain: Domain, symbols: list[Expression]) -> list[list[float]]:
    from scipy.optimize import minimize

    score, rng = _Score(gap, domain, symbols), np.random.default_rng(5)
    sides = [(float(domain.box[s].low), float(domain.box[s].high)) for s in symbols]
    shares = rng.beta(0.5, 0.5, size=(1500, len(symbols))).clip(1e-9, 1 - 1e-9).tolist()

    def placed(row: Iterable[float]) -> list[float]:
        return [_place(*side, share) for side, share in zip(sides, row, strict=True)]

    def within(row: Iterable[float]) -> list[float]:
        return [min(max(float(share), 1e-12), 1 - 1e-12) for share in row]

    values = score.along(list(map(placed, shares)))
    first = [(values[i], shares[i]) for i in np.argsort(values, kind="stable")[:3]]
    results = [row for value, row in first if value < 0]
    for value, row in first:
        if math.isfinite(value):
            descent = minimize(
                lambda share: score.at(placed(within(share))),
                row,
                method="Nelder-Mead",
                options={"maxiter": 300},
            )
            results.append(within(descent.x))
    return [placed(row) for row in results]


def _shorten(
    left: Expression, right: Expression, relation: str, domain: Domain, start: dict[Any, float]
) -> Counterexample | None:
    """Round to the fewest digits that still refute, then each coordinate as far as it will go."""
    digits = (1, 2, 3, 4, 6, 9, 12)
    for count in digits:
        point = {s: _rounded(value, count) for s, value in start.items()}
        found = confirm(left, right, relation, domain, point)
        if found is None:
            continue
        for symbol, value in start.items():
            for fewer in digits[: digits.index(count)]:
                shorter = {**point, symbol: _rounded(value, fewer)}
                better = confirm(left, right, relation, domain, shorter)
                if better is not None:
                    point, found = shorter, better
                    break
        return found
    return None


def _rounded(value: float, digits: int) -> Fraction:
    return Fraction(f"{value:.{digits - 1}e}")

"""Piecewise-linear inequalities (Abs, Max, Min of linear forms), proved cell by cell.

Every choice of sign or of the attaining argument turns the gap into a linear form on a polyhedron.
It is non-negative there exactly when it is a non-negative combination of the polyhedron's
constraints (Farkas). A floating-point solver proposes the multipliers; they are rounded to
rationals and the identity is checked exactly, so the solver need not be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy

from dpaudit.claims.domain import Domain, Expression
from dpaudit.claims.goal import Goal, Proof

_KINKS = (sympy.Abs, sympy.Max, sympy.Min)


@dataclass(frozen=True)
class PiecewiseLinear:
    """Prove a piecewise-linear gap >= 0 on a polyhedral domain."""

    def prove(self, goal: Goal) -> Proof | None:
        """Return a proof when every cell has an exact certificate."""
        if goal.strict:
            return None
        walls = _walls(goal.domain)
        cells = 0
        for gap, conditions in _cells(goal.gap):
            cells += 1
            if not _certified(gap, walls + conditions, list(goal.domain.box)):
                return None
        return Proof(f"linear on each of {cells} cells, each with an exact Farkas certificate")


def _walls(domain: Domain) -> list[Expression]:
    walls = list(domain.constraints)
    for symbol, side in domain.box.items():
        if side.low != -sympy.oo:
            walls.append(symbol - side.low)
        if side.high != sympy.oo:
            walls.append(side.high - symbol)
    return walls


def _cells(gap: Expression) -> Iterator[tuple[Expression, list[Expression]]]:
    kinks = [part for part in sympy.preorder_traversal(gap) if part.func in _KINKS]
    inner = [k for k in kinks if not any(c.has(*_KINKS) for c in k.args)]
    if not inner:
        yield sympy.expand(gap), []
        return
    kink = inner[0]
    for value, conditions in _choices(kink):
        for form, more in _cells(gap.subs(kink, value)):
            yield form, conditions + more


def _choices(kink: Expression) -> Iterator[tuple[Expression, list[Expression]]]:
    if kink.func is sympy.Abs:
        inside = kink.args[0]
        yield inside, [inside]
        yield -inside, [-inside]
        return
    way = 1 if kink.func is sympy.Max else -1
    for chosen in kink.args:
        yield chosen, [way * (chosen - other) for other in kink.args if other != chosen]


def _coefficients(form: Expression, symbols: list[Expression]) -> list[Fraction] | None:
    if not symbols or not form.is_polynomial(*symbols):
        return None
    polynomial = sympy.Poly(form, *symbols)
    if polynomial.total_degree() > 1:
        return None
    units = [tuple(int(i == j) for j in range(len(symbols))) for i in range(len(symbols))]
    values = [
        polynomial.coeff_monomial(sympy.Mul(*[s**d for s, d in zip(symbols, u, strict=True)]))
        for u in units
    ]
    values.append(polynomial.coeff_monomial(1))
    if not all(v.is_Rational for v in values):
        return None
    return [Fraction(int(v.p), int(v.q)) for v in values]


def _certified(gap: Expression, walls: list[Expression], symbols: list[Expression]) -> bool:
    """True when gap = sum of non-negative multiples of walls + a non-negative constant.

    Walls that are not linear are left out, which only makes the proof harder.
    """
    import numpy as np
    from scipy.optimize import linprog

    target = _coefficients(gap, symbols)
    rows = [_coefficients(wall, symbols) for wall in walls]
    if target is None:
        return False
    exact = [row for row in rows if row is not None]
    if all(t == 0 for t in target[:-1]) and target[-1] >= 0:
        return True
    if not exact:
        return False
    matrix = np.array([[float(v) for v in row] for row in exact]).T
    solution = linprog(
        matrix[-1],
        A_eq=matrix[:-1],
        b_eq=[float(t) for t in target[:-1]],
        bounds=(0, None),
        method="highs",
    )
    if solution.x is None:
        return False
    weights = [Fraction(float(w)).limit_denominator(1000) for w in solution.x]
    combined = [
        sum((w * row[i] for w, row in zip(weights, exact, strict=True)), Fraction(0))
        for i in range(len(target))
    ]
    same = combined[:-1] == target[:-1]
    return same and all(w >= 0 for w in weights) and target[-1] >= combined[-1]

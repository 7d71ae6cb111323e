"""A semi-infinite linear programme, solved by cutting planes between two certificates.

    minimise    sum_b cost_b alpha_b                               over alpha >= 0
    subject to  sum_b alpha_b phi_k(<v_b, z>) >= 1                 for every k and every z with
                                                                   <direction_k, z> = level_k

with phi_k(u) = weight_k * Huber(u) (u^2/2 up to |u| = knee, then linear; knee may be infinite).
Each z is one linear cut. The master is a linear programme; the oracle, convex in z, finds the most
violated z. Two certificates, whatever the accuracy of either solver:

- below: multipliers y >= 0 on the cuts found, rescaled so that sum_k y_k phi_k(<v_b, z_k>) <=
  cost_b for every b; then every feasible alpha costs at least sum y;
- above: any alpha divided by the smallest constraint value is feasible, constraints being
  homogeneous in alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Constraint:
    """All z with <direction, z> = level must be told apart at a rate of at least 1."""

    direction: Array
    level: float
    weight: float
    knee: float

    def rate(self, u: Array) -> Array:
        """Return phi(u)."""
        size = np.abs(u)
        inside = np.minimum(size, self.knee)
        return np.asarray(self.weight * (0.5 * inside**2 + self._tail(size)))

    def _tail(self, size: Array) -> Array:
        if np.isinf(self.knee):
            return np.zeros_like(size)
        return np.asarray(self.knee * np.maximum(size - self.knee, 0.0))

    def hardest(self, vectors: Array, alpha: Array) -> Array:
        """Return the z that the weights alpha tell apart least: Newton steps on a convex function.

        The curvature is regularised, so directions that no weighted arm sees are left alone.
        """
        norm = float(self.direction @ self.direction)
        z = self.direction * (self.level / norm)
        free = complement(self.direction[None, :])
        if free.shape[1] == 0:
            return z
        rows = vectors @ free
        ridge = 1e-12 * self.weight * float(alpha @ (rows**2).sum(axis=1)) + 1e-300

        def value(point: Array) -> float:
            return float(alpha @ self.rate(vectors @ point))

        current = value(z)
        for _ in range(100):
            u = vectors @ z
            slope = rows.T @ (alpha * np.clip(u, -self.knee, self.knee)) * self.weight
            curved = alpha * self.weight * (np.abs(u) <= self.knee)
            hessian = (rows.T * curved) @ rows + ridge * np.eye(rows.shape[1])
            step = free @ np.linalg.solve(hessian, slope)
            share = 1.0
            while share > 1e-12 and value(z - share * step) >= current:
                share *= 0.5
            if share <= 1e-12:
                break
            z = z - share * step
            before, current = current, value(z)
            if before - current <= 1e-15 * (1 + current):
                break
        return z


@dataclass(frozen=True)
class Certificate:
    """lower <= optimum <= upper, the allocation behind the upper, the alternatives behind lower."""

    lower: float
    upper: float
    alpha: tuple[float, ...]
    alternatives: tuple[tuple[float, ...], ...]
    multipliers: tuple[float, ...]

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.upper - self.lower


def complement(rows: Array) -> Array:
    """Return an orthonormal basis (columns) of the vectors orthogonal to every row."""
    _, singular, basis = np.linalg.svd(rows, full_matrices=True)
    rank = int((singular > 1e-12 * max(1.0, float(singular.max(initial=0.0)))).sum())
    return np.asarray(basis[rank:].T)


def bound_below(costs: Array, rates: Array) -> tuple[float, Array]:
    """Return a certified value of the relaxation with the given cuts, and its multipliers.

    The dual: maximise sum y subject to rates^T y <= costs. Rows and columns are scaled for the
    solver; the multipliers are then shrunk until every constraint holds as computed.
    """
    shares = rates / costs
    sizes = shares.max(axis=1)
    worth = 1.0 / sizes
    found = _programme(-worth / worth.max(), (shares / sizes[:, None]).T, np.ones(shares.shape[1]))
    y = np.maximum(found, 0.0) / sizes
    y = y / max(1.0, float((shares.T @ y).max()))
    return float(y.sum()), y


def _programme(objective: Array, matrix: Array, limits: Array) -> Array:
    """Minimise over x >= 0 with matrix x <= limits."""
    from scipy.optimize import linprog

    found = linprog(objective, A_ub=matrix, b_ub=limits, bounds=(0, None), method="highs")
    if found.status != 0:
        raise Unsupported(f"The linear programme was not solved: {found.message}")
    return np.asarray(found.x)


def solve(
    costs: Array,
    vectors: Array,
    constraints: Sequence[Constraint],
    tolerance: float = 1e-6,
    rounds: int = 400,
) -> Certificate:
    """Return both certificates; stops at a relative gap of `tolerance` or after `rounds`."""
    if not constraints:
        return Certificate(0.0, 0.0, (0.0,) * len(costs), (), ())
    size = float(np.abs(vectors).max())
    search = _Search(
        costs, vectors / size, [replace(c, direction=c.direction / size) for c in constraints]
    )
    for _ in range(rounds):
        lower = search.tighten()
        if search.upper - lower <= tolerance * search.upper:
            break
    lower, multipliers = bound_below(costs, np.array(search.rates))
    kept = [i for i, y in enumerate(multipliers) if y > 0]
    return Certificate(
        lower,
        max(search.upper, lower),
        tuple(search.best.tolist()),
        tuple(tuple((search.cuts[i] / size).tolist()) for i in kept),
        tuple(float(multipliers[i]) for i in kept),
    )


class _Search:
    """The cuts found so far and the best feasible allocation."""

    def __init__(self, costs: Array, vectors: Array, constraints: Sequence[Constraint]) -> None:
        self.costs, self.vectors, self.constraints = costs, vectors, constraints
        self.cuts: list[Array] = []
        self.rates: list[Array] = []
        self.best, self.upper = np.zeros_like(costs), np.inf
        self._visit(1.0 / costs, least=np.inf)

    def _visit(self, alpha: Array, least: float) -> None:
        """Cut where alpha tells alternatives apart at a rate below `least`; keep a better alpha."""
        worst = np.inf
        for constraint in self.constraints:
            z = constraint.hardest(self.vectors, alpha)
            rate = constraint.rate(self.vectors @ z)
            value = float(alpha @ rate)
            worst = min(worst, value)
            if value < least:
                self.cuts.append(z)
                self.rates.append(rate)
        price = float(self.costs @ alpha) / worst if worst > 0 else np.inf
        if price < self.upper:
            self.best, self.upper = alpha / worst, price

    def tighten(self) -> float:
        """Solve the master, cut at its corner and half-way to the best point; return the bound."""
        matrix = np.array(self.rates) / self.costs
        lower, _ = bound_below(self.costs, np.array(self.rates))
        sizes = matrix.max(axis=1)
        middle = float(np.median(sizes))
        shares = _programme(np.ones(len(self.costs)), -(matrix / sizes[:, None]), -middle / sizes)
        corner = shares / middle / self.costs
        self._visit(corner, least=1 - 1e-12)
        if np.isfinite(self.upper):
            self._visit(0.5 * (corner + self.best), least=1 - 1e-12)
        return lower

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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    def hardest(self, vectors: Array, alpha: Array, start: Array | None = None) -> Array:
        """Return the z that the weights alpha tell apart least: Newton steps on a convex function.

        The curvature is regularised, so directions that no weighted arm sees are left alone.
        """
        norm = float(self.direction @ self.direction)
        z = self.direction * (self.level / norm)
        free = complement(self.direction[None, :])
        if free.shape[1] == 0:
            return z
        if start is not None:
            z = z + free @ (free.T @ start)
        rows = vectors @ free
        ridge = 1e-12 * (1.0 + float(alpha @ (rows**2).sum(axis=1)))

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
    """Return a certified value of the relaxation with the given cuts, and its multipliers."""
    from scipy.optimize import linprog

    # dual: maximise sum y subject to rates^T y <= costs; columns scaled to comparable size
    scale = rates.max(axis=1)
    found = linprog(
        -1.0 / scale, A_ub=(rates / scale[:, None]).T, b_ub=costs, bounds=(0, None), method="highs"
    )
    y = np.maximum(found.x, 0.0) / scale
    used = rates.T @ y
    y = y / max(1.0, float(np.max(used / costs)))
    return float(y.sum()), y


def solve(
    costs: Array,
    vectors: Array,
    constraints: Sequence[Constraint],
    tolerance: float = 1e-6,
    rounds: int = 400,
) -> Certificate:
    """Return both certificates; stops at a relative gap of `tolerance` or after `rounds` cuts."""
    from scipy.optimize import linprog

    if not constraints:
        return Certificate(0.0, 0.0, (0.0,) * len(costs), (), ())
    cuts = [
        (k, constraint.hardest(vectors, costs * 0 + 1)) for k, constraint in enumerate(constraints)
    ]
    rates = [constraints[k].rate(vectors @ z) for k, z in cuts]
    best, upper = np.zeros_like(costs), np.inf
    for _ in range(rounds):
        matrix = np.array(rates)
        lower, multipliers = bound_below(costs, matrix)
        master = linprog(costs, A_ub=-matrix, b_ub=-np.ones(len(matrix)), method="highs")
        # a point between the master's corner and the best feasible one cuts deeper
        for mix in (0.0, 0.5):
            alpha = master.x if np.isinf(upper) else (1 - mix) * master.x + mix * best
            hardest = [c.hardest(vectors, alpha) for c in constraints]
            values = [
                float(alpha @ c.rate(vectors @ z))
                for c, z in zip(constraints, hardest, strict=True)
            ]
            least = min(values)
            if least > 0 and float(costs @ alpha) / least < upper:
                best, upper = alpha / least, float(costs @ alpha) / least
            for k, (z, value) in enumerate(zip(hardest, values, strict=True)):
                if value < 1 - 1e-12:
                    cuts.append((k, z))
                    rates.append(constraints[k].rate(vectors @ z))
        if upper - lower <= tolerance * upper:
            break
    lower, multipliers = bound_below(costs, np.array(rates))
    kept = [i for i, y in enumerate(multipliers) if y > 0]
    return Certificate(
        lower,
        max(upper, lower),
        tuple(best.tolist()),
        tuple(tuple(cuts[i][1].tolist()) for i in kept),
        tuple(multipliers[i] for i in kept),
    )

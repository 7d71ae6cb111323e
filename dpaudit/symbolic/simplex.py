"""The linear programme behind a charge: min sum w_j |s_j| subject to B s = a, in fractions.

The constraints come row-reduced (`reduce`), so that the pivots alone are a feasible solution and
the
simplex method starts there; Bland's rule ends it. Whatever it returns satisfies B s = a exactly,
which is all that soundness needs: a solution that were not optimal would only be a larger charge.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Weights = dict[int, Any]
STEPS = 200


def minimise(
    system: Mapping[int, tuple[Weights, Any]], prices: Mapping[int, Fraction]
) -> dict[int, Fraction]:
    """Return s with B s = a of small cost; `system` maps a pivot to its row (pivot 1) and a."""
    pivots = list(system)
    free = sorted({name for draws, _ in system.values() for name in draws} - set(pivots))
    if not free or not any(right for _, right in system.values()):
        return {pivot: Fraction(right) for pivot, (_, right) in system.items() if right}
    # variables: (name, +1) and (name, -1), both of price w; basis: the pivots, with right sides
    # >= 0
    names = [(name, sign) for name in (*pivots, *free) for sign in (1, -1)]
    table: list[list[Fraction]] = []
    basis: list[int] = []
    for row, pivot in enumerate(pivots):
        draws, right = system[pivot]
        flip = -1 if right < 0 else 1
        line = [Fraction(draws.get(name, 0) * sign * flip) for name, sign in names]
        table.append([*line, Fraction(right * flip)])
        basis.append(2 * row + (0 if flip == 1 else 1))
    costs = [prices[name] for name, _ in names]
    for _ in range(STEPS):
        entering = next(
            (k for k in range(len(names)) if _reduced(table, basis, costs, k) < 0), None
        )
        if entering is None:
            break
        ratios = [
            (line[-1] / line[entering], basis[row], row)
            for row, line in enumerate(table)
            if line[entering] > 0
        ]
        if not ratios:
            break  # cannot be: costs are nonnegative
        _, _, leaving = min(ratios)
        _pivot(table, leaving, entering)
        basis[leaving] = entering
    found: dict[int, Fraction] = {}
    for row, variable in enumerate(basis):
        name, sign = names[variable]
        found[name] = found.get(name, Fraction(0)) + sign * table[row][-1]
    return {name: value for name, value in found.items() if value}


def _reduced(table: list[list[Fraction]], basis: list[int], costs: list[Fraction], k: int) -> Any:
    if k in basis:
        return 0
    return costs[k] - sum(costs[basis[row]] * line[k] for row, line in enumerate(table) if line[k])


def _pivot(table: list[list[Fraction]], leaving: int, entering: int) -> None:
    factor = 1 / table[leaving][entering]
    table[leaving] = [value * factor for value in table[leaving]]
    chosen = table[leaving]
    for row, line in enumerate(table):
        if row != leaving and line[entering]:
            times = line[entering]
            table[row] = [a - times * b for a, b in zip(line, chosen, strict=True)]

"""The ledger of a path: which draws hide which rewards, and what that has cost so far.

The path depended on forms A r + B z. `constraints` keeps B s = A e_i row-reduced over the draws
that
are still alive; `spent` is what each live column has been charged for the draws that are not. A
draw
that the constraints determine is published: every column pays |s| / scale for it, and values that
contain it are known up to their rows. A draw that no live value contains is settled: each column's
shift is fixed by a linear programme (any feasible shift is sound) and paid. Equal columns are
one, and equal draws of a law are the one with the largest scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.symbolic.run import NOWHERE, CodeLine, Coin, Column, DrawLaw, Form
from dpaudit.symbolic.simplex import minimise
from dpaudit.symbolic.weights import Weights, combined, scaled

INFINITE = float("inf")
Row = tuple[Weights, Weights]  # draws, columns


def hiding(*laws: DrawLaw) -> str:
    """Return what noise without a scale hides, in words."""
    if any(law.kind in ("logistic", "gumbel") for law in laws):
        return "is not among those whose loss is known here"
    return "hides nothing under pure epsilon"


@dataclass(frozen=True)
class Failure:
    """A charge that is too large, or infinite: of which round, at which line, and why."""

    round: int
    charge: float
    place: CodeLine
    why: str
    parts: tuple[tuple[CodeLine, float], ...] = ()

    def __str__(self) -> str:
        size = "without bound" if self.charge == INFINITE else f"{self.charge:.6g}"
        return f"{self.place}: the reward of round {self.round + 1} is charged {size}: {self.why}"


@dataclass
class Fixed:
    """What one settling did, for a certificate: shifts per column and the substituted draws."""

    shifts: dict[int, dict[int, Fraction]] = field(default_factory=dict)
    known: dict[int, Weights] = field(default_factory=dict)
    twins: dict[int, int] = field(default_factory=dict)


@dataclass
class Ledger:
    """Constraints, and what has been spent."""

    laws: dict[int, DrawLaw] = field(default_factory=dict)
    columns: dict[int, Column] = field(default_factory=dict)
    constraints: dict[int, Row] = field(default_factory=dict)
    spent: dict[int, Fraction] = field(default_factory=dict)
    base: dict[int, Fraction] = field(default_factory=dict)
    parts: dict[int, dict[CodeLine, Fraction]] = field(default_factory=dict)
    worst: Fraction = Fraction(0)

    def copy(self) -> Ledger:
        """Return a ledger of its own."""
        return Ledger(
            dict(self.laws),
            dict(self.columns),
            dict(self.constraints),
            dict(self.spent),
            dict(self.base),
            {name: dict(parts) for name, parts in self.parts.items()},
            self.worst,
        )

    def require(self, form: Form) -> Failure | None:
        """Add a form that the path depends on; return why no shift hides some row, if so."""
        draws = {n: w for n, w in form.draws.items() if self.laws[n].scale is not None}
        rows = form.rows
        for pivot in [name for name in draws if name in self.constraints]:
            factor = draws.get(pivot, 0)
            known, right = self.constraints[pivot]
            draws, rows = combined(draws, known, -factor), combined(rows, right, -factor)
        if not draws:
            return self._bare(form, rows) if rows else None
        pivot = min(draws)
        inverse = Fraction(1) / draws[pivot]
        new = scaled(draws, inverse), scaled(rows, inverse)
        for name, (known, right) in self.constraints.items():
            if factor := known.get(pivot, 0):
                self.constraints[name] = (
                    combined(known, new[0], -factor),
                    combined(right, new[1], -factor),
                )
        self.constraints[pivot] = new
        return None

    def _bare(self, form: Form, rows: Weights) -> Failure:
        """Say why a form hides a row behind no noise."""
        row = min(rows)
        laws = [self.laws[name] for name in form.draws]
        if not laws and form.beside:
            why = "noise decides with it, but is not added to it as it is: the reward or the noise "
            why += "goes through a product, a power or another function that is not followed"
        elif not laws:
            why = "it decides here without any noise"
        elif all(law.scale is None for law in laws):
            kinds = ", ".join(sorted({law.kind for law in laws}))
            lines = ", ".join(sorted({str(law.place) for law in laws}))
            why = f"its noise ({kinds}, {lines}) {hiding(*laws)}"
        else:
            lines = ", ".join(sorted({str(law.place) for law in laws}))
            why = f"its noise (drawn at {lines}) is also in values that are known: it cancels"
        return Failure(self.columns[row].round, INFINITE, form.place, why)

    def without(self, gone: set[int]) -> None:
        """Take draws out that have a twin."""
        if not gone:
            return
        rows, self.constraints = self.constraints, {}
        for draws, right in rows.values():
            left = {name: weight for name, weight in draws.items() if name not in gone}
            if self.require(Form(right, left, NOWHERE)) is not None:
                raise RuntimeError("a twin hid what the other did not: a bug in dpaudit")

    def pay(self, column: int, place: CodeLine, cost: Fraction) -> None:
        """Charge a column, for what was drawn or tossed at a place."""
        spent = self.spent.get(column)
        self.spent[column] = cost if spent is None else spent + cost
        parts = self.parts.setdefault(column, {})
        parts[place] = parts[place] + cost if place in parts else cost

    def toss(self, coin: Coin) -> Failure | None:
        """Charge a row for a coin."""
        if coin.charge == INFINITE:
            why = "a coin shows it: the probability of an outcome can be 0"
            return Failure(self.columns[coin.row].round, INFINITE, coin.place, why)
        self.pay(coin.row, coin.place, Fraction(coin.charge))
        return None

    def publish(self, fixed: Fixed) -> None:
        """Pay for every draw that the constraints determine, and take it out of them."""
        for pivot in list(self.constraints):
            draws, rows = self.constraints[pivot]
            if len(draws) == 1:
                last, cost = None, Fraction(0)
                for column, shift in rows.items():
                    if shift is not last:
                        last, cost = shift, abs(shift) / self.scale(pivot)
                    self.pay(column, self.laws[pivot].place, cost)
                    fixed.shifts.setdefault(column, {})[pivot] = Fraction(shift)
                fixed.known[pivot] = rows
                del self.constraints[pivot]

    def system(
        self, column: int, more: Sequence[Row] = ()
    ) -> dict[int, tuple[Weights, Any]] | None:
        """Return the constraints on a column's shift, row-reduced; None if `more` contradict."""
        own = Ledger(self.laws, self.columns, dict(self.constraints))
        for draws, rows in more:
            if own.require(Form({column: rows[column]} if column in rows else {}, draws, NOWHERE)):
                return None
        return {p: (draws, rows.get(column, 0)) for p, (draws, rows) in own.constraints.items()}

    def shift(self, column: int, live: Sequence[Row]) -> dict[int, Fraction]:
        """Return a cheap shift for a column; one that hides it in live values too, if there is."""
        system = self.system(column, live) if live else None
        if system is None:
            system = self.system(column)
        assert system is not None
        prices = {n: 1 / self.scale(n) for draws, _ in system.values() for n in draws}
        return minimise(system, prices)

    def scale(self, draw: int) -> Fraction:
        """Return the scale of a draw that can be shifted."""
        scale = self.laws[draw].scale
        assert scale is not None
        return scale

    def settle(self, live: set[int], values: Sequence[Row], fixed: Fixed) -> None:
        """Fix the shifts of draws that no live value contains, and take them out."""
        used = {name for draws, _ in self.constraints.values() for name in draws}
        dead = used - live
        if not dead:
            return
        columns = {name for _, rows in self.constraints.values() for name in rows}
        noisy = [row for row in values if any(self.laws[n].scale is not None for n in row[0])]
        rows = {pivot: (draws, dict(right)) for pivot, (draws, right) in self.constraints.items()}
        for column in columns:
            shifts = self.shift(column, noisy)
            for draw in dead & shifts.keys():
                self.pay(column, self.laws[draw].place, abs(shifts[draw]) / self.scale(draw))
                fixed.shifts.setdefault(column, {})[draw] = shifts[draw]
                for draws, right in rows.values():
                    if weight := draws.get(draw, 0):
                        rest = right.get(column, 0) - weight * shifts[draw]
                        if rest:
                            right[column] = rest
                        else:
                            right.pop(column, None)
        self.constraints = {}
        for draws, right in rows.values():
            left = {name: weight for name, weight in draws.items() if name not in dead}
            failure = self.require(Form(right, left, NOWHERE)) if left or right else None
            if failure is not None:
                raise RuntimeError("the shifts do not solve the constraints: a bug in dpaudit")

    def owed(self, column: int) -> Fraction:
        """Return what a column must still pay for the constraints, at least to a feasible shift."""
        shifts = self.shift(column, ())
        return sum((abs(s) / self.scale(draw) for draw, s in shifts.items()), Fraction(0))

    def totals(self) -> dict[int, Fraction]:
        """Return what each row is charged, the constraints included."""
        found = dict(self.base)
        bound = {name for _, rows in self.constraints.values() for name in rows}
        for column in bound | self.spent.keys():
            known = self.columns[column]
            cost = self.spent.get(column, Fraction(0))
            if column in bound:
                cost = cost + self.owed(column)
            if known.reach != 1:
                cost = known.reach * cost
            found[known.owner] = found[known.owner] + cost if known.owner in found else cost
        return found

    def judge(self, most: Fraction, place: CodeLine) -> Failure | None:
        """Return a row whose charge is above `most`, and keep the largest charge."""
        for owner, total in self.totals().items():
            self.worst = max(self.worst, total)
            if total > most:
                mine = [name for name, it in self.columns.items() if it.owner == owner]
                parts: dict[CodeLine, Fraction] = {}
                for name in mine:
                    for where, cost in self.parts.get(name, {}).items():
                        parts[where] = parts.get(where, Fraction(0)) + cost
                shown = tuple((where, float(cost)) for where, cost in parts.items())
                lines = ", ".join(f"{cost:.6g} by the noise of {where}" for where, cost in shown)
                why = lines or "its noise is too small"
                when = self.columns[mine[0]].round if mine else 0
                return Failure(when, float(total), place, why, shown)
        return None


def resolved(
    rows: Weights, draws: Weights, fixed: Fixed, dropped: set[int]
) -> tuple[Weights, Weights, Weights]:
    """Return a form without known and dropped draws, and the known draws that were in it."""
    lost: Weights = {}
    for name in [name for name in draws if name in fixed.known]:
        lost[name] = draws[name]
        draws = {other: w for other, w in draws.items() if other != name}
        rows = combined(rows, fixed.known[name], -lost[name])
    if any(name in dropped for name in draws):
        draws = {name: weight for name, weight in draws.items() if name not in dropped}
    if any(name in dropped for name in rows):
        rows = {name: weight for name, weight in rows.items() if name not in dropped}
    return rows, draws, lost

"""The ledger: what each release charges to each reward row, in exact rational arithmetic.

A release shows (sum of the rows) / divisor + Z with fresh Z ~ Laplace(scale). Changing one of the
rows within [0, 1] moves the centre by at most 1 / divisor, so the log density moves by at most
1 / (divisor scale): the charge. On a lattice the centre moves by a whole number of steps, and the
log mass by as much. A row pays the sum of the charges of the releases that contain it;
disjoint rows do not add up, because neighbouring streams differ in one row. Other notions than pure
epsilon charge by a `Tariff` of their own; all that follows is the same.

Only releases of the exact types of `dpaudit.core` are trusted: a subclass may sample anything.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from dpaudit.core.algorithm import Disclosure, Respond, Rows
from dpaudit.core.canonical import Distrust
from dpaudit.core.lattice import LATTICES, ROUNDINGS
from dpaudit.core.noise import NOISES
from dpaudit.core.notions import PURE, Tariff
from dpaudit.core.response import response_charge
from dpaudit.errors import is_positive_double

Charge = Fraction | float  # a float only when it is infinite
LONGEST = 24  # characters of a fraction that is shown
Runs = tuple[tuple[int, Charge], ...]
"""Charges of an arm's rows as (stop, charge) runs; rows after the last stop have paid nothing."""


@dataclass(frozen=True)
class Row:
    """A reward row and what it has been charged; for a person of `unit` rewards, the group's."""

    charge: Charge
    arm: int
    number: int
    unit: int = 1

    def __str__(self) -> str:
        if self.unit > 1:
            return f"{self.unit} rewards together are charged {show(self.charge)}"
        return f"reward {self.number + 1} of arm {self.arm} is charged {show(self.charge)}"


def show(charge: Charge) -> str:
    """Return a charge as a person would write it."""
    if charge == math.inf:
        return "infinity"
    value = Fraction(charge)
    if value > sys.float_info.max:
        return f"more than {sys.float_info.max:.6g}"
    short, near = f"{float(value):.12g}", f"about {float(value):.6g}"
    if Fraction(short) == value:
        return short
    return f"{value} ({near})" if len(str(value)) <= LONGEST else near


def charge_of(request: Disclosure, tariff: Tariff = PURE) -> Charge:
    """Return what each row that a release reads pays for it."""
    if isinstance(request, Respond):
        return tariff.worth(response_charge(request.one, request.zero))
    noise, kind = request.noise, type(request.noise)
    if kind not in (*NOISES, *LATTICES):
        raise Distrust(f"the noise {kind.__name__} is not a law of dpaudit.core.noise")
    names = [field.name for field in fields(noise)]  # type: ignore[arg-type]
    if vars(noise).keys() != set(names):
        raise Distrust(f"a {kind.__name__} law carries more than its {' and '.join(names)}")
    for name, value in vars(noise).items():
        if name == "rounding" and type(value) is str and value in ROUNDINGS:
            continue
        if type(value) not in (int, float, Fraction):
            held = f"is a {type(value).__name__}, not a plain int, float or Fraction"
            raise Distrust(f"the {name} of a {kind.__name__} law {held}")
        if not is_positive_double(value):
            raise Distrust(f"the {name} of a {kind.__name__} law is {value}, which is not positive")
    return tariff.price(noise, 1 / Fraction(request.divisor), len(request.rows))


def add(runs: Runs, rows: Rows, charge: Charge) -> tuple[Runs, Charge, int]:
    """Charge some rows; return the new runs, the largest total among them, and a row that pays it.

    Neighbouring runs of equal charge are merged, so that equal ledgers have equal runs.
    """
    merged: list[tuple[int, Charge]] = []
    worst: tuple[Charge, int] = (Fraction(0), rows.first)
    start = 0

    def append(stop: int, total: Charge) -> None:
        if merged and merged[-1][1] == total:
            merged[-1] = (stop, total)
        else:
            merged.append((stop, total))

    padded = runs if runs and runs[-1][0] >= rows.stop else (*runs, (rows.stop, Fraction(0)))
    for stop, paid in padded:
        inside = max(start, rows.first), min(stop, rows.stop)
        if inside[0] >= inside[1]:
            append(stop, paid)
        else:
            total = paid + charge
            if start < inside[0]:
                append(inside[0], paid)
            append(inside[1], total)
            if inside[1] < stop:
                append(stop, paid)
            worst = max(worst, (total, inside[0]), key=lambda pair: pair[0])
        start = stop
    return tuple(merged), *worst


def heaviest(charges: Sequence[Runs], unit: int) -> Row:
    """Return what the `unit` rows of one transcript that are charged most pay together."""
    runs = [
        (charge, arm, start, stop)
        for arm, own in enumerate(charges)
        for start, (stop, charge) in zip((0, *(stop for stop, _ in own)), own, strict=False)
    ]
    together: Charge = Fraction(0)
    left = unit
    runs.sort(key=lambda run: run[0], reverse=True)
    for charge, _, start, stop in runs:
        rows = min(left, stop - start)
        together, left = together + rows * charge if rows else together, left - rows
    arm, row = runs[0][1:3] if runs else (0, 0)
    return Row(together, arm, row, unit)


def total(releases: Sequence[tuple[int, int, Charge]]) -> tuple[Charge, int]:
    """Return the largest sum of charges over rows, for releases (first, stop, charge), and a row.

    Sums are exact: a sweep over the ends of the intervals, with integers over a common denominator.
    """
    if any(charge == math.inf and first < stop for first, stop, charge in releases):
        return math.inf, next(f for f, s, c in releases if c == math.inf and f < s)
    denominator = math.lcm(1, *{Fraction(charge).denominator for _, _, charge in releases})
    changes: dict[int, int] = {}
    for first, stop, charge in releases:
        amount = int(Fraction(charge) * denominator)
        changes[first] = changes.get(first, 0) + amount
        changes[stop] = changes.get(stop, 0) - amount
    level, worst, row = 0, 0, 0
    for position in sorted(changes):
        level += changes[position]
        if level > worst:
            worst, row = level, position
    return Fraction(worst, denominator), row

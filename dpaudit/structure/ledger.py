"""The ledger: what each release charges to each reward row, in exact rational arithmetic.

A release shows (sum of the rows) / divisor + Z with fresh Z ~ Laplace(scale). Changing one of the
rows within [0, 1] moves the centre by at most 1 / divisor, so the log density moves by at most
1 / (divisor scale): the charge. On a lattice the centre moves by a whole number of steps, and the
log mass by as much. A row pays the sum of the charges of the releases that contain it;
disjoint rows do not add up, because neighbouring streams differ in one row.

Only releases of the exact types of `dpaudit.core` are trusted: a subclass may sample anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithm import Disclosure, Respond, Rows
from dpaudit.core.arithmetic import exact
from dpaudit.core.canonical import Distrust
from dpaudit.core.lattice import DiscreteGaussian, DiscreteLaplace
from dpaudit.core.noise import Gaussian, Laplace, NoNoise
from dpaudit.core.response import response_charge

Charge = Fraction | float  # a float only when it is infinite
Runs = tuple[tuple[int, Charge], ...]
"""Charges of an arm's rows as (stop, charge) runs; rows after the last stop have paid nothing."""


@dataclass(frozen=True)
class Row:
    """A reward row and what it has been charged."""

    charge: Charge
    arm: int
    number: int

    def __str__(self) -> str:
        return f"reward {self.number + 1} of arm {self.arm} is charged {show(self.charge)}"


def show(charge: Charge) -> str:
    """Return a charge as a person would write it."""
    if charge == math.inf:
        return "infinity"
    value = Fraction(charge)
    short = f"{float(value):.12g}"
    return short if Fraction(short) == value else f"{value} (about {float(value):.6g})"


def rounded_up(charge: Charge) -> float:
    """Return the smallest double, read as the decimal that it prints, that is at least `charge`."""
    nearest = float(charge)
    return nearest if exact(nearest) >= charge else math.nextafter(nearest, math.inf)


def charge_of(request: Disclosure) -> Charge:
    """Return what each row that a release reads pays for it."""
    if isinstance(request, Respond):
        return response_charge(request.one, request.zero)
    noise = request.noise
    if type(noise) in (NoNoise, Gaussian, DiscreteGaussian):
        return math.inf
    if type(noise) is DiscreteLaplace:
        if vars(noise).keys() != {"scale", "step", "rounding"}:
            raise Distrust("a lattice law carries more than its scale, step and rounding")
        return noise.charge(1 / Fraction(request.divisor))
    if type(noise) is not Laplace:
        raise Distrust(f"the noise {type(noise).__name__} is not a law of dpaudit.core.noise")
    if vars(noise).keys() != {"scale"}:
        raise Distrust("a Laplace law carries more than its scale")
    if type(noise.scale) not in (int, float, Fraction):
        kind = type(noise.scale).__name__
        raise Distrust(f"a Laplace scale is a {kind}, not a plain int, float or Fraction")
    return 1 / (Fraction(request.divisor) * exact(noise.scale))


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

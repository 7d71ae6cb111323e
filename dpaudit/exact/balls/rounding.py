"""Doubles around balls, rounded outward: where a certified number leaves ball arithmetic."""

from __future__ import annotations

import math

from flint import arb

from dpaudit.verdict import Enclosure


def enclose(value: arb) -> Enclosure:
    """Return the doubles around a ball, rounded outward."""
    return Enclosure(below(value), above(value), certified=True)


def below(value: arb) -> float:
    """Return a double that is at most every number in the ball."""
    near = float(value.lower())
    return near if arb(near) <= value else math.nextafter(near, -math.inf)


def above(value: arb) -> float:
    """Return a double that is at least every number in the ball."""
    near = float(value.upper())
    return near if arb(near) >= value else math.nextafter(near, math.inf)

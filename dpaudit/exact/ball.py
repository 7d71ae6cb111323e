"""Certified numbers: enclosures of log-likelihoods with outward rounding end to end, in balls.

Every parameter comes from the declaration evaluated in balls or as a fraction, never from a
double. The precision doubles until the result is tight, so a ball that comes back is both sound
and narrow, or `Unsupported` says why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb, ctx

from dpaudit.core.algorithm import Rows
from dpaudit.errors import Unsupported
from dpaudit.exact import ball_affine
from dpaudit.exact.ball_chain import chain_of
from dpaudit.exact.ball_exponential import Imprecise
from dpaudit.exact.paths import Path
from dpaudit.verdict import Enclosure

FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
TARGET_BITS = 80


def tighten(
    compute: Callable[[], arb], bits: int = TARGET_BITS, first: int = FIRST_PRECISION
) -> arb:
    """Return compute() at a precision, doubled from `first`, that leaves `bits` correct bits."""
    precision = first
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                found = compute()
            except Imprecise:
                found = None
            if found is not None and found.is_finite() and found.rel_accuracy_bits() >= bits:
                return found
        precision *= 2
    raise Unsupported(f"The ball stays wide at {LAST_PRECISION} bits.")


def enclosure(value: arb) -> Enclosure:
    """Return the doubles around a ball, rounded outward."""
    return Enclosure(below(value), above(value), certified=True)


def below(value: arb) -> float:
    """Return a double that is at most every number in the ball."""
    return float(math.nextafter(float(value.lower()), -math.inf))


def above(value: arb) -> float:
    """Return a double that is at least every number in the ball."""
    return float(math.nextafter(float(value.upper()), math.inf))


def path_log_likelihood(path: Path, sums: Mapping[Rows, Fraction]) -> arb:
    """Return a ball around the log-probability of a decision path; -inf where it is impossible.

    `sums[rows]` is the exact sum of the rewards of each released `Rows`. The radius is relative
    to the log-likelihood's precision, however small the probability is.
    """
    chain = chain_of(path)
    if not chain.stages:
        return arb(0)
    totals = {number: sums[release.rows] for number, release in enumerate(chain.releases)}
    probability = tighten(lambda: ball_affine.likelihood(chain, totals))
    with ctx.workprec(2 * TARGET_BITS):
        return probability.log()

"""Randomised response (Warner 1965): one reward in, one bit out, with exact probabilities.

A reward r in [0, 1] is answered 1 with probability zero + (one - zero) r: `one` for a reward of 1,
`zero` for one of 0. The probability is affine in r, so the log-ratio between any two rewards is at
most that between 0 and 1, for either answer: the charge is
max(|log(one / zero)|, |log((1 - one) / (1 - zero))|), infinite where an answer is impossible for
one of them and not for the other. It is the same with `one` and `zero` swapped, or 1 - p for p: a
liar is as private as an honest respondent. Charges are rational and rounded up to a multiple of
`UNIT`, by a partial sum of the exponential series, whose terms are all positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

UNIT = Fraction(1, 10**12)
GRID = 2**60  # of the probabilities that `truthful` returns


@dataclass(frozen=True)
class Response:
    """A law of randomised response: the chance of a 1 for a reward of 1, and for one of 0."""

    one: Fraction
    zero: Fraction


class Uniform:
    """What responses are drawn from: a reward is answered 1 below its chance."""

    def draw(self, rng: Any, size: int) -> Any:
        """Draw uniform numbers of [0, 1)."""
        return rng.random(size)


@lru_cache(maxsize=1024)
def response_charge(one: Fraction, zero: Fraction) -> Fraction | float:
    """Return a rational upper bound on the pure loss of one response, infinite if there is none."""
    if one == zero:
        return Fraction(0)
    if {one, zero} & {0, 1}:
        return math.inf
    return max(log_above(max(p, q) / min(p, q)) for p, q in ((one, zero), (1 - one, 1 - zero)))


def log_above(ratio: Fraction) -> Fraction:
    """Return a multiple of `UNIT` that is at least log(ratio), for a ratio of at least 1."""
    guess = math.log(ratio.numerator) - math.log(ratio.denominator)
    # begin surely below: each of the three operations is off by a few ulps of its result
    slack = 1e-15 * (1 + math.log(ratio.numerator))
    bound = max(Fraction(0), UNIT * math.floor(Fraction(guess - slack) / UNIT))
    while exp_below(bound) < ratio:
        bound += UNIT
    return bound


def exp_below(x: Fraction) -> Fraction:
    """Return a rational that is at most e^x, and close to it, for x of at least 0."""
    terms = 40 + 6 * math.ceil(x)
    total = Fraction(1)
    for k in range(terms, 0, -1):
        total = 1 + x * total / k
    return total


@lru_cache(maxsize=256)
def truthful(epsilon: Fraction) -> Fraction:
    """Return the probability of a true answer that costs at most epsilon, next to e^eps/(1+e^eps).

    It lies below by at most about 1e-12, so that its charge is epsilon where that is a multiple of
    `UNIT`, and less otherwise.
    """
    most = exp_below(UNIT * math.floor(epsilon / UNIT))
    return Fraction(math.floor(GRID * most / (1 + most)), GRID)

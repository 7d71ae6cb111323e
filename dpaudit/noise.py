"""Exact integer noise for one's own policy: `from dpaudit.noise import laplace`.

`laplace(scale)` returns the integer z with probability proportional to exp(-|z| / scale),
`gaussian(variance)` with one proportional to exp(-z^2 / (2 variance)): exactly, for every z, given
independent unbiased bits. Integers alone are computed with (Canonne, Kamath & Steinke 2020), so
nothing is rounded. The bits are the operating system's unless a source of them is given, such as
`random.Random(0).getrandbits` in a test.

To be epsilon-DP for a sum of rewards in [0, 1]: round each of them to 0..grid, add the integers up,
add `laplace(Fraction(grid) / Fraction("0.5"))` for epsilon = 0.5, and publish that integer; what is
computed from it costs nothing. How long a draw takes depends on the value drawn, and is not hidden.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction
from math import isqrt

from dpaudit.errors import InvalidArgument

Bits = Callable[[int], int]
"""A source of randomness: `bits(k)` is uniform on 0..2^k - 1, and independent of other calls."""


def laplace(scale: int | Fraction, bits: Bits = secrets.randbits) -> int:
    """Return z with probability (1 - q) / (1 + q) q^|z|, q = exp(-1 / scale), exactly."""
    scale = _positive("scale", scale)
    whole, part = scale.numerator, scale.denominator
    while True:
        # low + whole high is x with probability (1 - r) r^x, r = exp(-1 / whole)
        low = below(whole, bits)
        if not decays(low, whole, bits):
            continue
        high = 0
        while decays(1, 1, bits):
            high += 1
        size = (low + whole * high) // part
        negative = bits(1)
        if size or not negative:  # zero has one sign
            return -size if negative else size


def gaussian(variance: int | Fraction, bits: Bits = secrets.randbits) -> int:
    """Return z with probability proportional to exp(-z^2 / (2 variance)), exactly."""
    variance = _positive("variance", variance)
    near = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        found = laplace(near, bits)
        # exp(-|z| / near) times this is exp(-z^2 / (2 variance)) up to a constant
        excess = (abs(found) - variance / near) ** 2 / (2 * variance)
        if decays(excess.numerator, excess.denominator, bits):
            return found


def decays(numerator: int, denominator: int, bits: Bits) -> bool:
    """Return True with probability exp(-numerator / denominator), exactly.

    For g = numerator / denominator of at most 1, the stages go on with probabilities g, g / 2,
    g / 3, ...; more than k of them are passed with probability g^k / k!, and an even number with
    1 - g + g^2 / 2 - ... = exp(-g).
    """
    while numerator > denominator:
        if not decays(1, 1, bits):
            return False
        numerator -= denominator
    stage = 1
    while below(denominator * stage, bits) < numerator:
        stage += 1
    return stage % 2 == 1


def below(bound: int, bits: Bits) -> int:
    """Return an integer that is uniform on 0..bound - 1: a remainder would be biased."""
    size = (bound - 1).bit_length()
    while True:
        found = bits(size)
        if found < bound:
            return found


def _positive(name: str, value: int | Fraction) -> Fraction:
    if type(value) not in (int, Fraction):
        rule = 'must be an int or a Fraction, say Fraction(grid) / Fraction("0.1").'
        raise InvalidArgument(name, value, rule)
    if value <= 0:
        raise InvalidArgument(name, value, "must be positive.")
    return Fraction(value)

"""Exact integer noise for one's own policy: `from dpaudit.noise import laplace, noisy_sum`.

`laplace(scale)` returns the integer z with probability proportional to exp(-|z| / scale),
`gaussian(variance)` with one proportional to exp(-z^2 / (2 variance)): exactly, for every z, given
independent unbiased bits. Integers alone are computed with (Canonne, Kamath & Steinke 2020), so
nothing is rounded. The bits are the operating system's unless a source of them is given, such as
`random.Random(0).getrandbits` in a test.

`noisy_sum(rewards, grid, scale)` rounds each reward in [0, 1] to one of 0..grid, adds the integers
up, adds `laplace(scale)`, and so is epsilon-DP with epsilon = grid / scale, for example with
`noisy_sum(rewards, 1024, Fraction(1024) / Fraction("0.5"))` 0.5-DP. Whatever is computed from the
integer that it returns costs nothing: the mean is it over (1024 times the number of rewards). To
draw noise by hand, add `laplace` to an integer that rewards move by at most `grid`, before anything
is divided. How long a draw takes depends on the value drawn, and is not hidden.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isqrt

from dpaudit.errors import InvalidArgument

Bits = Callable[[int], int]
"""A source of randomness: `bits(k)` is uniform on 0..2^k - 1, and independent of other calls."""


def system(size: int) -> int:
    """Return bits of the operating system."""
    return secrets.randbits(size)


def noisy_sum(
    rewards: Iterable[float], grid: int, scale: int | Fraction, bits: Bits | None = None
) -> int:
    """Return the sum of rewards on a grid plus integer Laplace noise: (grid / scale)-DP, exactly.

    In steps of 1 / grid. One reward moves the sum by at most `grid`, whatever it is.
    """
    return sum(on_grid(reward, grid) for reward in rewards) + laplace(scale, bits)


def on_grid(reward: float, grid: int) -> int:
    """Return a reward as the nearest of 0..grid; what lies outside of [0, 1] as an end."""
    if type(grid) is not int or grid < 1:
        raise InvalidArgument("grid", grid, "must be an integer of at least 1.")
    if not reward > 0:  # nan, too
        return 0
    return grid if reward >= 1 else round(float(reward) * grid)


def laplace(scale: int | Fraction, bits: Bits | None = None) -> int:
    """Return z with probability (1 - q) / (1 + q) q^|z|, q = exp(-1 / scale), exactly."""
    scale, bits = positive("scale", scale), bits or system
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


def gaussian(variance: int | Fraction, bits: Bits | None = None) -> int:
    """Return z with probability proportional to exp(-z^2 / (2 variance)), exactly."""
    variance, bits = positive("variance", variance), bits or system
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


def positive(name: str, value: int | Fraction) -> Fraction:
    """Return a parameter as the rational that it is; raise for anything else, and below 0."""
    if type(value) not in (int, Fraction):
        rule = 'must be an int or a Fraction, say Fraction(grid) / Fraction("0.1").'
        raise InvalidArgument(name, value, rule)
    if value <= 0:
        raise InvalidArgument(name, value, "must be positive.")
    return Fraction(value)

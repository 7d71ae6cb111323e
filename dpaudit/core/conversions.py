"""What one privacy guarantee is worth as another: closed forms, rounded up to rationals.

Every function takes rationals and returns a rational that is at least the real number its formula
names; sums and comparisons of what it returns are exact. `c` is a pure epsilon, or for Laplace
noise sensitivity / scale. rho is that of zero-concentrated DP (Bun and Steinke 2016), mu that of
Gaussian DP (Dong, Roth and Su 2022), kept as mu^2 because squares add up; delta is the largest
P(E) - e^epsilon Q(E) over events.

| from        | rho           | mu                        | delta at epsilon < c            |
|-------------|---------------|---------------------------|---------------------------------|
| any pure c  | c tanh(c / 2) | 2 Phi^-1(e^c / (1 + e^c)) | (e^c - e^epsilon) / (1 + e^c)   |
| Laplace     | c - 1 + e^-c  | -2 Phi^-1(e^(-c/2) / 2)   | 1 - e^((epsilon - c) / 2)       |
| mu          | mu^2 / 2      | mu                        | Balle and Wang (2018)           |
| rho         | rho           |                           | Canonne, Kamath, Steinke (2020) |

A pure guarantee is tight for randomised response; the Laplace row is exact for one release. From
rho, delta is the least over orders alpha > 1 of e^((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^
alpha / (alpha - 1): every order gives a valid bound, and a nearly best one is taken.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from dpaudit.core.arithmetic import ball, exact

Rate: TypeAlias = "Fraction | float"  # a float only when it is infinite
BITS = 128
MOST_BITS = 8192
RELATIVE = 2.0**-60
LARGEST, SMALLEST = 2**4096, Fraction(1, 2**4096)  # beyond, a number is infinite or this small one


def above(formula: Callable[[], Any]) -> Rate:
    """Return a rational at least as large as a ball formula, which is evaluated until it is sharp.

    Where no precision makes it sharp the last value stands: it is larger than need be, and valid.
    """
    from flint import ctx

    bits = BITS
    while True:
        with ctx.workprec(bits):
            value = formula()
            upper = value.upper()
            sharp = value.is_finite() and 2 * value.rad() <= RELATIVE * abs(upper)
            sharp = sharp or upper < _ball(SMALLEST)
        if sharp or bits >= MOST_BITS:
            break
        bits *= 4
    if not upper.is_finite() or upper > LARGEST:
        return math.inf
    if upper < _ball(SMALLEST):
        return SMALLEST
    mantissa, exponent = upper.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def double_above(value: Rate) -> float:
    """Return a double, read as the decimal that it prints, that is at least a number."""
    nearest = float(value) if value <= sys.float_info.max else math.inf
    while nearest < math.inf and exact(nearest) < value:
        nearest = math.nextafter(nearest, math.inf)
    return nearest


def root_above(square: Rate) -> float:
    """Return a double, read as the decimal that it prints, that is at least a square root."""
    if square == 0 or square == math.inf:
        return float(square)
    value = Fraction(square)
    half = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    try:
        root = math.ldexp(math.sqrt(value / Fraction(4) ** half), half)
    except OverflowError:
        return math.inf
    while root < math.inf and exact(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def _ball(value: Rate) -> Any:
    return ball(value)


def _probability(value: Rate) -> Fraction:
    return Fraction(min(value, 1)) if value > 0 else Fraction(0)


@lru_cache(maxsize=4096)
def pure_to_zcdp(c: Rate) -> Rate:
    """Return the rho of any c-DP mechanism: c tanh(c / 2)."""
    if c == 0 or c == math.inf:
        return c
    return min(above(lambda: _ball(c) * (_ball(c) / 2).tanh()), Fraction(c) ** 2 / 2)


@lru_cache(maxsize=4096)
def pure_to_gdp(c: Rate) -> Rate:
    """Return the mu^2 of any c-DP mechanism: mu = 2 Phi^-1(e^c / (1 + e^c))."""
    if c == 0 or c == math.inf:
        return c
    return above(lambda: 8 * (2 / (1 + _ball(c).exp())).erfcinv() ** 2)


@lru_cache(maxsize=4096)
def pure_to_delta(c: Rate, epsilon: Fraction) -> Fraction:
    """Return the delta at epsilon of any c-DP mechanism."""
    if c <= epsilon:
        return Fraction(0)
    if c == math.inf:
        return Fraction(1)
    apart = above(lambda: (1 - _ball(epsilon - c).exp()) / (1 + (-_ball(c)).exp()))
    return _probability(apart)


@lru_cache(maxsize=4096)
def laplace_to_zcdp(c: Fraction) -> Rate:
    """Return the rho of one Laplace release: c - 1 + e^-c, its Kullback-Leibler divergence."""
    if c == 0:
        return c
    series = c**2 / 2 - c**3 / 6 + c**4 / 24  # e^-c is below its Taylor sum of even degree
    return min(above(lambda: _ball(c) - 1 + (-_ball(c)).exp()), series)


@lru_cache(maxsize=4096)
def laplace_to_gdp(c: Fraction) -> Rate:
    """Return the mu^2 of one Laplace release: Phi(-mu / 2) = e^(-c/2) / 2."""
    if c == 0:
        return c
    return above(lambda: 8 * (-_ball(c) / 2).exp().erfcinv() ** 2)


@lru_cache(maxsize=4096)
def laplace_to_delta(c: Fraction, epsilon: Fraction) -> Fraction:
    """Return the delta at epsilon of one Laplace release."""
    if c <= epsilon:
        return Fraction(0)
    return _probability(above(lambda: 1 - (_ball(epsilon - c) / 2).exp()))


@lru_cache(maxsize=4096)
def gdp_to_delta(mu_squared: Rate, epsilon: Fraction) -> Fraction:
    """Return the delta at epsilon of mu-GDP: Phi(mu/2 - e/mu) - e^epsilon Phi(-mu/2 - e/mu)."""
    if mu_squared == 0:
        return Fraction(0)
    if mu_squared == math.inf:
        return Fraction(1)

    def formula() -> Any:
        mu, e = _ball(mu_squared).sqrt(), _ball(epsilon)
        root = _ball(2).sqrt()
        first, second = (e / mu - mu / 2) / root, (e / mu + mu / 2) / root
        return (first.erfc() - e.exp() * second.erfc()) / 2

    return _probability(above(formula))


@lru_cache(maxsize=4096)
def zcdp_to_delta(rho: Rate, epsilon: Fraction) -> Fraction:
    """Return a delta at epsilon of every rho-zCDP mechanism, at a nearly best order."""
    if rho == 0:
        return Fraction(0)
    if rho == math.inf:
        return Fraction(1)
    from scipy.optimize import minimize_scalar

    r, e = float(rho), float(epsilon)

    def log_delta(log_excess: float) -> float:
        excess = math.exp(log_excess)  # alpha - 1
        return (
            excess * ((1 + excess) * r - e)
            - (1 + excess) * math.log1p(1 / excess)
            - math.log(excess)
        )

    best = minimize_scalar(log_delta, bounds=(-12.0, 12.0), method="bounded")
    alpha = 1 + Fraction(math.exp(best.x))

    def formula() -> Any:
        a = _ball(alpha)
        power = (a - 1) * (a * _ball(rho) - _ball(epsilon)) + a * (1 - 1 / a).log()
        return power.exp() / (a - 1)

    return _probability(above(formula))


def group_delta(delta: Fraction, epsilon: Fraction, size: int) -> Fraction:
    """Return the delta at size * epsilon of a group, where each member has (epsilon, delta)-DP."""
    if size == 1 or delta == 0:
        return delta
    return _probability(
        above(lambda: _ball(delta) * _ball(size * epsilon).expm1() / _ball(epsilon).expm1())
    )

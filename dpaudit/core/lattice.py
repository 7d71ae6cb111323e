"""Noise that a computer can draw exactly: integer laws on sums of rewards rounded to a grid.

A release with a lattice law rounds each reward r to one of 0..g, adds these integers up exactly,
adds an integer drawn by `dpaudit.noise`, and publishes the sum as a multiple of `step`, which is
1 / (g divisor). No real number is drawn or rounded before the integer is public; whatever doubles
do afterwards is post-processing. Rounding a reward by itself leaves it in 0..g, so one reward moves
the sum by at most g steps.

`on_grid` puts any release with Laplace or Gaussian noise on a lattice: the scale, in steps, is the
same rational. Every algorithm takes the parameter `grid` for it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import ball, exact
from dpaudit.core.conversions import above
from dpaudit.core.noise import Gaussian, Laplace, Noise, NoNoise
from dpaudit.errors import InvalidArgument, Unsupported, is_positive_double
from dpaudit.noise import gaussian, laplace

if TYPE_CHECKING:
    from dpaudit.core.algorithm import Accumulate, Release
    from dpaudit.noise import Bits

Integers = NDArray[np.int64]
R = TypeVar("R", "Release", "Accumulate")
ROUNDINGS = ("nearest", "stochastic")
LARGEST_SUM = 2**62  # int64 with a bit to spare
LARGEST_LANE = 2**40  # a scale whose products with a lane's counters stay far inside int64


def bits_of(rng: Any) -> Bits:
    """Return the bits of a numpy generator, or of one of `random` such as `SystemRandom`."""
    if hasattr(rng, "getrandbits"):
        bits: Bits = rng.getrandbits
        return bits
    return lambda size: int.from_bytes(rng.bytes((size + 7) // 8), "little") >> (-size % 8)


class Lattice(Noise):
    """A law on the multiples of `step`; releases with it read rewards rounded to a grid."""

    step: Fraction
    rounding: str

    def _require(self, name: str, value: Any) -> None:
        for field, number in ((name, value), ("step", self.step)):
            if type(number) is not Fraction or not is_positive_double(number):
                raise InvalidArgument(field, number, "must be a positive Fraction.")
        if self.rounding not in ROUNDINGS:
            rule = f"must be one of {', '.join(ROUNDINGS)}."
            raise InvalidArgument("rounding", self.rounding, rule)

    @abstractmethod
    def integer(self, rng: Any) -> int:
        """Draw one value, in steps."""

    @abstractmethod
    def integers(self, rng: np.random.Generator, size: int) -> Integers:
        """Draw many values, in steps."""

    def cells(self, divisor: Fraction | int) -> Fraction:
        """Return g, the steps between rewards 0 and 1 in a release; a whole number if it fits."""
        return 1 / (self.step * Fraction(divisor))

    def sample(self, rng: Any) -> float:
        """Draw one value, as a double: for looking at, not for adding to a sum."""
        return float(self.integer(rng) * self.step)

    def draw(self, rng: Any, size: int) -> NDArray[np.float64]:
        """Draw many values, as doubles."""
        return np.asarray(self.integers(rng, size) * float(self.step), dtype=np.float64)

    def spread(self) -> float:
        """Return the step."""
        return float(self.step)


@dataclass(frozen=True)
class DiscreteLaplace(Lattice):
    """k `step` with probability proportional to exp(-|k| step / scale): integer Laplace noise."""

    scale: Fraction
    step: Fraction
    rounding: str = "nearest"
    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = False  # of the real line

    def __post_init__(self) -> None:
        self._require("scale", self.scale)

    @property
    def steps(self) -> Fraction:
        """The scale in steps, t: exactly rational."""
        return self.scale / self.step

    def unit(self) -> Noise:
        """Return the law on the integers whose multiple by the step this is."""
        return DiscreteLaplace(self.steps, Fraction(1), self.rounding)

    def integer(self, rng: Any) -> int:
        """Draw one value, in steps."""
        return laplace(self.steps, bits_of(rng))

    def integers(self, rng: np.random.Generator, size: int) -> Integers:
        """Draw many values, in steps."""
        return many_laplace(self.steps, rng, size)

    def charge(self, sensitivity: Fraction) -> Fraction:
        """Return sensitivity / scale, exactly: a whole number of steps over the scale in steps."""
        if (sensitivity / self.step).denominator != 1:
            raise InvalidArgument("sensitivity", sensitivity, f"must be a multiple of {self.step}.")
        return sensitivity / self.scale

    def delta(self, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
        """Return the sum of the masses above e^epsilon times the moved ones, rounded up."""
        self.charge(sensitivity)
        return laplace_delta(int(sensitivity / self.step), self.steps, epsilon)

    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the probability of `x`, a multiple of the step."""
        h = float(self.step / self.scale)
        return -np.abs(x) / float(self.scale) + math.log(math.tanh(h / 2))

    def cdf(self, x: Any) -> Any:
        """Return the probability of a value of at most `x`."""
        h = float(self.step / self.scale)
        k = np.floor(np.asarray(x, dtype=float) / float(self.step))
        tail = np.exp(-np.abs(np.where(k < 0, k, k + 1)) * h) / (1 + math.exp(-h))
        return np.where(k < 0, tail, 1.0 - tail)


@dataclass(frozen=True)
class DiscreteGaussian(Lattice):
    """k `step` with probability proportional to exp(-(k step)^2 / (2 variance))."""

    variance: Fraction
    step: Fraction
    rounding: str = "nearest"
    log_concave: ClassVar[bool] = True
    full_support: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._require("variance", self.variance)

    def unit(self) -> Noise:
        """Return the law on the integers whose multiple by the step this is."""
        return DiscreteGaussian(self.variance / self.step**2, Fraction(1), self.rounding)

    def integer(self, rng: Any) -> int:
        """Draw one value, in steps."""
        return gaussian(self.variance / self.step**2, bits_of(rng))

    def integers(self, rng: np.random.Generator, size: int) -> Integers:
        """Draw many values, in steps."""
        return np.array([self.integer(rng) for _ in range(size)], dtype=np.int64)

    def charge(self, sensitivity: Fraction) -> float:
        """Return infinity unless the row does not matter; so it is for Gaussian DP."""
        return math.inf if sensitivity else 0.0

    def zcdp(self, sensitivity: Fraction) -> Fraction:
        """Return sensitivity^2 / (2 variance), exactly (Canonne, Kamath & Steinke 2020)."""
        return sensitivity**2 / (2 * self.variance)

    def delta(self, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
        """Return the sum of the masses above e^epsilon times the moved ones, rounded up."""
        moved = sensitivity / self.step
        if moved.denominator != 1:
            raise InvalidArgument("sensitivity", sensitivity, f"must be a multiple of {self.step}.")
        return gaussian_delta(int(moved), self.variance / self.step**2, epsilon)

    def _masses(self) -> tuple[Integers, NDArray[np.float64]]:
        """Return the integers that carry all but 1e-300 of the probability, and their masses."""
        variance = float(self.variance / self.step**2)
        k = np.arange(-(reach := math.ceil(40 * math.sqrt(variance)) + 1), reach + 1)
        mass = np.exp(-(k.astype(float) ** 2) / (2 * variance))
        return k, mass / mass.sum()

    def log_density(self, x: Any) -> Any:
        """Return the logarithm of the probability of `x`, a multiple of the step."""
        top = float(self._masses()[1].max())
        return -(np.asarray(x, dtype=float) ** 2) / (2 * float(self.variance)) + math.log(top)

    def cdf(self, x: Any) -> Any:
        """Return the probability of a value of at most `x`."""
        k, mass = self._masses()
        total = np.concatenate(([0.0], np.cumsum(mass)))
        at = np.floor(np.asarray(x, dtype=float) / float(self.step))
        return np.minimum(total[np.searchsorted(k, at, side="right")], 1.0)


LATTICES = (DiscreteLaplace, DiscreteGaussian)


@lru_cache(maxsize=1024)
def laplace_delta(moved: int, scale: Fraction, epsilon: Fraction) -> Fraction:
    """Return delta at epsilon between integer Laplace noise and the same `moved` steps up.

    The log-ratio at z is moved / scale up to 0 and falls by 2 / scale a step from there; it exceeds
    epsilon up to the last z below (moved - epsilon scale) / 2.
    """
    if moved / scale <= epsilon:
        return Fraction(0)
    last = math.ceil((moved - epsilon * scale) / 2) - 1

    def formula() -> Any:
        h = -ball(1 / scale)
        kept = 1 - ((last + 1) * h).exp() / (1 + h.exp())
        return kept - (ball(epsilon) + (moved - last) * h).exp() / (1 + h.exp())

    return Fraction(min(above(formula), 1))


@lru_cache(maxsize=1024)
def gaussian_delta(moved: int, variance: Fraction, epsilon: Fraction) -> Fraction:
    """Return delta at epsilon between integer Gaussian noise and the same `moved` steps down.

    P(Z > a - moved / 2) - e^epsilon P(Z > a + moved / 2), a = epsilon variance / moved. Sums end
    where what is left is below 2^-900 of the whole, which is added.
    """
    if not moved:
        return Fraction(0)
    middle = epsilon * variance / moved
    low, high = (math.floor(middle + side * Fraction(moved, 2)) for side in (-1, 1))
    reach = isqrt(math.ceil(1300 * variance)) + abs(low) + abs(high) + 2

    def formula() -> Any:
        terms = [(-ball(k * k / (2 * variance))).exp() for k in range(reach + 1)]
        above_ = [terms[reach]]  # sums over k, k + 1, ..., reach
        for term in reversed(terms[:-1]):
            above_.append(above_[-1] + term)
        above_.reverse()
        rest = terms[reach] * (2 + ball(variance))  # what lies beyond, at least
        whole = 2 * above_[0] - terms[0]

        def tail(first: int) -> Any:
            """Return the sum over k > first."""
            return above_[first + 1] if first >= 0 else whole - above_[-first]

        return (tail(low) + rest - ball(epsilon).exp() * tail(high)) / whole

    return Fraction(min(above(formula), 1))


def on_grid(request: R, grid: int, rounding: str | None = None) -> R:
    """Return a release whose Laplace or Gaussian noise is drawn on a lattice.

    One that is there already, or has no noise, is left alone; any other law is refused, so that
    with a grid no release draws a real number.
    """
    law, step = request.noise, 1 / (grid * Fraction(request.divisor))
    drawn: Lattice
    if type(law) is Laplace:
        drawn = DiscreteLaplace(exact(law.scale), step, rounding or ROUNDINGS[0])
    elif type(law) is Gaussian:
        drawn = DiscreteGaussian(exact(law.variance), step, rounding or ROUNDINGS[0])
    elif type(law) in (*LATTICES, NoNoise):
        return request
    else:
        raise Unsupported(f"{type(law).__name__} noise has no lattice law; leave out the grid.")
    return replace(request, noise=drawn)


def rounded(
    rewards: NDArray[np.float64], grid: int, rounding: str, rng: np.random.Generator
) -> Integers:
    """Return each reward as one of 0..grid: the nearest, or by a coin that makes it unbiased."""
    scaled = rewards * float(grid)
    if rounding == "stochastic":
        low = np.floor(scaled)
        whole = low + (rng.random(scaled.shape) < scaled - low)
    else:
        whole = np.rint(scaled)
    # whatever the doubles did, the sensitivity is a grid's length
    return np.asarray(np.clip(whole, 0, grid), dtype=np.int64)


def whole_sum(steps: Integers, grid: int) -> int:
    """Return the sum of integers in 0..grid, exactly; raise where it might overflow."""
    if len(steps) * grid > LARGEST_SUM:
        rule = f"is too fine for sums of {len(steps):,} rewards: at most 2^62 steps are added up."
        raise InvalidArgument("grid", grid, rule)
    return int(steps.sum(dtype=np.int64))


def many_laplace(scale: Fraction, rng: np.random.Generator, size: int) -> Integers:
    """Draw many values of `noise.laplace(scale)`: the same chain in every lane, lanes side by side.

    Words of 64 bits are taken for all lanes that need one; a lane sees no other lane's. Scales
    whose numerator or denominator exceeds 2^40 are drawn one by one.
    """
    whole, part = scale.numerator, scale.denominator
    if max(whole, part) > LARGEST_LANE:
        bits = bits_of(rng)
        return np.array([laplace(scale, bits) for _ in range(size)], dtype=np.int64)

    def words(lanes: int) -> NDArray[np.uint64]:
        return rng.integers(0, 2**64, lanes, dtype=np.uint64)

    return laplace_lanes(whole, part, words, size)


Words: TypeAlias = "Callable[[int], NDArray[np.uint64]]"


def laplace_lanes(whole: int, part: int, words: Words, size: int) -> Integers:
    """Return `noise.laplace` of scale whole / part in `size` lanes."""
    found = np.zeros(size, dtype=np.int64)
    open_ = np.arange(size)
    while len(open_):
        low = below_lanes(whole, words, len(open_))
        taken = decays_lanes(low, whole, words)
        lanes, low = open_[taken], low[taken]
        high = np.zeros(len(lanes), dtype=np.int64)
        rising = np.arange(len(lanes))
        while len(rising):
            rising = rising[decays_lanes(np.ones(len(rising), dtype=np.int64), 1, words)]
            high[rising] += 1
        magnitude = (low + whole * high) // part
        negative = below_lanes(2, words, len(lanes)) == 1
        settled = (magnitude > 0) | ~negative
        found[lanes[settled]] = np.where(negative, -magnitude, magnitude)[settled]
        left = np.ones(len(open_), dtype=bool)
        left[np.flatnonzero(taken)[settled]] = False
        open_ = open_[left]
    return found


def decays_lanes(numerator: Integers, denominator: int, words: Words) -> NDArray[np.bool_]:
    """Return, per lane, True with probability exp(-numerator / denominator), at most e^0."""
    stage = np.ones(len(numerator), dtype=np.int64)
    going, passed = np.arange(len(numerator)), 1
    while len(going):
        going = going[below_lanes(denominator * passed, words, len(going)) < numerator[going]]
        stage[going] += 1
        passed += 1
    return np.asarray(stage % 2 == 1)


def below_lanes(bound: int, words: Words, lanes: int) -> Integers:
    """Return, per lane, an integer that is uniform on 0..bound - 1."""
    size = (bound - 1).bit_length()
    found = np.zeros(lanes, dtype=np.int64)
    open_ = np.arange(lanes if size else 0)
    while len(open_):
        drawn = (words(len(open_)) >> np.uint64(64 - size)).astype(np.int64)
        fits = drawn < bound
        found[open_[fits]] = drawn[fits]
        open_ = open_[~fits]
    return found

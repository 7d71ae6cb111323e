"""Algorithms that get a notion wrong: right but for one calibration, and not private."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.adac_ucb import AdacUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Doubling
from dpaudit.core.noise import Gaussian, Laplace
from dpaudit.core.notions import Kind
from dpaudit.core.scores import Affine


@dataclass(frozen=True, kw_only=True)
class VarianceAsDeviation(AdacUCB):
    """sigma^2 goes where sigma is due: too little noise as soon as it is below 1."""

    rho: float = 2.0
    beta: float = 0.1

    def release(self, rows):
        right = super().release(rows)
        return replace(right, noise=Gaussian(variance=exact(right.noise.variance) ** 2))


@dataclass(frozen=True, kw_only=True)
class RootTwoForgotten(AdacUCB):
    """sigma = 1 / (2 n sqrt(rho)), the root of 2 lost: each release costs 2 rho."""

    def release(self, rows):
        right = super().release(rows)
        return replace(right, noise=Gaussian(variance=exact(right.noise.variance) / 2))


@dataclass(frozen=True, kw_only=True)
class MeansNoiseOnSums(AdacUCB):
    """The sum of an episode with the noise that its mean needs: a sensitivity of 1, not 1 / n."""

    rho: float = 1.0
    beta: float = 0.1

    def release(self, rows):
        return replace(super().release(rows), divisor=1)


@dataclass(frozen=True, kw_only=True)
class SplitOverArms(AdacUCB):
    """Each release of all rewards so far gets rho / arms: split over arms, not over releases."""

    beta: float = 0.001

    def release(self, rows):
        own = exact(self.rho) / self.arms
        noise = Gaussian(variance=1 / (2 * own * rows.stop**2))
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), noise, divisor=rows.stop)


@dataclass(frozen=True, kw_only=True)
class Approximate(Doubling):
    """Gaussian noise by the classical formula, sigma = sqrt(2 log(1.25 / delta)) / epsilon."""

    epsilon: float = 1.0
    delta: float = 0.001
    notion: ClassVar[Kind] = Kind.APPROXIMATE

    def variance(self):
        return Fraction(2 * math.log(1.25 / self.delta) / self.epsilon**2)

    def release(self, rows):
        noise = Gaussian(variance=self.variance() / self.released_length(rows.stop) ** 2)
        return Release(rows.arm, rows, noise, divisor=len(rows))

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(m.log(time) / pulls) / 10)


@dataclass(frozen=True, kw_only=True)
class ClassicalAboveOne(Approximate):
    """The classical formula at epsilon = 16, where it is no theorem."""

    epsilon: float = 16.0

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(m.log(time) / pulls) / 3)


@dataclass(frozen=True, kw_only=True)
class RhoTakenForEpsilon(Approximate):
    """Noise of rho = epsilon, which is (epsilon + something, delta), sold as (epsilon, delta)."""

    def variance(self):
        return 1 / (2 * exact(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class DeltaPerRelease(Approximate):
    """Each release of all rewards so far is (epsilon, delta); a reward is in all of them."""

    epsilon: float = 4.0
    delta: float = 1e-6

    def release(self, rows):
        noise = Gaussian(variance=self.variance() / rows.stop**2)
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), noise, divisor=rows.stop)


@dataclass(frozen=True, kw_only=True)
class RootOfLevels(DPUCB):
    """A tree whose Laplace noise grows with the root of its levels: L2 where L1 is due."""

    def release(self, rows):
        scale = Fraction(math.sqrt(self.levels)) / exact(self.epsilon)
        return replace(super().release(rows), noise=Laplace(scale))


MUTANTS = (
    VarianceAsDeviation,
    RootTwoForgotten,
    MeansNoiseOnSums,
    SplitOverArms,
    ClassicalAboveOne,
    RhoTakenForEpsilon,
    DeltaPerRelease,
    RootOfLevels,
)

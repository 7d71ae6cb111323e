"""Regret lower bounds for linear bandits with Gaussian noise of deviation 1.

Problem-dependent. Let a* be the unique best arm, kappa = epsilon / sqrt(2 pi). For every parameter
theta' = theta + z with <a*, z> = 0 and <a, z> >= gap_a for some a, a consistent epsilon-DP policy
must pay sum_b E[N_b] d_epsilon(N(0,1), N(<b, z>, 1)) >= (1 - o(1)) log T: the two environments do
not differ on a*, whose pulls are free. Along a subsequence E[N_b] / log T converges, hence

    liminf R_T / log T >= min { sum_b alpha_b gap_b : sum_b alpha_b D(<b, z>) >= 1 for all such z }

for every D >= d_epsilon. Choosing Q = N(v, 1) gives d_epsilon <= kappa |v| + (u - v)^2 / 2, whose
minimum over v is Huber's function with knee kappa: convex, so that `structural.solve` certifies the
minimum (`sharp`). For the finitely many z that carry the certificate, D = d_epsilon itself may be
used: `refined` is the value of that linear programme, valid and at least as large.

The paper (Theorem thm:linnogap_reg) asks ||a||^2 in the norm of H(alpha)^-1 to be at most
min(gap^2 / 2, 3 epsilon rho_a gap) with rho_a = sum_j |<a_j, a - a*>| / ||a_j||^2. Its Fact 2,
|<a_j, G^-1 x>| <= |<a_j, x>| / (||a_j||^2 E[N_j]), is false unless the arms are orthogonal. True is
sum_j w_j |<a_j, H_w^-1 x>| <= rho_valid = max over bases B of A of the l1 norm of the coordinates
of x = a - a* in B, for every weighting w: by Cauchy-Binet the coordinates w_j <a_j, H_w^-1 x> are a
convex combination of those of the bases. With KL <= epsilon E sum TV and TV <= |u| / sqrt(2 pi) the
paper's argument then gives min(gap^2 / 2, kappa rho_valid gap) (`corrected`).

Minimax on [-1, 1]^d (Theorem thm:linminmax): some theta in {-D, D}^d has regret at least
(d T D / 4)(1 - TV), TV <= D sqrt(T) and TV <= tanh(epsilon/2) T sqrt(2/pi) D. The paper's private
constant drops the factor 1/2 of Markov's inequality (its proof gives e^-6/8); the printed e^-6/4
holds nevertheless, being far below the sharp constant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.core.continuous import GaussianLinear
from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.regret_bounds.laws import GaussianLaw
from dpaudit.regret_bounds.structural import (
    Array,
    Certificate,
    Constraint,
    bound_below,
    complement,
    solve,
)

MOST_BASES = 200_000
ROUNDS = 400  # of cutting planes, at most


@dataclass(frozen=True)
class LinearInstance:
    """Finitely many arms that span R^d, and a parameter with one best arm; unit deviation."""

    features: tuple[tuple[float, ...], ...]
    theta: tuple[float, ...]

    def __post_init__(self) -> None:
        means = np.array(self.environment.means)
        best = means.max()
        if (means >= best - 1e-12 * max(1.0, abs(best))).sum() > 1:
            raise InvalidArgument("theta", self.theta, "must have a unique best arm.")
        if np.linalg.matrix_rank(np.array(self.features)) < len(self.theta):
            rule = f"must span the {len(self.theta)} dimensions of theta."
            raise InvalidArgument("features", self.features, rule)

    @cached_property
    def environment(self) -> GaussianLinear:
        """The environment of the simulator."""
        return GaussianLinear(self.features, self.theta)

    @cached_property
    def star(self) -> int:
        """The best arm."""
        return int(np.argmax(self.environment.means))

    @property
    def orthogonal(self) -> bool:
        """Whether different arms are orthogonal, the case in which Fact 2 holds."""
        gram = np.array(self.features) @ np.array(self.features).T
        return bool(np.all(np.abs(gram - np.diag(np.diag(gram))) <= 1e-12 * np.abs(gram).max()))

    @cached_property
    def others(self) -> tuple[int, ...]:
        """The suboptimal arms."""
        return tuple(arm for arm in range(len(self.features)) if arm != self.star)

    @cached_property
    def costs(self) -> Array:
        """The gaps of the suboptimal arms."""
        return np.asarray(self.environment.gaps[list(self.others)])

    @cached_property
    def projected(self) -> Array:
        """The suboptimal arms in coordinates of the complement of the best one."""
        arms = np.array(self.features)
        return np.asarray(arms[list(self.others)] @ complement(arms[[self.star]]))

    def rho(self, arm: int) -> float:
        """Return the paper's rho_a."""
        arms = np.array(self.features)
        direction = arms[arm] - arms[self.star]
        squares = (arms**2).sum(axis=1)
        seen = squares > 0
        return float(np.sum(np.abs(arms[seen] @ direction) / squares[seen]))

    def rho_valid(self, arm: int) -> float:
        """Return the largest l1 norm of a - a* in a basis of arms: what Fact 2 should say."""
        return float(self._over_bases[arm])

    @cached_property
    def _over_bases(self) -> Array:
        arms, dimension = np.array(self.features), len(self.theta)
        if math.comb(len(arms), dimension) > MOST_BASES:
            rule = f"arms give more than {MOST_BASES:,} bases; leave some out."
            raise InvalidArgument("features", len(arms), rule)
        chosen = np.array(list(itertools.combinations(range(len(arms)), dimension)))
        squares = arms[chosen]
        volumes = np.abs(np.linalg.det(squares))
        sizes = np.prod(np.linalg.norm(squares, axis=-1), axis=-1)
        bases = squares[volumes > 1e-12 * np.where(sizes > 0, sizes, 1.0)]
        directions = (arms - arms[self.star]).T
        coordinates = np.linalg.solve(np.swapaxes(bases, 1, 2), directions[None])
        return np.asarray(np.abs(coordinates).sum(axis=1).max(axis=0))


@dataclass(frozen=True)
class Structural:
    """The coefficients of log T of a linear instance, with their certificates."""

    without_privacy: Certificate
    paper: Certificate
    paper_implied: bool
    corrected: Certificate
    sharp: Certificate
    refined: float
    rho: tuple[float, ...]
    rho_valid: tuple[float, ...]


def structural(instance: LinearInstance, epsilon: float) -> Structural:
    """Return c_epsilon in every form; `refined` is the largest that is established."""
    require_positive("epsilon", epsilon)
    kappa = epsilon / math.sqrt(2 * math.pi)
    rho = tuple(instance.rho(arm) for arm in instance.others)
    valid = tuple(instance.rho_valid(arm) for arm in instance.others)
    gaps = instance.costs
    paper = [min(g**2 / 2, 3 * epsilon * r * g) for g, r in zip(gaps, rho, strict=True)]
    corrected = [min(g**2 / 2, kappa * r * g) for g, r in zip(gaps, valid, strict=True)]
    sharp = programme(instance, 1.0, kappa)
    return Structural(
        without_privacy=programme(instance, 1.0, math.inf),
        paper=_norms(instance, paper),
        paper_implied=all(p >= c for p, c in zip(paper, corrected, strict=True)),
        corrected=_norms(instance, corrected),
        sharp=sharp,
        refined=_refine(instance, sharp, epsilon),
        rho=rho,
        rho_valid=valid,
    )


def programme(
    instance: LinearInstance, weight: float, knee: float, rounds: int = ROUNDS
) -> Certificate:
    """Return the value of the programme for Huber's function of a weight and a knee."""
    return _solve(instance, [(gap, weight, knee) for gap in instance.costs], rounds)


def _norms(instance: LinearInstance, limits: Sequence[float]) -> Certificate:
    # ||a||^2 <= limit is: for every z with <a, z> = 1, sum alpha <b, z>^2 >= 1 / limit
    return _solve(instance, [(1.0, 2 * limit, math.inf) for limit in limits])


def _solve(
    instance: LinearInstance, forms: Sequence[tuple[float, float, float]], rounds: int = ROUNDS
) -> Certificate:
    constraints = [
        Constraint(direction, level, weight, knee)
        for direction, (level, weight, knee) in zip(instance.projected, forms, strict=True)
        # an arm parallel to the best one cannot overtake it while the best one's mean is fixed
        if float(np.abs(direction).max(initial=0.0)) > 1e-12
    ]
    return solve(instance.costs, instance.projected, constraints, rounds=rounds)


def _refine(instance: LinearInstance, certificate: Certificate, epsilon: float) -> float:
    """Return the bound with d_epsilon itself at the alternatives of a certificate."""
    if not certificate.alternatives:
        return certificate.lower
    rates = [
        [information(float(u), epsilon) for u in instance.projected @ np.array(z)]
        for z in certificate.alternatives
    ]
    return max(bound_below(instance.costs, np.array(rates))[0], certificate.lower)


def information(shift: float, epsilon: float) -> float:
    """Return d_epsilon(N(0, 1), N(shift, 1)), from above."""
    return GaussianLaw(0.0).private_gap(abs(shift), epsilon).upper


def minimax_paper(dimension: int, epsilon: float, horizon: int) -> float:
    """Return max(e^-2 d sqrt(T) / 8, e^-6 d / (4 epsilon))."""
    _require(dimension, epsilon, horizon)
    public = math.exp(-2) / 8 * dimension * math.sqrt(horizon)
    return max(public, math.exp(-6) / 4 * dimension / epsilon)


def minimax_sharp(dimension: int, epsilon: float, horizon: int) -> float:
    """Return max(d sqrt(T) / 16, sqrt(2 pi) d / (32 tanh(epsilon/2)))."""
    _require(dimension, epsilon, horizon)
    private = math.sqrt(2 * math.pi) / 32 * dimension / math.tanh(epsilon / 2)
    return max(dimension * math.sqrt(horizon) / 16, private)


def _require(dimension: int, epsilon: float, horizon: int) -> None:
    require_integer("dimension", dimension, 1)
    require_positive("epsilon", epsilon)
    require_integer("horizon", horizon, 1)

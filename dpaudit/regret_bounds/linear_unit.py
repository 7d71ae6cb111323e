"""Linear bandits with rewards in [0, 1]: the lower bounds that their algorithms compare with.

The printed linear bounds are for rewards N(<a, theta>, 1). A policy that may rely on [0, 1] can lie
below them: a reward in [0, 1] has a variance of 1/4 at most, and means do not leave [0, 1].

Problem-dependent. Rewards are Bernoulli(<a, theta>). As in `linear`, for every theta' = theta + z
with <a*, z> = 0, <a, z> >= gap_a for some a and all means <b, theta'> in (0, 1), a consistent
epsilon-DP policy pays sum_b E[N_b] d_epsilon(Ber(m_b), Ber(m_b + <b, z>)) >= (1 - o(1)) log T
(`private divergence` holds for any laws). Any finite set of such z relaxes the programme,
so its value stays a lower bound. The z are those of Huber's function with weight 4 = 1 / variance
and knee epsilon / 4, as far as their means lie in (0, 1); the rates are d_epsilon itself.

Minimax, arms of the box [-1, 1]^d, mean reward 1/2 + <a, theta> / 2, theta in {-D, D}^d with
d D <= 1/2. A coordinate with the wrong sign in half of the rounds costs T D / 4, so that some theta
has regret at least (d T D / 8)(1 - TV). Flipping one coordinate moves a mean by at most D, between
1/4 and 3/4, so TV <= sqrt(T kl / 2) with kl <= D^2 / (q (1 - q)) <= 16 D^2 / 3, and under
epsilon-DP TV <= tanh(epsilon/2) T D. With TV <= D / (2 s): D = s gives d T s / 16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.core.divergence import private_bernoulli
from dpaudit.regret_bounds.linear import LinearInstance, programme
from dpaudit.regret_bounds.structural import Array, bound_below

FEW = 20  # rounds of cutting planes: any alternatives make a bound
EDGE = 1e-9  # how far inside (0, 1) the means of an alternative must be


def information(before: Array, after: Array, epsilon: float) -> Array:
    """Return d_epsilon(Ber(before), Ber(after)) for each pair of means."""
    up = after >= before
    x, y = np.where(up, before, 1 - before), np.where(up, after, 1 - after)
    return np.asarray(private_bernoulli(x, y, epsilon))


@dataclass(frozen=True)
class UnitCoefficient:
    """What multiplies log T for rewards in [0, 1], and how many alternatives it rests on."""

    value: float
    alternatives: int


def coefficient(instance: LinearInstance, epsilon: float) -> UnitCoefficient | None:
    """Return the bound's coefficient; None where a mean does not lie in (0, 1)."""
    means = np.array(instance.environment.means)
    if not ((means > 0) & (means < 1)).all():
        return None
    before = means[list(instance.others)]
    rates = []
    for z in programme(instance, 4.0, epsilon / 4, FEW).alternatives:
        after = before + instance.projected @ np.array(z)
        if ((after > EDGE) & (after < 1 - EDGE)).all():
            rates.append(information(before, after, epsilon))
    if not rates:
        return UnitCoefficient(0.0, 0)
    return UnitCoefficient(bound_below(instance.costs, np.array(rates))[0], len(rates))


def minimax(dimension: int, epsilon: float, horizon: int) -> float:
    """Return the larger of d T s / 16 at s = sqrt(3 / (32 T)) and at 1 / (2 T tanh(epsilon/2))."""
    best = 0.0
    for load in (math.sqrt(8 * horizon / 3), math.tanh(epsilon / 2) * horizon):
        gap = min(1 / (2 * load), 1 / (2 * dimension))
        best = max(best, dimension * horizon * gap / 8 * (1 - load * gap))
    return best

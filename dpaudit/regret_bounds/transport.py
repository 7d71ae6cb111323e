"""A lower bound at finite T for a policy whose regret is bounded on every instance.

The asymptotic bounds say nothing at one T. Their proof does, for a policy with known upper bounds:
let U bound its regret on nu, and U' on nu', which differs in arm a alone, made best by g. With the
event N_a > theta T, theta = g / (gap + g), R + R' >= T gap g / (gap + g) (M(A) + M'(not A)), and
Bretagnolle-Huber with KL <= E[N_a] d_epsilon(P_a, P'_a) gives

    E[N_a] >= log( T gap g / (2 (gap + g) (U + U')) ) / d_epsilon(P_a, P'_a)      for every g.

The upper bounds depend on the means alone, so P'_a may be any law of the class with mean best + g.
This is the comparison that is meaningful at finite T: an epsilon-DP policy that meets its upper
bounds on every instance of the class cannot have less expected regret than the sum of gap E[N_a].
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpaudit.regret_bounds.bound import Instance
from dpaudit.regret_bounds.laws import BernoulliLaw

OfMeans = Callable[[tuple[float, ...]], float]
STEPS = 6


def finite_lower(instance: Instance, epsilon: float, horizon: int, regret_bound: OfMeans) -> float:
    """Return a lower bound on the expected regret at T of an epsilon-DP policy bounded by U."""
    here = regret_bound(instance.means)
    found: dict[float, float] = {}
    total = 0.0
    for arm, law in enumerate(instance.laws):
        gap = instance.best - law.mean
        if gap <= 0:
            continue
        if law.mean not in found:
            found[law.mean] = _pulls(instance, arm, gap, epsilon, horizon, here, regret_bound)
        total += gap * found[law.mean]
    return total


def _pulls(
    instance: Instance,
    arm: int,
    gap: float,
    epsilon: float,
    horizon: int,
    here: float,
    regret_bound: OfMeans,
) -> float:
    best, law = instance.best, instance.laws[arm]
    largest = 0.0
    steps = max(3, min(STEPS, 80 // instance.arms))  # any lead is valid; many arms get fewer
    for step in range(1, steps):
        lead = (1 - best) * (step / steps) ** 2
        if lead <= 0 or best + lead >= 1:
            continue
        other = instance.replaced(arm, BernoulliLaw(best + lead))
        scale = horizon * gap * lead / (2 * (gap + lead))
        room = math.log(scale / (here + regret_bound(other.means)))
        largest = max(largest, room / law.private_gap(best + lead, epsilon).upper)
    return largest

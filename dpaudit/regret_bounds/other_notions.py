"""Regret lower bounds under local and zero-concentrated privacy; where none is known, so it says.

Local epsilon, 0/1 rewards. Every epsilon-local channel W of a bit is randomised response and then
something: v_0 = (e^eps W_0 - W_1) / (e^eps - 1) and v_1 = (e^eps W_1 - W_0) / (e^eps - 1) are laws,
and W_i is the mixture that randomised response makes of them (Kairouz, Oh and Viswanath 2014). So
a policy sees no more than bits of mean 1/2 + tanh(eps/2) (p - 1/2), whatever channel it picks in a
round, and the bounds without privacy hold for these means: Lai and Robbins with
gap_a / d(r(p_a), r(p*)), and (T D / 4)(1 - sqrt(n d(1/2 - h D, 1/2 + h D) / 2)), h = tanh(eps/2).
Basu et al. (2019) and Ren et al. (2020) have the first with larger information, by a contraction.

rho-zCDP. Let a policy be rho-zCDP for tables of rewards, one row per round, that differ in one row
(interactive zCDP of Azize and Basu 2023; what the ledger proves is of this kind). Couple the rows
of two environments that differ in one arm by 2 D; h rows differ, Binomial(T, 2 D). Relative entropy
is jointly convex and h rows cost at most h^2 rho (Bun and Steinke 2016), so KL <= rho E h^2 <=
rho ((2 D T)^2 + 2 D T), and one of two instances has regret (T D / 4)(1 - sqrt(KL / 2)). Azize and
Basu (2023) have a further factor sqrt(K - 1) by a finer coupling, which is not checked here. A
problem-dependent bound is not known to us.
"""

from __future__ import annotations

import math

from dpaudit.errors import require_integer, require_positive
from dpaudit.regret_bounds import entropy
from dpaudit.regret_bounds.bound import SHARP, Instance, RegretBound, Scope, lower_bound
from dpaudit.regret_bounds.lower import LIMIT_NOTE, PUBLIC, SOME, bounded_public, largest

FREE = "holds for every policy, private or not"
FURTHER = "Azize and Basu (2023) state a further factor sqrt(K - 1), which is not checked here"
UNKNOWN = "no problem-dependent bound of rho-zCDP is known here"


def local_bounds(instance: Instance, epsilon: float, horizon: int) -> list[RegretBound]:
    """Return the lower bounds for policies that see randomised bits alone."""
    require_positive("epsilon", epsilon)
    require_integer("horizon", horizon, 2)
    shrink = math.tanh(epsilon / 2)
    seen = [0.5 + shrink * (mean - 0.5) for mean in (*instance.means, instance.best)]
    pairs = zip(instance.means, seen, strict=False)
    total = sum(
        (instance.best - mean) / entropy.bernoulli(told, seen[-1])
        for mean, told in pairs
        if mean < instance.best
    )
    pulls = horizon / (instance.arms - 1)

    def value(gap: float) -> float:
        told = entropy.bernoulli(0.5 - shrink * gap, 0.5 + shrink * gap)
        return horizon * gap / 4 * (1 - math.sqrt(pulls * told / 2))

    worst = largest(value, min(0.5 - 1e-9, 0.5 / math.sqrt(pulls) / shrink))
    claims, limit = (
        "notions.local-first, notions.local-second, notions.local-mean",
        Scope.ASYMPTOTIC,
    )
    return [
        lower_bound("problem-dependent, randomised bits", SHARP, limit, total * math.log(horizon),
                    f"{claims}, book.16.2", f"0/1 rewards; {LIMIT_NOTE}"),
        lower_bound("minimax, randomised bits", SHARP, Scope.MINIMAX, worst, claims, SOME),
    ]  # fmt: skip


def zcdp_bounds(instance: Instance, rho: float, horizon: int) -> list[RegretBound]:
    """Return the lower bounds for policies that are rho-zCDP; the first row needs no privacy."""
    require_positive("rho", rho)
    require_integer("horizon", horizon, 2)

    def value(gap: float) -> float:
        mean = 2 * gap * horizon
        return horizon * gap / 4 * (1 - math.sqrt(rho * (mean**2 + mean) / 2))

    total = sum(
        (gap / law.kl_gap(instance.best).upper for law, gap in instance.suboptimal), start=0.0
    )
    private = largest(value, min(0.5, 1 / (2 * horizon * math.sqrt(rho / 2))))
    public = bounded_public(instance.arms, horizon)
    limit, some = Scope.ASYMPTOTIC, Scope.MINIMAX
    return [
        lower_bound("without privacy (Lai-Robbins)", SHARP, limit, total * math.log(horizon),
                    "book.16.2", f"{FREE}: {UNKNOWN}; {LIMIT_NOTE}"),
        lower_bound("minimax, without privacy", SHARP, some, public, PUBLIC,
                    f"{FREE}; {SOME}"),
        lower_bound("minimax, coupled tables", SHARP, some, private,
                    "notions.zcdp-second-moment, notions.zcdp-value", f"{SOME}; {FURTHER}"),
    ]  # fmt: skip

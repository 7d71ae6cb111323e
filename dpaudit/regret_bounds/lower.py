"""Regret lower bounds for stochastic bandits: problem-dependent and minimax.

Problem-dependent (paper, Theorem thm:nogap): for every consistent epsilon-DP policy
liminf R_T / log T >= sum over suboptimal arms of gap_a / (information per pull of arm a), with

| form     | information per pull              | rests on                                |
|----------|-----------------------------------|-----------------------------------------|
| paper    | min(d_a, 6 epsilon t_a)           | KL <= 6 epsilon E sum TV                |
| improved | min(d_a, epsilon t_a)             | KL <= epsilon E sum TV                  |
| sharp    | d_epsilon(P_a, best) <= the above | KL <= sum_a E[N_a] d_epsilon(P_a, P'_a) |

The last inequality. Fix laws Q_a and couple every reward r_t ~ P_a with q_t ~ Q_a so that they
differ with probability TV(P_a, Q_a). Writing both action laws as integrals against this coupling,
the log-sum inequality gives KL <= E[log pi(a|r)/pi(a|q)] + E[sum over t of log dQ/dP'(q_t)]. Global
privacy bounds the first term by epsilon times the number of t with r_t != q_t. In both sums round t
is drawn afresh after the arm is chosen, so they are sum_a E[N_a] epsilon TV(P_a, Q_a) and
sum_a E[N_a] KL(Q_a, P'_a).

Minimax (paper, Theorem thm:minimax): with n = T / (K-1) and hard instances of gap D, one of two
neighbouring instances has regret at least (T D / 4) (1 - TV(M, M')), and TV(M, M') is at most
sqrt(n KL / 2) and at most tanh(epsilon/2) n TV of the changed arm.

| rewards            | KL of the changed arm         | TV      | D          |
|--------------------|-------------------------------|---------|------------|
| Gaussian, variance 1 | 2 D^2                       | erf(D / sqrt 2) | (0, inf)  |
| in [0, 1]: Bernoulli(1/2 - D) to Bernoulli(1/2 + D) | d(1/2-D, 1/2+D) | 2 D | (0, 1/2] |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.regret_bounds import entropy
from dpaudit.regret_bounds.bound import PAPER, SHARP, Instance, RegretBound, Scope, lower_bound

LIMIT_NOTE = "liminf statement: compare the trend of regret / log T, for a consistent policy"
SOME = "some instance of the class is this bad, not necessarily this one"
PUBLIC = "lem:div_decomp as printed, lem:pinsker as printed"
FAR_NOTE = "liminf statement far from its limit: no policy has so much regret at this T"


@dataclass(frozen=True)
class Coefficients:
    """What multiplies log T in the problem-dependent lower bounds."""

    without_privacy: float
    paper: float
    improved: float
    sharp: float


def coefficients(instance: Instance, epsilon: float) -> Coefficients:
    """Return the four coefficients; an arm that nothing can beat contributes 0."""
    require_positive("epsilon", epsilon)
    totals = [0.0, 0.0, 0.0, 0.0]
    for law, gap in instance.suboptimal:
        # the upper end of an enclosure of the information keeps the quotient a lower bound
        kl = law.kl_gap(instance.best).upper
        tv = law.tv_gap(instance.best).upper
        private = law.private_gap(instance.best, epsilon).upper
        information = (kl, min(kl, 6 * epsilon * tv), min(kl, epsilon * tv), private)
        if min(information) == 0:
            raise InvalidArgument("gap", gap, "is too small to divide by; make the means equal.")
        for i, value in enumerate(information):
            totals[i] += gap / value
    return Coefficients(*totals)


def problem_dependent(instance: Instance, epsilon: float, horizon: int) -> list[RegretBound]:
    """Return the asymptotic lower bounds at log T, without privacy, paper, improved, sharp."""
    require_integer("horizon", horizon, 2)
    found = coefficients(instance, epsilon)
    log_horizon = math.log(horizon)
    most = horizon * max((gap for _, gap in instance.suboptimal), default=0.0)
    private = "thm:nogap with d_eps, arXiv 2505.05613"
    rows = (
        ("without privacy (Lai-Robbins)", PAPER, found.without_privacy, "book.16.2"),
        ("problem-dependent, 6 epsilon t", PAPER, found.paper, "thm:nogap as printed"),
        ("problem-dependent, epsilon t", SHARP, found.improved, "thm:nogap as repaired"),
        ("problem-dependent, d_epsilon", SHARP, found.sharp, private),
    )
    return [
        lower_bound(
            name,
            form,
            Scope.ASYMPTOTIC,
            coefficient * log_horizon,
            claims,
            LIMIT_NOTE if coefficient * log_horizon <= most else FAR_NOTE,
            details={"coefficient": coefficient},
        )
        for name, form, coefficient, claims in rows
    ]


def minimax_paper(arms: int, epsilon: float, horizon: int) -> float:
    """Return max(sqrt(T (K-1)) / 27, (K-1) / (131 epsilon)), for unit Gaussian rewards."""
    _require(arms, epsilon, horizon)
    return max(math.sqrt(horizon * (arms - 1)) / 27, (arms - 1) / (131 * epsilon))


def minimax_gaussian(arms: int, epsilon: float, horizon: int) -> float:
    """Return max(sqrt(T (K-1)) / 16, sqrt(2 pi) (K-1) / (32 tanh(epsilon/2)))."""
    _require(arms, epsilon, horizon)
    private = math.sqrt(2 * math.pi) / 32 * (arms - 1) / math.tanh(epsilon / 2)
    return max(math.sqrt(horizon * (arms - 1)) / 16, private)


def minimax_bounded(arms: int, epsilon: float, horizon: int) -> float:
    """Return the largest of (T D / 4)(1 - TV) over D in (0, 1/2], for rewards in [0, 1].

    The private part is (K-1) / (32 tanh(epsilon/2)) while that is at most T / 16, and
    (T / 8)(1 - tanh(epsilon/2) T / (K-1)) when the budget is smaller still.
    """
    _require(arms, epsilon, horizon)
    return max(bounded_public(arms, horizon), bounded_private(arms, epsilon, horizon))


def bounded_private(arms: int, epsilon: float, horizon: int) -> float:
    """Return the part of the bounded minimax bound that privacy forces."""
    load = math.tanh(epsilon / 2) * horizon / (arms - 1)
    gap = min(1 / (4 * load), 0.5)
    return horizon * gap / 4 * (1 - 2 * load * gap)


def bounded_public(arms: int, horizon: int) -> float:
    """Return the part of the bounded minimax bound that needs no privacy."""
    pulls = horizon / (arms - 1)

    def value(gap: float) -> float:
        distance = math.sqrt(pulls * entropy.bernoulli(0.5 - gap, 0.5 + gap) / 2)
        return horizon * gap / 4 * (1 - distance)

    # d(1/2 - D, 1/2 + D) >= 8 D^2, so nothing beyond 1 / (2 sqrt(pulls)) is positive
    return largest(value, min(0.5 - 1e-9, 0.5 / math.sqrt(pulls)))


def largest(value: Callable[[float], float], end: float) -> float:
    """Return the largest value at a gap up to `end`: any gap is a valid bound."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda gap: -value(gap), bounds=(0, end), method="bounded")
    return float(max(-found.fun, value(end), 0.0))


def minimax(arms: int, epsilon: float, horizon: int) -> list[RegretBound]:
    """Return the minimax lower bounds."""
    values, unit = (arms, epsilon, horizon), "unit variance and unbounded means"
    gaussian, bounded = "minimax, Gaussian rewards", "minimax, rewards in [0, 1]"
    paper, sharp = minimax_paper(*values), minimax_gaussian(*values)
    sharper = "thm:minimax as repaired, sharper.minimax-public"
    bernoulli = f"thm:minimax for bounded rewards as repaired, {PUBLIC}"
    return [
        lower_bound(name, form, Scope.MINIMAX, value, claims, f"{SOME}; {extra}")
        for name, form, value, claims, extra in (
            (gaussian, PAPER, paper, "thm:minimax as printed",
             f"{unit}: no statement about rewards in [0, 1]"),
            (gaussian, SHARP, sharp, sharper, unit),
            (bounded, SHARP, minimax_bounded(*values), bernoulli, "Bernoulli instances around 1/2"),
        )
    ]  # fmt: skip


def _require(arms: int, epsilon: float, horizon: int) -> None:
    require_integer("arms", arms, 2)
    require_positive("epsilon", epsilon)
    require_integer("horizon", horizon, 1)
    if horizon < arms - 1:
        raise InvalidArgument("horizon", horizon, f"must be at least {arms - 1}, arms - 1.")

"""Regimes: the budget epsilon from which privacy stops costing regret, per arm and minimax.

Per arm, three thresholds of the problem-dependent bound, d and t the KL and TV gaps:

| threshold | where                     | what it says                                       |
|-----------|---------------------------|----------------------------------------------------|
| paper     | d / (6 t)                 | 6 epsilon t passes d; privacy still costs above it |
| improved  | d / t                     | epsilon t passes d; privacy still costs above it   |
| right     | oscillation of log dP/dP' | d_epsilon = d: the lower bound is the public one   |

For Bernoulli arms the right one is logit(best) - logit(mean), and it is attained: DP-KLUCB and
DP-IMED (arXiv 2505.05613) reach the d_epsilon bound up to a factor that tends to 1 with their batch
ratio. For Gaussian, exponential and Poisson rewards it is infinite: the cost fades, it never ends.
An instance is in its high-privacy regime below the smallest threshold of its arms, in its
low-privacy regime from the largest on, and mixed between.

Minimax: where the private part of the lower bound meets the public part. That compares two lower
bounds; the best upper bounds known here differ from them by factors of log T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.errors import require_integer
from dpaudit.regret_bounds.bound import Instance
from dpaudit.regret_bounds.lower import bounded_public


@dataclass(frozen=True)
class ArmRegime:
    """The thresholds of one suboptimal arm."""

    mean: float
    gap: float
    paper: float
    improved: float
    right: float


@dataclass(frozen=True)
class MinimaxRegime:
    """The budgets below which privacy dominates the minimax lower bound.

    `paper` is that of the paper's own bound; its text has the fraction upside down, `printed`.
    """

    paper: float
    printed: float
    gaussian: float
    bounded: float


def per_arm(instance: Instance) -> tuple[ArmRegime, ...]:
    """Return the thresholds of the suboptimal arms; infinite where no arm could do better."""
    found = []
    for law, gap in instance.suboptimal:
        kl, tv = law.kl_gap(instance.best).upper, law.tv_gap(instance.best).upper
        ratio = kl / tv if math.isfinite(kl) else math.inf
        right = law.free_epsilon(instance.best)
        found.append(ArmRegime(law.mean, gap, ratio / 6, ratio, right))
    return tuple(found)


def edges(instance: Instance, threshold: str) -> tuple[float, float]:
    """Return the smallest and the largest of one kind of threshold; (0, 0) with no bad arm."""
    values = [getattr(arm, threshold) for arm in per_arm(instance)]
    return (min(values), max(values)) if values else (0.0, 0.0)


def known(instance: Instance) -> bool:
    """Tell whether some law has a larger mean than the best arm; the lower bound is 0 if none."""
    return not any(math.isinf(arm.paper) for arm in per_arm(instance))


def words(instance: Instance, epsilon: float) -> str:
    """Say in which regime of its arms an instance is, where that is known."""
    low, high = edges(instance, "right")
    if not known(instance):
        return "unknown: no law has a larger mean than the best arm, so the lower bound is 0"
    if epsilon >= high:
        return "low privacy: the lower bound is the one without privacy"
    if epsilon < low:
        return "high privacy: every suboptimal arm costs more than without privacy"
    return "mixed: some arms cost more than without privacy"


def minimax(arms: int, horizon: int) -> MinimaxRegime:
    """Return the thresholds of the minimax bounds for K arms and T rounds."""
    require_integer("arms", arms, 2)
    require_integer("horizon", horizon, arms - 1)
    ratio = math.sqrt((arms - 1) / horizon)
    return MinimaxRegime(
        paper=27 / 131 * ratio,
        printed=131 / 27 * ratio,
        gaussian=_from_tanh(math.sqrt(math.pi / 2) * ratio),
        bounded=_from_tanh((arms - 1) / (32 * bounded_public(arms, horizon))),
    )


def linear_minimax(horizon: int) -> tuple[float, float]:
    """Return the paper's 2 e^-4 / sqrt(T) and the budget at which the sharp parts meet."""
    return 2 * math.exp(-4) / math.sqrt(horizon), _from_tanh(math.sqrt(math.pi / 2 / horizon))


def _from_tanh(value: float) -> float:
    return 2 * math.atanh(value) if value < 1 else math.inf

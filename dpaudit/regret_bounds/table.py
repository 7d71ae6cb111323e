"""Every bound that speaks about an instance, collected: paper's form beside the sharpest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dpaudit.errors import UnknownName
from dpaudit.regret_bounds import baselines, lower, upper
from dpaudit.regret_bounds.bound import (
    PAPER,
    SHARP,
    BoundSide,
    BoundStanding,
    Instance,
    RegretBound,
    Scope,
    lower_bound,
    upper_bound,
)
from dpaudit.regret_bounds.episodes import LazyIndex
from dpaudit.regret_bounds.transport import finite_lower

TERM_2 = "gr.sizes-sum"  # finite for every alpha > 1
ACCOUNTING = "episode accounting"
EPISODES = f"{ACCOUNTING}, {TERM_2}"
TAILS = "lem:chernoff as printed, lem:hoeff as printed, lem:lap_conc as printed"
ANY_ALPHA = "holds for alpha > 1"
EVERY = "for every instance with rewards in [0, 1]"
ALGORITHMS = ("adap_ucb", "adap_klucb", "lazy_dp_ucb", "dp_se", "dp_ucb")


@dataclass(frozen=True)
class Setting:
    """What the bounds are evaluated at."""

    epsilon: float
    horizon: int
    alpha: float = 3.1
    given: Mapping[str, Any] = field(default_factory=dict)  # of targets without bounds of their own


def sharpest(algorithm: str, setting: Setting) -> Callable[[tuple[float, ...]], float]:
    """Return the sharpest established upper bound of an algorithm as a function of the means."""
    e, a, t = setting.epsilon, setting.alpha, setting.horizon
    known: dict[str, Callable[[tuple[float, ...]], float]] = {
        "adap_ucb": lambda means: upper.adap_ucb_sharp(means, e, a, t),
        "adap_klucb": lambda means: upper.adap_klucb_sharp(means, e, a, t),
        "lazy_dp_ucb": lambda means: LazyIndex(e, 6.0, 3.0).regret(means, t),
        "dp_se": lambda means: baselines.dp_se(means, e, t),
        "dp_ucb": lambda means: baselines.dp_ucb(means, e, t),
    }
    if algorithm not in known:
        raise UnknownName("algorithm with an upper bound", algorithm, known)
    return known[algorithm]


def upper_bounds(
    instance: Instance, setting: Setting, algorithms: Sequence[str]
) -> list[RegretBound]:
    """Return the upper bounds of the chosen algorithms, for rewards in [0, 1]."""
    found: list[RegretBound] = []
    for algorithm in algorithms:
        best = sharpest(algorithm, setting)(instance.means)
        found += _FORMS[algorithm](instance.means, setting, best)
        found.append(_below(instance, setting, algorithm))
    return found


def stochastic(
    instance: Instance, setting: Setting, algorithms: Sequence[str]
) -> list[RegretBound]:
    """Return every bound of a stochastic instance; upper ones only for rewards in [0, 1]."""
    found = lower.problem_dependent(instance, setting.epsilon, setting.horizon)
    found += lower.minimax(instance.arms, setting.epsilon, setting.horizon)
    return found + (upper_bounds(instance, setting, algorithms) if algorithms else [])


def _order(algorithm: str, value: float, claim: str, note: str) -> RegretBound:
    about = "Table 1 with constant 1", BoundSide.UPPER, PAPER, Scope.ORDER, value, (claim,)
    return RegretBound(*about, BoundStanding.ORDER_ONLY, note, algorithm)


def _below(instance: Instance, setting: Setting, algorithm: str) -> RegretBound:
    value = finite_lower(instance, setting.epsilon, setting.horizon, sharpest(algorithm, setting))
    claims = "private divergence, lem:bret_hub as printed, sharper.transport"
    note = "the comparison with expected regret that is meaningful at finite T"
    name = "at this T, given its upper bounds"
    return lower_bound(name, SHARP, Scope.FINITE, value, claims, note, algorithm=algorithm)


def _adap_ucb(means: tuple[float, ...], s: Setting, best: float) -> list[RegretBound]:
    values = (means, s.epsilon, s.alpha, s.horizon)
    row = partial(upper_bound, "adap_ucb")
    return [
        row(
            "16 alpha log T / min(gap, epsilon)",
            PAPER,
            upper.adap_ucb_paper(*values),
            "thm:ucb_upperbound as printed",
            "needs alpha > 3; the printed proof would need 20.94 at gap = epsilon, a repaired one "
            "needs 13.6",
        ),
        row(
            "repaired closed form, 4 n* + 3",
            SHARP,
            upper.adap_ucb_closed(*values),
            f"ucb.repaired-quadratic, {EPISODES}",
            ANY_ALPHA,
        ),
        row("episode by episode", SHARP, best, EPISODES, ANY_ALPHA),
        row("gap-free", PAPER, upper.gap_free_paper(*values), "thm:nogap_upper as printed", EVERY),
        row(
            "gap-free",
            SHARP,
            upper.gap_free_sharp(len(means), *values[1:]),
            f"ucb.repaired-quadratic, gf.tuning-best, {EPISODES}",
            EVERY,
        ),
    ]


def _adap_klucb(means: tuple[float, ...], s: Setting, best: float) -> list[RegretBound]:
    values = (means, s.epsilon, s.alpha, s.horizon)
    row = partial(upper_bound, "adap_klucb")
    free = upper.gap_free_klucb(len(means), *values[1:])
    return [
        row(
            "C1 log T gap / min(d, C2 epsilon gap)",
            PAPER,
            upper.adap_klucb_paper(*values),
            "thm:kl_ucb_upperbound as repaired, klu.condition-1, klu.condition-2",
            "needs alpha > 3; the C1, C2 of the printed proof are no constants: taken for this "
            "instance (klu.constants)",
        ),
        row(
            "universal: C1 = 4 alpha / c, C2 = 1",
            SHARP,
            upper.adap_klucb_universal(*values),
            "klucb universal",
            "any c < 0.3178; beside it pulls of order 1 / gap^2 + 1 / (epsilon gap), free of T; "
            f"{ANY_ALPHA}",
        ),
        row("episode by episode", SHARP, best, EPISODES, ANY_ALPHA),
        row("gap-free", SHARP, free, "klucb universal, gf.klucb", EVERY),
    ]


def _lazy_dp_ucb(means: tuple[float, ...], s: Setting, best: float) -> list[RegretBound]:
    return [upper_bound("lazy_dp_ucb", "episode by episode", SHARP, best, ACCOUNTING)]


def _dp_se(means: tuple[float, ...], s: Setting, best: float) -> list[RegretBound]:
    order = baselines.dp_se_order(means, s.epsilon, s.horizon)
    return [
        _order("dp_se", order, "tb.dp-se", "an order, not a bound"),
        upper_bound("dp_se", "explicit, as declared", SHARP, best, f"sharper.dp-se, {TAILS}"),
    ]


def _dp_ucb(means: tuple[float, ...], s: Setting, best: float) -> list[RegretBound]:
    order = baselines.dp_ucb_order(means, s.epsilon, s.horizon)
    return [
        _order("dp_ucb", order, "tb.dp-ucb", "an order, not a bound; it lacks the factor K"),
        upper_bound(
            "dp_ucb", "explicit, as declared", SHARP, best, f"sharper.dp-ucb-noise, {TAILS}"
        ),
    ]


_FORMS = {
    "adap_ucb": _adap_ucb,
    "adap_klucb": _adap_klucb,
    "lazy_dp_ucb": _lazy_dp_ucb,
    "dp_se": _dp_se,
    "dp_ucb": _dp_ucb,
}

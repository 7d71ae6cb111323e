"""Regret upper bounds of AdaP-UCB and AdaP-KLUCB: printed, corrected, and as sharp as established.

Throughout L = alpha log T, D is a gap, and `episodes.py` gives `optimism` and, as the sharpest form
at a given T, the sum over episodes. All hold for rewards in [0, 1] and for several optimal arms.

AdaP-UCB. The paper asks twice both bonuses to fit into the gap, n >= (L / (2 D^2)) (1 + sqrt(1 + 4
D/epsilon))^2, and bounds this by half of what it is (equation eq:gamma); its constant 16 would have
to be 20.94 at D = epsilon. The theorem survives, because arm a itself needs confidence 1/T only:
with A = (sqrt(alpha) + 1) sqrt(log T / 2), B = (alpha + 1) log T / epsilon and n* the n at which
D n = A sqrt(n) + B, P(index at T >= best) <= 3/(2T) from n* on. Releases before n* cost at most 4
n* pulls in all, later ones 3: E[N_a] <= 4 n* + 3 + optimism. As n* <= A^2/D^2 + 2 B/D, for every
instance the regret is at most 4 A sqrt((K-1) T) + 8 B (K-1) + 3 (K-1) + optimism (gap-free).

AdaP-KLUCB. The paper's C1, C2 depend on the instance and on T (through c(beta) and gamma), and no
universal pair bounds E[N_a] with its additive constant: for best = 1 and epsilon large, arm a is
pulled as long as its rewards are all 1, about 1/(1 - mean) times (regret of order 1). Universal
constants, with a remainder that depends on the gap but not on T: for 0 < c < c0 = 0.3178..., the
root of 1 - 2 c + c log c,

    E[N_a] <= 4 alpha log T / (c min(d, epsilon D)) + 8/(eta D)^2 + 4/(eta epsilon D) + 1 + optimism

with eta = 1 - c - s and (1-s) log(1-s) + s = c. Proof. Write F(s) = d(best - s D, best). As
d(x, q) = q H(x/q) + (1-q) H((1-x)/(1-q)) with H(1-v) = sum of v^k / (k (k-1)), F(s) / F(1) is at
least H(1-s) = (1-s) log(1-s) + s: in the first part the weights of s^k move to higher k as v grows
to 1, in the second H(1+w)/w^2 falls, which gives s^2 >= H(1-s). So if n >= L / (c min(d, epsilon
D)), the y with d(y, best) = L/n is at least best - s D and the shift L/(epsilon n) at most c D: the
index reaches best only if mean + noise exceeds the arm's mean by eta D. Split eta D in halves
(Hoeffding, Laplace) and sum over the releases, sum of 2^i e^(-2^i b) <= 2/b.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.errors import InvalidArgument, require_integer, require_positive
from dpaudit.regret_bounds import entropy
from dpaudit.regret_bounds.episodes import HoeffdingIndex, KLIndex, optimism

if TYPE_CHECKING:
    from collections.abc import Callable


def require_setting(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> None:
    """Raise unless rewards lie in [0, 1] and the parameters are in range."""
    if len(means) < 2:
        raise InvalidArgument("means", tuple(means), "must name at least two arms.")
    for mean in means:
        if not 0 <= mean <= 1:
            raise InvalidArgument("means", mean, "must lie in [0, 1]: the algorithms need it.")
    require_positive("epsilon", epsilon)
    require_positive("alpha", alpha)
    require_integer("horizon", horizon, len(means))


def gaps(means: Sequence[float]) -> list[float]:
    """Return the positive gaps."""
    best = max(means)
    return [best - mean for mean in means if mean < best]


def _additive(alpha: float) -> float:
    """Return the paper's 3 alpha / (alpha - 3), infinite for alpha <= 3."""
    return 3 * alpha / (alpha - 3) if alpha > 3 else math.inf


def adap_ucb_paper(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return sum of 16 alpha log T / min(gap, epsilon) + 3 alpha / (alpha - 3)."""
    require_setting(means, epsilon, alpha, horizon)
    leading = 16 * alpha * math.log(horizon)
    return sum(leading / min(gap, epsilon) + _additive(alpha) for gap in gaps(means))


def _bonuses(epsilon: float, alpha: float, horizon: int) -> tuple[float, float]:
    """Return A and B."""
    log_horizon = math.log(horizon)
    spread = (math.sqrt(alpha) + 1) * math.sqrt(log_horizon / 2)
    return spread, (alpha + 1) * log_horizon / epsilon


def needed(gap: float, epsilon: float, alpha: float, horizon: int) -> float:
    """Return n*, the root of gap n = A sqrt(n) + B."""
    a, b = _bonuses(epsilon, alpha, horizon)
    return ((a + math.sqrt(a * a + 4 * gap * b)) / (2 * gap)) ** 2


def adap_ucb_closed(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return the repaired theorem: sum of gap (4 n* + 3), plus optimism."""
    require_setting(means, epsilon, alpha, horizon)
    found = gaps(means)
    lost = optimism(len(means), horizon, alpha, alpha)
    counted = sum(gap * (4 * needed(gap, epsilon, alpha, horizon) + 3) for gap in found)
    return counted + max(found, default=0.0) * lost


def adap_ucb_sharp(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return the episode-by-episode bound of AdaP-UCB, for rewards in [0, 1]."""
    require_setting(means, epsilon, alpha, horizon)
    return HoeffdingIndex(epsilon, alpha, alpha).regret(tuple(means), horizon)


def adap_klucb_sharp(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return the episode-by-episode bound of AdaP-KLUCB, for rewards in [0, 1]."""
    require_setting(means, epsilon, alpha, horizon)
    return KLIndex(epsilon, alpha, alpha).regret(tuple(means), horizon)


def adap_klucb_paper(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return the paper's theorem with C1 and C2 as its proof defines them, on this instance.

    n = inf over beta of max((1 + beta) alpha / d, (1 + alpha) / ((c(beta) - gamma) epsilon gap))
    times log T, gamma at its largest value that the first condition allows;
    E[N_a] <= max(2, 4 n) + 3 alpha / (alpha - 3); the 2 is a step that the paper leaves out.
    """
    require_setting(means, epsilon, alpha, horizon)
    best, log_horizon = max(means), math.log(horizon)
    total = 0.0
    for mean in means:
        if mean < best:
            count = max(2.0, 4 * _paper_level(mean, best, epsilon, alpha) * log_horizon)
            total += (best - mean) * count + _additive(alpha)
    return total


def _paper_level(mean: float, best: float, epsilon: float, alpha: float) -> float:
    if best >= 1:  # c(beta) has no solution: d(., 1) is infinite
        return math.inf

    def value(y: float) -> float:
        # y = mean + c(beta) gap determines beta: d(y, best) = d / (1 + beta)
        remaining = entropy.bernoulli(y, best)
        least = _least_above(mean, best, remaining / alpha)
        if least >= y or remaining <= 0:
            return math.inf
        return max(alpha / remaining, (1 + alpha) / ((y - least) * epsilon))

    return _minimum(value, mean, best)


def _least_above(mean: float, best: float, level: float) -> float:
    """Return the z in [mean, best] with d(z, mean) = level, or infinity if none."""
    if entropy.bernoulli(best, mean) < level:
        return math.inf
    low, high = mean, best
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if entropy.bernoulli(middle, mean) < level else (low, middle)
    return high


def _minimum(value: Callable[[float], float], low: float, high: float) -> float:
    """Return the least value found on a grid and around its best point: any point is valid."""
    from scipy.optimize import minimize_scalar

    step = (high - low) / 200
    grid = [low + step * i for i in range(1, 200)]
    centre = min(grid, key=value)
    if math.isinf(value(centre)):
        return math.inf
    found = minimize_scalar(value, bounds=(centre - step, centre + step), method="bounded")
    return float(min(value(centre), found.fun))


def universal_limit() -> float:
    """Return c0 = 0.3178..., the root of 1 - 2 c + c log c below 1/2."""
    from scipy.optimize import brentq

    return float(brentq(lambda c: 1 - 2 * c + c * math.log(c), 0.1, 0.5, xtol=1e-15))


def universal_slack(c: float) -> float:
    """Return eta = 1 - c - s with (1-s) log(1-s) + s = c; positive for 0 < c < c0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        s = 0.5 * (low + high)
        low, high = (s, high) if entropy.convex_log(-s) < c else (low, s)
    return 1 - c - high


def adap_klucb_universal(
    means: Sequence[float], epsilon: float, alpha: float, horizon: int
) -> float:
    """Return the bound with universal constants: C1 = 4 alpha / c, C2 = 1, the best c per arm."""
    require_setting(means, epsilon, alpha, horizon)
    best, limit = max(means), universal_limit()
    level = alpha * math.log(horizon)
    total = 0.0
    for mean in means:
        gap = best - mean
        if gap <= 0:
            continue
        rate = min(entropy.bernoulli(mean, best), epsilon * gap)

        def count(c: float, gap: float = gap, rate: float = rate) -> float:
            eta = universal_slack(c)
            if eta <= 0:
                return math.inf
            return 4 * level / (c * rate) + 8 / (eta * gap) ** 2 + 4 / (eta * epsilon * gap)

        total += gap * (1 + _minimum(count, 0.0, limit))
    found = gaps(means)
    return total + max(found, default=0.0) * optimism(len(means), horizon, alpha, alpha)


def gap_free_paper(means: Sequence[float], epsilon: float, alpha: float, horizon: int) -> float:
    """Return the paper's gap-free bound of AdaP-UCB; only its first term sees the instance."""
    require_setting(means, epsilon, alpha, horizon)
    arms, log_horizon = len(means), math.log(horizon)
    spread = 8 * math.sqrt(alpha * arms * horizon * log_horizon)
    fixed = _additive(alpha) * sum(gaps(means)) if gaps(means) else 0.0
    return fixed + spread + 16 * alpha * arms * log_horizon / epsilon


def gap_free_sharp(arms: int, epsilon: float, alpha: float, horizon: int) -> float:
    """Bound the regret of AdaP-UCB on every instance with rewards in [0, 1]."""
    require_setting((0.0,) * arms, epsilon, alpha, horizon)
    others, (a, b) = arms - 1, _bonuses(epsilon, alpha, horizon)
    fixed = 3 * others + optimism(arms, horizon, alpha, alpha)
    spread = 4 * a * math.sqrt(others * horizon)
    return min(fixed + spread + 8 * b * others, float(horizon))


def gap_free_klucb(arms: int, epsilon: float, alpha: float, horizon: int) -> float:
    """Bound the regret of AdaP-KLUCB on every instance, from the universal form and d >= 2 D^2."""
    require_setting((0.0,) * arms, epsilon, alpha, horizon)
    others, level = arms - 1, alpha * math.log(horizon)

    def value(c: float) -> float:
        eta = universal_slack(c)
        if eta <= 0:
            return math.inf
        spread = 2 * math.sqrt((2 * level / c + 8 / eta**2) * others * horizon)
        return spread + others * (4 * level / c + 4 / eta) / epsilon

    fixed = others + optimism(arms, horizon, alpha, alpha)
    return min(fixed + _minimum(value, 0.0, universal_limit()), float(horizon))

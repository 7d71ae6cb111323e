"""What `dpaudit bounds` uses beyond the paper: sharper regret bounds and the steps behind them.

*d_epsilon.* KL(M_nu, M_nu') <= sum_a E[N_a] d_eps(P_a, P'_a), d_eps(P, P') = inf_Q eps TV(P, Q) +
KL(Q, P') (arXiv 2505.05613). Couple r_t ~ P with q_t ~ Q maximally and write m(a) = E pi(a|r),
m'(a) = E pi(a|q) prod dP'/dQ(q_t). Log-sum (`kl.log-sum`) gives m log(m/m') <= E pi(a|r)
[log pi(a|r)/pi(a|q) + sum_t log dQ/dP'(q_t)]; sum over a as for `kl.constant-one`, which is the
case Q = P'. For Bernoulli laws the best Q has mean max(x, tilt) (`sharper.tilt*`).

*AdaP-KLUCB with universal constants.* With H(w) = w log w - w + 1, d(x, q) = q H(x/q) +
(1-q) H((1-x)/(1-q)). Moving x from q - D to q - sD multiplies the first part by
H(1-sv)/H(1-v) >= H(1-s), v = D/q <= 1: the ratio falls in v because v L/H(1-v), L = -log(1-v),
rises (`sharper.klucb-ratio-slope`, `-sign`), and is H(1-s) at v = 1. It multiplies the second by
H(1+sw)/H(1+w) >= s^2 (`-square`) >= H(1-s) (`-last`). So d(q - sD, q) >= H(1-s) d(q - D, q). Take
H(1-s) = c and a release of n with L/n <= c min(d, eps D), L = alpha log T: a clipped mean below
q - sD has an index below q, and the shift L/(eps n) is at most c D, so that mean plus noise must
exceed the arm's mean by eta D, eta = 1 - c - s (`sharper.klucb-room`), which is positive because
H(c) > c (`sharper.klucb-constant`). Half of it by the mean, half by the noise: exp(-n (eta D)^2/2)
+ exp(-eps n eta D/2)/2, times the 2 n rounds of the next episode, summed over n = 2^i/2
(`sharper.klucb-sum`): 8/(eta D)^2 + 4/(eta eps D). Releases of smaller n are followed by at most
4 L/(c min(d, eps D)) rounds in all. The best arm's index is below q with probability at most
3/(2 t^alpha) for each size (`lem:kl_concentration`), summed by `gr.sizes-sum`, `gr.sizes-tail`.

*Episode by episode.* An episode that follows release j of arm a starts either because the index of
that release, which grows with time, is at least mu* at T, or at a decision at which the optimal
arm's index is below mu*. So N_a <= 1 + (lengths of the first kind) + (rounds after the second).
"""

from __future__ import annotations

from fractions import Fraction
from math import log as real_log
from math import sqrt as real_sqrt

from sympy import Rational, exp, log, oo, sqrt, symbols, tanh

from dpaudit.claims.balls import ball
from dpaudit.claims.claim import GRANTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, REALS, Domain, RealInterval, above, at_least, between
from dpaudit.claims.methods import Monotone, Rewrite
from dpaudit.claims.models import random_policy, relative_entropy
from dpaudit.claims.theorem import OWN, Theorem

x, y, e, w, v, s = symbols("x y epsilon w v s", positive=True)
c, n, D, g, T, k, ell, kappa = symbols("c n Delta g T k ell kappa", positive=True)
L, z, u, m, p, q = symbols("L z u m p q", real=True)
A, B, C = symbols("A B C", nonnegative=True)
INNER = between(0, 1)
FROM = "used by dpaudit.regret_bounds"
tilt = y * exp(-e) / (1 - y + y * exp(-e))
tilted = e * (tilt - x) + tilt * log(tilt / y) + (1 - tilt) * log((1 - tilt) / (1 - y))
load = tanh(e / 2) * T / k
room = Domain(
    {c: POSITIVE, s: POSITIVE, D: POSITIVE, y: INNER, k: POSITIVE, z: REALS},
    (z + k - (y - s * D), c * D - k),
)
kinds = Domain({u: REALS, p: REALS, q: REALS, m: REALS}, (u - p, p - q, q - m))


def _private_entropy(one, other, growth):
    """d_eps of Bernoulli laws as a ball, eps = log(growth); flipped so that one < other."""
    if one > other:
        one, other = 1 - one, 1 - other
    falling = other / growth
    inner = falling / (falling + 1 - other)
    if one >= inner:
        return relative_entropy([1 - one, one], [1 - other, other])
    return -(ball(growth).log() * ball(one)) - ball(1 - other + falling).log()


def _divergence(rng):
    count = 0
    for number in range(250):
        policy = random_policy(rng, 2, 3 if number % 4 else 2)
        means, other = ([Fraction(int(i), 12) for i in rng.integers(0, 13, size=2)] for _ in "12")
        first, second, growth = policy.law(means), policy.law(other), policy.growth()
        if first == second or growth == 1:
            continue
        count += 1
        bound = ball(0)
        for arm in range(2):
            if means[arm] != other[arm]:
                pulls = sum(first[a] * a.count(arm) for a in first)
                bound += ball(pulls) * _private_entropy(means[arm], other[arm], growth)
        if not bound > relative_entropy(list(first.values()), list(second.values())):
            return Tally(count, f"means {means}, {other}, kernels {policy.kernels}")
    return Tally(count)


def _entropy(one, other):
    return relative_entropy([1 - one, one], [1 - other, other])


def _ratio(rng):
    for count in range(1, 401):
        q, part, share = (Fraction(int(i), 1000) for i in rng.integers(1, 1000, size=3))
        gap = part * q
        left = 1 - share
        least = ball(left) * ball(left).log() + ball(share)
        if not _entropy(q - share * gap, q) > least * _entropy(q - gap, q):
            return Tally(count, f"best {q}, gap {gap}, s {share}")
    return Tally(400)


def _episodes(rng):
    """Play AdaP-UCB on random rewards and compare N_a with the three parts of the accounting."""
    for count in range(1, 301):
        means = sorted(rng.uniform(size=3), reverse=True)
        budget, alpha, horizon = float(rng.choice([0.3, 1, 5])), 3.1, 400

        def bonus(time, half, budget=budget, alpha=alpha):
            level = alpha * real_log(time) / half
            return real_sqrt(level / 2) + level / budget

        pulls, seen = (
            [1, 1, 1],
            [[float(rng.random() < m) + rng.laplace(0, 2 / budget)] for m in means],
        )
        weak, lengths, time = [0, 0, 0], [[], [], []], 3
        while time < horizon:
            index = [seen[a][-1] + bonus(time + 1, pulls[a] / 2) for a in range(3)]
            arm = index.index(max(index))
            rounds = min(pulls[arm], horizon - time)
            if index[0] < means[0]:
                weak[arm] += rounds
            lengths[arm].append((rounds, seen[arm][-1] + bonus(horizon, pulls[arm] / 2)))
            mean = rng.binomial(rounds, means[arm]) / rounds
            pulls[arm] += rounds
            time += rounds
            seen[arm].append(mean + rng.laplace(0, 2 / (budget * pulls[arm])))
        for arm in (1, 2):
            strong = sum(rounds for rounds, last in lengths[arm] if last >= means[0])
            if pulls[arm] > 1 + strong + weak[arm]:
                return Tally(count, f"means {means}, arm {arm}, pulls {pulls[arm]}")
    return Tally(300)


CLAIMS = (
    Claim(
        "sharper.private-divergence",
        FROM,
        "KL(M_nu, M_nu') <= sum_a E[N_a] d_eps(P_a, P'_a) on random policies.",
        models=_divergence,
        expect=SAMPLED,
        role="sharper",
        theorem="private divergence",
    ),
    Claim(
        "sharper.tilt",
        FROM,
        "The derivative eps + log(z(1-y)/(y(1-z))) vanishes at the tilt.",
        log(tilt * (1 - y) / (y * (1 - tilt))),
        "==",
        -e,
        Domain({y: INNER, e: POSITIVE}),
    ),
    Claim(
        "sharper.tilt-value",
        FROM,
        "There eps(z-x) + d(z, y) = -eps x - log(1-y+ye^-eps).",
        tilted,
        "==",
        -e * x - log(1 - y + y * exp(-e)),
        Domain({x: INNER, y: INNER, e: POSITIVE}),
    ),
    Claim(
        "sharper.free-epsilon",
        FROM,
        "At e^eps = y(1-x)/(x(1-y)) the tilt is x: from there on d_eps = d.",
        tilt.subs(exp(-e), x * (1 - y) / (y * (1 - x))),
        "==",
        x,
        Domain({x: INNER, y: INNER}),
    ),
    Claim(
        "sharper.klucb-ratio",
        FROM,
        "d(q - sD, q) >= ((1-s) log(1-s) + s) d(q - D, q) at random rational points.",
        models=_ratio,
        expect=SAMPLED,
        role="sharper",
        theorem="klucb ratio",
    ),
    Claim(
        "sharper.klucb-ratio-slope",
        "proof of sharper.klucb-ratio",
        "The numerator of the derivative of vL/(v-(1-v)L), L = -log(1-v), is v^2/(1-v) - L^2.",
        (L + v / (1 - v)) * (v - (1 - v) * L) - v * L * L,
        "==",
        v**2 / (1 - v) - L**2,
        Domain({v: INNER, L: at_least(0)}),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-ratio-sign",
        "proof of sharper.klucb-ratio",
        "v/sqrt(1-v) >= -log(1-v); with w = sqrt(1-v): -2 log w <= 1/w - w.",
        -2 * log(w),
        "<=",
        1 / w - w,
        Domain({w: RealInterval(0, 1, True, False)}),
        by=(Monotone(w, "high", (Rewrite((1 - 1 / w) ** 2),)),),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-ratio-square",
        "proof of sharper.klucb-ratio",
        "w H'(1+w) <= 2 H(1+w), so H(1+w)/w^2 falls.",
        w * log(1 + w),
        "<=",
        2 * ((1 + w) * log(1 + w) - w),
        Domain({w: above(0)}),
        by=(Monotone(w, slope=(Monotone(w, slope=(Rewrite(w / (1 + w) ** 2),)),)),),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-ratio-last",
        "proof of sharper.klucb-ratio",
        "s^2 - H(1-s) = w (w - 1 - log w) at w = 1 - s, and log w <= w - 1.",
        log(w),
        "<=",
        w - 1,
        Domain({w: RealInterval(0, 1, True, False)}),
        by=(Monotone(w, "high", (Rewrite((1 - w) / w),)),),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-constant",
        FROM,
        "1 - 2c + c log c > 0, that is H(c) > c, for 0 < c <= 0.3178.",
        0,
        "<",
        1 - 2 * c + c * log(c),
        Domain({c: RealInterval(0, Rational(3178, 10000), True, False)}),
        by=(Monotone(c, "high", (Rewrite(1 - log(c)),)),),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-room",
        "proof of klucb universal",
        "z = mean of the episode + noise, k the shift: the index reaches mu* only if z + k >= "
        "mu* - s Delta; k <= c Delta leaves z - mu_a >= (1-c-s) Delta, mu_a = mu* - Delta.",
        (1 - c - s) * D,
        "<=",
        z - y + D,
        room,
        by=(Rewrite(A + B, dict(zip((A, B), room.constraints, strict=True))),),
        role="sharper",
    ),
    Claim(
        "sharper.klucb-sum",
        FROM,
        "y e^-y <= 2(e^{-y/2} - e^-y), so sum_i 2^i e^{-2^i b} <= 2/b; here y <= 2(e^{y/2} - 1).",
        y,
        "<=",
        2 * (exp(y / 2) - 1),
        Domain({y: above(0)}),
        by=(Monotone(y, slope=(Rewrite(exp(y / 2) - 1),)),),
        role="sharper",
    ),
    Claim(
        "sharper.episodes",
        FROM,
        "N_a <= 1 + (episodes whose release reaches mu* at T) + "
        "(rounds after decisions at which the best index is below mu*), on random runs.",
        models=_episodes,
        expect=SAMPLED,
        role="sharper",
        theorem="episode accounting",
    ),
    Claim(
        "sharper.episodes-kinds",
        "proof of episode accounting",
        "An episode of arm a starts with I_a(t) >= I_1(t): if I_1(t) >= mu*, then I_a(T) >= "
        "I_a(t) >= mu*; u = I_a(T), p = I_a(t), q = I_1(t), m = mu*.",
        m,
        "<=",
        u,
        kinds,
        by=(Rewrite(A + B + C, dict(zip((A, B, C), kinds.constraints, strict=True))),),
        role="sharper",
    ),
    Claim(
        "sharper.minimax-public",
        FROM,
        "(T/4) D (1 - D sqrt(T/k)) at D = sqrt(k/T)/2 is "
        "sqrt(T k)/16, k = K - 1 (Pinsker in place of Bretagnolle-Huber; k = d^2 for the box).",
        T / 4 * (sqrt(k / T) / 2) * (1 - sqrt(k / T) / 2 * sqrt(T / k)),
        "==",
        sqrt(T * k) / 16,
        Domain({T: POSITIVE, k: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "sharper.minimax-bounded",
        FROM,
        "Rewards in [0, 1]: (T/4) D (1 - 2 load D) at D = "
        "1/(4 load), load = tanh(eps/2) T/k, is k/(32 tanh(eps/2)).",
        T / 4 * (1 / (4 * load)) * (1 - 2 * load / (4 * load)),
        "==",
        k / (32 * tanh(e / 2)),
        Domain({T: POSITIVE, k: POSITIVE, e: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "sharper.transport",
        FROM,
        "With theta = g/(Delta+g): Delta theta = g(1-theta) = Delta g/(Delta+g).",
        g * (1 - g / (D + g)),
        "==",
        D * (g / (D + g)),
        Domain({D: POSITIVE, g: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "sharper.huber",
        FROM,
        "min over v of kappa v + (u-v)^2/2 is kappa u - kappa^2/2 for u = "
        "kappa + x, attained at v = x: any v = x + z costs more (kappa: lin.sharper-tv).",
        kappa * (kappa + x) - kappa**2 / 2,
        "<=",
        kappa * (x + z) + (kappa - z) ** 2 / 2,
        Domain({kappa: POSITIVE, x: POSITIVE, z: RealInterval(-oo, oo, True, True)}),
        by=(Rewrite(z**2 / 2),),
        role="sharper",
    ),
    Claim(
        "sharper.dp-se",
        FROM,
        "R = 32 ell/D^2 gives sqrt(ell/(2R)) = D/8, R = 8 ell/(eps D) "
        "gives ell/(eps R) = D/8; twice their sum is D/2.",
        2 * sqrt(ell / (2 * (32 * ell / D**2))) + 2 * ell / (e * (8 * ell / (e * D))),
        "==",
        D / 2,
        Domain({ell: POSITIVE, D: POSITIVE, e: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "sharper.dp-ucb-noise",
        FROM,
        "u = (sqrt(n^2+x^2) - n)/x minimises -u x - n log(1-u^2): u^2 x + 2 n u = x.",
        ((sqrt(n**2 + x**2) - n) / x) ** 2 * x + 2 * n * (sqrt(n**2 + x**2) - n) / x,
        "==",
        x,
        Domain({n: POSITIVE, x: above(0)}),
        role="sharper",
    ),
)

RESULT = Result(
    name="sharper_bounds",
    title="Sharper regret bounds",
    place="not in the paper",
    claims=CLAIMS,
    theorems=(
        Theorem(
            "private divergence",
            OWN,
            "dpaudit.regret_bounds",
            "For every eps > 0 and eps-global DP policy, KL(M_nu, M_nu') <= sum_a E[N_a] "
            "d_eps(P_a, P'_a); for Bernoulli laws the infimum in d_eps is at max(x, tilt).",
            ("sum", "expectation"),
            (
                "log-sum",
                "kl.group",
                "kl.assembly",
                "sharper.tilt",
                "sharper.tilt-value",
                "sharper.free-epsilon",
                "book.chain-rule",
            ),
            expect=GRANTED,
        ),
        Theorem(
            "thm:nogap with d_eps",
            OWN,
            "dpaudit.regret_bounds",
            "For every eps > 0, class M_1 x .. x M_K and consistent eps-global DP policy, liminf "
            "R/log T >= sum_a Delta_a/inf d_eps(P_a, P'), over the P' in M_a of mean above mu*; "
            "the proof of thm:nogap with d_eps in place of eps t.",
            ("Markov", "chain", "limit"),
            (
                "pd.event-fixed",
                "pd.event-fixed-other",
                "pd.smaller-gap",
                "pd.rearranged",
                "pd.limit",
                "pd.assembly",
                "pd.assembly-limit",
                "private divergence",
                "lem:bret_hub as printed",
            ),
            expect=GRANTED,
        ),
        Theorem(
            "klucb ratio",
            OWN,
            "dpaudit.regret_bounds",
            "d(q - sD, q) >= ((1-s) log(1-s) + s) d(q - D, q) for all 0 < D <= q < 1, 0 < s < 1.",
            ("cases", "chain"),
            (
                "sharper.klucb-ratio-slope",
                "sharper.klucb-ratio-sign",
                "sharper.klucb-ratio-square",
                "sharper.klucb-ratio-last",
            ),
        ),
        Theorem(
            "episode accounting",
            OWN,
            "dpaudit.regret_bounds",
            "On every run, N_a <= 1 + (rounds of episodes that follow a release whose index at T "
            "is at least mu*) + (rounds that follow a decision at which the best arm's index is "
            "below "
            "mu*), for indices that do not decrease in time and noise drawn once per episode.",
            ("cases", "sum"),
            ("sharper.episodes-kinds",),
        ),
        Theorem(
            "klucb universal",
            OWN,
            "dpaudit.regret_bounds",
            "For every eps > 0, alpha > 1, T, 0 < c <= 0.3178 and instance with rewards in [0, 1] "
            "and mu* < 1, E N_a <= (4 alpha/c) log T/min(d_a, eps Delta_a) + 8/(eta Delta_a)^2 + "
            "4/(eta eps Delta_a) + 1 + E O, with (1-s) log(1-s) + s = c, eta = 1 - c - s > 0 and "
            "O the rounds after decisions at which the best arm's index is below mu*, whose mean "
            "is bounded for all T together.",
            ("cases", "union bound", "sum", "chain"),
            (
                "episode accounting",
                "klucb ratio",
                "sharper.klucb-constant",
                "sharper.klucb-room",
                "sharper.klucb-sum",
                "lem:hoeff as printed",
                "lem:lap_conc as printed",
                "lem:kl_concentration as repaired",
                "gr.sizes-sum",
                "gr.sizes-tail",
            ),
        ),
    ),
    verdict="KL is at most sum_a E[N_a] d_eps, so the problem-dependent bound is sum Delta_a log T "
    "/ d_eps and privacy is free from the log-likelihood ratio's oscillation on. AdaP-KLUCB has "
    "universal constants C_1 = 4 alpha/c, c <= 0.3178, C_2 = 1, with a remainder of order "
    "1/Delta^2 + 1/(eps Delta) that does not depend on T.",
    order=160,
    in_paper=False,
)

"""Problem-dependent lower bound, stochastic bandits (paper, Theorem thm:nogap, lines 908-980).

With KL constant 1 (file kl_decomposition) every 6 becomes 1: E N_a / log T >= 1/(eps t_a) in the
limit, and the bound is sum_a Delta_a / min(d_a, eps t_a).
"""

from __future__ import annotations

from fractions import Fraction

from sympy import Abs, Max, Min, Rational, Symbol, diff, exp, log, symbols

from dpaudit.claims.claim import GRANTED, REFUTED, Claim, Result, Tally
from dpaudit.claims.domain import (
    POSITIVE,
    REALS,
    UNIT,
    Domain,
    RealInterval,
    above,
    at_least,
    between,
)
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Rewrite
from dpaudit.claims.theorem import PRINTED, REPAIRED, Theorem

D, e, g, T, C, t, R = symbols("Delta epsilon g T C t R", positive=True)
n, r, x, y, u, v, p, q = symbols("n r x y u v p q", real=True)
mu, top = symbols("mu_a mu_star", positive=True)
K, M, N = symbols("K M N", nonnegative=True)
whole = Domain(
    {
        C: POSITIVE,
        y: REALS,
        p: UNIT,
        v: REALS,
        e: POSITIVE,
        D: POSITIVE,
        t: POSITIVE,
        x: REALS,
        r: REALS,
    },
    (x - (C + y - r), e * D * t - x, p * C + v - r),
)
AT = "Theorem thm:nogap"
gap = top - mu
kl = mu * log(mu / top) + (1 - mu) * log((1 - mu) / (1 - top))
s = Symbol("s", real=True)
moved = kl.subs(top, mu + s * (1 - mu))


def _event(rng):
    """Always play arm 2: gaps 1/10 and 1/2 in nu, mu'_3 = mu* + 1/100, T rounds of each."""
    small, large, lift = Fraction(1, 10), Fraction(1, 2), Fraction(1, 100)
    regrets = small + (small + lift)
    claimed = Fraction(1, 2) * (1 * large + 0 * lift)
    if regrets >= claimed:
        return Tally(1)
    return Tally(
        1,
        "K = 3, gaps (0, 1/10, 1/2), a = 3, mu'_3 = mu* + 1/100, policy that always "
        f"plays arm 2: (R + R')/T = {regrets} < {claimed}",
    )


def _tied(rng):
    """Arms 1 and 2 tie in nu, arm 3 has gap 1/2 and mu'_3 = mu* + 1/100; always play arm 2."""
    large, lift = Fraction(1, 2), Fraction(1, 100)
    regrets = 0 + lift
    claimed = Fraction(1, 2) * large
    if regrets >= claimed:
        return Tally(1)
    return Tally(
        1,
        "gaps (0, 0, 1/2), a = 3, mu'_3 = mu* + 1/100, policy that always plays arm 2: "
        f"(R + R')/T = {regrets} < {claimed}",
    )


CLAIMS = (
    Claim(
        "pd.event",
        f"{AT}, l. 936-940",
        "R + R' >= T/2 (M(A) Delta_a + M'(A^c)(mu'_a - mu*)) with A = {N_1 <= T/2}.",
        models=_event,
        expect=REFUTED,
        correction="A = {N_a > T/2}: on it arm a alone costs Delta_a T/2, and off it T/2 pulls "
        "of other arms cost at least mu'_a - mu* each under nu'.",
        survives="survives with the corrected event. With the printed one and a unique optimal "
        "arm Delta_a becomes the smallest gap, which the limit forgets; with tied optimal arms "
        "nothing is left (pd.event-tied).",
    ),
    Claim(
        "pd.event-tied",
        f"{AT}, l. 936, the smallest positive gap in place of Delta_a",
        "R + R' >= T/2 (M(A) min gap + M'(A^c)(mu'_a - mu*)) with A = {N_1 <= T/2}.",
        models=_tied,
        expect=REFUTED,
        correction="A = {N_a > T/2}, as for pd.event.",
        survives="survives with the corrected event.",
    ),
    Claim(
        "pd.event-fixed",
        "correction of l. 936, on A = {N_a > T/2}",
        "Delta_a N_a + (the other arms' regret) >= Delta_a T/2; r is the other arms' regret.",
        D * T / 2,
        "<=",
        D * n + r,
        Domain({D: POSITIVE, T: POSITIVE, n: at_least(0), r: at_least(0)}, (n - T / 2,)),
        by=(Rewrite(D * K + r, {K: n - T / 2}),),
        role="sharper",
    ),
    Claim(
        "pd.event-fixed-other",
        "correction of l. 936, off A, under nu'",
        "Each of the T - N_a >= T/2 pulls of other arms costs at least g = mu'_a - mu*.",
        g * T / 2,
        "<=",
        g * (T - n) + r,
        Domain({g: POSITIVE, T: POSITIVE, n: at_least(0), r: at_least(0)}, (T / 2 - n,)),
        by=(Rewrite(g * K + r, {K: T / 2 - n}),),
        role="sharper",
    ),
    Claim(
        "pd.smaller-gap",
        f"{AT}, l. 941",
        "u Delta + v g >= min(Delta, g)(u + v), Delta <= g.",
        D * (u + v),
        "<=",
        u * D + v * g,
        Domain({D: POSITIVE, g: POSITIVE, u: UNIT, v: UNIT}, (g - D,)),
        by=(Rewrite(v * K, {K: g - D}),),
    ),
    Claim(
        "pd.infimum",
        f"{AT}, l. 934",
        "6 eps N TV <= 6 eps N (t_a + alpha).",
        6 * e * D * t,
        "<=",
        6 * e * D * (t + g),
        Domain({e: POSITIVE, D: POSITIVE, t: POSITIVE, g: POSITIVE}),
    ),
    Claim(
        "pd.rearranged",
        f"{AT}, l. 959",
        "R = (T g/4) exp(-x) means x = log(T g/(4 R)).",
        log(T * g / (4 * (T * g / 4 * exp(-x)))),
        "==",
        x,
        Domain({T: above(1), g: POSITIVE, x: at_least(0)}),
    ),
    Claim(
        "pd.limit",
        f"{AT}, l. 966",
        "(p log T + log C)/log T <= p + g for every tolerance g > 0 once log T >= log C/g; "
        "t = log T, r = log C.",
        (p * t + r) / t,
        "<=",
        p + g,
        Domain({p: at_least(0), t: POSITIVE, r: REALS, g: POSITIVE}, (g * t - r,)),
        by=(Rewrite(K / t, {K: g * t - r}),),
    ),
    Claim(
        "pd.limit-from-below",
        f"{AT}, l. 960, the equalities",
        "R + R' does not vanish: the first round alone costs u Delta + (1-u) g >= Delta when "
        "Delta <= g, u the probability of arm a; so the limit superior of log(R+R')/log T is 0 "
        "and both equalities of the display are true.",
        D,
        "<=",
        u * D + (1 - u) * g,
        Domain({D: POSITIVE, g: POSITIVE, u: UNIT}, (g - D,)),
        by=(Rewrite((1 - u) * K, {K: g - D}),),
    ),
    Claim(
        "pd.assembly",
        f"{AT}, l. 959, one horizon",
        "x >= log(T g/(4 R)), x <= eps N t and log R <= p log T + v give (1-p) log T + log(g/4) "
        "- v <= eps N t; C = log T, y = log(g/4), r = log R, Delta = N.",
        C + y - p * C - v,
        "<=",
        e * D * t,
        whole,
        by=(
            Rewrite(
                K + M + N,
                dict(zip((K, M, N), whole.constraints, strict=True)),
            ),
        ),
        role="theorem",
    ),
    Claim(
        "pd.assembly-limit",
        f"{AT}, l. 966, every horizon from an explicit one on",
        "(1 - p) log T - v <= eps N t gives N/log T >= (1 - p - g)/(eps t) once log T >= v/g; "
        "C = log T, Delta = N.",
        (1 - p - g) / (e * t),
        "<=",
        D / C,
        Domain(
            {p: UNIT, g: POSITIVE, e: POSITIVE, t: POSITIVE, D: POSITIVE, C: POSITIVE, v: REALS},
            (e * D * t - (1 - p) * C + v, g * C - v),
        ),
        by=(
            Rewrite(
                (K + M) / (e * t * C),
                {K: e * D * t - (1 - p) * C + v, M: g * C - v},
            ),
        ),
        role="theorem",
    ),
    Claim(
        "pd.sum-of-maxima",
        f"{AT}, l. 921-927",
        "From R >= sum u_a (Theorem 16.2) and R >= sum v_a conclude R >= sum max(u_a, v_a).",
        Max(u, x) + Max(v, y),
        "<=",
        r,
        Domain({u: UNIT, v: UNIT, x: UNIT, y: UNIT, r: at_least(0)}, (r - u - v, r - x - y)),
        hints=({u: Fraction(1), v: Fraction(0), x: Fraction(0), y: Fraction(1), r: Fraction(1)},),
        expect=REFUTED,
        correction="use Theorem 16.2 arm by arm (its proof bounds each E N_a), then take the "
        "larger bound for each arm.",
        survives="survives unchanged.",
    ),
    Claim(
        "pd.bernoulli-tv",
        "Consequence 2, l. 303; remark l. 975",
        "TV of Bernoulli(p), Bernoulli(q) is |p - q|, so t_inf = Delta_a (an infimum).",
        (Abs(p - q) + Abs((1 - p) - (1 - q))) / 2,
        "==",
        Abs(p - q),
        Domain({p: UNIT, q: UNIT}),
        role="remark",
    ),
    Claim(
        "pd.bernoulli-d-inf",
        "Consequence 2, l. 303",
        "d(mu_a, .) increases beyond mu_a, so the "
        "infimum over means above mu* is d(mu_a, mu*), here at mu* = mu_a + s(1 - mu_a).",
        0,
        "<=",
        diff(moved, s),
        Domain({mu: between(0, 1), s: RealInterval(0, 1, False, True)}),
        by=(Rewrite(s * (1 - mu) / ((mu + s * (1 - mu)) * (1 - s))),),
        role="remark",
    ),
    Claim(
        "pd.bernoulli-order",
        "Consequence 2, l. 303",
        "The bound is Omega(log T / min(Delta, "
        "eps)), here with the constant 1/6 that d >= 2 Delta^2 suggests.",
        Rational(1, 6) / Min(gap, e),
        "<=",
        gap / Min(kl, 6 * e * gap),
        Domain(
            {mu: between(0, 1), top: between(0, 1), e: POSITIVE}, (top - mu - Rational(1, 1000),)
        ),
        hints=({mu: Fraction(1, 2), top: Fraction(999, 1000), e: Fraction(100)},),
        expect=REFUTED,
        role="remark",
        correction="d >= 2 Delta^2 bounds the lower bound from above. From "
        "d <= Delta^2/(mu*(1-mu*)) it is at least log T / min(Delta/(mu*(1-mu*)), 6 eps): the "
        "constant depends on mu* and vanishes as mu* -> 0 or 1.",
        survives="Theorem thm:nogap is unaffected; the comparison holds for fixed 0 < mu* < 1.",
    ),
    Claim(
        "pd.bernoulli-order-fixed",
        "correction of l. 303",
        "For fixed mu*: Delta/min(d, 6 eps Delta) >= 1/min(Delta/(mu*(1-mu*)), 6 eps); with "
        "x = d <= y = Delta^2/(mu*(1-mu*)), min(x, c) <= min(y, c).",
        Min(x, r),
        "<=",
        Min(y, r),
        Domain({x: at_least(0), y: at_least(0), r: at_least(0)}, (y - x,)),
        by=(PiecewiseLinear(),),
        role="sharper",
    ),
    Claim(
        "pd.regime",
        "Consequence 3, l. 305",
        "d <= 6 eps t exactly when eps >= d/(6 t).",
        6 * (R / (6 * t)) * t,
        "==",
        R,
        Domain({R: POSITIVE, t: POSITIVE}),
        role="remark",
    ),
    Claim(
        "pd.regime-achievable",
        "Consequence 3, l. 305",
        "For eps >= d/(6 t) the regret achievable with and without global DP is the same: per "
        "Bernoulli arm, log T times what every private policy pays, Delta/min(d, eps Delta) "
        "(thm:nogap as repaired), is at most log T times Delta/d, which KL-UCB pays in the limit "
        "without privacy.",
        gap / Min(kl, e * gap),
        "<=",
        gap / kl,
        Domain(
            {mu: between(0, 1), top: between(0, 1), e: POSITIVE},
            (top - mu - Rational(1, 1000), 6 * e * gap - kl),
        ),
        hints=({mu: Fraction(1, 2), top: Fraction(3, 4), e: Fraction(1, 4)},),
        expect=REFUTED,
        role="remark",
        correction="equal lower bounds do not make equal regrets; privacy costs more for every "
        "eps < d/t (and up to the log odds ratio for Bernoulli arms: private divergence, "
        "sharper.free-epsilon).",
        survives="no theorem uses it.",
    ),
    Claim(
        "pd.bernoulli-private",
        "remark, l. 977",
        "Delta/(eps Delta) = 1/eps per arm.",
        D / (e * D),
        "==",
        1 / e,
        Domain({D: POSITIVE, e: POSITIVE}),
        role="remark",
    ),
    Claim(
        "pd.sharper",
        "sharper, with KL constant 1",
        "1/(6 eps t) <= 1/(eps t).",
        1 / (6 * e * t),
        "<=",
        1 / (e * t),
        Domain({e: POSITIVE, t: POSITIVE}),
        role="sharper",
    ),
)

RESULT = Result(
    name="problem_dependent",
    title="Problem-dependent lower bound, stochastic bandits",
    place="Theorem thm:nogap, l. 292, 908-980",
    claims=CLAIMS,
    theorems=(
        Theorem(
            "thm:nogap",
            PRINTED,
            "l. 292",
            "For every eps > 0, class M_1 x .. x M_K and consistent eps-global DP policy, liminf "
            "R/log T >= sum_a Delta_a/min(d_a, 6 eps t_a).",
            ("chain",),
            ("thm:nogap as repaired", "pd.sharper"),
            expect=GRANTED,
        ),
        Theorem(
            "thm:nogap",
            REPAIRED,
            "l. 292",
            "For every eps > 0, the same with eps t_a in place of 6 eps t_a.",
            ("Markov", "chain", "limit"),
            (
                "pd.event-fixed",
                "pd.event-fixed-other",
                "pd.smaller-gap",
                "pd.rearranged",
                "pd.limit",
                "pd.assembly",
                "pd.assembly-limit",
                "lem:kl as repaired",
                "lem:bret_hub as printed",
                "book.16.2",
            ),
            expect=GRANTED,
        ),
    ),
    verdict="Survives for every eps. Sharper: 6 eps t_a becomes eps t_a, so the bound is "
    "sum Delta_a / min(d_a, eps t_a) and its two regimes meet at eps = d_a/t_a.",
    misprints=(
        "l. 293: the set of environments must be a product M_1 x .. x M_K, as in the cited "
        "Theorem 16.2: the proof changes one arm and keeps the others.",
        "l. 291: d_inf and t_inf are taken from the law of arm a, not of the optimal arm.",
        "l. 303, 975: t_inf = Delta_a and d_inf = d(mu_a, mu*) need mu* < 1; for mu* = 1 no "
        "Bernoulli law has a larger mean, both infima are infinite and the bound is 0.",
        "l. 936: R'_T should be R_T(pi, nu'), not R_T(pi, nu).",
        "l. 977: a lower bound is Omega(K log T / eps), not O.",
    ),
    order=50,
)

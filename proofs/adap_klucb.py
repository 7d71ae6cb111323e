"""Regret of AdaP-KLUCB and Fact 3 (paper, Theorem thm:kl_ucb_upperbound, lines 1585-1736).

Explicit form of the corrected bound. Let z solve d(z, mu_a) = d(z, mu_1), c = (z - mu_a)/Delta and
let g solve d(mu_a + g Delta, mu_a) = d(z, mu_a)/alpha, so g < c. Every l with
2^l >= log T max{alpha/d(z, mu_a), (1+alpha)/((c - g) eps Delta)} satisfies both conditions of the
proof (gamma_{l,T} <= g by the first), with no circularity. Hence
E N_a <= 4 log T max{...} + 2 + 3/2 + alpha/(alpha-3) (the 2 for a maximum below 1/2): C_1 and C_2
depend on alpha, mu_a and mu_1. File sharper_bounds has universal ones, with a larger additive term.
"""

from __future__ import annotations

from fractions import Fraction

from sympy import Max, Min, Rational, Symbol, diff, exp, log, symbols

from dpaudit.claims.claim import REFUTED, Claim, Result
from dpaudit.claims.domain import POSITIVE, REALS, UNIT, Domain, RealInterval, above, between
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Rewrite
from dpaudit.claims.theorem import OPEN, PRINTED, REPAIRED, Theorem

p, q, w, x = symbols("p q w x", positive=True)
D, e, al, L, n, k, h = symbols("Delta epsilon alpha L n k h", positive=True)
z = Symbol("z", real=True)
y = Symbol("y", positive=True)
t = Symbol("t", real=True)
eta = Symbol("eta", positive=True)
INNER = between(0, 1)
K, A, B, C = symbols("K A B C", nonnegative=True)
r, u, v = symbols("r u v", real=True)
whole = Domain(
    {al: above(3), x: POSITIVE, h: POSITIVE, r: REALS, u: REALS, v: REALS},
    (r + u + v - h, 4 * x + 2 - r, Rational(3, 2) - u, al / (al - 3) - v),
)
AT, FACT = "Theorem thm:kl_ucb_upperbound", "Fact fact:non_nul"


def kl(one, two):
    """The relative entropy of two Bernoulli laws."""
    return one * log(one / two) + (1 - one) * log((1 - one) / (1 - two))


further = p + t * (1 - p)
ahead = Domain({p: INNER, t: RealInterval(0, 1, False, True)})
hard = kl(Rational(1, 2), 1 - eta)

CLAIMS = (
    Claim(
        "klu.index",
        f"{AT}, l. 1624",
        "U >= mu_1 gives d(m, mu_1) <= d(m, U): d(m, .) increases beyond m.",
        0,
        "<=",
        diff(kl(p, further), t),
        ahead,
        by=(Rewrite(t * (1 - p) / (further * (1 - t))),),
    ),
    Claim(
        "klu.bijection",
        f"{AT}, l. 1631",
        "d(., q) decreases below q: x(1-q)/(q(1-x)) <= 1 at x = w q.",
        w * (1 - q) / (1 - w * q),
        "<=",
        1,
        Domain({w: INNER, q: INNER}),
        by=(Rewrite((1 - w) / (1 - w * q)),),
    ),
    Claim(
        "klu.condition-1",
        f"{AT}, eq:cond1_l, l. 1637",
        "alpha L/n <= d/(1+beta) for every n >= (1+beta) alpha L/d; d = Delta, beta = k.",
        al * L / n,
        "<=",
        D / (1 + k),
        Domain(
            {al: above(3), L: POSITIVE, k: POSITIVE, D: POSITIVE, n: POSITIVE},
            (n - (1 + k) * al * L / D,),
        ),
        by=(Rewrite(K * D / (n * (1 + k)), {K: n - (1 + k) * al * L / D}),),
    ),
    Claim(
        "klu.clip",
        f"{AT}, l. 1644",
        "clip(Z) <= u when Z <= u, 0 <= u: the clipped mean exceeds u > 0 only if Z does.",
        Min(Max(0, z), 1),
        "<=",
        u,
        Domain({z: REALS, u: UNIT}, (u - z,)),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "klu.condition-2",
        f"{AT}, eq:cond2_l, l. 1656",
        "theta = (c-gamma) Delta - (1+alpha) L/(eps n) >= 0 for every n >= (1+alpha) L/"
        "((c-gamma) eps Delta); k = c - gamma.",
        0,
        "<=",
        k * D - (1 + al) * L / (e * n),
        Domain(
            {k: POSITIVE, D: POSITIVE, al: above(3), L: POSITIVE, e: POSITIVE, n: POSITIVE},
            (n - (1 + al) * L / (k * e * D),),
        ),
        by=(Rewrite(K * k * D / n, {K: n - (1 + al) * L / (k * e * D)}),),
    ),
    Claim(
        "klu.tail",
        f"{AT}, l. 1662-1663",
        "exp(-n L/n) + exp(-L)/2 = 3/(2T), T = e^L.",
        exp(-n * (L / n)) + exp(-L) / 2,
        "==",
        Rational(3, 2) * exp(-L),
        Domain({n: POSITIVE, L: POSITIVE}),
    ),
    Claim(
        "klu.additive",
        f"{AT}, l. 1679",
        "3/2 + alpha/(alpha-3) <= 3 alpha/(alpha-3).",
        Rational(3, 2) + al / (al - 3),
        "<=",
        3 * al / (al - 3),
        Domain({al: above(3)}),
        by=(Rewrite((al + 9) / (2 * (al - 3))),),
    ),
    Claim(
        "klu.additive-appendix",
        f"{AT}, appendix statement, l. 1589",
        "The proof's additive term, 3/2 + alpha/(alpha-3), is at most that of the appendix, "
        "alpha/(alpha-3) (the main text, l. 509, has 3 alpha/(alpha-3)).",
        Rational(3, 2) + al / (al - 3),
        "<=",
        al / (al - 3),
        Domain({al: above(3)}),
        hints=({al: Fraction(4)},),
        expect=REFUTED,
        role="theorem",
        correction="3 alpha/(alpha-3), as in the main text, or 3/2 + alpha/(alpha-3).",
        survives="the proof gives the constant of the main text (klu.additive), apart from the "
        "rounding of l (klu.rounding-first); that of the appendix is not refuted as a bound.",
    ),
    Claim(
        "klu.rounding",
        f"{AT}, l. 1673-1679",
        "2^{l+1} <= 4 X for the smallest l with 2^l >= X: 2^l = X 2^{1-t}, 0 < t <= 1, so "
        "2^{l+1} = 4 X 2^{-t}.",
        4 * x * exp(-t * log(2)),
        "<=",
        4 * x,
        Domain({x: POSITIVE, t: RealInterval(0, 1, True, False)}),
        by=(Rewrite(4 * x * (1 - exp(-t * log(2)))),),
        role="constant",
    ),
    Claim(
        "klu.rounding-first",
        f"{AT}, l. 1673-1679",
        "2^{l+1} <= 4 X, l >= 0, with X = alpha log T/d(z, mu_a) at T = 2, alpha = 3.1, large "
        "eps and mu_a = q, mu_1 = 1 - q, so z = 1/2: 2 <= 4 X.",
        2,
        "<=",
        4 * Rational(31, 10) * log(2) / kl(Rational(1, 2), q),
        Domain({q: RealInterval(0, Rational(1, 4), True, False)}),
        hints=({q: Fraction(1, 10**6)},),
        expect=REFUTED,
        correction="X may be below 1/2, where l = 0: write max(2, 4 X).",
        survives="survives where X >= 1/2, and everywhere with max(2, 4 X).",
    ),
    Claim(
        "klu.rounding-circular",
        f"{AT}, l. 1673-1679",
        "The smallest l with 2^l >= X(l) has 2^{l+1} <= 4 X(l); only 2^{l-1} < X(l-1) is known, "
        "and X falls with l: from x < w and y <= w, 4 x <= 4 y (x = 2^{l-1}, w = X(l-1), "
        "y = X(l)).",
        4 * x,
        "<=",
        4 * y,
        Domain({x: POSITIVE, y: POSITIVE, w: POSITIVE}, (w - x, w - y)),
        hints=({x: Fraction(1), y: Fraction(1, 2), w: Fraction(3, 2)},),
        expect=REFUTED,
        correction="take X free of l, as in thm:kl_ucb_upperbound as repaired.",
        survives="survives with the explicit X.",
    ),
    Claim(
        "klu.assembly",
        f"{AT}, Step 3, explicit constants",
        "E N <= p + T P + r, p <= 4 X + 2, T P <= 3/2, r <= alpha/(alpha-3): "
        "E N <= 4 X + 2 + 3/2 + alpha/(alpha-3).",
        h,
        "<=",
        4 * x + Rational(7, 2) + al / (al - 3),
        whole,
        by=(Rewrite(K + A + B + C, dict(zip((K, A, B, C), whole.constraints, strict=True))),),
        role="theorem",
    ),
    Claim(
        "klu.constants",
        f"{AT}, l. 1587 and 1673",
        "The C_1 of the proof depends on alpha alone and its C_2 on nothing. As eps grows, "
        "gamma_{l,T} exists only if 2^l >= L/log(1/mu_a), against "
        "2^l <= C_1 L/(2 d(mu_a, mu_1)); with mu_a = 1/2, mu_1 = 1 - eta and C_1 = 100 this asks "
        "d(1/2, 1-eta) <= 50 log 2 (any other C_1 fails likewise).",
        hard,
        "<=",
        50 * log(2),
        Domain({eta: RealInterval(0, Rational(1, 2), True, True)}),
        hints=({eta: Fraction(1, 10**32)},),
        expect=REFUTED,
        correction="the C_1 and C_2 of the proof depend on alpha, mu_a and mu_1 (explicit in "
        "thm:kl_ucb_upperbound as repaired). Another proof has universal ones: C_1 = 4 alpha/c "
        "for c <= 0.3178 and "
        "C_2 = 1, with 1/Delta^2 + 1/(eps Delta) in the additive term of E N_a (klucb universal).",
        survives="'matches the lower bound up to multiplicative constants' survives, as T "
        "grows, by klucb universal; whether universal constants go with the printed 3 "
        "alpha/(alpha-3) is "
        "open.",
    ),
    Claim(
        "klu.explicit",
        "explicit constants",
        "With (1+beta) = d/d(z, mu_a) the first condition is alpha L/d(z, mu_a).",
        (D / h) * al * L / D,
        "==",
        al * L / h,
        Domain({D: POSITIVE, h: POSITIVE, al: above(3), L: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "klu.explicit-example",
        "explicit constants, mu = (1/4, 3/4)",
        "z = 1/2 and d(1/2, 1/4) = log(4/3)/2, so alpha/d(z, mu_a) = 2 alpha/log(4/3).",
        kl(Rational(1, 2), Rational(1, 4)),
        "==",
        log(Rational(4, 3)) / 2,
        role="sharper",
    ),
    Claim(
        "klu.fact-3-line",
        f"{FACT}, l. 1695",
        "g(x) = d(x, p) - d(x, q) is affine in x.",
        kl(x, p) - kl(x, q),
        "==",
        x * log(q * (1 - p) / (p * (1 - q))) + log((1 - q) / (1 - p)),
        Domain({x: INNER, p: INNER, q: INNER}),
    ),
    Claim(
        "klu.fact-3-slope",
        f"{FACT}, l. 1699",
        "g increases: q(1-p)/(p(1-q)) > 1 for q = p + t(1-p), t > 0.",
        1,
        "<",
        further * (1 - p) / (p * (1 - further)),
        Domain({p: INNER, t: between(0, 1)}),
        by=(Rewrite(t / (p * (1 - t))),),
    ),
    Claim(
        "klu.fact-3-low",
        f"{FACT}, l. 1700",
        "g(mu_a) = -d(mu_a, mu_1).",
        kl(p, p) - kl(p, q),
        "==",
        -kl(p, q),
        Domain({p: INNER, q: INNER}),
    ),
    Claim(
        "klu.fact-3-high",
        f"{FACT}, l. 1701",
        "g(mu_1) = d(mu_1, mu_a).",
        kl(q, p) - kl(q, q),
        "==",
        kl(q, p),
        Domain({p: INNER, q: INNER}),
    ),
    Claim(
        "klu.fact-3-gamma",
        f"{FACT}, l. 1730-1731",
        "d(z, mu_a)/alpha < d(z, mu_a).",
        h / al,
        "<",
        h,
        Domain({h: POSITIVE, al: above(3)}),
        by=(Rewrite(h * (al - 1) / al),),
    ),
    Claim(
        "klu.lower-match",
        "l. 511 and abstract",
        "min(d, 6y) <= 6 min(d, y): the constants in front of eps Delta cost a factor, not a rate.",
        Min(x, 6 * w),
        "<=",
        6 * Min(x, w),
        Domain({x: POSITIVE, w: POSITIVE}),
        by=(PiecewiseLinear(),),
        role="remark",
    ),
)

RESULT = Result(
    name="adap_klucb",
    title="Regret of AdaP-KLUCB and Fact 3",
    place="Theorem thm:kl_ucb_upperbound, l. 506, 1585-1736",
    claims=CLAIMS,
    verdict="The printed proof, repaired, has constants that depend on alpha, mu_a and mu_1 "
    "(explicit in the theorem as repaired), the additive term 7/2 + alpha/(alpha-3), and 0 < "
    "mu_a, mu_1 < 1. "
    "Universal constants hold by another proof, with a larger additive term that does not depend "
    "on T (klucb universal); whether they go with the printed one is open. Fact 3 holds.",
    theorems=(
        Theorem(
            "thm:kl_ucb_upperbound",
            PRINTED,
            "l. 506",
            "For every eps > 0 and alpha > 3 there are C_1(alpha) and C_2, the same for every "
            "Bernoulli instance, with R <= sum_a (C_1 Delta_a log T/min(d_a, C_2 eps Delta_a) + "
            "3 alpha/(alpha-3)).",
            broken_by=("klu.constants", "klu.rounding-circular", "klu.rounding-first"),
            expect=OPEN,
        ),
        Theorem(
            "thm:kl_ucb_upperbound",
            REPAIRED,
            "l. 506",
            "For every eps > 0, alpha > 3 and Bernoulli instance with means in (0, 1), AdaP-KLUCB "
            "is eps-global DP on [0, 1]^T and E N_a <= "
            "4 log T max(alpha/d(z, mu_a), (1+alpha)/((c-g) eps Delta_a)) + 7/2 + "
            "alpha/(alpha-3), with d(z, mu_a) = d(z, mu_1), c = (z - mu_a)/Delta_a and "
            "d(mu_a + g Delta_a, mu_a) = d(z, mu_a)/alpha.",
            ("union bound", "chain"),
            (
                "thm:gen_reg as repaired",
                "lem:kl_concentration as repaired",
                "fact:non_nul as printed",
                "klu.index",
                "klu.bijection",
                "klu.condition-1",
                "klu.condition-2",
                "klu.clip",
                "klu.tail",
                "klu.rounding",
                "klu.explicit",
                "klu.assembly",
                "thm:privacy as repaired",
            ),
        ),
        Theorem(
            "fact:non_nul",
            PRINTED,
            "l. 1685",
            "For all 0 < mu_a < mu_1 < 1, alpha > 3 and l that satisfy eq:cond1_l with the "
            "beta of z, c(beta) > gamma_{l,T}.",
            ("cases", "chain"),
            (
                "klu.fact-3-line",
                "klu.fact-3-slope",
                "klu.fact-3-low",
                "klu.fact-3-high",
                "klu.fact-3-gamma",
                "lem:kl_prop as printed",
            ),
        ),
    ),
    misprints=(
        "l. 1671: `conditions cond1 and cond1` should read cond1 and cond2.",
        "l. 1673: the set B and the right side depend on l through gamma_{l,T}, so l is defined by "
        "itself; the explicit form avoids it.",
        "l. 1646: for mu_a = 0 there is no gamma_{l,T} (d(x, 0) is 0 or infinite); its mean "
        "does not deviate there, and Chernoff's bound is not needed.",
        "l. 1725: the conclusion uses that d(., mu_1) is injective, not the uniqueness of z.",
    ),
    order=120,
)

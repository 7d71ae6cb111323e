"""Problem-independent regret of AdaP-UCB (paper, Theorem thm:nogap_upper, lines 1740-1764)."""

from __future__ import annotations

from sympy import Max, Min, Symbol, sqrt, symbols

from dpaudit.claims.claim import Claim, Result
from dpaudit.claims.domain import POSITIVE, Domain, above, at_least
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Rewrite

D, g, n, T, al, K, L, c = symbols("Delta g n T alpha K L c", positive=True)
u, v, x, y, z = symbols("u v x y z", real=True)
A = Symbol("A", nonnegative=True)
AT = "Theorem thm:nogap_upper"
rate = sqrt(al * K * L / T)

CLAIMS = (
    Claim(
        "gf.small-gaps",
        f"{AT}, l. 1752",
        "Arms with Delta_a <= Delta cost at most Delta per pull.",
        g * n,
        "<=",
        D * n,
        Domain({g: POSITIVE, D: POSITIVE, n: POSITIVE}, (D - g,)),
        by=(Rewrite(n * A, {A: D - g}),),
    ),
    Claim(
        "gf.min-sum",
        f"{AT}, l. 1753",
        "1/min(eps, Delta_a) <= 1/eps + 1/Delta_a.",
        Max(u, v),
        "<=",
        u + v,
        Domain({u: at_least(0), v: at_least(0)}),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "gf.large-gaps",
        f"{AT}, l. 1753",
        "1/Delta_a <= 1/Delta for Delta_a > Delta.",
        1 / g,
        "<=",
        1 / D,
        Domain({g: POSITIVE, D: POSITIVE}, (g - D,)),
        by=(Rewrite(A / (g * D), {A: g - D}),),
    ),
    Claim(
        "gf.tuning",
        f"{AT}, l. 1755-1758",
        "T Delta + 16 alpha K L/Delta at Delta = 4 sqrt(alpha K L/T) is 8 sqrt(alpha K T L).",
        T * 4 * rate + 16 * al * K * L / (4 * rate),
        "==",
        8 * sqrt(al * K * T * L),
        Domain({T: above(1), al: above(3), K: at_least(2), L: POSITIVE}),
        role="constant",
    ),
    Claim(
        "gf.tuning-best",
        f"{AT}, l. 1758",
        "No other Delta is better: T Delta + c^2/Delta >= 2 c sqrt T.",
        2 * c * sqrt(T),
        "<=",
        T * D + c**2 / D,
        Domain({T: POSITIVE, c: POSITIVE, D: POSITIVE}),
        by=(Rewrite((sqrt(T) * D - c) ** 2 / D),),
        role="sharper",
    ),
    Claim(
        "gf.rate",
        f"{AT}, l. 1745",
        "K <= 2(K-1): the upper bound meets the minimax lower bound up to constants and log T.",
        K,
        "<=",
        2 * (K - 1),
        Domain({K: at_least(2)}),
        role="remark",
    ),
    Claim(
        "gf.klucb",
        "Remark, l. 1763",
        "d >= 2 Delta^2 gives min(2x, z) <= min(y, z), x the "
        "square, so the KL bound is at most the UCB form.",
        Min(2 * x, z),
        "<=",
        Min(y, z),
        Domain({x: at_least(0), y: at_least(0), z: at_least(0)}, (y - 2 * x,)),
        by=(PiecewiseLinear(),),
        role="remark",
    ),
)

RESULT = Result(
    name="gap_free",
    title="Problem-independent regret of AdaP-UCB",
    place="Theorem thm:nogap_upper, l. 1740-1764",
    claims=CLAIMS,
    verdict="Survives with its constants, because E N_a <= 16 alpha log T/(Delta min(eps, "
    "Delta)) + "
    "3 alpha/(alpha-3) holds by the repaired proof of AdaP-UCB. The remark on AdaP-KLUCB needs "
    "constants that do not depend on the instance, which the paper does not establish "
    "(klu.constants).",
    order=130,
)

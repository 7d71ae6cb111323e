"""Minimax lower bound for stochastic bandits (paper, Theorem thm:minimax, lines 833-904).

With TV(M_nu, M_nu') <= tanh(eps/2) E N_i TV(P_i, P'_i) (file kl_decomposition) in place of KL and
Bretagnolle-Huber, and TV(N(0,1), N(2D,1)) = erf(D/sqrt 2) <= sqrt(2/pi) D in place of Pinsker:
R + R' >= (T D / 2)(1 - c D), c = sqrt(2/pi) tanh(eps/2) T/(K-1); D = 1/(2c) gives
max(R, R') >= sqrt(2 pi)/32 (K-1)/tanh(eps/2) >= sqrt(2 pi)/16 (K-1)/eps, about (K-1)/(6.39 eps).
"""

from __future__ import annotations

from fractions import Fraction

from sympy import E, Min, Rational, erf, exp, pi, sqrt, symbols, tanh

from dpaudit.claims.claim import GRANTED, REFUTED, Claim, Result
from dpaudit.claims.domain import POSITIVE, UNIT, Domain, RealInterval, above, at_least
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Monotone, Rewrite, Split
from dpaudit.claims.theorem import FALSE, PRINTED, REPAIRED, Theorem

D, e, c, T, k, y = symbols("Delta epsilon c T k y", positive=True)
n, x, w, z = symbols("N x w z", real=True)
some = Domain({e: POSITIVE, T: POSITIVE, k: POSITIVE})
slope = sqrt(2 / pi) * tanh(e / 2) * T / k
arms = Domain({n: at_least(0), x: at_least(0), w: at_least(0), z: at_least(0)})
R, S, u, v = symbols("R S u v", real=True)
A, B, F, G, H, J = symbols("A B F G H J", nonnegative=True)
pair = {D: POSITIVE, T: POSITIVE, c: POSITIVE, z: at_least(0), R: at_least(0), S: at_least(0)}
whole = Domain(
    {**pair, u: UNIT, v: UNIT, n: at_least(0)},
    (z - R, z - S, R - T * D / 2 * u, S - T * D / 2 * v, u + v - 1 + n, c * D - n),
)
AT = "Theorem thm:minimax"

CLAIMS = (
    Claim(
        "mm.least-played",
        f"{AT}, l. 861",
        "The least played of K-1 arms has at most T/(K-1) pulls (K = 4).",
        3 * Min(x, w, z),
        "<=",
        n + x + w + z,
        arms,
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "mm.regret-first",
        f"{AT}, l. 868",
        "Where N_1 <= T/2, at least T/2 pulls have gap Delta; w is the indicator, z = T.",
        w * z / 2,
        "<=",
        z - n,
        Domain({z: at_least(0), n: at_least(0), w: UNIT}, (w * (z / 2 - n), z - n)),
        by=(Rewrite(A + (1 - w) * B, {A: w * (z / 2 - n), B: z - n}),),
    ),
    Claim(
        "mm.regret-second",
        f"{AT}, l. 872",
        "Delta N_1 + 2 Delta N_rest >= Delta T/2 when N_1 > T/2.",
        z / 2,
        "<=",
        n + 2 * x,
        Domain({z: at_least(0), n: at_least(0), x: at_least(0)}, (n - z / 2,)),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "mm.gaussian-kl",
        f"{AT}, l. 892",
        "KL(N(0,1), N(2D,1)) = (2D)^2/2 and sqrt(KL/2) = D.",
        sqrt((2 * D) ** 2 / 2 / 2),
        "==",
        D,
        Domain({D: POSITIVE}),
    ),
    Claim(
        "mm.gaussian-tv",
        f"{AT}, l. 892",
        "TV(N(0,1), N(2D,1)) = erf(D/sqrt 2) <= D.",
        erf(D / sqrt(2)),
        "<=",
        D,
        Domain({D: POSITIVE}),
        by=(
            Monotone(D, slope=(Rewrite(1 - sqrt(2 / pi) + sqrt(2 / pi) * (1 - exp(-(D**2) / 2))),)),
        ),
    ),
    Claim(
        "mm.gaussian-tv-sharp",
        "sharper than l. 892",
        "erf(D/sqrt 2) <= sqrt(2/pi) D.",
        erf(D / sqrt(2)),
        "<=",
        sqrt(2 / pi) * D,
        Domain({D: POSITIVE}),
        by=(Monotone(D, slope=(Rewrite(sqrt(2 / pi) * (1 - exp(-(D**2) / 2))),)),),
        role="sharper",
    ),
    Claim(
        "mm.optimal-gap",
        f"{AT}, l. 901",
        "y exp(1-y) <= 1: Delta = (K-1)/(6 eps T) is optimal.",
        y,
        "<=",
        exp(y - 1),
        Domain({y: above(0)}),
        by=(
            Split(
                y,
                1,
                (Monotone(y, "high", (Rewrite(1 - exp(y - 1)),)),),
                (Monotone(y, "low", (Rewrite(exp(y - 1) - 1),)),),
            ),
        ),
    ),
    Claim(
        "mm.value",
        f"{AT}, l. 898-903",
        "(1/2)(T D/4) exp(-1) at D = (K-1)/(6 eps T) is (K-1)/(48 e eps).",
        T / 8 * (k / (6 * e * T)) * exp(-6 * e * T / k * (k / (6 * e * T))),
        "==",
        k / (48 * E * e),
        some,
        role="constant",
    ),
    Claim(
        "mm.constant-131",
        f"{AT}, l. 903",
        "exp(-1) >= 48/131, so 1/(48 e) >= 1/131.",
        Rational(48, 131),
        "<=",
        exp(-1),
        role="constant",
    ),
    Claim(
        "mm.constant-27",
        f"{AT}, l. 846",
        "exp(-1/2)/16 >= 1/27 (Theorem 15.2 of the cited book: T/8 sqrt((K-1)/(4T)) exp(-1/2)).",
        Rational(1, 27),
        "<=",
        exp(-Rational(1, 2)) / 16,
        role="constant",
    ),
    Claim(
        "mm.two-maxima",
        f"{AT}, l. 903",
        "2 max(a, b) >= a + b.",
        (x + w) / 2,
        "<=",
        -Min(-x, -w),
        Domain({x: at_least(0), w: at_least(0)}),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "mm.bounded-rewards",
        f"{AT}, l. 280, read for rewards in [0, 1]",
        "Uniform play is 0-DP and pays at most (1 - 1/K) T, so the bound "
        "needs (K-1)/(131 eps) <= (1 - 1/K) T, for every eps > 0 (k = K - 1).",
        k / (131 * e),
        "<=",
        k / (k + 1) * T,
        Domain({k: at_least(1), e: POSITIVE, T: at_least(1)}),
        hints=({k: Fraction(1), e: Fraction(1, 1000), T: Fraction(1)},),
        expect=REFUTED,
        role="remark",
        correction="the statement names no family of environments; its proof is about "
        "unit-variance Gaussian rewards with unbounded means. For rewards in [0, 1], which l. "
        "1745 compares with "
        "it, eps >= K/(131 T) is necessary, which is not to say that it is enough.",
        survives="it survives for the Gaussian family of its proof; for rewards in [0, 1] see "
        "thm:minimax for bounded rewards.",
    ),
    Claim(
        "mm.bounded-regime",
        f"{AT}, l. 280, the condition eps >= (K-1)/(131 T) alone",
        "For K = 2 it would be enough that (K-1)/(131 eps) <= T: with x = 1/(131 eps T) <= 1, "
        "x T <= T/2, what uniform play pays at most.",
        x * T,
        "<=",
        T / 2,
        Domain({x: RealInterval(0, 1, True, False), T: at_least(1)}),
        hints=({x: Fraction(2, 3), T: Fraction(1)},),
        expect=REFUTED,
        role="remark",
        correction="at eps = 1.5/(131 T) the bound claims 2 T/3 where uniform play pays T/2.",
        survives="the condition is necessary and not sufficient.",
    ),
    Claim(
        "mm.bounded-necessary",
        "correction of mm.bounded-rewards",
        "At eps = (1 + s) K/(131 T), s >= 0, the bound is below what uniform play pays.",
        k / (131 * ((1 + x) * (k + 1) / (131 * T))),
        "<=",
        k / (k + 1) * T,
        Domain({k: at_least(1), T: at_least(1), x: at_least(0)}),
        by=(Rewrite(k * T * x / ((k + 1) * (1 + x))),),
        role="sharper",
    ),
    Claim(
        "mm.assembly",
        f"{AT}, l. 866-903, with TV",
        "R >= (T D/2) u, R' >= (T D/2) v, u + v >= 1 - n, n <= c D and M >= R, R' give "
        "M >= (T D/4)(1 - c D).",
        T * D / 4 * (1 - c * D),
        "<=",
        z,
        whole,
        by=(
            Rewrite(
                (A + B) / 2 + (F + G) / 2 + T * D / 4 * (H + J),
                dict(zip((A, B, F, G, H, J), whole.constraints, strict=True)),
            ),
        ),
        role="theorem",
    ),
    Claim(
        "mm.printed-weaker",
        f"{AT}, l. 280",
        "1/131 <= sqrt(2 pi)/16: what is proved with TV is stronger than what is printed.",
        Rational(1, 131),
        "<=",
        sqrt(2 * pi) / 16,
        role="constant",
    ),
    Claim(
        "mm.sharper-kl",
        "sharper, with KL constant 1",
        "D = (K-1)/(eps T) gives (K-1)/(8 e eps), a factor 6 better.",
        T / 8 * (k / (e * T)) * exp(-1),
        "==",
        k / (8 * E * e),
        some,
        role="sharper",
    ),
    Claim(
        "mm.sharper-optimum",
        "sharper, with TV",
        "D(1 - cD) <= 1/(4c), attained at 1/(2c).",
        D * (1 - c * D),
        "<=",
        1 / (4 * c),
        Domain({c: POSITIVE, D: POSITIVE}),
        by=(Rewrite((1 - 2 * c * D) ** 2 / (4 * c)),),
        role="sharper",
    ),
    Claim(
        "mm.sharper-value",
        "sharper, with TV",
        "(T/4)/(4c) = sqrt(2 pi)/32 (K-1)/tanh(eps/2).",
        T / 4 / (4 * slope),
        "==",
        sqrt(2 * pi) / 32 * k / tanh(e / 2),
        some,
        role="sharper",
    ),
    Claim(
        "mm.sharper-linear",
        "sharper, with TV",
        "sqrt(2 pi)/16 (K-1)/eps <= that.",
        sqrt(2 * pi) / 16 * tanh(e / 2),
        "<=",
        sqrt(2 * pi) / 32 * e,
        Domain({e: POSITIVE}),
        by=(Monotone(e, slope=(Rewrite(sqrt(2 * pi) / 32 * tanh(e / 2) ** 2),)),),
        role="sharper",
    ),
    Claim(
        "mm.sharper-constant",
        "sharper, with TV",
        "sqrt(2 pi)/16 > 20/131: at least twenty times the printed constant.",
        Rational(20, 131),
        "<",
        sqrt(2 * pi) / 16,
        role="sharper",
    ),
)

RESULT = Result(
    name="minimax",
    title="Minimax lower bound, stochastic bandits",
    place="Theorem thm:minimax, l. 279, 833-904",
    claims=CLAIMS,
    verdict="Survives for every eps (its KL step holds with constant 1). Sharper: "
    "sqrt(2 pi)/32 (K-1)/tanh(eps/2) >= sqrt(2 pi)/16 (K-1)/eps, i.e. (K-1)/(6.39 eps) in place "
    "of (K-1)/(131 eps). All this is about the Gaussian rewards of its proof, which the statement "
    "does not name: for rewards in [0, 1] it cannot hold below eps = K/(131 T).",
    theorems=(
        Theorem(
            "thm:minimax",
            PRINTED,
            "l. 279",
            "For every eps > 0, K > 1 and T >= K - 1, for the family of its proof: unit-variance "
            "Gaussian environments.",
            ("special case",),
            ("thm:minimax as repaired",),
            expect=GRANTED,
        ),
        Theorem(
            "thm:minimax",
            REPAIRED,
            "l. 279",
            "For every eps > 0, K > 1, T >= K - 1 and policy that is eps-global DP on R^T, some "
            "unit-variance Gaussian environment costs max(sqrt(T(K-1))/27, sqrt(2 pi)/16 "
            "(K-1)/eps) >= max(sqrt(T(K-1))/27, (K-1)/(131 eps)).",
            ("Markov", "chain"),
            (
                "mm.least-played",
                "mm.regret-first",
                "mm.regret-second",
                "mm.gaussian-tv-sharp",
                "lem:tv",
                "mm.assembly",
                "mm.sharper-value",
                "mm.sharper-linear",
                "mm.printed-weaker",
                "book.15.2",
            ),
            expect=GRANTED,
        ),
        Theorem(
            "thm:minimax for bounded rewards",
            PRINTED,
            "l. 279, which names no family",
            "The same for rewards in [0, 1].",
            refuted_by=("mm.bounded-rewards",),
            expect=FALSE,
        ),
        Theorem(
            "thm:minimax for bounded rewards",
            REPAIRED,
            "l. 279",
            "For every eps > 0, K > 1, T >= K - 1, 0 < D <= 1/2 and policy that is eps-global DP "
            "on [0, 1]^T, some Bernoulli environment costs (T D/4)(1 - 2 D tanh(eps/2) T/(K-1)): "
            "(K-1)/(32 tanh(eps/2)), as long as that is at most T/16.",
            ("Markov", "chain"),
            (
                "mm.least-played",
                "mm.regret-first",
                "mm.regret-second",
                "pd.bernoulli-tv",
                "lem:tv",
                "mm.assembly",
                "sharper.minimax-bounded",
            ),
            expect=GRANTED,
        ),
    ),
    order=40,
)

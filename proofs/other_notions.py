"""Lower bounds under local and zero-concentrated privacy: the steps of `regret_bounds`.

The arguments stand in dpaudit/regret_bounds/other_notions.py.
"""

from __future__ import annotations

from sympy import Rational, exp, sqrt, symbols

from dpaudit.claims.claim import Claim, Result
from dpaudit.claims.domain import POSITIVE, UNIT, Domain, closed
from dpaudit.claims.methods import Rewrite

e, T, D, r, g = symbols("epsilon T D rho g", positive=True)
u, w, p = symbols("u w p", real=True)
E = exp(e)
FROM = "lower bounds of other notions"
first, second = (E * u - w) / (E - 1), (E * w - u) / (E - 1)

CLAIMS = (
    Claim(
        "notions.local-first",
        FROM,
        "Randomised response of v_0, v_1 is the channel: (E v_0 + v_1)/(1 + E) = W_0, E = e^eps.",
        (E * first + second) / (1 + E),
        "==",
        u,
        Domain({e: POSITIVE, u: UNIT, w: UNIT}),
        role="sharper",
    ),
    Claim(
        "notions.local-second",
        FROM,
        "v_0 >= 0 where W_1 = x E W_0 with x <= 1; and v_0, v_1 exchanged. Their masses are 1 as "
        "those of W_0 and W_1 are.",
        0,
        "<=",
        first.subs(w, p * E * u),
        Domain({e: POSITIVE, u: UNIT, p: UNIT}),
        by=(Rewrite(E * u * (1 - p) / (E - 1)),),
        role="sharper",
    ),
    Claim(
        "notions.local-mean",
        FROM,
        "A bit of mean p is seen with mean (1 + (E - 1) p)/(1 + E) = 1/2 + tanh(eps/2)(p - 1/2).",
        (1 + (E - 1) * p) / (1 + E),
        "==",
        Rational(1, 2) + (E - 1) / (E + 1) * (p - Rational(1, 2)),
        Domain({e: POSITIVE, p: UNIT}),
        role="sharper",
    ),
    Claim(
        "notions.zcdp-second-moment",
        FROM,
        "E h^2 = T g (1 - g) + (T g)^2 <= (T g)^2 + T g for h Binomial(T, g).",
        T * p * (1 - p) + (T * p) ** 2,
        "<=",
        (T * p) ** 2 + T * p,
        Domain({T: POSITIVE, p: closed(0, 1)}),
        role="sharper",
    ),
    Claim(
        "notions.zcdp-value",
        FROM,
        "(T D/4)(1 - sqrt(rho/2) 2 D T) at D = 1/(4 T sqrt(rho/2)) is sqrt(2)/(32 sqrt(rho)): what "
        "the bound comes to as rho falls, where 2 D T is large beside 1.",
        T / 4 / (4 * T * sqrt(r / 2)) * (1 - sqrt(r / 2) * 2 * T / (4 * T * sqrt(r / 2))),
        "==",
        sqrt(2) / (32 * sqrt(r)),
        Domain({T: POSITIVE, r: POSITIVE}),
        role="sharper",
    ),
)

RESULT = Result(
    name="other_notions",
    title="Lower bounds under local and zero-concentrated privacy",
    place="not in the paper",
    claims=CLAIMS,
    theorems=(),
    verdict="The steps hold; that h rows cost h^2 rho, joint convexity and Lai and Robbins are "
    "from the literature.",
    order=170,
    in_paper=False,
)

"""The tools that the paper cites (lines 234-237 and 1767-1851), so that few steps rest on a name.

*Log-sum.* p log(p/q) >= p log r + p - r q for every r > 0 (`bg.tangent`, `bg.log`); summed over the
outcomes with r = sum p/sum q it is sum p log(p/q) >= sum p log(sum p/sum q). For an event A and its
complement this says KL(P, Q) >= d(P(A), Q(A)).
*Pinsker.* With A = {p > q}, TV = P(A) - Q(A), and d(x, y) >= 2 (x - y)^2 (`bg.pinsker-bernoulli`).
*Bretagnolle-Huber.* log-sum on p log(sqrt(q/p)) gives exp(-KL/2) <= sum sqrt(pq), and sqrt(pq) =
sqrt(min) sqrt(max), so (sum sqrt(pq))^2 <= m (2 - m) by Cauchy-Schwarz; m <= P(A) + Q(A^c).
*Chernoff, Hoeffding.* Markov for exp(s sum X), independence, exp(sX) <= 1 - X + X e^s on [0, 1]
(`bg.convexity`), the best s (`bg.chernoff-transform`); then Pinsker for Bernoulli laws.
What is granted is in the file granted.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from sympy import Abs, Rational, Symbol, diff, exp, log, sqrt, symbols

from dpaudit.claims.balls import ball
from dpaudit.claims.claim import ENUMERATED, GRANTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, REALS, UNIT, Domain, above, at_least, between
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Concave, Monotone, Rewrite, Split
from dpaudit.claims.models import random_policy, relative_entropy, words
from dpaudit.claims.theorem import OWN, PRINTED, Theorem

b = Symbol("b", positive=True)
e = Symbol("epsilon", positive=True)
n = Symbol("n", positive=True)
a, m, u, v, x = symbols("a m u v x", real=True)
p, q = symbols("p q", positive=True)
t = Symbol("t", real=True)
K, L, M = symbols("K L M", nonnegative=True)
INNER = between(0, 1)


def kl(one, two):
    """The relative entropy of two Bernoulli laws."""
    return one * log(one / two) + (1 - one) * log((1 - one) / (1 - two))


further = p + t * (1 - p)
square = x**2 * exp(-x / b) / b
primitive = -exp(-x / b) * (x**2 + 2 * b * x + 2 * b**2)
tail = -exp(-x / b) / 2
upward = Domain({p: INNER, t: UNIT.__class__(0, 1, False, True)})


def _binomials():
    for size in range(1, 11):
        for eighths in range(1, 8):
            mean = Fraction(eighths, 8)
            law = [comb(size, j) * mean**j * (1 - mean) ** (size - j) for j in range(size + 1)]
            yield size, mean, law


def _chernoff(rng):
    """exp(-n d(k/n, mu)) is rational, so both tails are compared exactly."""
    count = 0
    for size, mean, law in _binomials():
        for hits in range(size + 1):
            share = Fraction(hits, size)
            bound = Fraction(1)
            if hits:
                bound *= (mean / share) ** hits
            if hits < size:
                bound *= ((1 - mean) / (1 - share)) ** (size - hits)
            count += 1
            tail_mass = sum(law[hits:]) if share >= mean else sum(law[: hits + 1])
            if tail_mass > bound:
                return Tally(count, f"n = {size}, mu = {mean}, k = {hits}")
    return Tally(count, family="binomial laws, n <= 10, mean k/8, both tails")


def _hoeffding(rng):
    count = 0
    for size, mean, law in _binomials():
        for hits in range(size + 1):
            gap = Fraction(hits, size) - mean
            count += 1
            tail_mass = sum(law[hits:]) if gap >= 0 else sum(law[: hits + 1])
            if gap and not (ball(-2 * size * gap**2)).exp() > ball(tail_mass):
                return Tally(count, f"n = {size}, mu = {mean}, k = {hits}")
    return Tally(count, family="binomial laws, n <= 10, mean k/8, both tails")


def _decomposition(rng):
    """KL of the joint laws of (actions, rewards) against the sum over pulls, in balls."""
    for count in range(1, 61):
        policy = random_policy(rng, 2, 3)
        means, other = ([Fraction(int(w), 8) for w in rng.integers(1, 8, size=2)] for _ in "12")
        joint, joint_other, spent = [], [], ball(0)
        for actions in words(2, 3):
            for rewards in words(2, 3):
                chance = second = policy.table[actions, rewards]
                for arm, reward in zip(actions, rewards, strict=True):
                    chance *= means[arm] if reward else 1 - means[arm]
                    second *= other[arm] if reward else 1 - other[arm]
                joint.append(chance)
                joint_other.append(second)
                for arm in actions:
                    pair = ((means[arm], 1 - means[arm]), (other[arm], 1 - other[arm]))
                    spent = spent + ball(chance) * relative_entropy(*pair)
        if not relative_entropy(joint, joint_other).overlaps(spent):
            return Tally(count, f"means {means}, {other}")
    return Tally(60)


levels = Domain(
    {p: POSITIVE, q: POSITIVE, u: UNIT, v: UNIT, x: UNIT, m: UNIT, n: POSITIVE, a: at_least(0)},
    (n * x + a - u, n * m + a - v, 1 - p - q),
)

CLAIMS = (
    Claim(
        "bg.laplace-variance",
        "l. 234",
        "Lap(b) has variance 2 b^2: the primitive of x^2 f(x).",
        diff(primitive, x),
        "==",
        square,
        Domain({b: POSITIVE, x: at_least(0)}),
        role="remark",
    ),
    Claim(
        "bg.laplace-variance-value",
        "l. 234",
        "minus the primitive at 0 is 2 b^2.",
        -primitive.subs(x, 0),
        "==",
        2 * b**2,
        Domain({b: POSITIVE}),
        role="remark",
    ),
    Claim(
        "bg.laplace-mechanism",
        "Theorem thm:laplace, l. 235",
        "The log-ratio of two Laplace densities is at most |u - v| / b.",
        Abs(x - v) - Abs(x - u),
        "<=",
        Abs(u - v),
        Domain({x: REALS, u: REALS, v: REALS}),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "bg.laplace-tail",
        "Lemma lem:lap_conc, l. 1810",
        "P(Lap(b) > a) = exp(-a/b)/2 for a >= 0: the primitive of the density.",
        diff(tail, x),
        "==",
        exp(-x / b) / (2 * b),
        Domain({b: POSITIVE, x: at_least(0)}),
    ),
    Claim(
        "bg.post-processing",
        "Lemma lem:post_proc, l. 1769",
        "P(z|x) <= e^eps P(z|x') at each output z gives w P(z|x) <= e^eps w P(z|x') for the "
        "probability w of any further event given z.",
        m * u,
        "<=",
        n * m * v,
        Domain({m: UNIT, u: UNIT, v: UNIT, n: POSITIVE}, (n * v - u,)),
        by=(Rewrite(m * K, {K: n * v - u}),),
    ),
    Claim(
        "bg.post-processing-levels",
        "Lemma lem:post_proc, l. 1769, with delta",
        "The probability of a further event is a mixture of indicators of its level sets: weights "
        "p + q <= 1 and P <= e^eps P' + delta on both sets give p u + q v <= e^eps (p x + q m) + "
        "delta (two levels; more likewise); a is delta.",
        p * u + q * v,
        "<=",
        n * (p * x + q * m) + a,
        levels,
        by=(Rewrite(p * K + q * L + a * M, dict(zip((K, L, M), levels.constraints, strict=True))),),
    ),
    Claim(
        "bg.markov",
        "Lemma lem:markov, l. 1774",
        "c 1{|X| >= c} <= |X| at every point; a is the indicator, so a (|X| - c) >= 0.",
        n * a,
        "<=",
        m,
        Domain({a: UNIT, m: at_least(0), n: POSITIVE}, (a * (m - n),)),
        by=(Rewrite(K + m * (1 - a), {K: a * (m - n)}),),
    ),
    Claim(
        "bg.divergence-decomposition",
        "Lemma lem:div_decomp, l. 1789",
        "KL of the joint laws is sum_a E N_a(T) KL(P_a, P'_a) (enclosures overlap).",
        models=_decomposition,
        expect=SAMPLED,
        theorem="lem:div_decomp as printed",
    ),
    Claim(
        "bg.bernoulli-mirror",
        "Definition def:kl_bern, l. 1826",
        "d(p, q) = d(1-p, 1-q).",
        kl(p, q),
        "==",
        kl(1 - p, 1 - q),
        Domain({p: INNER, q: INNER}),
    ),
    Claim(
        "bg.log",
        "used throughout",
        "log x <= x - 1 for x > 0.",
        log(q),
        "<=",
        q - 1,
        Domain({q: above(0)}),
        by=(
            Split(
                q,
                1,
                (Monotone(q, "high", (Rewrite((1 - q) / q),)),),
                (Monotone(q, "low", (Rewrite((q - 1) / q),)),),
            ),
        ),
    ),
    Claim(
        "bg.pinsker-bernoulli",
        "Lemma lem:pinsker, l. 1803",
        "2 (p-q)^2 <= d(p, q), for q = p + t(1-p) above p; the other side by bg.bernoulli-mirror.",
        2 * (p - further) ** 2,
        "<=",
        kl(p, further),
        upward,
        by=(
            Monotone(
                t, slope=(Rewrite(t * (1 - p) * (1 - 2 * further) ** 2 / (further * (1 - t))),)
            ),
        ),
    ),
    Claim(
        "bg.tangent",
        "the log-sum inequality, one term",
        "p log(p/q) - p log r - p + r q = p (w - 1 - log w) with w = r q/p, which is >= 0 by "
        "bg.log; r = sum p/sum q and a sum over the terms give the log-sum inequality.",
        p * log(p / q) - p * log(b) - p + b * q,
        "==",
        p * (b * q / p - 1 - log(b * q / p)),
        Domain({p: POSITIVE, q: POSITIVE, b: POSITIVE}),
        role="sharper",
    ),
    Claim(
        "bg.cauchy",
        "the Cauchy-Schwarz inequality, one term",
        "2 u v <= b u^2 + v^2/b; b = (sum v^2/sum u^2)^{1/2} and a sum over the terms give it.",
        2 * u * v,
        "<=",
        b * u**2 + v**2 / b,
        Domain({u: REALS, v: REALS, b: POSITIVE}),
        by=(Rewrite((b * u - v) ** 2 / b),),
        role="sharper",
    ),
    Claim(
        "bg.convexity",
        "Lemma lem:hoeff, l. 1817, for rewards in [0, 1]",
        "exp(u m) <= 1 - m + m exp(u) on [0, 1]: the exponential moment is at most a Bernoulli's.",
        exp(u * m),
        "<=",
        1 - m + m * exp(u),
        Domain({m: UNIT, u: REALS}),
        by=(Concave(m),),
    ),
    Claim(
        "bg.overlap",
        "Lemma lem:bret_hub, l. 1795",
        "m (2 - m) <= 2 m with m = sum min(p, q); sum max(p, q) = 2 - m.",
        m * (2 - m),
        "<=",
        2 * m,
        Domain({m: UNIT}),
    ),
    Claim(
        "bg.bretagnolle-huber-assembly",
        "Lemma lem:bret_hub, l. 1795",
        "w <= x^2 (Jensen), x^2 <= m (2-m) (Cauchy-Schwarz), m <= y: w/2 <= y, where "
        "w = exp(-KL), x = sum sqrt(pq), y = P(A) + Q(A^c).",
        u / 2,
        "<=",
        v,
        Domain({u: UNIT, v: at_least(0), x: UNIT, m: UNIT}, (x**2 - u, m * (2 - m) - x**2, v - m)),
        by=(
            Rewrite(
                K / 2 + L / 2 + M + m**2 / 2,
                {K: x**2 - u, L: m * (2 - m) - x**2, M: v - m},
            ),
        ),
    ),
    Claim(
        "bg.bretagnolle-huber-sharper",
        "sharper than l. 1798",
        "exp(-K)/2 <= 1 - sqrt(1 - exp(-K)), with w = exp(-K).",
        p / 2,
        "<=",
        1 - sqrt(1 - p),
        Domain({p: INNER}),
        by=(Rewrite((1 - sqrt(1 - p)) ** 2 / 2),),
        role="sharper",
    ),
    Claim(
        "bg.kl-convex-first",
        "Lemma lem:kl_prop, l. 1833",
        "d(., q) is strictly convex.",
        0,
        "<",
        diff(kl(p, q), p, 2),
        Domain({p: INNER, q: INNER}),
        by=(Rewrite(1 / (p * (1 - p))),),
    ),
    Claim(
        "bg.kl-convex-second",
        "Lemma lem:kl_prop, l. 1833",
        "d(p, .) is strictly convex.",
        0,
        "<",
        diff(kl(p, q), q, 2),
        Domain({p: INNER, q: INNER}),
        by=(Rewrite(p / q**2 + (1 - p) / (1 - q) ** 2),),
    ),
    Claim(
        "bg.kl-slope",
        "Lemma lem:kl_prop, l. 1837",
        "The derivative of d(p, .) is (q-p)/(q(1-q)): decreasing before p, increasing after.",
        diff(kl(p, q), q),
        "==",
        (q - p) / (q * (1 - q)),
        Domain({p: INNER, q: INNER}),
    ),
    Claim(
        "bg.chernoff-transform",
        "Lemma lem:chernoff, l. 1841",
        "The optimal exponential moment is exp(-d(x, mu)).",
        log(1 - q + q * (p * (1 - q)) / (q * (1 - p))) - p * log(p * (1 - q) / (q * (1 - p))),
        "==",
        -kl(p, q),
        Domain({p: INNER, q: INNER}),
    ),
    Claim(
        "bg.chernoff",
        "Lemma lem:chernoff, l. 1841",
        "Both Chernoff tails on binomial laws.",
        models=_chernoff,
        expect=ENUMERATED,
        theorem="lem:chernoff as printed",
    ),
    Claim(
        "bg.hoeffding",
        "Lemma lem:hoeff, l. 1817",
        "Both Hoeffding tails on binomial laws.",
        models=_hoeffding,
        expect=ENUMERATED,
        theorem="lem:hoeff as printed",
    ),
    Claim(
        "bg.chi-square",
        "used for d_inf",
        "p(p/q - 1) + (1-p)((1-p)/(1-q) - 1) is "
        "(p-q)^2/(q(1-q)), so d(p, q) <= (p-q)^2/(q(1-q)) by bg.log.",
        p * (p / q - 1) + (1 - p) * ((1 - p) / (1 - q) - 1),
        "==",
        (p - q) ** 2 / (q * (1 - q)),
        Domain({p: INNER, q: INNER}),
        role="sharper",
    ),
    Claim(
        "bg.naive-composition",
        "l. 358",
        "K T releases at eps/(KT) each spend eps in total.",
        n * (e / n),
        "==",
        e * Rational(1),
        Domain({e: POSITIVE, n: POSITIVE}),
        role="remark",
    ),
)

RESULT = Result(
    name="background",
    title="Cited tools",
    place="l. 234-237, 1767-1851",
    claims=CLAIMS,
    verdict="All hold, the divergence decomposition by its reference. Bretagnolle-Huber may be "
    "used in the form 1 - sqrt(1 - exp(-KL)), which is "
    "never weaker.",
    theorems=(
        Theorem(
            "thm:laplace",
            PRINTED,
            "l. 235",
            "For every f of L1-sensitivity s and every eps > 0, f + Lap(s/eps) noise is eps-DP.",
            ("sum", "integral"),
            ("bg.laplace-mechanism",),
        ),
        Theorem(
            "lem:post_proc",
            PRINTED,
            "l. 1769",
            "A function of the output of an (eps, delta)-DP mechanism, random or not, is "
            "(eps, delta)-DP.",
            ("sum", "integral"),
            ("bg.post-processing", "bg.post-processing-levels"),
            coq="`post_processing` in coq/cited_inequalities.v, for finite sets and delta = 0",
        ),
        Theorem(
            "lem:markov",
            PRINTED,
            "l. 1774",
            "For every random variable X and c > 0, P(|X| >= c) <= E|X|/c.",
            ("expectation",),
            ("bg.markov",),
            coq="`markov` in coq/cited_inequalities.v, for finite sets",
        ),
        Theorem(
            "lem:div_decomp",
            PRINTED,
            "l. 1789",
            "For every policy, KL of the joint laws is sum_a E N_a(T) KL(P_a, P'_a).",
            ("book",),
            ("book.15.1",),
            expect=GRANTED,
        ),
        Theorem(
            "log-sum",
            OWN,
            "used by lem:pinsker and lem:kl",
            "sum p log(p/q) >= (sum p) log(sum p/sum q) for all positive p, q.",
            ("sum",),
            ("bg.tangent", "bg.log"),
            coq="`log_sum` in coq/cited_inequalities.v, for finite sets",
        ),
        Theorem(
            "lem:bret_hub",
            PRINTED,
            "l. 1795",
            "For all laws P, Q and events A, P(A) + Q(A^c) >= exp(-KL(P, Q))/2.",
            ("sum", "chain"),
            (
                "log-sum",
                "bg.cauchy",
                "bg.overlap",
                "bg.bretagnolle-huber-assembly",
            ),
            coq="`bretagnolle_huber` in coq/cited_inequalities.v, for finite sets",
        ),
        Theorem(
            "lem:pinsker",
            PRINTED,
            "l. 1803",
            "For all laws, TV(P, Q) <= sqrt(KL(P, Q)/2).",
            ("chain",),
            ("log-sum", "bg.pinsker-bernoulli", "bg.bernoulli-mirror"),
        ),
        Theorem(
            "lem:lap_conc",
            PRINTED,
            "l. 1810",
            "P(Lap(b) > a) = exp(-a/b)/2 for every a >= 0 and b > 0.",
            ("integral",),
            ("bg.laplace-tail",),
        ),
        Theorem(
            "lem:chernoff",
            PRINTED,
            "l. 1841",
            "For independent rewards in [0, 1] of mean mu and x > mu, P(mean >= x) <= "
            "exp(-n d(x, mu)), and the mirror image.",
            ("Markov", "chain"),
            ("lem:markov as printed", "bg.convexity", "bg.chernoff-transform"),
        ),
        Theorem(
            "lem:hoeff",
            PRINTED,
            "l. 1817",
            "For independent rewards in [0, 1], P(mean >= mu + t) <= exp(-2 n t^2), both sides.",
            ("chain",),
            ("lem:chernoff as printed", "bg.pinsker-bernoulli", "bg.bernoulli-mirror"),
        ),
        Theorem(
            "lem:kl_prop",
            PRINTED,
            "l. 1833",
            "d is strictly convex in each argument on (0, 1)^2, and monotone on each side of "
            "the diagonal.",
            ("chain",),
            ("bg.kl-convex-first", "bg.kl-convex-second", "bg.kl-slope"),
        ),
    ),
    order=10,
)

"""The tools that the paper cites (lines 234-237 and 1767-1851), so that no step rests on a name.

Pinsker, Bretagnolle-Huber, Hoeffding and Chernoff are checked on exact small laws, and the
one-variable facts behind them are proved.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from sympy import Abs, Rational, Symbol, diff, exp, log, sqrt, symbols

from dpaudit.claims.balls import ball
from dpaudit.claims.claim import SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, REALS, UNIT, Domain, above, at_least, between
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Monotone, Rewrite, Split
from dpaudit.claims.models import (
    random_law,
    random_policy,
    relative_entropy,
    total_variation,
    words,
)

b = Symbol("b", positive=True)
e = Symbol("epsilon", positive=True)
n = Symbol("n", positive=True)
a, m, u, v, x = symbols("a m u v x", real=True)
p, q = symbols("p q", positive=True)
t = Symbol("t", real=True)
INNER = between(0, 1)


def kl(one, two):
    """The relative entropy of two Bernoulli laws."""
    return one * log(one / two) + (1 - one) * log((1 - one) / (1 - two))


further = p + t * (1 - p)
square = x**2 * exp(-x / b) / b
primitive = -exp(-x / b) * (x**2 + 2 * b * x + 2 * b**2)
tail = -exp(-x / b) / 2
upward = Domain({p: INNER, t: UNIT.__class__(0, 1, False, True)})


def _pairs(rng, count):
    for _ in range(count):
        size = int(rng.integers(2, 6))
        yield random_law(rng, size, zeros=False), random_law(rng, size, zeros=False)


def _markov(rng):
    for count in range(1, 2001):
        law = random_law(rng, 5)
        values = [Fraction(int(w), 4) for w in rng.integers(-12, 13, size=5)]
        level = Fraction(int(rng.integers(1, 13)), 4)
        mean = sum(w * abs(z) for w, z in zip(law, values, strict=True))
        if sum(w for w, z in zip(law, values, strict=True) if abs(z) >= level) > mean / level:
            return Tally(count, f"law {law}, values {values}, level {level}")
    return Tally(2000)


def _pinsker(rng):
    count = 0
    for one, two in _pairs(rng, 1500):
        count += 1
        if one != two and not relative_entropy(one, two) > ball(2 * total_variation(one, two) ** 2):
            return Tally(count, f"laws {one}, {two}")
    return Tally(count)


def _bretagnolle_huber(rng):
    count = 0
    for one, two in _pairs(rng, 1500):
        count += 1
        overlap = ball(1 - total_variation(one, two))
        if one == two:
            continue
        affinity = (-relative_entropy(one, two)).exp()
        if not (overlap > affinity / 2 and overlap > 1 - (1 - affinity).sqrt()):
            return Tally(count, f"laws {one}, {two}")
    return Tally(count)


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
    return Tally(count)


def _hoeffding(rng):
    count = 0
    for size, mean, law in _binomials():
        for hits in range(size + 1):
            gap = Fraction(hits, size) - mean
            count += 1
            tail_mass = sum(law[hits:]) if gap >= 0 else sum(law[: hits + 1])
            if gap and not (ball(-2 * size * gap**2)).exp() > ball(tail_mass):
                return Tally(count, f"n = {size}, mu = {mean}, k = {hits}")
    return Tally(count)


def _post_processing(rng):
    for count in range(1, 1501):
        one, two = random_law(rng, 4, zeros=False), random_law(rng, 4, zeros=False)
        growth = max(p / q for p, q in zip(one, two, strict=True))
        channel = [random_law(rng, 3) for _ in range(4)]
        for j in range(3):
            first = sum(p * row[j] for p, row in zip(one, channel, strict=True))
            second = sum(q * row[j] for q, row in zip(two, channel, strict=True))
            if first > growth * second:
                return Tally(count, f"laws {one}, {two}, channel {channel}")
    return Tally(1500)


def _decomposition(rng):
    """KL of the joint laws of (actions, rewards) against the sum over pulls, in balls."""
    for count in range(1, 61):
        policy = random_policy(rng, 2, 3)
        means, other = ([Fraction(int(w), 8) for w in rng.integers(1, 8, size=2)] for _ in "12")
        joint, joint_other, spent = [], [], ball(0)
        for actions in words(2, 3):
            for rewards in words(2, 3):
                chance = second = policy.probability(actions, rewards)
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
        "A channel applied to the output keeps the largest ratio.",
        models=_post_processing,
        expect=SAMPLED,
    ),
    Claim(
        "bg.markov",
        "Lemma lem:markov, l. 1774",
        "P(|X| >= c) <= E|X| / c.",
        models=_markov,
        expect=SAMPLED,
    ),
    Claim(
        "bg.divergence-decomposition",
        "Lemma lem:div_decomp, l. 1789",
        "KL of the joint laws is sum_a E N_a(T) KL(P_a, P'_a) (enclosures overlap).",
        models=_decomposition,
        expect=SAMPLED,
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
        "bg.pinsker",
        "Lemma lem:pinsker, l. 1803",
        "2 TV^2 <= KL on finite laws.",
        models=_pinsker,
        expect=SAMPLED,
    ),
    Claim(
        "bg.overlap",
        "Lemma lem:bret_hub, l. 1795",
        "(sum sqrt(pq))^2 <= m(2-m) <= 2m with m = sum min(p, q).",
        m * (2 - m),
        "<=",
        2 * m,
        Domain({m: UNIT}),
    ),
    Claim(
        "bg.bretagnolle-huber",
        "Lemma lem:bret_hub, l. 1795",
        "P(A) + Q(A^c) >= exp(-KL)/2, and even >= 1 - sqrt(1 - exp(-KL)).",
        models=_bretagnolle_huber,
        expect=SAMPLED,
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
        expect=SAMPLED,
    ),
    Claim(
        "bg.hoeffding",
        "Lemma lem:hoeff, l. 1817",
        "Both Hoeffding tails on binomial laws.",
        models=_hoeffding,
        expect=SAMPLED,
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
    verdict="All hold. Bretagnolle-Huber may be used in the form 1 - sqrt(1 - exp(-KL)), which is "
    "never weaker.",
    order=10,
)

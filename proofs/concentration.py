"""Concentration of the private means (paper, lines 1306-1398)."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from sympy import Max, Min, Rational, Symbol, exp, log, symbols

from dpaudit.claims.balls import ball
from dpaudit.claims.claim import ENUMERATED, REFUTED, Claim, Result, Tally
from dpaudit.claims.domain import (
    POSITIVE,
    REALS,
    UNIT,
    Domain,
    RealInterval,
    above,
    between,
    closed,
)
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.theorem import FALSE, PRINTED, REPAIRED, Theorem

e, n, delta, T, alpha = symbols("epsilon n delta T alpha", positive=True)
mu = Symbol("mu", positive=True)
x, y, u, v, z, m = symbols("x y u v z m", real=True)
HALF_OPEN = RealInterval(0, 1, True, False)
UCB, KL = "Lemma lem:ucb_concentration", "KL concentration lemma"
DELTAS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(5))
GRID = "a grid of n, mu, delta and eps"


def _tail(level, scale):
    """A ball for P(Lap(1/scale) >= level)."""
    scaled = level * scale
    if scaled >= 0:
        return (-scaled).exp() / 2
    if scaled < 0:
        return 1 - scaled.exp() / 2
    return ball(0).union(ball(1))


def _cases():
    for size in (1, 2, 4, 7):
        for eighths in (1, 3, 4, 7):
            for delta_ in DELTAS:
                for epsilon in EPSILONS:
                    yield size, Fraction(eighths, 8), delta_, epsilon


def _exceeds(size, mean, delta_, epsilon):
    """P(mean_n + Lap - log(1/delta)/(n eps) - sqrt(log(1/delta)/(2n)) >= mu) as a ball."""
    rate = ball(1 / delta_).log()
    width = rate / ball(size * epsilon) + (rate / (2 * size)).sqrt()
    total = ball(0)
    for hits in range(size + 1):
        weight = comb(size, hits) * mean**hits * (1 - mean) ** (size - hits)
        level = ball(mean - Fraction(hits, size)) + width
        total = total + ball(weight) * _tail(level, ball(size * epsilon))
    return total


def _ucb(factor):
    def check(rng):
        count = 0
        for size, mean, delta_, epsilon in _cases():
            count += 1
            both = [_exceeds(size, m_, delta_, epsilon) for m_ in (mean, 1 - mean)]
            if not all(value < ball(factor * delta_) for value in both):
                return Tally(count, f"n = {size}, mu = {mean}, delta = {delta_}, eps = {epsilon}")
        return Tally(count, family=GRID)

    return check


def _entropy(one, two):
    value = ball(0)
    if one:
        value = value + ball(one) * (ball(one) / ball(two)).log()
    if one != 1:
        value = value + ball(1 - one) * (ball(1 - one) / ball(1 - two)).log()
    return value


def _below(size, mean, delta_, epsilon, level):
    """P(mean_n + Lap + log(1/delta)/(n eps) <= level) as a ball."""
    shift = ball(1 / delta_).log() / ball(size * epsilon)
    total = ball(0)
    for hits in range(size + 1):
        weight = comb(size, hits) * mean**hits * (1 - mean) ** (size - hits)
        reach = ball(Fraction(hits, size) - level) + shift
        total = total + ball(weight) * _tail(reach, ball(size * epsilon))
    return total


def _claim_one(rng):
    count = 0
    for size, mean, delta_, epsilon in _cases():
        for part in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
            level = mean * (1 - part)
            count += 1
            bound = (-size * _entropy(level, mean)).exp() + ball(delta_ / 2)
            if not _below(size, mean, delta_, epsilon, level) < bound:
                return Tally(
                    count, f"n = {size}, mu = {mean}, delta = {delta_}, alpha share {part}"
                )
    return Tally(count, family=GRID)


def _claim_two(rng):
    """{mu >= U} is {clipped mean <= x}, d(x, mu) = log(1/delta)/n, or empty when there is no x."""
    count = 0
    for size, mean, delta_, epsilon in _cases():
        target = ball(1 / delta_).log() / size
        count += 1
        if _entropy(Fraction(0), mean) < target:
            continue
        low, high = Fraction(0), mean
        for _ in range(60):
            middle = (low + high) / 2
            if _entropy(middle, mean) < target:
                high = middle
            else:
                low = middle
        if not _below(size, mean, delta_, epsilon, high) < ball(Fraction(3, 2) * delta_):
            return Tally(count, f"n = {size}, mu = {mean}, delta = {delta_}, eps = {epsilon}")
    return Tally(count, family=GRID)


CLAIMS = (
    Claim(
        "co.hoeffding",
        f"{UCB}, l. 1323",
        "Hoeffding at sqrt(log(1/delta)/(2n)) gives delta.",
        exp(-2 * n * (log(1 / delta) / (2 * n))),
        "==",
        delta,
        Domain({n: POSITIVE, delta: HALF_OPEN}),
    ),
    Claim(
        "co.laplace",
        f"{UCB}, l. 1323",
        "The Laplace tail at log(1/delta)/(n eps) is delta/2.",
        exp(-(log(1 / delta) / (n * e)) * (n * e)) / 2,
        "==",
        delta / 2,
        Domain({n: POSITIVE, e: POSITIVE, delta: HALF_OPEN}),
    ),
    Claim(
        "co.union",
        f"{UCB}, l. 1323",
        "If X <= u and Y <= v then X + Y <= u + v.",
        x + y,
        "<=",
        u + v,
        Domain({x: REALS, y: REALS, u: REALS, v: REALS}, (u - x, v - y)),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "co.sum",
        f"{UCB}, l. 1324",
        "delta + delta/2 = 3 delta/2.",
        delta + delta / 2,
        "==",
        Rational(3, 2) * delta,
        Domain({delta: HALF_OPEN}),
    ),
    Claim(
        "co.delta-range",
        f"{UCB}, l. 1308",
        "Any delta >= 0 is allowed: log(1/delta) >= 0 under the root.",
        0,
        "<=",
        log(1 / delta),
        Domain({delta: above(0)}),
        hints=({delta: Fraction(2)},),
        expect=REFUTED,
        correction="0 < delta <= 1 (at 0 the logarithm is infinite, above 1 the root is not real).",
        survives="survives; only delta = t^-alpha is used.",
    ),
    Claim(
        "co.ucb",
        f"{UCB}, l. 1310-1314",
        "Both tails are below 3 delta/2 (exact binomial and Laplace laws).",
        models=_ucb(Fraction(3, 2)),
        expect=ENUMERATED,
        role="theorem",
        theorem="lem:ucb_concentration as repaired",
    ),
    Claim(
        "co.assembly",
        f"{UCB}, l. 1323-1324",
        "P(X + Y > u + v) <= P(X > u) + P(Y > v) <= delta + delta/2.",
        z,
        "<=",
        Rational(3, 2) * delta,
        Domain(
            {z: REALS, x: REALS, y: REALS, delta: HALF_OPEN},
            (x + y - z, delta - x, delta / 2 - y),
        ),
        by=(PiecewiseLinear(),),
        role="theorem",
    ),
    Claim(
        "co.ucb-remark",
        "Remark l. 515 and 2003",
        "The index exceeds the mean with probability "
        "1 - 1/t^alpha, i.e. both tails are below delta; the lemma gives 3 delta/2.",
        models=_ucb(Fraction(1)),
        expect=ENUMERATED,
        role="remark",
    ),
    Claim(
        "co.clip",
        f"{KL}, Claim 1, l. 1364-1365",
        "mu - alpha >= 1 implies mu - alpha >= Z, since mu <= 1.",
        z,
        "<=",
        m,
        Domain({m: closed(0, 1), z: REALS}, (m - 1,)),
        hints=({m: Fraction(1), z: Fraction(2)},),
        expect=REFUTED,
        correction="mu - alpha >= 1 only when mu = 1 and alpha = 0, and then the bound is above 1.",
        survives="Claim 1 survives (co.clip-fixed).",
    ),
    Claim(
        "co.clip-fixed",
        "correction of l. 1364-1365",
        "Z >= u gives clip(Z) >= u for every u <= 1: where clip(Z) <= mu - alpha < 1, so is Z.",
        u,
        "<=",
        Min(Max(0, z), 1),
        Domain({z: REALS, u: UNIT}, (z - u,)),
        by=(PiecewiseLinear(),),
        role="sharper",
    ),
    Claim(
        "co.claim-1",
        f"{KL}, Claim 1, l. 1345",
        "P(mu >= clipped mean + alpha) <= exp(-n d(mu - alpha, mu)) + delta/2.",
        models=_claim_one,
        expect=ENUMERATED,
        role="theorem",
        theorem="lem:kl_concentration as repaired",
    ),
    Claim(
        "co.claim-2-edge",
        f"{KL}, Claim 2, l. 1356, mu = 1",
        "P(mu >= U) <= 3 delta/2; with mu = 1 the event mu >= U is certain because U <= 1.",
        1,
        "<=",
        Rational(3, 2) * delta,
        Domain({delta: HALF_OPEN}),
        hints=({delta: Fraction(1, 10)},),
        expect=REFUTED,
        role="theorem",
        correction="assume mu < 1, or state it with mu > U: for mu = 1, "
        "P(U < 1) <= P(Lap < -log(1/delta)/(n eps)) = delta/2.",
        survives="survives with a strict inequality in eq:cst1 and in Term 2.",
    ),
    Claim(
        "co.level",
        f"{KL}, Claim 2 step (c), l. 1389",
        "d(clipped mean, U) = log(1/delta)/n; at clipped mean 1, U = 1 and d = 0.",
        log(1 / delta) / n,
        "<=",
        0,
        Domain({delta: HALF_OPEN, n: POSITIVE}),
        hints=({delta: Fraction(1, 2), n: Fraction(1)},),
        expect=REFUTED,
        correction="true while the clipped mean is below 1; at 1 the event mu >= U needs mu = 1.",
        survives="Claim 2 survives for mu < 1.",
    ),
    Claim(
        "co.alpha-exists",
        f"{KL}, Claim 2, l. 1385",
        "There is alpha > 0 with d(mu - alpha, mu) "
        "= log(1/delta)/n: it must not exceed d(0, mu) = -log(1 - mu).",
        log(1 / delta) / n,
        "<=",
        -log(1 - mu),
        Domain({delta: HALF_OPEN, n: POSITIVE, mu: between(0, 1)}),
        hints=({delta: Fraction(1, 10), n: Fraction(1), mu: Fraction(1, 2)},),
        expect=REFUTED,
        correction="it exists exactly when delta >= (1 - mu)^n; otherwise the event is empty.",
        survives="Claim 2 survives for mu < 1.",
    ),
    Claim(
        "co.claim-2",
        f"{KL}, Claim 2, l. 1356, mu < 1",
        "P(mu >= U) <= 3 delta/2.",
        models=_claim_two,
        expect=ENUMERATED,
        role="theorem",
        theorem="lem:kl_concentration as repaired",
    ),
    Claim(
        "co.first-episode",
        "n_a = N_a/2 = 1/2 with one reward",
        "Hoeffding for one reward at "
        "width sqrt(alpha log T) gives T^{-2 alpha} <= T^{-alpha}: the index stays optimistic.",
        exp(-2 * alpha * log(T)),
        "<=",
        exp(-alpha * log(T)),
        Domain({alpha: POSITIVE, T: above(1)}),
    ),
)

RESULT = Result(
    name="concentration",
    title="Concentration of the private means",
    place="Lemma lem:ucb_concentration and the KL lemma, l. 1306-1398",
    claims=CLAIMS,
    theorems=(
        Theorem(
            "lem:ucb_concentration",
            PRINTED,
            "l. 1306",
            "For every delta >= 0, both tails are at most 3 delta/2.",
            refuted_by=("co.delta-range",),
            expect=FALSE,
        ),
        Theorem(
            "lem:ucb_concentration",
            REPAIRED,
            "l. 1306",
            "For every 0 < delta <= 1, n, eps > 0 and rewards in [0, 1], both tails are at most "
            "3 delta/2.",
            ("union bound",),
            (
                "lem:hoeff as printed",
                "lem:lap_conc as printed",
                "co.hoeffding",
                "co.laplace",
                "co.union",
                "co.assembly",
            ),
        ),
        Theorem(
            "lem:kl_concentration",
            PRINTED,
            "l. 1337",
            "For every mu in [0, 1], Claim 1, P(mu >= clipped mean + alpha) <= "
            "exp(-n d(mu - alpha, mu)) + delta/2, and Claim 2, P(mu >= U) <= 3 delta/2.",
            refuted_by=("co.claim-2-edge",),
            expect=FALSE,
        ),
        Theorem(
            "lem:kl_concentration",
            REPAIRED,
            "l. 1337",
            "For 0 < delta <= 1, Claim 1 for every mu, and Claim 2 for every mu < 1; for mu = 1, "
            "P(mu > U) <= delta/2.",
            ("union bound", "cases"),
            (
                "lem:chernoff as printed",
                "lem:lap_conc as printed",
                "lem:kl_prop as printed",
                "co.clip-fixed",
                "co.laplace",
                "co.union",
                "co.assembly",
            ),
        ),
    ),
    verdict="Both survive for 0 < delta <= 1 and mu < 1. For mu = 1 Claim 2 is false as stated and "
    "true with a strict inequality, which is all the regret proof needs.",
    misprints=("l. 1607: the KL index needs Claim 2 of the KL lemma, not eq:up_bound_ucb.",),
    order=90,
)

"""The generic regret theorem (paper, Theorem thm:gen_reg, lines 1419-1500).

Corrected statement: with P_l = max over l' >= l, 2^{l'+1} < T, of P(G_{a,l',T}^c),
E N_a(T) <= 2^{l+1} + T P_l + alpha/(alpha-3).

Proof of the corrected first term. An episode of arm a that starts at N_a = 2^{l'+1}, l' >= l, has
either I_1 <= mu_1 at its start, and then all its rounds are counted in Term 2, or
I_a(., 2^{l'}) >= I_1 > mu_1, and then G_{a,l',T} fails by monotonicity in time. The episodes with
l' >= l have at most T - 2^{l+1} rounds together, so the second kind costs at most T P_l in
expectation. The paper claims that G_{a,l,T} alone keeps N'_a below 2^{l+1}; an episode that starts
at 2^{l+1} while I_1 <= mu_1 breaks that.

Independence: an index built from s samples uses the arm's pulls s+1..2s, a set that s alone fixes,
and the noise of that release. In the stack-of-rewards model these are i.i.d. whatever the policy
did, so the union over s needs no further argument.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from sympy import Rational, diff, exp, log, symbols

from dpaudit.claims.claim import REFUTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import Domain, above, at_least
from dpaudit.claims.methods import Rewrite

alpha, k, m, x = symbols("alpha K m x", positive=True)
AT = "Theorem thm:gen_reg"
wide = Domain({alpha: above(3), k: at_least(2)})


def _phi(rng):
    """Every sequence of episodes of up to three arms up to T = 40: t <= 2 phi(t)."""
    count = 0
    for arms in (2, 3):
        todo = [(arms, (1,) * arms)]
        while todo:
            now, counts = todo.pop()
            if now >= 40:
                continue
            for arm in range(arms):
                start, end = now + 1, now + counts[arm]
                count += 1
                if end > 2 * start:
                    return Tally(count, f"counts {counts}, start {start}")
                grown = tuple(c * 2 if i == arm else c for i, c in enumerate(counts))
                todo.append((end, grown))
    return Tally(count)


def _good_event(rng):
    """Arm a starts at N = 1 (I_1 > mu_1), N = 2 (I_1 <= mu_1), N = 4 (I_1 > mu_1); l = 0."""
    good_rounds = 1 + 4
    if good_rounds <= 2:
        return Tally(1)
    return Tally(
        1,
        "l = 0, I_a(., 1) < mu_1, but I_1 <= I_a(., 1) when N_a = 2, and "
        "I_a(., 2) > I_1 > mu_1 when N_a = 4: N'_a >= 1 + 4 = 5 > 2^{l+1} = 2",
    )


def _repaired(rng):
    """All histories of arm a: per level whether the start is bad for arm 1, or G_{l'} fails."""
    count = 0
    for horizon in range(2, 70):
        levels = [j for j in range(8) if 2 ** (j + 1) < horizon]
        for level in levels:
            later = [j for j in levels if j >= level]
            for kinds in itertools.product(("term 2", "not good", "stop"), repeat=len(later)):
                pulls, spent, bad = 2 ** (level + 1), 0, 0
                for j, kind in zip(later, kinds, strict=True):
                    if kind == "stop":
                        break
                    rounds = min(2 ** (j + 1), horizon - pulls)
                    pulls += rounds
                    if kind == "term 2":
                        spent += rounds
                    else:
                        bad += rounds
                count += 1
                if pulls > 2 ** (level + 1) + spent + bad or bad > horizon - 2 ** (level + 1):
                    return Tally(count, f"T = {horizon}, l = {level}, kinds {kinds}")
    return Tally(count)


def _sizes(rng):
    """The sample sizes that an arm can have at time phi are 1/2, 1, 2, 4, ...: 1 + log2 phi."""
    count = 0
    for phi in range(2, 400):
        sizes = [j for j in range(12) if 2**j <= phi - 1]
        count += 1
        if 2 ** (len(sizes) - 1) > phi:
            return Tally(count, f"phi = {phi}")
    return Tally(count)


CLAIMS = (
    Claim(
        "gr.phi",
        f"{AT}, eq:phi_int, l. 1437",
        "phi(t) <= t <= 2 phi(t).",
        models=_phi,
        expect=SAMPLED,
    ),
    Claim(
        "gr.good-event",
        f"{AT}, Step 2, l. 1463-1476",
        "When G_{a,l,T} holds, N'_a(T) <= 2^{l+1}.",
        models=_good_event,
        expect=REFUTED,
        correction="a later episode can start with I_1 > mu_1 although the one that started at "
        "N_a = 2^{l+1} did not. Replace P(G_l^c) by the maximum of P(G_{l'}^c) over l' >= l.",
        survives="survives with the same constants: both indices satisfy P(G_{l'}^c) <= "
        "3/(2 T^alpha) or 3/(2T) for every l' >= l, because their conditions are monotone in l.",
    ),
    Claim(
        "gr.good-event-fixed",
        "correction of Step 2",
        "N_a <= 2^{l+1} + rounds of Term 2 + "
        "rounds of episodes whose G_{l'} fails, the last at most T - 2^{l+1}.",
        models=_repaired,
        expect=SAMPLED,
        role="sharper",
    ),
    Claim(
        "gr.union-sizes",
        f"{AT}, Step 3, l. 1485",
        "phi terms of (3/2) phi^-alpha are (3/2) phi^{1-alpha}.",
        x * Rational(3, 2) * exp(-alpha * log(x)),
        "==",
        Rational(3, 2) * exp((1 - alpha) * log(x)),
        Domain({alpha: above(3), x: at_least(1)}),
    ),
    Claim(
        "gr.terms",
        f"{AT}, Step 3, l. 1486",
        "The sum over phi from t/2 to t has t/2 terms.",
        x + 1,
        "<=",
        x,
        Domain({x: at_least(1)}),
        hints=({x: Fraction(2)},),
        expect=REFUTED,
        correction="it has t/2 + 1 terms; the bound of the line holds nevertheless for t >= 3 "
        "(gr.sum-even, gr.sum-odd), though not for t = 2.",
        survives="survives, since t >= K + 1 >= 3.",
    ),
    Claim(
        "gr.sum-two",
        f"{AT}, Step 3, l. 1486, t = 2",
        "The line at t = 2: 1 + 2^{1-alpha} <= 1.",
        1 + exp((1 - alpha) * log(2)),
        "<=",
        1,
        Domain({alpha: above(3)}),
        hints=({alpha: Fraction(4)},),
        expect=REFUTED,
        correction="state the line for t >= 3, which is all that is summed.",
        survives="survives.",
    ),
    Claim(
        "gr.sum-exponent",
        f"{AT}, Step 3, l. 1486",
        "(phi/(t/2))^{3-alpha} <= 1: it is enough to take alpha = 3.",
        exp(-(alpha - 3) * log(x)),
        "<=",
        1,
        Domain({alpha: above(3), x: at_least(1)}),
    ),
    Claim(
        "gr.sum-telescope",
        f"{AT}, Step 3, l. 1486",
        "1/phi^2 <= 1/(phi-1) - 1/phi.",
        1 / x**2,
        "<=",
        1 / (x - 1) - 1 / x,
        Domain({x: above(1)}),
        by=(Rewrite(1 / (x**2 * (x - 1))),),
    ),
    Claim(
        "gr.sum-even",
        f"{AT}, Step 3, l. 1486, t = 2m",
        "1/m^2 + (1/m - 1/(2m)) <= 1/m, m >= 2.",
        1 / m**2 + 1 / m - 1 / (2 * m),
        "<=",
        1 / m,
        Domain({m: at_least(2)}),
        by=(Rewrite((m - 2) / (2 * m**2)),),
    ),
    Claim(
        "gr.sum-odd",
        f"{AT}, Step 3, l. 1486, t = 2m-1",
        "1/m^2 + 1/m - 1/(2m-1) <= 2/(2m-1).",
        1 / m**2 + 1 / m - 1 / (2 * m - 1),
        "<=",
        2 / (2 * m - 1),
        Domain({m: at_least(2)}),
        by=(Rewrite((m * (m - 1) + 1) / (m**2 * (2 * m - 1))),),
    ),
    Claim(
        "gr.decreasing",
        f"{AT}, Step 3, l. 1487",
        "t^{2-alpha} decreases, so the sum is at most the integral from K.",
        (2 - alpha) * exp((1 - alpha) * log(x)),
        "<=",
        0,
        Domain({alpha: above(3), x: at_least(1)}),
    ),
    Claim(
        "gr.primitive",
        f"{AT}, Step 3, l. 1488",
        "x^{3-alpha}/(3-alpha) is a primitive.",
        diff(exp((3 - alpha) * log(x)) / (3 - alpha), x),
        "==",
        exp((2 - alpha) * log(x)),
        Domain({alpha: above(3), x: at_least(1)}),
    ),
    Claim(
        "gr.rearranged",
        f"{AT}, Step 3, l. 1488",
        "(3/2) 2^{alpha-2} K^{3-alpha}/(alpha-3) = 3/(alpha-3) (2/K)^{alpha-3}.",
        Rational(3, 2) * exp((alpha - 2) * log(2)) * exp((3 - alpha) * log(k)) / (alpha - 3),
        "==",
        3 / (alpha - 3) * exp((alpha - 3) * (log(2) - log(k))),
        wide,
    ),
    Claim(
        "gr.two-arms",
        f"{AT}, Step 3, l. 1489",
        "(2/K)^{alpha-3} <= 1 for K >= 2.",
        exp(-(alpha - 3) * log(k / 2)),
        "<=",
        1,
        wide,
    ),
    Claim(
        "gr.combined",
        f"{AT}, Step 4, l. 1498",
        "1 + 3/(alpha-3) = alpha/(alpha-3).",
        1 + 3 / (alpha - 3),
        "==",
        alpha / (alpha - 3),
        Domain({alpha: above(3)}),
    ),
    Claim(
        "gr.sizes",
        "Remark l. 515: alpha > 3",
        "The union needs only 1 + log2(phi) sample sizes, not phi;",
        models=_sizes,
        expect=SAMPLED,
        role="sharper",
    ),
    Claim(
        "gr.sizes-sum",
        "Remark l. 515: alpha > 3",
        "so Term 2 is of order "
        "sum t^{1-alpha} log t, whose primitive -t^{2-alpha} ((alpha-2) log t + 1)/(alpha-2)^2 "
        "tends to 0 for every alpha > 2.",
        diff(-exp((2 - alpha) * log(x)) * ((alpha - 2) * log(x) + 1) / (alpha - 2) ** 2, x),
        "==",
        exp((1 - alpha) * log(x)) * log(x),
        Domain({alpha: above(2), x: at_least(1)}),
        role="sharper",
    ),
)

RESULT = Result(
    name="generic_regret",
    title="Generic regret theorem",
    place="Theorem thm:gen_reg, l. 1419-1500",
    claims=CLAIMS,
    verdict="Survives with P(G_l^c) replaced by its maximum over l' >= l; no constant changes. "
    "Doubling leaves only logarithmically many sample sizes, so alpha > 2 is enough for Term 2.",
    misprints=(
        "l. 1467, 1476: A = i should read A = a.",
        "l. 1483: the union over s starts at s = 1/2 for an arm that was pulled once.",
        "l. 1448: N'_a should use phi(t), not t_{l'}.",
    ),
    order=100,
)

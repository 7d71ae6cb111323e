"""Privacy of Algorithm 1 (paper, Lemma lemma:privacy, Theorem thm:privacy, lines 1256-1299).

Proof in short. Fix the action sequence; it fixes the episodes. A stream enters only through the
releases, each a block mean plus Laplace noise, and one reward enters one block. Given equal values
of all releases the actions have equal probabilities, and the density of the one release that
changed moves by at most e^eps at every value (claims `pr.charge`, `bg.laplace-mechanism`).
Integrate over the values.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

from sympy import Abs, Rational, Symbol, exp, symbols

from dpaudit.claims.claim import ENUMERATED, REFUTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, REALS, Domain, at_least, closed
from dpaudit.claims.linear import PiecewiseLinear
from dpaudit.claims.methods import Rewrite
from dpaudit.claims.models import neighbours, random_law, words
from dpaudit.claims.theorem import FALSE, PRINTED, REPAIRED, Theorem

e, n = symbols("epsilon n", positive=True)
k, u, v, x, z = symbols("k u v x z", real=True)
K = Symbol("K", nonnegative=True)


def _channel(rng, size, growth):
    """A law on three letters for each block sum 0..size, neighbours within the factor `growth`."""
    base = random_law(rng, 3, zeros=False)
    while True:
        rows = []
        for _ in range(size + 1):
            tilt = [Fraction(1), Fraction(1), Fraction(1)]
            tilt[int(rng.integers(0, 3))] = Fraction(int(rng.integers(10, 21)), 10)
            raw = [b * t for b, t in zip(base, tilt, strict=True)]
            rows.append([v / sum(raw) for v in raw])
        worst = max(
            max(p / q, q / p)
            for one, two in itertools.pairwise(rows)
            for p, q in zip(one, two, strict=True)
        )
        if worst <= growth:
            return rows


def _lemma(rng):
    """Three blocks of a stream of five bits, each released once through a private channel."""
    growth = Fraction(5, 2)
    blocks = ((0, 1), (2,), (3, 4))
    count = 0
    for _ in range(20):
        channels = [_channel(rng, len(block), growth) for block in blocks]

        def law(bits, channels=channels):
            sums = [sum(bits[i] for i in block) for block in blocks]
            return [
                prod(c[s][z] for c, s, z in zip(channels, sums, out, strict=True))
                for out in itertools.product(range(3), repeat=3)
            ]

        laws = {bits: law(bits) for bits in words(2, 5)}
        for bits in laws:
            for other in neighbours(bits, 2):
                count += 1
                if any(p > growth * q for p, q in zip(laws[bits], laws[other], strict=True)):
                    return Tally(count, f"streams {bits}, {other}")
    return Tally(count)


def _theorem(rng):
    """Doubling episodes, two arms, T = 6: a random decision table over registers and counts."""
    growth, horizon, count = Fraction(2), 6, 0
    for _ in range(12):
        channels = {size: _channel(rng, size, growth) for size in (1, 2)}
        table = {}

        def decide(counts, registers, table=table):
            key = (counts, registers)
            if key not in table:
                table[key] = int(rng.integers(0, 2))
            return table[key]

        def explore(bits, decide=decide, channels=channels):
            laws = {}

            def walk(actions, counts, registers, chance):
                if len(actions) >= horizon:
                    cut = actions[:horizon]
                    laws[cut] = laws.get(cut, 0) + chance
                    return
                arm = decide(counts, registers)
                start, size = len(actions), counts[arm]
                longer = actions + (arm,) * size
                after = tuple(c * 2 if i == arm else c for i, c in enumerate(counts))
                if start + size >= horizon:
                    walk(longer, after, registers, chance)
                    return
                total = sum(bits[start : start + size])
                for letter, part in enumerate(channels[size][total]):
                    held = tuple(letter if i == arm else r for i, r in enumerate(registers))
                    walk(longer, after, held, chance * part)

            for one, first in enumerate(channels[1][bits[0]]):
                for two, second in enumerate(channels[1][bits[1]]):
                    walk((0, 1), (1, 1), (one, two), first * second)
            return laws

        laws = {bits: explore(bits) for bits in words(2, horizon)}
        for bits in laws:
            for other in neighbours(bits, 2):
                count += 1
                if any(v > growth * laws[other].get(a, 0) for a, v in laws[bits].items()):
                    return Tally(count, f"streams {bits}, {other}")
    return Tally(count)


def _example(rng):
    """Figure fig:example: arms 1, 1, 2, 1, 2 after the two initial pulls."""
    counts, t, starts, last = [1, 1], 2, [], [(1, 1), (2, 2)]
    used = []
    for arm in (0, 0, 1, 0, 1):
        starts.append(t + 1)
        used.append(tuple(last))
        last[arm] = (t + 1, t + counts[arm])
        t += counts[arm]
        counts[arm] *= 2
    right = starts == [3, 4, 6, 7, 11] and used[3] == ((4, 5), (6, 6)) and t == 12
    return Tally(1, "" if right else f"starts {starts}, blocks {used}", "the figure")


CLAIMS = (
    Claim(
        "pr.mean",
        "Lemma lemma:privacy, eq:priv_mean, l. 366 and 1260",
        "1/(j-i) sum_{t=i}^j r_t is a mean: with all rewards 1 and j - i = n it must not exceed 1.",
        (n + 1) / n,
        "<=",
        1,
        Domain({n: at_least(1)}),
        hints=({n: Fraction(1)},),
        expect=REFUTED,
        correction="divide by j - i + 1; with j - i a block of one reward, which "
        "the lemma allows (t_1 = 2) and Algorithm 1 uses, divides by zero.",
        survives="the lemma survives: sensitivity and noise scale share the divisor.",
    ),
    Claim(
        "pr.block",
        "Lemma lemma:privacy, l. 362 and 1260",
        "The divisor j - i of a block r_i .. r_j of n rewards, n - 1, is positive for every block "
        "that 1 < t_1 < .. < t_l < T allows.",
        0,
        "<",
        n - 1,
        Domain({n: at_least(1)}),
        hints=({n: Fraction(1)},),
        expect=REFUTED,
        role="theorem",
        correction="t_1 = 2 makes a block of one reward: divide by j - i + 1.",
        survives="as pr.mean.",
    ),
    Claim(
        "pr.charge",
        "Lemma lemma:privacy, l. 1275",
        "A shift of 1/n against the scale 1/(n eps) costs eps.",
        (1 / n) / (1 / (n * e)),
        "==",
        e,
        Domain({n: POSITIVE, e: POSITIVE}),
    ),
    Claim(
        "pr.lemma",
        "Lemma lemma:privacy, l. 362",
        "Releases of disjoint blocks are together eps-DP (finite channels).",
        models=_lemma,
        expect=SAMPLED,
        role="theorem",
        theorem="lemma:privacy as repaired",
    ),
    Claim(
        "pr.theorem",
        "Theorem thm:privacy, l. 382",
        "Adaptive doubling episodes around private "
        "block releases are eps-global DP, on all neighbouring streams of length 6.",
        models=_theorem,
        expect=SAMPLED,
        role="theorem",
        theorem="thm:privacy as repaired",
    ),
    Claim(
        "pr.prefix",
        "Theorem thm:privacy, second item, l. 1293",
        "The actions up to t_{l+1} "
        "(or t_l + 1, the same for an episode of one round) have equal probability under both "
        "streams: one reward 1 or 0, Lap(2/eps), next arm by the sign of the release - 1/2.",
        1 - exp(-e / 4) / 2,
        "==",
        exp(-e / 4) / 2,
        Domain({e: POSITIVE}),
        hints=({e: Fraction(1)},),
        expect=REFUTED,
        correction="the actions up to t_{l+1} - 1 have equal probability; the action at t_{l+1} "
        "already depends on the changed release.",
        survives="survives unchanged.",
    ),
    Claim(
        "pr.interval",
        "Theorem thm:privacy, fourth item, l. 1295",
        "Given that the release lies "
        "in an interval I, the action laws agree; with I the whole line the first two rounds of "
        "pr.prefix would agree.",
        1 - exp(-e / 4) / 2,
        "<=",
        exp(-e / 4) / 2,
        Domain({e: POSITIVE}),
        hints=({e: Fraction(1)},),
        expect=REFUTED,
        correction="condition on the value of the release, not on an interval; then integrate "
        "the densities, whose ratio is at most e^eps.",
        survives="survives unchanged.",
    ),
    Claim(
        "pr.first-charge",
        "Algorithm 1 and l. 489, N_a = 1",
        "With n = N/2 = 1/2 the first release has scale 2/eps and costs eps/2.",
        1 / (2 / e),
        "==",
        e / 2,
        Domain({e: POSITIVE}),
    ),
    Claim(
        "pr.scale",
        "Lemma lemma:privacy, l. 1275, any block",
        "A shift of at most 1/n against the scale 1/(n eps) costs at most eps; k is the shift.",
        k / (1 / (n * e)),
        "<=",
        e,
        Domain({n: POSITIVE, e: POSITIVE, k: at_least(0)}, (1 / n - k,)),
        by=(Rewrite(n * e * K, {K: 1 / n - k}),),
    ),
    Claim(
        "pr.density",
        "Lemma lemma:privacy, l. 1275, one block",
        "exp(-|z-v|/b)/exp(-|z-u|/b) <= e^eps at every value z when |u - v| <= b eps: the "
        "exponents differ by at most eps b.",
        Abs(z - v) - Abs(z - u),
        "<=",
        k,
        Domain({z: REALS, u: REALS, v: REALS, k: REALS}, (k - u + v, k + u - v)),
        by=(PiecewiseLinear(),),
    ),
    Claim(
        "pr.assembly",
        "Theorem thm:privacy, l. 1280, one value of the releases",
        "The action sequence has probability w given the releases, and the density f of the "
        "changed release is at most e^eps g: w f <= e^eps w g; then integrate.",
        x * u,
        "<=",
        n * x * v,
        Domain({x: at_least(0), u: at_least(0), v: at_least(0), n: POSITIVE}, (n * v - u,)),
        by=(Rewrite(x * K, {K: n * v - u}),),
        role="theorem",
    ),
    Claim(
        "pr.fresh-noise",
        "Algorithm 1, line 6, and Theorem thm:privacy",
        "The index of an arm may draw its noise anew at every decision: two fresh releases of "
        "one block still cost at most eps in all.",
        2 * (1 / n) / (1 / (n * e)),
        "<=",
        e,
        Domain({n: POSITIVE, e: POSITIVE}),
        hints=({n: Fraction(1), e: Fraction(1)},),
        expect=REFUTED,
        correction="draw the noise once per episode and keep it until the arm's next episode; "
        "k fresh draws cost k eps.",
        survives="survives with the noise kept (memoised), which the statement leaves open.",
    ),
    Claim(
        "pr.unbounded",
        "Definition def:global_dp, l. 247, against Theorem thm:privacy",
        "Algorithm 1 is eps-global DP for neighbouring streams in R^T: a reward moved from 0 to "
        "M in the two rounds of pr.prefix, P(Lap(2/eps) > 1/2 - M) <= e^eps P(Lap(2/eps) > 1/2).",
        1 - exp(-(n - Rational(1, 2)) * e / 2) / 2,
        "<=",
        exp(e) * exp(-e / 4) / 2,
        Domain({e: POSITIVE, n: at_least(1)}),
        hints=({e: Fraction(1, 10), n: Fraction(1000)},),
        expect=REFUTED,
        role="theorem",
        correction="neighbouring streams in [0, 1]^T, as in Lemma lemma:privacy; on R^T the mean "
        "has no sensitivity and rewards would have to be clipped.",
        survives="survives on [0, 1]^T. The lower bounds quantify over policies that are private "
        "on R^T; for environments with rewards in [0, 1] their proofs use only such streams, so "
        "they bind policies private on [0, 1]^T too. Those with Gaussian rewards do not.",
    ),
    Claim(
        "pr.half",
        "l. 489 and 1411",
        "The last active episode holds exactly half of the pulls; "
        "after the initial pull N = 1 and the episode has 1 round.",
        1,
        "<=",
        Rational(1, 2) * k,
        Domain({k: closed(1, 1)}),
        hints=({k: Fraction(1)},),
        expect=REFUTED,
        role="remark",
        correction="true from the second episode of an arm on (2^j of 2^{j+1}); for the first, "
        "n = 1/2 is a convention that doubles the noise.",
        survives="privacy and optimism survive (pr.first-charge, co.first-episode).",
    ),
    Claim(
        "pr.half-later",
        "l. 489",
        "2^j = 2^{j+1}/2.",
        exp(k),
        "==",
        2 * exp(k) / 2,
        Domain({k: at_least(0)}),
        role="remark",
    ),
    Claim(
        "pr.double",
        "l. 521",
        "Each episode is twice as long as the arm's last; the first two have one round each.",
        2 * k,
        "<=",
        1,
        Domain({k: closed(1, 1)}),
        hints=({k: Fraction(1)},),
        expect=REFUTED,
        role="remark",
        correction="the number of pulls doubles, so lengths are 1, 1, 2, 4, ...",
        survives="survives: only N doubles in the analysis.",
    ),
    Claim(
        "pr.example",
        "Example eg:algo, l. 378-381, 488, 1434",
        "t_4 = 7, the blocks are (r_4, r_5) and r_6, and phi(5) = 4, phi(9) = 7.",
        models=_example,
        expect=ENUMERATED,
        role="remark",
    ),
)

RESULT = Result(
    name="privacy",
    title="Privacy lemma and theorem of Algorithm 1",
    place="Lemma lemma:privacy and Theorem thm:privacy, l. 362-387, 1256-1299",
    claims=CLAIMS,
    theorems=(
        Theorem(
            "lemma:privacy",
            PRINTED,
            "l. 362",
            "For all 1 < t_1 < .. < t_l < T, the l + 1 means with divisor j - i exist and are "
            "together eps-DP (for t_1 = 2 the first divides by 0; blocks of two or more rewards "
            "are as the lemma says).",
            refuted_by=("pr.block",),
            expect=FALSE,
        ),
        Theorem(
            "lemma:privacy",
            REPAIRED,
            "l. 362",
            "For every eps > 0, disjoint blocks and rewards in [0, 1], the noisy block means "
            "with divisor j - i + 1 are together eps-DP.",
            ("integral",),
            ("pr.scale", "pr.density", "thm:laplace as printed"),
        ),
        Theorem(
            "thm:privacy",
            PRINTED,
            "l. 382, with Definition def:global_dp on R^T",
            "Algorithm 1 is eps-global DP for streams in R^T.",
            refuted_by=("pr.unbounded",),
            expect=FALSE,
        ),
        Theorem(
            "thm:privacy",
            REPAIRED,
            "l. 382",
            "For every eps > 0, horizon and index, Algorithm 1 with the noise drawn once per "
            "episode is eps-global DP for streams in [0, 1]^T.",
            ("integral",),
            ("lemma:privacy as repaired", "pr.assembly", "lem:post_proc as printed"),
            coq="`private_event` in coq/privacy.v, for finite reward sets and discrete noise, any "
            "declaration",
        ),
    ),
    verdict="Both survive with eps on streams in [0, 1]^T and with the noise of an episode drawn "
    "once; on R^T, as the definition has it, the theorem is false. Two sentences of the proof "
    "are wrong as written (pr.prefix, pr.interval). proofs/coq/privacy.v proves it for finite "
    "reward sets and discrete "
    "noise.",
    misprints=(
        "l. 1275: the denominator should hold r', not r again.",
        "l. 1294: the episode is [t_l, t_{l+1} - 1].",
    ),
    order=80,
)

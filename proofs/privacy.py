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

from sympy import Rational, Symbol, exp, symbols

from dpaudit.claims.claim import REFUTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, Domain, at_least, closed
from dpaudit.claims.models import neighbours, random_law, words

e, n = symbols("epsilon n", positive=True)
k = Symbol("k", real=True)


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

        for bits in words(2, 5):
            for other in neighbours(bits, 2):
                count += 1
                if any(p > growth * q for p, q in zip(law(bits), law(other), strict=True)):
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
    return Tally(1, "" if right else f"starts {starts}, blocks {used}")


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
    ),
    Claim(
        "pr.theorem",
        "Theorem thm:privacy, l. 382",
        "Adaptive doubling episodes around private "
        "block releases are eps-global DP, on all neighbouring streams of length 6.",
        models=_theorem,
        expect=SAMPLED,
        role="theorem",
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
        expect=SAMPLED,
        role="remark",
    ),
)

RESULT = Result(
    name="privacy",
    title="Privacy lemma and theorem of Algorithm 1",
    place="Lemma lemma:privacy and Theorem thm:privacy, l. 362-387, 1256-1299",
    claims=CLAIMS,
    verdict="Both survive with eps; three sentences of the proof are wrong as written.",
    misprints=(
        "l. 1275: the denominator should hold r', not r again.",
        "l. 1294: the episode is [t_l, t_{l+1} - 1].",
    ),
    order=80,
)

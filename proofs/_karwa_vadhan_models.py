"""Small exact models behind the steps of the Karwa-Vadhan lemma that speak of mechanisms.

A check draws mechanisms M and laws P, Q with rational probabilities and compares both sides of a
step exactly; where a step is false as printed, one small mechanism shows it.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

from dpaudit.claims.claim import Tally
from dpaudit.claims.models import (
    average,
    common_part,
    conditional_average,
    private_event,
    random_law,
)


def _instances(rng, count):
    """Random mechanisms, after a randomised response that makes the sharper lemma an equality."""
    growth, chance = Fraction(5), Fraction(1, 4)
    response = {(0,): Fraction(1, 6), (1,): Fraction(5, 6)}
    yield response, [(1 - chance, chance)], [(Fraction(1), Fraction(0))], growth, Fraction(0)
    for _ in range(count):
        alphabet, length = (2, 3) if rng.integers(0, 2) else (3, 2)
        growth = Fraction(int(rng.integers(11, 60)), 10)
        slack = Fraction(int(rng.integers(0, 4)), 20)
        event = private_event(rng, alphabet, length, growth, slack)
        one = [random_law(rng, alphabet) for _ in range(length)]
        two = [random_law(rng, alphabet) for _ in range(length)]
        yield event, one, two, growth, slack


def _parts(one, two):
    pairs = [common_part(a, b) for a, b in zip(one, two, strict=True)]
    return [pair[0] for pair in pairs], *([pair[i] for pair in pairs] for i in (1, 2, 3))


def marginals(rng):
    count = 0
    for event, one, two, _, _ in _instances(rng, 250):
        _, excess, lack, shared = _parts(one, two)
        for law, hit in ((one, excess), (two, lack)):
            total = sum(conditional_average(event, hit, shared, n)[1] for n in range(len(one) + 1))
            if total != average(event, law):
                return Tally(count, f"laws {one}, {two}")
        pairs = [pair for a, b in zip(excess, lack, strict=True) for pair in zip(a, b, strict=True)]
        if any(f and g for f, g in pairs):
            return Tally(count, f"F and G overlap for {one}, {two}")
        count += 1
    return Tally(count)


def fact_one(rng):
    count = 0
    for event, one, two, growth, slack in _instances(rng, 300):
        _, excess, lack, shared = _parts(one, two)
        for hit in (excess, lack):
            levels = [conditional_average(event, hit, shared, n) for n in range(len(one) + 1)]
            means = [joint / chance if chance else None for chance, joint in levels]
            for before, after in itertools.pairwise(means):
                if before is None or after is None:
                    continue
                if after > growth * before + slack or before > growth * after + slack:
                    return Tally(count, f"m(h-1) = {before}, m(h) = {after}, e^eps = {growth}")
                count += 1
    return Tally(count)


def uniform_deletion(rng):
    """Delete a uniform hit from the law of (H_1, H_2) given H = 2; compare with H = 1."""
    chances = (Fraction(1, 2), Fraction(1, 4))
    single = [chances[0] * (1 - chances[1]), chances[1] * (1 - chances[0])]
    law = [value / sum(single) for value in single]
    if law != [Fraction(1, 2)] * 2:
        return Tally(1, f"p = (1/2, 1/4): deletion leaves (1/2, 1/2), H = 1 has {law[0]}, {law[1]}")
    return Tally(1)


def dominated(rng):
    """Efron: the law of the hit set given H = h grows with h, tested on every up-set."""
    count = 0
    for _ in range(60):
        chances = [Fraction(int(v), 8) for v in rng.integers(1, 8, size=3)]
        sets = list(itertools.product((0, 1), repeat=3))
        weight = {
            t: prod((c if bit else 1 - c for c, bit in zip(chances, t, strict=True))) for t in sets
        }
        ups = [
            u
            for n in range(9)
            for u in itertools.combinations(sets, n)
            if all(
                w in u for v in u for w in sets if all(a <= b for a, b in zip(v, w, strict=True))
            )
        ]
        for up_set in ups:
            levels = []
            for n in range(4):
                total = sum(weight[t] for t in sets if sum(t) == n)
                levels.append(sum(weight[t] for t in up_set if sum(t) == n) / total)
            count += 1
            if levels != sorted(levels):
                return Tally(count, f"chances {chances}, up-set {up_set}")
    return Tally(count)


def lower_bound_as_printed(rng):
    """A mechanism that never reports E, one input, p = 1/2, e^epsilon = 2, delta = 1/10."""
    factor = Fraction(3, 4)
    claimed = 0 * factor + Fraction(1, 10) / (Fraction(1, 2) - 1) * (factor - 1)
    if claimed <= 0:
        return Tally(1)
    return Tally(1, f"M(E|x) = 0, T = 1, p = 1/2, e^eps = 2, delta = 1/10: 0 >= {claimed} is false")


def lower_bound(rng):
    count = 0
    for event, one, two, growth, slack in _instances(rng, 300):
        chances, excess, lack, shared = _parts(one, two)
        for law, hit in ((one, excess), (two, lack)):
            chance, joint = conditional_average(event, hit, shared, 0)
            if not chance:
                continue
            factor = prod(1 - c + c / growth for c in chances)
            bound = joint / chance * factor - slack * (1 - factor) / (growth - 1)
            count += 1
            if average(event, law) < bound:
                return Tally(count, f"laws {one}, {two}")
    return Tally(count)


def combined_as_printed(rng):
    """One input of two values: P = (9/10, 1/10), Q = (1, 0), M(E|0) = 0, M(E|1) = delta."""
    growth, slack, chance = Fraction(2), Fraction(1, 10), Fraction(1, 10)
    low = 1 - chance + chance / growth
    ratio = (1 - chance + chance * growth) / low
    bound = ratio * (1 - low) / (1 - 1 / growth) * slack + (low - 1) / (growth - 1) * slack
    value = chance * slack
    if value <= bound:
        return Tally(1)
    return Tally(1, f"T = 1, p = delta = 1/10, e^eps = 2, M_1(E) = 0: M_0(E) = {value} > {bound}")


def combined(rng):
    count = 0
    for event, one, two, growth, slack in _instances(rng, 300):
        chances = _parts(one, two)[0]
        high = prod(1 - c + c * growth for c in chances)
        low = prod(1 - c + c / growth for c in chances)
        other = average(event, two) + (1 - low) / (1 - 1 / growth) * slack
        count += 1
        if average(event, one) > high / low * other + (high - 1) / (growth - 1) * slack:
            return Tally(count, f"laws {one}, {two}")
    return Tally(count)


def sharp(share):
    def check(rng):
        count = 0
        for event, one, two, growth, slack in _instances(rng, 1000):
            factor, extra = Fraction(share), Fraction(0)
            for chance in _parts(one, two)[0]:
                extra += chance * factor
                factor *= 1 - chance + chance * growth
            count += 1
            if average(event, one) > factor * average(event, two) + slack * extra:
                return Tally(count, f"laws {one}, {two}")
        return Tally(count)

    return check

"""Small exact models: laws, private mechanisms and bandit policies with rational probabilities.

Everything is a Fraction, so an inequality between probabilities is decided exactly. Logarithms,
where a divergence needs them, are taken in ball arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from dpaudit.claims.balls import Ball, ball

Law = tuple[Fraction, ...]
Word = tuple[int, ...]


def random_law(rng: Any, size: int, zeros: bool = True) -> Law:
    """Return a random law on `size` points with small denominators, some masses possibly zero."""
    while True:
        weights = [int(w) for w in rng.integers(0 if zeros else 1, 7, size=size)]
        if sum(weights) > 0:
            return tuple(Fraction(w, sum(weights)) for w in weights)


def total_variation(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return the total variation distance of two laws on the same points."""
    return sum((abs(p - q) for p, q in zip(one, other, strict=True)), Fraction(0)) / 2


def relative_entropy(one: Sequence[Fraction], other: Sequence[Fraction]) -> Ball:
    """Return a ball that holds KL(one, other); every mass of `other` must be positive."""
    terms = [ball(p) * (ball(p) / ball(q)).log() for p, q in zip(one, other, strict=True) if p]
    total = ball(0)
    for term in terms:
        total = total + term
    return total


def common_part(one: Law, other: Law) -> tuple[Fraction, Law, Law, Law]:
    """Return TV and the three unnormalised parts F = (P-Q)+, G = (Q-P)+ and C = min(P, Q)."""
    excess = tuple(max(p - q, Fraction(0)) for p, q in zip(one, other, strict=True))
    lack = tuple(max(q - p, Fraction(0)) for p, q in zip(one, other, strict=True))
    shared = tuple(min(p, q) for p, q in zip(one, other, strict=True))
    return sum(excess, Fraction(0)), excess, lack, shared


def words(alphabet: int, length: int) -> list[Word]:
    """Return every word of this length over 0 .. alphabet - 1."""
    return list(itertools.product(range(alphabet), repeat=length))


def neighbours(word: Word, alphabet: int) -> list[Word]:
    """Return the words that differ from `word` in one place."""
    return [
        (*word[:i], letter, *word[i + 1 :])
        for i in range(len(word))
        for letter in range(alphabet)
        if letter != word[i]
    ]


def private_event(
    rng: Any, alphabet: int, length: int, growth: Fraction, delta: Fraction
) -> dict[Word, Fraction]:
    """Return x -> P(E | x) of a random mechanism that is exactly (log growth, delta)-private.

    Random values are lowered to the largest function that obeys both constraints,
    f(x) <= growth f(y) + delta and the same for 1 - f, for all neighbours; each constraint maps a
    value to one that is no smaller, so the lowering ends after finitely many rounds.
    """
    event = {
        word: Fraction(int(rng.integers(0, 13)), 12) if rng.integers(0, 3) else Fraction(1)
        for word in words(alphabet, length)
    }
    around = {word: neighbours(word, alphabet) for word in event}

    def ceiling(value: Fraction) -> Fraction:
        """What a value allows its neighbours."""
        return min(growth * value + delta, 1 - (1 - value - delta) / growth)

    allowed = {word: ceiling(value) for word, value in event.items()}
    changed = True
    while changed:
        changed = False
        for word in event:
            most = min(allowed[other] for other in around[word])
            if event[word] > most:
                event[word], allowed[word], changed = most, ceiling(most), True
    return event


def average(event: Mapping[Word, Fraction], laws: Sequence[Law]) -> Fraction:
    """Return P(E) when the inputs are independent with these laws."""
    return sum(
        (
            value * prod(law[x] for law, x in zip(laws, word, strict=True))
            for word, value in event.items()
        ),
        Fraction(0),
    )


def conditional_average(
    event: Mapping[Word, Fraction], hit: Sequence[Law], missed: Sequence[Law], hits: int
) -> tuple[Fraction, Fraction]:
    """Return (P(H = hits), P(E and H = hits)) under the coupling with parts `hit` and `missed`."""
    size = len(hit)
    chance = joint = Fraction(0)
    for chosen in itertools.combinations(range(size), hits):
        parts = [hit[i] if i in chosen else missed[i] for i in range(size)]
        chance += prod((sum(part, Fraction(0)) for part in parts), start=Fraction(1))
        joint += average(event, parts)
    return chance, joint


@dataclass(frozen=True)
class Policy:
    """A randomised bandit policy on `arms` arms and binary rewards, as a tree of rational laws."""

    arms: int
    horizon: int
    kernels: Mapping[tuple[Word, Word], Law]

    @cached_property
    def table(self) -> dict[tuple[Word, Word], Fraction]:
        """pi(actions | rewards), of every pair."""
        known: dict[tuple[Word, Word], Fraction] = {((), ()): Fraction(1)}
        for _ in range(self.horizon):
            known = {
                ((*actions, arm), (*rewards, reward)): chance * share
                for (actions, rewards), chance in known.items()
                for arm, share in enumerate(self.kernels[actions, rewards])
                for reward in (0, 1)
            }
        return known

    def growth(self) -> Fraction:
        """Return the smallest e^epsilon for which the policy is epsilon-global DP."""
        worst = Fraction(1)
        for (actions, rewards), one in self.table.items():
            for neighbour in neighbours(rewards, 2):
                if neighbour > rewards:
                    other = self.table[actions, neighbour]
                    worst = max(worst, max(one, other) / min(one, other))
        return worst

    def law(self, means: Sequence[Fraction]) -> dict[Word, Fraction]:
        """Return the law of the action sequence when arm a pays 1 with probability means[a]."""
        known = dict.fromkeys(words(self.arms, self.horizon), Fraction(0))
        paid = [(1 - mean, mean) for mean in means]
        weights: dict[tuple[Word, Word], Fraction] = {((), ()): Fraction(1)}
        for _ in range(self.horizon):
            weights = {
                ((*actions, arm), (*rewards, reward)): weight * paid[arm][reward]
                for (actions, rewards), weight in weights.items()
                for arm in range(self.arms)
                for reward in (0, 1)
            }
        for (actions, rewards), chance in self.table.items():
            known[actions] += chance * weights[actions, rewards]
        return known


def random_policy(rng: Any, arms: int, horizon: int) -> Policy:
    """Return a policy whose laws are random and positive; half of the draws are nearly uniform."""
    base = int(rng.choice([0, 0, 5, 20]))
    kernels: dict[tuple[Word, Word], Law] = {}
    for t in range(horizon):
        for actions in words(arms, t):
            for rewards in words(2, t):
                weights = [base + int(w) for w in rng.integers(1, 7, size=arms)]
                kernels[actions, rewards] = tuple(Fraction(w, sum(weights)) for w in weights)
    return Policy(arms, horizon, kernels)

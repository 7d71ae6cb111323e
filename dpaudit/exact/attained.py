"""What a pair of streams attains under a notion, from the laws of its actions: lower bounds.

For laws P and Q of the actions on two streams that differ in up to `unit` rewards,
delta(epsilon) = sum of (P - e^epsilon Q)^+, rho is at least the Renyi divergence of any order alpha
over alpha, and mu at least that of any point of the trade-off curve. With enclosures of every
likelihood these are lower bounds with outward rounding.

Every pair gives a valid bound. That the worst pair has all other rewards at 0, or all at 1, holds
for the largest likelihood ratio and **not** for these sums (`shortcut` shows one that fails), so
pairs are searched among all binary streams, then climbed in [0, 1], and a search proves no upper
bound: that comes from the ledger.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, groupby, product

from flint import arb, ctx

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import ball, exact
from dpaudit.core.conversions import gdp_to_delta
from dpaudit.core.notions import Kind, Notion
from dpaudit.errors import Unsupported
from dpaudit.exact.balls.interval import above, below
from dpaudit.exact.likelihood import Engine
from dpaudit.exact.profile import Law, law
from dpaudit.verdict import Enclosure

Stream = tuple[float, ...]
ORDERS = (1.0625, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, 12.0, 17.0, 24.0)
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
PRECISION = 128


@dataclass(frozen=True)
class Attained:
    """What a pair of streams attains: an enclosure of the pair's own number."""

    stream: Stream
    neighbour: Stream
    value: Enclosure

    def __str__(self) -> str:
        runs = [(f"{value:g}", len(list(same))) for value, same in groupby(self.stream)]
        shown = " ".join(f"{value} x{n}" if n > 8 else " ".join([value] * n) for value, n in runs)
        where = [
            i for i, (a, b) in enumerate(zip(self.stream, self.neighbour, strict=True)) if a != b
        ]
        changed = ", ".join(f"{i + 1} changed to {self.neighbour[i]:g}" for i in where)
        return f"rewards {shown}, reward {changed}"


def hockey_stick(p: Law, q: Law, epsilon: Fraction) -> Enclosure:
    """Enclose the sum of (p - e^epsilon q)^+ over action sequences."""
    with ctx.workprec(PRECISION):
        factor, low, high = ball(epsilon).exp(), arb(0), arb(0)
        for actions, one in p.probabilities.items():
            other = q.probabilities[actions]
            least = arb(one.lower) - factor * arb(other.upper)
            most = arb(one.upper) - factor * arb(other.lower)
            low += least if least > 0 else arb(0)
            high += arb(0) if most < 0 else most
        return Enclosure(max(below(low), 0.0), max(above(high), 0.0), p.certified and q.certified)


def renyi_rate(p: Law, q: Law, order: float) -> Enclosure:
    """Enclose the Renyi divergence of an order above 1, over the order."""
    with ctx.workprec(PRECISION):
        a, low, high = ball(order), arb(0), arb(0)
        for actions, one in p.probabilities.items():
            other = q.probabilities[actions]
            if one.upper == 0:
                continue
            if one.lower > 0:
                low += (a * arb(one.log_lower) + (1 - a) * arb(other.log_upper)).exp()
            if other.log_lower == -math.inf:
                high = arb("inf")
            else:
                high += (a * arb(one.log_upper) + (1 - a) * arb(other.log_lower)).exp()
        least = below(low.log() / (a * (a - 1))) if low > 0 else 0.0
        most = above(high.log() / (a * (a - 1))) if high.is_finite() else math.inf
        least, most = max(least, 0.0), max(most, 0.0)
        return Enclosure(least, max(most, least), p.certified and q.certified)


def gaussian_level(p: Law, q: Law, epsilons: Sequence[float]) -> Enclosure:
    """Enclose from below the least mu whose curve lies above the pair's, at some epsilons."""
    best = 0.0
    for epsilon in epsilons:
        at = exact(epsilon)
        delta = hockey_stick(p, q, at).lower
        low, high = best, 64.0
        if not delta > 0 or gdp_to_delta(exact(low) ** 2, at) >= exact(delta):
            continue
        for _ in range(48):
            middle = (low + high) / 2
            if gdp_to_delta(exact(middle) ** 2, at) < exact(delta):
                low = middle
            else:
                high = middle
        best = low
    return Enclosure(best, math.inf, p.certified and q.certified)


def attained(p: Law, q: Law, notion: Notion) -> Enclosure:
    """Enclose what a pair of laws attains of the number that a notion bounds."""
    match notion.kind:
        case Kind.APPROXIMATE:
            return hockey_stick(p, q, exact(notion.level))
        case Kind.ZCDP:
            rates = [renyi_rate(p, q, order) for order in ORDERS]
            return max(rates, key=lambda rate: rate.lower)
        case Kind.GDP:
            return gaussian_level(p, q, [0.0625, 0.25, 0.5, 1.0, 2.0])
    losses = [
        one.log_lower - q.probabilities[actions].log_upper
        for actions, one in p.probabilities.items()
        if one.log_lower > -math.inf
    ]
    return Enclosure(max([0.0, *losses]), math.inf, p.certified and q.certified)


@dataclass
class Pairs:
    """The laws of an algorithm's actions at a horizon, each stream's computed once."""

    algorithm: Algorithm
    horizon: int
    notion: Notion
    engine: Engine
    deadline: float = math.inf
    laws: dict[Stream, Law] = field(default_factory=dict)

    def law(self, stream: Stream) -> Law:
        """Return the law of the actions on a stream."""
        if stream not in self.laws:
            self.laws[stream] = law(self.algorithm, stream, self.engine)
        return self.laws[stream]

    def look(self, stream: Stream, neighbour: Stream) -> Attained:
        """Return what a pair attains."""
        found = attained(self.law(stream), self.law(neighbour), self.notion)
        return Attained(stream, neighbour, found)

    def binary(self) -> tuple[Attained | None, bool]:
        """Return the best pair of binary streams, and whether all were looked at in time.

        Neighbours have some rewards at the other end: what differs most.
        """
        best: Attained | None = None
        several = min(self.notion.unit, self.horizon)
        for stream in product((0.0, 1.0), repeat=self.horizon):
            for places in combinations(range(self.horizon), several):
                if time.monotonic() > self.deadline:
                    return best, False
                other = tuple(1 - r if i in places else r for i, r in enumerate(stream))
                found = self.look(stream, other)
                if best is None or found.value.lower > best.value.lower:
                    best = found
        return best, True

    def climbed(self, best: Attained) -> Attained:
        """Improve a pair reward by reward, at values between 0 and 1."""
        improved = True
        while improved:
            improved = False
            for place, value in product(range(self.horizon), STEPS):
                if time.monotonic() > self.deadline:
                    return best
                if best.stream[place] != best.neighbour[place] or best.stream[place] == value:
                    continue
                pair = best.stream, best.neighbour
                found = self.look(*((*row[:place], value, *row[place + 1 :]) for row in pair))
                if found.value.lower > best.value.lower:
                    best, improved = found, True
        return best


def shortcut(pairs: Pairs) -> Attained:
    """Return the best pair whose other rewards are all 0 or all 1; a better one may exist."""
    if pairs.notion.plain:
        raise Unsupported("For the largest likelihood ratio the shortcut is a theorem; see worst.")
    found = []
    for base, place in product((0.0, 1.0), range(pairs.horizon)):
        plain = (base,) * pairs.horizon
        other = (*plain[:place], 1 - base, *plain[place + 1 :])
        found += [pairs.look(plain, other), pairs.look(other, plain)]
    return max(found, key=lambda it: it.value.lower)

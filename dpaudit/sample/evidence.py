r"""Betting against a privacy claim: evidence that stays valid however long one looks.

Fix an event E and neighbouring streams r, r'. The claim implies the null hypothesis
p <= c q + delta, with p = P(E | r), q = P(E | r'), c = e^epsilon. A round draws one fresh run on
each stream; X and Y tell whether E happened. For a slope A >= 0 and an anchor q0 let
p0 = c q0 + delta and

    S = (1 + A (X - p0)) (1 - c A (Y - q0)),     A p0 <= 1,  c A (1 - q0) <= 1,  0 <= q0 <= 1.

**S is an e-variable.** Both factors are nonnegative by the constraints. X and Y are independent,
so E[S] = (1 + A (p - p0)) (1 - u) with u = c A (q - q0). Under the null p - p0 <= c (q - q0), so
A (p - p0) <= u, and since 1 - u >= 0: E[S] <= (1 + u) (1 - u) = 1 - u^2 <= 1.

So the product of S over rounds, with A and q0 chosen before each round from what was seen earlier,
is a nonnegative supermartingale that starts at 1; so is an average of such products. By Ville's
inequality it ever exceeds 1 / error with probability at most `error` under the null: one may stop
at any time. The proof uses neither the training runs nor the quality of the bets.

**The bet.** For believed (p, q) outside the null, growth E[log S] is largest at the reverse
information projection: (p0, q0) on the boundary nearest to (p, q) in relative entropy and
A = (p - p0) / (p0 (1 - p0)) (Turner & Grunwald 2023). Because the belief is wrong by sampling
error, the wealth is spread over the slopes A, A/2, A/4. Bets are fixed within a block of rounds,
so only the two counts of the block matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SLOPES = np.array([1.0, 0.5, 0.25])


@dataclass(frozen=True)
class Null:
    """The hypothesis P(E | r) <= e^epsilon P(E | r') + delta."""

    epsilon: float
    delta: float = 0.0

    @property
    def ratio(self) -> float:
        """e^epsilon, rounded up: a larger null is harder to refute.

        So is epsilon before: a decimal stands for what it writes, which may be above its double.
        """
        return math.nextafter(math.exp(math.nextafter(self.epsilon, math.inf)), math.inf)

    def contains(self, p: float, q: float) -> bool:
        """Return whether these probabilities respect the claim."""
        return p <= self.ratio * q + self.delta


@dataclass(frozen=True)
class Bet:
    """A slope A and an anchor q0; `factors` are the values of S's two factors."""

    null: Null
    slope: float
    anchor: float

    @property
    def factors(self) -> tuple[float, float, float, float]:
        """The factor of X = 1, of X = 0, of Y = 1 and of Y = 0; all nonnegative."""
        c, p0 = self.null.ratio, self.null.ratio * self.anchor + self.null.delta
        return (
            1 + self.slope * (1 - p0),
            max(1 - self.slope * p0, 0.0),
            max(1 - c * self.slope * (1 - self.anchor), 0.0),
            1 + c * self.slope * self.anchor,
        )

    def scaled(self, part: float) -> Bet:
        """Return the bet with a part of the slope."""
        return Bet(self.null, self.slope * part, self.anchor)

    def growth(self, hits: int, hits_neighbour: int, rounds: int) -> float:
        """Return the log of the product of S over rounds with these counts of E."""
        counts = (hits, rounds - hits, hits_neighbour, rounds - hits_neighbour)
        total = 0.0
        for count, factor in zip(counts, self.factors, strict=True):
            if count:
                total += count * math.log(factor) if factor > 0 else -math.inf
        return total


def best_bet(null: Null, p: float, q: float) -> Bet | None:
    """Return the bet of largest growth for believed 0 < p, q < 1; None inside the null."""
    c, delta = null.ratio, null.delta
    if null.contains(p, q):
        return None
    # On the boundary the entropy is convex in q0: its slope has one root between q and the
    # value where p0 = p, found by bisection. Validity does not depend on the root's accuracy.
    low, high = max(q, 0.0), min((p - delta) / c, 1.0)
    for _ in range(60):
        anchor = 0.5 * (low + high)
        p0 = c * anchor + delta
        if c * (p0 - p) / (p0 * (1 - p0)) + (anchor - q) / (anchor * (1 - anchor)) > 0:
            high = anchor
        else:
            low = anchor
    anchor = 0.5 * (low + high)
    p0 = c * anchor + delta
    slope = (p - p0) / (p0 * (1 - p0))
    limit = min(1 / p0, 1 / (c * (1 - anchor))) if anchor < 1 else 1 / p0
    return Bet(null, min(max(slope, 0.0), limit * (1 - 1e-9)), anchor)


class Evidence:
    """The e-process of one hypothesis: feed it the counts of fresh runs, block by block.

    `belief` are counts from the training runs (hits, hits on the neighbour, rounds): they shape
    the first bets and are never multiplied into the evidence.
    """

    def __init__(self, null: Null, belief: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.null = null
        self.belief = belief
        self.hits = 0
        self.hits_neighbour = 0
        self.rounds = 0
        self.log_wealth = np.zeros(len(SLOPES))
        self.peak = 0.0

    @property
    def value(self) -> float:
        """The log of the e-process now: the average wealth of the bettors."""
        top = float(self.log_wealth.max())
        if top == -math.inf:
            return top
        return top + math.log(float(np.mean(np.exp(self.log_wealth - top))))

    def bet(self) -> Bet | None:
        """Return the full bet for the next block, from what has been seen so far."""
        hits, hits_neighbour, rounds = self.belief
        n = self.rounds + rounds + 1
        p = (self.hits + hits + 0.5) / n
        q = (self.hits_neighbour + hits_neighbour + 0.5) / n
        return best_bet(self.null, p, q)

    def update(self, hits: int, hits_neighbour: int, rounds: int) -> None:
        """Bet on one block of fresh rounds, then learn from it."""
        bet = self.bet()
        if bet is not None:
            for index, part in enumerate(SLOPES):
                self.log_wealth[index] += bet.scaled(float(part)).growth(
                    hits, hits_neighbour, rounds
                )
        self.hits += hits
        self.hits_neighbour += hits_neighbour
        self.rounds += rounds
        self.peak = max(self.peak, self.value)

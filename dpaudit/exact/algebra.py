"""Variable elimination on one line: the operations that a chain needs, whoever computes them.

A function of one register is a weight: its release's own density enters when the register is
integrated out. A technology answers six questions about such functions; the likelihood of a path,
and the likelihoods of all paths by every release's own sum, are written once on top of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from dpaudit.errors import DpauditError, Unsupported
from dpaudit.exact.schedule import Batch, Chain, Drop, Turn

F = TypeVar("F")  # a function of one register


class Imprecise(DpauditError):
    """Balls are too wide to go on; more precision decides."""


@dataclass(frozen=True)
class Bounds:
    """A loss within [lower, upper]; the lower end is attained from own sum `own` to `other`.

    `log_likelihood` is that of `other`, the likelier side, roughly.
    """

    lower: float
    upper: float
    own: Fraction
    other: Fraction
    log_likelihood: float


class Curve(Protocol):
    """The log-likelihood of a path by one release's own sum, all others fixed."""

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1 upwards, or downwards if not rising.

        Where `whole`, of a step of exactly 1 between whole sums.
        """


class Algebra(ABC, Generic[F]):
    """A technology: functions on a line, and what elimination does with them."""

    @abstractmethod
    def duel(self, chain: Chain, stage: Turn) -> Any:
        """Return a stage's comparison of two registers; its `identity` tells it from others."""

    @abstractmethod
    def one(self, kind: Batch) -> F:
        """Return the constant 1 as a function of a register that holds such a release."""

    @abstractmethod
    def times(self, first: F, second: F) -> F:
        """Return the product of two functions of one register."""

    @abstractmethod
    def absorb(self, function: F, duel: Any, fresh: Fraction, held_wins: bool) -> F:
        """Multiply a function of the held register by the chance of the fresh one's outcome."""

    @abstractmethod
    def beyond(self, function: F, duel: Any, centre: Fraction, held_wins: bool, of_held: bool) -> F:
        """Integrate the held (or the fresh) register out: what is left is one of the other."""

    @abstractmethod
    def log_total(self, function: F, kind: Batch, centre: Fraction) -> Any:
        """Return the logarithm of the integral of a function against a release's density."""

    @abstractmethod
    def curve(self, function: F, kind: Batch) -> Curve:
        """Return the likelihood by a release's own sum, for the function of its register."""


def log_likelihood(algebra: Algebra[Any], chain: Chain, centres: Mapping[int, Any]) -> Any:
    """Return the log-probability of a chain by the centres of its releases."""
    total: Any = None
    weight: Any = None
    begun = False  # a technology may have None for the function that is zero everywhere
    for stage in chain.stages:
        duel, wins = algebra.duel(chain, stage), stage.held_wins
        if not begun:
            weight, begun = algebra.one(chain.kind(stage.older)), True
        if stage.drop is Drop.HELD:
            weight = algebra.beyond(weight, duel, centres[stage.older], wins, of_held=True)
            continue
        weight = algebra.absorb(weight, duel, centres[stage.fresh], wins)
        if stage.drop is Drop.BOTH:
            part = algebra.log_total(weight, chain.kind(stage.older), centres[stage.older])
            total, begun = part if total is None else total + part, False
    return total


class Sharing(Generic[F]):
    """Prefixes and suffixes of many chains, each computed once for all the paths that share it.

    With every other release at all-0 or all-1, a path's likelihood as a function of one release's
    centre mu is the integral of f(y - mu) W(y), W being what the decisions before say of the
    register times what those after it say.
    """

    def __init__(self, algebra: Algebra[F], background: int) -> None:
        self.algebra, self.background = algebra, background
        self.forward: dict[Hashable, F] = {}
        self.backward: dict[Hashable, F] = {}

    def centre(self, kind: Batch) -> Fraction:
        """Return a release's centre with all its rewards at the background."""
        return kind.centre(self.background * kind.rows)

    def curves(self, chain: Chain) -> Iterator[tuple[int, Curve]]:
        """Yield every episode that enters a decision, with its likelihood by its own sum."""
        algebra, stages = self.algebra, chain.stages
        if not stages:
            return
        if any(stage.drop is Drop.BOTH for stage in stages[:-1]):
            raise Unsupported("Both registers are renewed between decisions.")
        duels = [algebra.duel(chain, stage) for stage in stages]
        keys = tuple(
            (duel.identity, stage.held_wins, stage.drop)
            for duel, stage in zip(duels, stages, strict=True)
        )
        kinds = [(chain.kind(stage.older), chain.kind(stage.fresh)) for stage in stages]
        after = self._after(stages, duels, kinds, keys)
        yield stages[0].older, algebra.curve(after[0], kinds[0][0])
        weight = algebra.one(kinds[0][0])
        for i, (stage, duel) in enumerate(zip(stages, duels, strict=True)):
            older, fresh = kinds[i]
            held = (self.centre(older), stage.held_wins)
            known = self.forward.get(keys[: i + 1])
            if stage.drop is Drop.HELD:
                if known is None:
                    known = algebra.beyond(weight, duel, *held, of_held=True)
                yield stage.fresh, algebra.curve(algebra.times(known, after[i + 1]), fresh)
            else:
                rest = algebra.times(weight, after[i + 1])
                beaten = algebra.beyond(rest, duel, *held, of_held=True)
                yield stage.fresh, algebra.curve(beaten, fresh)
                if known is None:
                    known = algebra.absorb(weight, duel, self.centre(fresh), stage.held_wins)
            weight = self.forward[keys[: i + 1]] = known

    def _after(
        self,
        stages: Sequence[Turn],
        duels: Sequence[Any],
        kinds: Sequence[tuple[Batch, Batch]],
        keys: tuple[Hashable, ...],
    ) -> list[F]:
        """Return what the decisions from stage i on say of the register held there."""
        found = [self.algebra.one(kinds[-1][0])]
        for i in range(len(stages) - 1, -1, -1):
            known = self.backward.get(keys[i:])
            if known is None:
                given = (duels[i], self.centre(kinds[i][1]), stages[i].held_wins)
                if stages[i].drop is Drop.HELD:
                    known = self.algebra.beyond(found[-1], *given, of_held=False)
                else:
                    known = self.algebra.absorb(found[-1], *given)
                self.backward[keys[i:]] = known
            found.append(known)
        return found[::-1]

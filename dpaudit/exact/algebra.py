"""Variable elimination on one line: the operations that a chain needs, whoever computes them.

A function of one register is a weight: its release's own density enters when the register is
integrated out. A technology answers six questions about such functions; the likelihood of a path,
and the likelihoods of all paths by every release's own sum, are written once on top of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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

    @property
    def cap(self) -> float:
        """What no step gains, known before any is looked at."""

    def largest(self, rising: bool, whole: bool) -> Bounds:
        """Enclose the largest gain of a step of at most 1 upwards, or downwards if not rising.

        Where `whole`, of a step of exactly 1 between whole sums.
        """


class Algebra(ABC, Generic[F]):
    """A technology: functions on a line, and what elimination does with them."""

    together = 1  # chains that are looked at in one go

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
    def curve(self, function: F, kind: Batch) -> Any:
        """Return the likelihood by a release's own sum, a `Curve`, or several for `mapped`."""

    def mapped(self, operation: Callable[..., Any], *columns: Sequence[F]) -> list[Any]:
        """Return what an operation makes of each row of functions of the same registers."""
        return [operation(*row) for row in zip(*columns, strict=True)]


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


@dataclass(frozen=True)
class Link:
    """One stage of a chain: its comparison, the releases that meet, and what tells it apart."""

    stage: Turn
    duel: Any
    older: Batch
    fresh: Batch
    key: Hashable


class Sharing(Generic[F]):
    """Prefixes and suffixes of many chains, each computed once for all the paths that share it.

    With every other release at all-0 or all-1, a path's likelihood as a function of one release's
    centre mu is the integral of f(y - mu) W(y), W being what the decisions before say of the
    register times what those after it say. What many paths do to their functions is done at once.
    """

    def __init__(self, algebra: Algebra[F], background: int) -> None:
        self.algebra, self.background = algebra, background
        self.before: dict[tuple[Hashable, ...], F] = {}
        self.after: dict[tuple[Hashable, ...], F] = {}

    def curves(self, chains: Sequence[Chain]) -> list[list[tuple[int, Curve]]]:
        """Return for every chain the episodes that decide, with its likelihood by their own sum."""
        lists = [self._links(chain) for chain in chains]
        longest = max(map(len, lists), default=0)
        for depth in range(1, longest + 1):
            deep = [links for links in lists if depth <= len(links)]
            self._grow(self.after, [links[-depth:] for links in deep])
            # where both registers are dropped, nothing follows
            going_on = [links for links in deep if links[depth - 1].stage.drop is not Drop.BOTH]
            self._grow(self.before, [links[:depth] for links in going_on])
        groups: dict[Hashable, list[tuple[int, int, Link, tuple[F, ...]]]] = {}
        for number, links in enumerate(lists):
            for key, episode, link, functions in self._asked(links):
                groups.setdefault(key, []).append((number, episode, link, functions))
        found: list[dict[int, Curve]] = [{} for _ in chains]
        for key, asked in groups.items():
            link = asked[0][2]
            columns = zip(*(functions for *_, functions in asked), strict=True)
            curves = self.algebra.mapped(self._curve(key, link), *columns)
            for (number, episode, *_), curve in zip(asked, curves, strict=True):
                found[number][episode] = curve
        return [list(curves.items()) for curves in found]

    def _links(self, chain: Chain) -> tuple[Link, ...]:
        if any(stage.drop is Drop.BOTH for stage in chain.stages[:-1]):
            raise Unsupported("Both registers are renewed between decisions.")
        found = []
        for stage in chain.stages:
            duel = self.algebra.duel(chain, stage)
            key = (duel.identity, stage.held_wins, stage.drop)
            found.append(Link(stage, duel, chain.kind(stage.older), chain.kind(stage.fresh), key))
        return tuple(found)

    def _centre(self, kind: Batch) -> Fraction:
        """Return a release's centre with all its rewards at the background."""
        return kind.centre(self.background * kind.rows)

    def _grow(self, known: dict[tuple[Hashable, ...], F], parts: list[tuple[Link, ...]]) -> None:
        """Compute the functions of prefixes, or of suffixes, from those that are one stage shorter.

        That of a suffix tells of the register that its first stage holds.
        """
        forth = known is self.before
        groups: dict[Hashable, dict[tuple[Hashable, ...], tuple[Link, F]]] = {}
        for links in parts:
            keys = tuple(link.key for link in links)
            if keys not in known:
                link, rest = (links[-1], keys[:-1]) if forth else (links[0], keys[1:])
                function = known[rest] if rest else self.algebra.one(link.older)
                groups.setdefault(link.key, {})[keys] = link, function
        for group in groups.values():
            link = next(iter(group.values()))[0]
            functions = [function for _, function in group.values()]
            found = self.algebra.mapped(lambda f, at=link: self._through(f, at, forth), functions)
            known.update(zip(group, found, strict=True))

    def _through(self, function: F, at: Link, forth: bool) -> F:
        """Take a function through a stage, forth or back."""
        wins = at.stage.held_wins
        if at.stage.drop is not Drop.HELD:
            return self.algebra.absorb(function, at.duel, self._centre(at.fresh), wins)
        centre = self._centre(at.older if forth else at.fresh)
        return self.algebra.beyond(function, at.duel, centre, wins, of_held=forth)

    def _asked(
        self, links: tuple[Link, ...]
    ) -> Iterator[tuple[Hashable, int, Link, tuple[F, ...]]]:
        """Yield for every episode how its curve is made, and the functions that it is made of."""
        if not links:
            return
        keys = tuple(link.key for link in links)
        yield ("own", links[0].older), links[0].stage.older, links[0], (self.after[keys],)
        last = self.algebra.one(links[-1].older)
        for i, link in enumerate(links):
            rest = self.after[keys[i + 1 :]] if i + 1 < len(links) else last
            if link.stage.drop is Drop.HELD:
                functions = (self.before[keys[: i + 1]], rest)
                yield ("fresh", link.fresh), link.stage.fresh, link, functions
            else:
                held = self.before[keys[:i]] if i else self.algebra.one(link.older)
                yield link.key, link.stage.fresh, link, (held, rest)

    def _curve(self, key: Any, link: Link) -> Callable[..., Any]:
        """Return what makes the curves of a group."""
        algebra = self.algebra
        if key[0] == "own":
            return lambda function: algebra.curve(function, link.older)
        if key[0] == "fresh":
            return lambda held, rest: algebra.curve(algebra.times(held, rest), link.fresh)
        centre, wins = self._centre(link.older), link.stage.held_wins

        def beaten(held: F, rest: F) -> Any:
            """The fresh register is dropped: integrate the held one out."""
            product = algebra.times(held, rest)
            return algebra.curve(
                algebra.beyond(product, link.duel, centre, wins, of_held=True), link.fresh
            )

        return beaten

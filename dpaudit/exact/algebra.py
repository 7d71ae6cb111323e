"""Messages on trees of comparisons: what functions of one register can do, whoever computes them.

Integrated out for its neighbour j, a release i leaves a function of j's register,

  m_ij(y) = integral over {x on its side of the threshold theta(y)} of f_i(x) prod_k m_ki(x) dx,

the product over all its other neighbours k, f_i its own density. The likelihood of a tree is the
same integral over the whole line, at any one release. By the own sum of release i, with every other
one's fixed, it is the integral of f_i(x - mu) W_i(x), W_i the product of all messages to i. A
technology answers a few questions about such functions; messages are written once on top of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from dpaudit.errors import DpauditError
from dpaudit.exact.region import Batch
from dpaudit.exact.trees import Edge, Forest

F = TypeVar("F")  # a function of one register


class Imprecise(DpauditError):
    """Balls are too wide to go on; more precision decides."""


@dataclass(frozen=True)
class Bounds:
    """A loss within [lower, upper]; the lower end is attained from own sum `own` to `other`."""

    lower: float
    upper: float
    own: Fraction
    other: Fraction


@dataclass(frozen=True)
class Curve:
    """The log-likelihood of a path by one release's own sum, all others fixed.

    `largest(rising, whole)` encloses the largest gain of a step of at most 1 upwards, or downwards
    if not rising; where `whole`, of a step of exactly 1 between whole sums. No step gains more than
    `cap`, which is known before any is looked at.
    """

    largest: Callable[[bool, bool], Bounds]
    cap: float = math.inf


class Algebra(ABC, Generic[F]):
    """A technology: functions on a line, and what elimination does with them."""

    together = 1  # trees that are looked at in one go

    @abstractmethod
    def duel(self, tree: Forest, edge: Edge) -> Any:
        """Return a comparison of two registers; its `identity` tells it from others."""

    @abstractmethod
    def times(self, first: F, second: F) -> F:
        """Return the product of two functions of one register."""

    @abstractmethod
    def message(self, function: F | None, sent: Message) -> F:
        """Integrate a release out, whose register has this factor; None is 1 everywhere."""

    @abstractmethod
    def log_total(self, function: F, kind: Batch, centre: Fraction) -> Any:
        """Return the logarithm of the integral of a function against a release's density."""

    @abstractmethod
    def curve(self, function: F, kind: Batch) -> Any:
        """Return the likelihood by a release's own sum, a `Curve`, or several for `mapped`."""

    def mapped(self, operation: Callable[..., Any], *columns: Sequence[F]) -> list[Any]:
        """Return what an operation makes of each row of functions of the same registers."""
        return [operation(*row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Message:
    """A release is integrated out: which end of a duel it is, its centre, and which end wins."""

    duel: Any
    of_first: bool
    centre: Any
    first_wins: bool

    @property
    def kind(self) -> Batch:
        """The release that is integrated out."""
        found: Batch = self.duel.kinds[not self.of_first]
        return found

    @property
    def below(self) -> bool:
        """Whether it lies below the threshold that the other register sets."""
        return self.first_wins != self.of_first

    @cached_property
    def key(self) -> Hashable:
        """What tells it from others."""
        return self.duel.identity, self.of_first, self.centre, self.first_wins


def message_of(
    algebra: Algebra[Any], tree: Forest, release: int, edge: Edge, centre: Any
) -> Message:
    """Return the message from a release along an edge."""
    return Message(algebra.duel(tree, edge), release == edge.ends[0], centre, edge.first_wins)


def log_likelihood(algebra: Algebra[Any], tree: Forest, centres: Mapping[int, Any]) -> Any:
    """Return the log-probability of a tree by the centres of its releases."""
    total: Any = None
    inside: dict[int, Any] = {}
    for release, edge in reversed(tree.order):
        function = inside.pop(release, None)
        if edge is None:
            part = algebra.log_total(function, tree.kinds[release], centres[release])
            total = part if total is None else total + part
            continue
        sent = message_of(algebra, tree, release, edge, centres[release])
        found, other = algebra.message(function, sent), edge.other(release)
        inside[other] = algebra.times(inside[other], found) if other in inside else found
    return total


class Recipe(NamedTuple):
    """How a function of a register is made: the product of its parts, or a message with it."""

    kind: Batch
    sent: Message | None
    parts: tuple[int, ...]

    @property
    def key(self) -> tuple[Batch, Hashable, tuple[int, ...]]:
        """What tells it from others."""
        return self.kind, self.sent and self.sent.key, self.parts


class Sharing(Generic[F]):
    """The messages of many trees, each computed once for all the trees that share it.

    Every other release is at all-0, or at all-1. Messages to a release are multiplied in the order
    of time, from the first on and from the last back, so that what is said to one neighbour, by all
    the others, is one product, and trees that begin or end alike have it in common. What many trees
    do to their functions is done at once: as many are looked at together as the technology likes,
    one that is asked for, and those that follow it.
    """

    def __init__(self, algebra: Algebra[F], trees: Mapping[int, Forest]) -> None:
        self.algebra, self.trees = algebra, trees
        self._begin(background=0)

    def _begin(self, background: int) -> None:
        self.background = background
        self._numbers: dict[Hashable, int] = {}
        self._recipes: list[Recipe] = []
        self._functions: list[F] = []
        self._ready: dict[int, list[tuple[int, Curve]]] = {}

    def curves(self, number: int, background: int) -> Iterator[tuple[int, Curve]]:
        """Yield the releases of a tree, with its likelihood by their own sum."""
        if background != self.background:
            self._begin(background)
        if number not in self._ready:
            later = (other for other in self.trees if other >= number)
            block = list(islice(later, self.algebra.together))
            found = self._curves([self.trees[other] for other in block])
            self._ready = dict(zip(block, found, strict=True))
        return iter(self._ready.pop(number))

    def _curves(self, trees: Sequence[Forest]) -> list[list[tuple[int, Curve]]]:
        asked = [self._weights(tree) for tree in trees]
        self._compute()
        wanted = {recipe.key: recipe for weights in asked for recipe in weights.values()}
        known: dict[Hashable, Curve] = {}
        for group in _grouped(wanted.values(), lambda it: (*it.key[:2], len(it.parts))):
            made = self._made(group, partial(self.algebra.curve, kind=group[0].kind))
            known |= zip((recipe.key for recipe in group), made, strict=True)
        return [[(i, known[recipe.key]) for i, recipe in weights.items()] for weights in asked]

    def _weights(self, tree: Forest) -> dict[int, Recipe]:
        """Return how the product of all messages to a release is made, for all releases."""
        heard: dict[tuple[int, Edge], int] = {}  # by the release and the edge that it comes along
        found: dict[int, Recipe] = {}
        for release, parent in reversed(tree.order):
            if parent is not None:
                said = self._said(tree, release, parent, heard)
                heard[parent.other(release), parent] = self._number(said)
        for release, parent in tree.order:
            if release not in found:
                found[release] = self._product(tree, release, None, heard)
            for edge in tree.at[release]:
                if edge is not parent:
                    other, said = edge.other(release), self._said(tree, release, edge, heard)
                    if len(tree.at[other]) == 1 and said.parts:
                        found[other] = said  # nobody else asks for it
                    else:
                        heard[other, edge] = self._number(said)
        return {i: found[i] for i in sorted(found)}

    def _said(
        self, tree: Forest, release: int, edge: Edge, heard: Mapping[tuple[int, Edge], int]
    ) -> Recipe:
        """Return the message from a release along an edge."""
        kind = tree.kinds[release]
        centre = kind.centre(self.background * kind.rows)
        parts = self._product(tree, release, edge, heard).parts
        sent = message_of(self.algebra, tree, release, edge, centre)
        return Recipe(tree.kinds[edge.other(release)], sent, parts)

    def _product(
        self, tree: Forest, release: int, but: Edge | None, heard: Mapping[tuple[int, Edge], int]
    ) -> Recipe:
        """Return the product of the messages to a release, but for one: those before, and after."""
        kind, edges = tree.kinds[release], tree.at[release]
        place = edges.index(but) if but else 1
        sides = edges[:place], edges[: place - bool(not but) : -1]
        parts = []
        for side in sides:
            numbers = [heard[release, edge] for edge in side]
            if numbers:
                whole, *rest = numbers
                for number in rest:
                    whole = self._number(Recipe(kind, None, (number, whole)))
                parts.append(whole)
        return Recipe(kind, None, tuple(parts))

    def _number(self, recipe: Recipe) -> int:
        """Return the number of a function that is to be computed."""
        if recipe.sent is None and len(recipe.parts) == 1:
            return recipe.parts[0]
        found = self._numbers.setdefault(recipe.key, len(self._recipes))
        if found == len(self._recipes):
            self._recipes.append(recipe)
        return found

    def _compute(self) -> None:
        """Compute what is new, from what depends on nothing upwards."""
        first = len(self._functions)
        depth: list[int] = [0] * first
        for recipe in self._recipes[first:]:
            depth.append(1 + max((depth[part] for part in recipe.parts), default=0))
        self._functions += [None] * (len(depth) - first)  # type: ignore[list-item]

        def alike(number: int) -> Hashable:
            kind, sent, parts = self._recipes[number]
            return depth[number], kind, sent and sent.key, len(parts)

        groups = _grouped(range(first, len(depth)), alike)
        for group in sorted(groups, key=lambda group: depth[group[0]]):
            found = self._made([self._recipes[number] for number in group])
            for number, function in zip(group, found, strict=True):
                self._functions[number] = function

    def _made(
        self, alike: Sequence[Recipe], finish: Callable[[F], Any] = lambda it: it
    ) -> list[Any]:
        """Return what recipes make that differ in their parts alone."""
        algebra, sent = self.algebra, alike[0].sent

        def operation(*given: F) -> Any:
            product = algebra.times(*given) if len(given) == 2 else given[0]
            return finish(product if sent is None else algebra.message(product, sent))

        if not alike[0].parts:  # a message of a release that hears nothing else
            return [finish(algebra.message(None, recipe.sent)) for recipe in alike if recipe.sent]
        columns = zip(*(recipe.parts for recipe in alike), strict=True)
        return algebra.mapped(operation, *([self._functions[i] for i in part] for part in columns))


T = TypeVar("T")


def _grouped(items: Any, key: Callable[[Any], Hashable]) -> list[list[Any]]:
    found: dict[Hashable, list[Any]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.values())

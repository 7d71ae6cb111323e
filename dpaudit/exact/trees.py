"""Comparisons of releases two by two: without cycles, functions of one register are enough.

A choice says that the winner's register beats every other arm's: an edge between the releases that
both show. Where the graph is a forest, releases are integrated out from its leaves inwards, and
what is left of a release is a function of its neighbour's register (`algebra.py`). Two arms that
show a release for a while and never the one before make a path with leaves. A release on both
arms, one that meets another twice, and registers that add releases up are `Unsupported`.

A tree knows the releases, not the rewards: the centres come with the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dpaudit.core.algorithm import Choose
from dpaudit.errors import Unsupported
from dpaudit.exact.region import Batch, Region


@dataclass(frozen=True, eq=False)
class Edge:
    """Two releases that meet in a choice: their places in its rule, and whether the first wins."""

    request: Choose
    places: tuple[int, int]
    ends: tuple[int, int]
    first_wins: bool

    def other(self, release: int) -> int:
        """Return the release at the other end."""
        return self.ends[release == self.ends[0]]


@dataclass(frozen=True, eq=False)
class Forest:
    """Releases and the comparisons between them, in time order; one tree or several."""

    region: Region
    edges: tuple[Edge, ...]

    @cached_property
    def kinds(self) -> dict[int, Batch]:
        """The kinds of the releases."""
        return {i: episode.kind for i, episode in enumerate(self.region.episodes)}

    def kinds_of(self, edge: Edge) -> tuple[Batch, Batch]:
        """Return the kinds of the two releases that an edge compares."""
        return self.kinds[edge.ends[0]], self.kinds[edge.ends[1]]

    @cached_property
    def at(self) -> dict[int, list[Edge]]:
        """The comparisons of every release."""
        found: dict[int, list[Edge]] = {}
        for edge in self.edges:
            for release in edge.ends:
                found.setdefault(release, []).append(edge)
        return found

    @cached_property
    def order(self) -> list[tuple[int, Edge | None]]:
        """Every release behind the one that it is integrated out for, with what leads there.

        The last one held is a root. Raise `Unsupported` where there is a cycle.
        """
        found: dict[int, Edge | None] = {}
        for last in reversed(self.edges):
            if last.ends[0] in found:
                continue
            root = max(last.ends, key=lambda release: len(self.at[release]))
            pending: list[tuple[int, Edge | None]] = [(root, None)]
            while pending:
                release, parent = pending.pop()
                if release in found:
                    raise Unsupported("Releases are compared in a circle.")
                found[release] = parent
                after = (edge for edge in self.at[release] if edge is not parent)
                pending += [(edge.other(release), edge) for edge in after]
        return [*found.items()]


def forest_of(region: Region) -> Forest:
    """Return the comparisons of a region; raise `Unsupported` where they are no forest."""
    edges = []
    for decision in region.decisions:
        request = decision.request
        if not isinstance(request, Choose):
            raise Unsupported("An elimination is no comparison of two arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported(
                "Functions of one register need registers that hold a single release."
            )
        shown = [group[0] for group in decision.shown]
        won = request.arms.index(decision.outcome)
        for lost in (place for place in range(len(shown)) if place != won):
            one, two = sorted((won, lost))
            edges.append(Edge(request, (one, two), (shown[one], shown[two]), won == one))
    found = Forest(region, tuple(edges))
    if not found.order:
        raise Unsupported("Nothing is compared.")
    return found

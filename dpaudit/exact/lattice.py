"""The public states of a two-arm declaration as a graph: what all decision paths have in common.

A vertex is a decision between a held register and a fresh one; an edge is its outcome, after which
the winner plays, and its register is overwritten. The graph is only built where every edge releases
exactly the rows just played into the winner's own register, so that each reward enters one release
(A2), each register holds one (A3) and every path is a walk; otherwise `Unsupported` says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpaudit.core.algorithm import Algorithm, Choose, Keep, Play, Release, Rows
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.canonical import Distrust, canonical
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.core.walk import Place, begin
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.known import require_known
from dpaudit.exact.pairwise import Duel, duel_of
from dpaudit.exact.resolution import require_fine


@dataclass(frozen=True)
class Law:
    """The law of one release: Laplace noise of a scale around (own sum) / divisor."""

    arm: int
    scale: float
    divisor: float
    length: int


@dataclass(eq=False)
class Vertex:
    """A decision at a public state: `laws[arm]` are the releases shown, `held` the older one."""

    level: int
    laws: tuple[Law, Law]
    held: int
    duel: Duel
    convex: bool
    after: list[Vertex | None] = field(default_factory=lambda: [None, None])
    before: list[tuple[Vertex, int]] = field(default_factory=list)

    @property
    def fresh(self) -> int:
        """The arm whose register has just been overwritten."""
        return 1 - self.held


def lattice(algorithm: Algorithm, horizon: int, clock: Clock = ENDLESS) -> list[Vertex]:
    """Return the vertices by level; none if the horizon ends before any decision."""
    if algorithm.arms != 2:
        raise Unsupported("The graph of public states is built for two arms.")
    found: dict[Any, Vertex] = {}
    ordered: list[Vertex] = []
    laws: list[Law | None] = [None, None]
    opening = _advance(begin(algorithm), horizon, None, clock)
    if opening is None:
        return []
    place, request, releases = opening
    for release in releases:
        laws[release.arm] = release
    if laws[0] is None or laws[1] is None:
        raise Unsupported("A decision reads a register that was never released.")
    start = _vertex(0, request, (laws[0], laws[1]), held=0)
    found[_key(place), start.laws, 0] = start
    pending = [(start, place)]
    while pending:
        vertex, place = pending.pop()
        ordered.append(vertex)
        for winner in (0, 1):
            moved = _advance(place.after(winner), horizon, winner, clock)
            if moved is None:
                continue
            place_after, request, releases = moved
            if len(releases) != 1 or releases[0].arm != winner:
                raise Unsupported("A decision is not followed by one release of the winner.")
            pair = (releases[0], vertex.laws[1]) if winner == 0 else (vertex.laws[0], releases[0])
            held = 1 - winner
            key = (_key(place_after), pair, held)
            if key not in found:
                found[key] = _vertex(vertex.level + 1, request, pair, held)
                pending.append((found[key], place_after))
            after = found[key]
            if after.level != vertex.level + 1:
                raise Unsupported("A public state is reached after different numbers of decisions.")
            vertex.after[winner] = after
            after.before.append((vertex, winner))
    return sorted(ordered, key=lambda item: item.level)


def _vertex(level: int, request: Choose, laws: tuple[Law, Law], held: int) -> Vertex:
    require_known(request)
    rule = request.rule(FLOAT)
    require_fine(request, (law.scale for law in laws), (law.length / law.divisor for law in laws))
    return Vertex(level, laws, held, duel_of(rule), isinstance(rule, Affine))


def _key(place: Place) -> Any:
    """Return what all paths through a place have in common; states are told apart by content."""
    try:
        return canonical(place.state), place.pulls
    except Distrust as distrust:
        raise Unsupported(f"The graph of public states is not built: {distrust}.") from None


def _advance(
    place: Place, horizon: int, due: int | None, clock: Clock
) -> tuple[Place, Choose, list[Law]] | None:
    """Follow plays and releases to the next decision; None if the horizon comes first.

    The first play must be of the arm that is `due`, the winner: then the actions tell every
    decision, and paths that differ show as different actions.
    """
    releases: list[Law] = []
    played: set[Rows] = set()
    while True:
        clock()
        request = place.request
        if isinstance(request, Play):
            if due not in (None, request.arm):
                raise Unsupported("A decision does not show in the actions.")
            due = None
            if place.time + request.rounds >= horizon:
                return None
            rows = place.rows(horizon)
            played.add(rows)
            place = place.after(rows)
        elif isinstance(request, Release):
            require_known(request)
            if request.rows not in played or not isinstance(request.noise, Laplace):
                raise Unsupported("A release is not of the rows just played with Laplace noise.")
            if request.register != request.rows.arm:
                raise Unsupported("A release goes to a register that is not the arm's own.")
            played.remove(request.rows)
            scale, divisor = float(request.noise.scale), float(request.divisor)
            releases.append(Law(request.rows.arm, scale, divisor, len(request.rows)))
            place = place.after()
        elif isinstance(request, Choose):
            if request.arms != (0, 1) or request.registers != ((0,), (1,)):
                raise Unsupported("A decision does not compare the two arms' own registers.")
            return place, request, releases
        else:
            kind = "an elimination" if isinstance(request, Keep) else "an accumulating register"
            raise Unsupported(f"The graph of public states does not model {kind}.")


def count_paths(vertices: list[Vertex]) -> int:
    """Return the number of decision paths."""
    return int(suffix_counts(vertices)[id(vertices[0])]) if vertices else 1


def suffix_counts(vertices: list[Vertex]) -> dict[int, int]:
    """Return for every vertex the number of ways to go on from it."""
    counts: dict[int, int] = {}
    for vertex in reversed(vertices):
        counts[id(vertex)] = sum(1 if v is None else counts[id(v)] for v in vertex.after)
    return counts

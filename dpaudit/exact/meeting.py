"""Every decision path and every extremal pair at once: the largest loss of a two-arm lattice.

Suffix functions are made once for all vertices from a middle level on and shelved; prefixes are
walked depth first and meet them (`walk.py`). The prefixes of the middle level share out the work
among threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact.best_steps import Candidate, candidates, nothing_yet
from dpaudit.exact.fast import reach_of
from dpaudit.exact.lattice import Vertex, suffix_counts
from dpaudit.exact.lattice_arrays import graph_of
from dpaudit.exact.messages import constant, fresh
from dpaudit.exact.own_sums import Steps
from dpaudit.exact.pairing import room
from dpaudit.exact.pairs import Streams
from dpaudit.exact.panels import empty
from dpaudit.exact.shelf import Shelf, grown, put, shelf, take
from dpaudit.exact.thresholds import Thresholds, thresholds
from dpaudit.exact.walk import Search, advance, descend, meet_variants, shelve_suffixes

MOST_SUFFIXES = 50_000
_SPLIT = 4  # levels before the middle at least, for work that threads can share


@dataclass(frozen=True)
class Prefix:
    """A prefix down to the middle level, with the variants of the odd episodes so far."""

    vertex: int
    word: int
    depth: int
    functions: Shelf
    count: int
    origin: NDArray[np.int64]


class Meeting:
    """The search of one lattice and one background."""

    def __init__(
        self,
        vertices: list[Vertex],
        background: int,
        streams: Streams = "real",
        log_floor: float = -math.inf,
        bar: float = -math.inf,
        clock: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare the search; episodes whose charge does not exceed `bar` are not searched.

        `clock` is called now and then, and may raise to end the work.
        """
        self.clock = clock
        self.background = background
        self.steps = Steps(all(vertex.convex for vertex in vertices), streams)
        self.vertices = vertices
        self.log_floor = log_floor
        these = thresholds(vertex.duel for vertex in vertices)
        self.graph = graph_of(vertices, background, self.steps, bar)
        reach = reach_of(these, float(self.graph.scale.max()))
        counts = suffix_counts(vertices)
        self.middle = max(self._first_searched(), min(_SPLIT, vertices[-1].level))
        while self._stored(counts) > MOST_SUFFIXES:
            self.middle += 1
        books = self._shelve(self._stored(counts) + 1, these, reach)
        self.search = Search(self.graph, these, books, reach, self.steps.shorter)

    def _first_searched(self) -> int:
        """Return the first level at which an episode is searched: no suffix is needed before it."""
        levels = [
            vertex.level
            for vertex, counts in zip(self.vertices, self.graph.tried, strict=True)
            if counts[1 - vertex.held] or (vertex.level == 0 and counts[vertex.held])
        ]
        return min(levels, default=self.vertices[-1].level)

    def _stored(self, counts: dict[int, int]) -> int:
        """Return how many suffixes there are from the middle on."""
        return sum(counts[id(v)] for v in self.vertices if v.level >= self.middle)

    def _shelve(self, functions: int, these: Thresholds, reach: float) -> Shelf:
        """Return the suffix functions of all vertices from the middle on; number 0 is the end."""
        books = shelf(functions, 64 * functions + 1000)
        whole = empty()
        constant(whole, reach)
        put(books, 0, whole, 1)
        at = 1
        for number in range(len(self.vertices) - 1, -1, -1):
            if self.vertices[number].level < self.middle:
                continue
            self.clock()
            while True:
                made = shelve_suffixes(self.graph, these, number, at, books, reach)
                if made == -2:
                    raise Unsupported("The compiled search has no room for a suffix.")
                if made >= 0:
                    break
                books = grown(books)
            self.graph.range_first[number], self.graph.range_count[number] = at, made
            at += made
        return books

    def prefixes(self) -> Iterator[Prefix]:
        """Yield the prefixes down to the middle level, and whole paths that end before it."""
        graph = self.graph
        room_ = empty()
        root = self.vertices[0]
        h = root.held
        first, count = int(graph.first[0, h]), int(graph.tried[0, h])
        start = shelf(1 + count, (1 + count) * 8)
        fresh(room_, float(graph.centre[0, h]), float(graph.scale[0, h]), self.search.reach)
        put(start, 0, room_, 0)
        for i in range(count):
            fresh(room_, float(graph.own[first + i]), float(graph.scale[0, h]), self.search.reach)
            put(start, 1 + i, room_, 0)
        origin = np.array([[first, count, 0, h]], dtype=np.int64)
        pending = [Prefix(0, 0, 0, start, 1 + count, origin)]
        while pending:
            prefix = pending.pop()
            if prefix.vertex < 0 or self.vertices[prefix.vertex].level >= self.middle:
                yield prefix
                continue
            pending += [self._after(prefix, w) for w in (1, 0)]

    def _after(self, prefix: Prefix, w: int) -> Prefix:
        v = prefix.vertex
        f = 1 - self.vertices[v].held
        first, count = int(self.graph.first[v, f]), int(self.graph.tried[v, f])
        total = prefix.count + count
        room_ = shelf(total, total * 256)
        made = advance(self.search, v, w, prefix.functions, prefix.count, room_)
        if not made:
            raise Unsupported("The compiled search has no room for a prefix.")
        origin = np.vstack([prefix.origin, [first, count, prefix.depth, f]])
        word = prefix.word | (w << prefix.depth)
        child = int(self.graph.after[v, w])
        return Prefix(child, word, prefix.depth + 1, room_, made, origin)

    def explore(self, prefix: Prefix) -> tuple[list[Candidate], Candidate | None]:
        """Return the best steps on the paths through a prefix, and the best likely one."""
        self.clock()
        best = nothing_yet(self.log_floor)
        work = room(max(int(self.graph.tried.max()), 3))
        at = (prefix.vertex, prefix.word, prefix.depth)
        meet_variants(self.search, prefix.functions, prefix.origin, *at, work, best)
        if prefix.vertex >= 0:
            trail = shelf(64, 64 * 256)
            held = empty()
            take(prefix.functions, 0, held)
            put(trail, 0, held, 0)
            if not descend(self.search, trail, *at, work, best):
                raise Unsupported("The compiled search has no room for a path.")
        return candidates(best, self.background)


def workers() -> int:
    """Return how many threads to use: all processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def explored(meeting: Meeting) -> Iterator[tuple[list[Candidate], Candidate | None]]:
    """Yield what every prefix leads to, in a fixed order; compiled code runs in threads."""
    pool = ThreadPoolExecutor(workers())
    try:
        pending = [pool.submit(meeting.explore, prefix) for prefix in meeting.prefixes()]
        for future in pending:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)

"""Every decision path and every extremal pair at once: the largest loss of a two-arm lattice.

With all episodes but one at all-b, what a path's decisions before a register say of it is a
function A, what those after it say is a function B, and the odd episode's own sum s enters through
a kernel: phi(s) = log of the integral of A k_s B. Suffix functions are made once for all vertices
from a middle level on and shelved; prefixes are walked depth first and meet them. Odd episodes from
before the middle are carried along, one function per own sum, and meet the suffixes there.

Which steps of the own sum are tried: the first (the last, for b = 0) where the region is convex,
which is proved to suffice; all integer steps of short episodes and a few of long ones otherwise.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact.compiling import compiled
from dpaudit.exact.fast import reach_of
from dpaudit.exact.lattice import Vertex, suffix_counts
from dpaudit.exact.messages import absorb, carry, constant, fresh, weigh
from dpaudit.exact.pairing import (
    DENSITY,
    LOSES,
    NONE,
    WINS,
    Room,
    Shelf,
    pair,
    put,
    room,
    shelf,
    take,
)
from dpaudit.exact.pairs import Streams
from dpaudit.exact.panels import Array, Function, cumulate, empty
from dpaudit.exact.thresholds import Thresholds, thresholds

MOST_SUFFIXES = 50_000
KEPT = 8
_SHORT = 16  # episodes up to this length have all their integer steps tried
_SPLIT = 4  # levels before the middle at least, for work that threads can share
_INWARD = 2.0**-20
_TIE = 1e-10


@dataclass(frozen=True)
class Steps:
    """Which steps of an odd episode's own sum are tried, and whether these are known to suffice."""

    convex: bool
    streams: Streams

    def own_sums(self, length: int, background: int) -> list[float]:
        """Return the own sums to try, from the worst on; a step is between neighbours one apart.

        For real rewards and a convex region the third one, next to the second, tells whether a full
        step is best.
        """
        if self.convex:
            found = [0.0, 1.0, 1.0 - _INWARD] if self.shorter else [0.0, 1.0]
        elif length <= _SHORT:
            found = [float(s) for s in range(length + 1)]
        else:
            eighths = {k * length // 8 for k in range(8)} | {1, length - 2, length - 1}
            found = sorted({float(s + k) for s in eighths for k in (0, 1)})
        return found if background == 1 else [length - s for s in found]

    @property
    def shorter(self) -> bool:
        """Whether steps shorter than 1 can be worse than those tried."""
        return self.convex and self.streams == "real"

    def suffice(self, longest: int) -> bool:
        """Return whether the worst step is known to be among those tried, or bounded by them."""
        return self.convex or (self.streams == "binary" and longest <= _SHORT)


class Graph(NamedTuple):
    """The lattice in arrays, for one background; arms are columns."""

    held: NDArray[np.int64]
    after: NDArray[np.int64]
    scale: Array
    centre: Array  # of the release with its episode at the background
    first: NDArray[np.int64]  # own sums of (vertex, arm): places first to first + tried - 1
    tried: NDArray[np.int64]
    sums: Array  # tried own sums, worst first
    own: Array  # their centres
    charge: Array
    range_first: NDArray[np.int64]  # the vertex's suffixes on the shelf
    range_count: NDArray[np.int64]


class Best(NamedTuple):
    """The best steps so far, the worst of them first; and the best above a likelihood."""

    loss: Array  # KEPT + 1: the last one is the best above the floor
    high: Array
    word: NDArray[np.int64]
    place: NDArray[np.int64]  # vertices before the odd episode's own decision; arm; two own sums
    log_floor: Array


def _graph(vertices: list[Vertex], background: int, steps: Steps, bar: float) -> Graph:
    number = {id(vertex): i for i, vertex in enumerate(vertices)}
    n = len(vertices)
    after = np.full((n, 2), -1, dtype=np.int64)
    first, tried = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    scale, centre, charge = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2))
    sums: list[float] = []
    own: list[float] = []
    for i, vertex in enumerate(vertices):
        for arm in (0, 1):
            following = vertex.after[arm]
            after[i, arm] = -1 if following is None else number[id(following)]
            law = vertex.laws[arm]
            scale[i, arm], centre[i, arm] = law.scale, background * law.length / law.divisor
            charge[i, arm] = 1 / (law.scale * law.divisor)
            some = steps.own_sums(law.length, background) if charge[i, arm] > bar else []
            first[i, arm], tried[i, arm] = len(sums), len(some)
            sums += some
            own += [s / law.divisor for s in some]
    held = np.array([vertex.held for vertex in vertices], dtype=np.int64)
    empty_range = np.zeros(n, dtype=np.int64)
    return Graph(
        held,
        after,
        scale,
        centre,
        first,
        tried,
        np.array(sums),
        np.array(own),
        charge,
        empty_range,
        empty_range.copy(),
    )


@compiled
def _step_back(
    graph: Graph,
    these: Thresholds,
    v: int,
    w: int,
    rooms: tuple[Function, Function, Function],
    reach: float,
) -> bool:
    """Take the suffix function in rooms[0] one decision back into rooms[2]."""
    h = graph.held[v]
    f = 1 - h
    scale, centre, widest = graph.scale[v, f], graph.centre[v, f], graph.scale[v, h]
    to, back = 2 * v + f, 2 * v + h
    if w == f or graph.after[v, w] < 0:
        return absorb(rooms[0], rooms[2], these, to, back, w == f, centre, scale, widest)
    return (
        weigh(rooms[0], rooms[1], centre, scale, reach)
        and cumulate(rooms[1], rooms[0])
        and carry(rooms[0], rooms[2], these, to, back, False, reach, widest)
    )


@compiled
def _suffixes(graph: Graph, these: Thresholds, v: int, at: int, books: Shelf, reach: float) -> int:
    """Shelve the suffix functions of a vertex; return how many, or -1 where there is no room."""
    rooms = (empty(), empty(), empty())
    made = 0
    for w in range(2):
        child = graph.after[v, w]
        start, count = 0, 1
        if child >= 0:
            start, count = graph.range_first[child], graph.range_count[child]
        for j in range(start, start + count):
            take(books, j, rooms[0])
            if not _step_back(graph, these, v, w, rooms, reach):
                return -2
            if not put(books, at + made, rooms[2], (books.words[j] << 1) | w):
                return -1
            made += 1
    return made


@compiled
def _forward(
    graph: Graph,
    these: Thresholds,
    v: int,
    w: int,
    centre: float,
    rooms: tuple[Function, Function, Function],
    reach: float,
) -> bool:
    """Take the prefix function in rooms[0] past a decision, its fresh register at a centre.

    The result is in rooms[2]; where the held register wins, rooms[1] has it without the density of
    the register that is held from now on.
    """
    h = graph.held[v]
    f = 1 - h
    scale = graph.scale[v, f]
    if w == f or graph.after[v, w] < 0:
        widest = graph.scale[v, h]
        to, back = 2 * v + f, 2 * v + h
        return absorb(rooms[0], rooms[2], these, to, back, w == f, centre, scale, widest)
    to, back = 2 * v + h, 2 * v + f
    return (
        cumulate(rooms[0], rooms[2])
        and carry(rooms[2], rooms[1], these, to, back, True, reach, scale)
        and weigh(rooms[1], rooms[2], centre, scale, reach)
    )


@compiled
def _record(
    best: Best,
    logs: Array,
    sums: Array,
    inner: float,
    word: int,
    place: int,
    arm: int,
) -> None:
    """Look at the steps between neighbouring own sums of one odd episode on one path.

    `inner` is what a step shorter than 1 might add at most, where the full one is not the best.
    """
    for i in range(len(sums) - 1):
        if abs(sums[i + 1] - sums[i]) != 1.0:
            continue
        loss, high = logs[i + 1] - logs[i] + inner, logs[i + 1]
        if high >= best.log_floor[0] and loss > best.loss[KEPT]:
            best.loss[KEPT], best.high[KEPT] = loss, high
            _note(best, KEPT, word, place, arm, sums[i], sums[i + 1])
        if loss > best.loss[0] + _TIE or (loss > best.loss[0] - _TIE and high > best.high[0]):
            best.loss[0], best.high[0] = loss, high
            _note(best, 0, word, place, arm, sums[i], sums[i + 1])
            for k in range(KEPT - 1):
                a, b = k, k + 1
                ahead = best.loss[a] > best.loss[b] + _TIE
                tied = best.loss[a] > best.loss[b] - _TIE and best.high[a] > best.high[b]
                if ahead or tied:
                    best.loss[a], best.loss[b] = best.loss[b], best.loss[a]
                    best.high[a], best.high[b] = best.high[b], best.high[a]
                    best.word[a], best.word[b] = best.word[b], best.word[a]
                    for c in range(4):
                        kept = best.place[a, c]
                        best.place[a, c] = best.place[b, c]
                        best.place[b, c] = kept


@compiled
def _note(best: Best, k: int, word: int, place: int, arm: int, worse: float, better: float) -> None:
    best.word[k] = word
    best.place[k, 0], best.place[k, 1] = place, arm
    best.place[k, 2], best.place[k, 3] = round(worse), round(better)


@compiled
def _joined(prefix: int, depth: int, suffix: int) -> int:
    """Return the word of a prefix of `depth` decisions followed by a suffix."""
    return (suffix << depth) | (prefix & ((1 << depth) - 1))


@compiled
def _meet(
    graph: Graph,
    these: Thresholds,
    books: Shelf,
    trail: Shelf,
    slot: int,
    kind: int,
    v: int,
    child: int,
    prefix: int,
    depth: int,
    place: int,
    shorter: bool,
    work: Room,
    best: Best,
    logs: Array,
    rises: Array,
) -> None:
    """Pair a prefix function with all the suffixes of a vertex (-1: with the end)."""
    h = graph.held[v]
    f = 1 - h
    at, n = graph.first[v, f], graph.tried[v, f]
    if n == 0:
        return
    if shorter:
        n = 2  # a density tells its own slope
    centres, sums = graph.own[at : at + n], graph.sums[at : at + n]
    start, count = 0, 1
    if child >= 0:
        start, count = graph.range_first[child], graph.range_count[child]
    sign = 1.0 if n < 2 or sums[1] > sums[0] else -1.0
    scale = graph.scale[v, f]
    for j in range(start, start + count):
        pair(
            trail,
            slot,
            books,
            j,
            kind,
            these,
            2 * v + f,
            2 * v + h,
            centres,
            scale,
            work,
            logs,
            rises,
        )
        inner = 0.0
        if kind == DENSITY and shorter and sign * rises[1] < 0:
            inner = -sign * rises[1] * graph.charge[v, f]
        _record(best, logs[:n], sums, inner, _joined(prefix, depth, books.words[j]), place, f)


@compiled
def _descend(
    graph: Graph,
    these: Thresholds,
    books: Shelf,
    trail: Shelf,
    vertex: int,
    word: int,
    depth: int,
    reach: float,
    shorter: bool,
    work: Room,
    best: Best,
) -> bool:
    """Walk all prefixes from the one in slot 0 of the trail on; False where there is no room."""
    rooms = (empty(), empty(), empty())
    logs, rises = np.empty(len(work.top)), np.empty(len(work.top))
    at = np.empty(64, dtype=np.int64)
    turn = np.zeros(64, dtype=np.int64)
    words = np.empty(64, dtype=np.int64)
    at[0], words[0] = vertex, word
    d = 0
    while d >= 0:
        v, w = at[d], turn[d]
        if w == 2:
            d -= 1
            continue
        turn[d] += 1
        f = 1 - graph.held[v]
        child = graph.after[v, w]
        here = words[d] | (w << (depth + d))
        if w == f or child < 0:
            kind = WINS if w == f else LOSES
            _meet(
                graph,
                these,
                books,
                trail,
                d,
                kind,
                v,
                child,
                here,
                depth + d + 1,
                depth + d,
                shorter,
                work,
                best,
                logs,
                rises,
            )
        if child < 0:
            continue
        take(trail, d, rooms[0])
        if not _forward(graph, these, v, w, graph.centre[v, f], rooms, reach):
            return False
        if w != f:
            if not put(trail, d + 1, rooms[1], 0):
                return False
            _meet(
                graph,
                these,
                books,
                trail,
                d + 1,
                DENSITY,
                v,
                child,
                here,
                depth + d + 1,
                depth + d,
                shorter,
                work,
                best,
                logs,
                rises,
            )
        if not put(trail, d + 1, rooms[2], 0):
            return False
        at[d + 1], turn[d + 1], words[d + 1] = child, 0, here
        d += 1
    return True


@compiled
def _advance(
    graph: Graph,
    these: Thresholds,
    v: int,
    w: int,
    source: Shelf,
    functions: int,
    target: Shelf,
    reach: float,
) -> int:
    """Take a base prefix (slot 0) and its variants past a decision; add the fresh one's variants.

    Returns how many functions there are now, 0 where there is no room.
    """
    rooms = (empty(), empty(), empty())
    h = graph.held[v]
    f = 1 - h
    for i in range(functions):
        take(source, i, rooms[0])
        if not _forward(graph, these, v, w, graph.centre[v, f], rooms, reach):
            return 0
        if not put(target, i, rooms[2], 0):
            return 0
    made = functions
    first, count = graph.first[v, f], graph.tried[v, f]
    for k in range(first, first + count):
        take(source, 0, rooms[0])
        if not _forward(graph, these, v, w, graph.own[k], rooms, reach):
            return 0
        if not put(target, made, rooms[2], 0):
            return 0
        made += 1
    return made


@compiled
def _meet_variants(
    graph: Graph,
    these: Thresholds,
    books: Shelf,
    variants: Shelf,
    origin: NDArray[np.int64],
    vertex: int,
    word: int,
    depth: int,
    work: Room,
    best: Best,
) -> None:
    """Pair the variants of a prefix with the suffixes of its vertex (-1: the end).

    origin[i] = (first own sum, how many, decisions before, arm) of a group of variants.
    """
    logs = np.empty(len(work.top))
    one, side = np.empty(1), np.empty(1)
    start, count = 0, 1
    if vertex >= 0:
        start, count = graph.range_first[vertex], graph.range_count[vertex]
    none = np.zeros(1)
    for j in range(start, start + count):
        full = _joined(word, depth, books.words[j])
        slot = 1
        for group in range(len(origin)):
            at, n = origin[group, 0], origin[group, 1]
            if n == 0:
                continue
            sums = graph.sums[at : at + n]
            for i in range(n):
                pair(variants, slot + i, books, j, NONE, these, 0, 0, none, 1.0, work, one, side)
                logs[i] = one[0]
            slot += n
            inner = 0.0
            if n == 3 and abs(sums[2] - sums[1]) == _INWARD and logs[2] > logs[1]:
                inner = (logs[2] - logs[1]) / _INWARD
            _record(best, logs[:n], sums, inner, full, origin[group, 2], origin[group, 3])


@dataclass(frozen=True)
class Candidate:
    """A step that may be the worst: all decisions, the odd episode, its own sums."""

    loss: float
    log_likelihood: float
    decisions: tuple[int, ...]
    introduced: int
    arm: int
    background: int
    worse: float
    better: float


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
        self.thresholds = thresholds(vertex.duel for vertex in vertices)
        self.graph = _graph(vertices, background, self.steps, bar)
        self.reach = reach_of(self.thresholds, float(self.graph.scale.max()))
        counts = suffix_counts(vertices)
        self.middle = max(self._first_searched(), min(_SPLIT, vertices[-1].level))
        while self._stored(counts) > MOST_SUFFIXES:
            self.middle += 1
        self.books = self._shelve(self._stored(counts) + 1)

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

    def _shelve(self, functions: int) -> Shelf:
        """Return the suffix functions of all vertices from the middle on; number 0 is the end."""
        books = shelf(functions, 64 * functions + 1000)
        whole = empty()
        constant(whole, self.reach)
        put(books, 0, whole, 1)
        at = 1
        for number in range(len(self.vertices) - 1, -1, -1):
            if self.vertices[number].level < self.middle:
                continue
            self.clock()
            while True:
                made = _suffixes(self.graph, self.thresholds, number, at, books, self.reach)
                if made == -2:
                    raise Unsupported("The compiled search has no room for a suffix.")
                if made >= 0:
                    break
                books = _grown(books)
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
        fresh(room_, float(graph.centre[0, h]), float(graph.scale[0, h]), self.reach)
        put(start, 0, room_, 0)
        for i in range(count):
            fresh(room_, float(graph.own[first + i]), float(graph.scale[0, h]), self.reach)
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
        made = _advance(
            self.graph, self.thresholds, v, w, prefix.functions, prefix.count, room_, self.reach
        )
        if not made:
            raise Unsupported("The compiled search has no room for a prefix.")
        origin = np.vstack([prefix.origin, [first, count, prefix.depth, f]])
        word = prefix.word | (w << prefix.depth)
        child = int(self.graph.after[v, w])
        return Prefix(child, word, prefix.depth + 1, room_, made, origin)

    def explore(self, prefix: Prefix) -> tuple[list[Candidate], Candidate | None]:
        """Return the best steps on the paths through a prefix, and the best likely one."""
        self.clock()
        best = Best(
            np.full(KEPT + 1, -math.inf),
            np.full(KEPT + 1, -math.inf),
            np.zeros(KEPT + 1, dtype=np.int64),
            np.zeros((KEPT + 1, 4), dtype=np.int64),
            np.array([self.log_floor]),
        )
        work = room(max(int(self.graph.tried.max()), 3))
        _meet_variants(
            self.graph,
            self.thresholds,
            self.books,
            prefix.functions,
            prefix.origin,
            prefix.vertex,
            prefix.word,
            prefix.depth,
            work,
            best,
        )
        if prefix.vertex >= 0:
            trail = shelf(64, 64 * 256)
            held = empty()
            take(prefix.functions, 0, held)
            put(trail, 0, held, 0)
            if not _descend(
                self.graph,
                self.thresholds,
                self.books,
                trail,
                prefix.vertex,
                prefix.word,
                prefix.depth,
                self.reach,
                self.steps.shorter,
                work,
                best,
            ):
                raise Unsupported("The compiled search has no room for a path.")
        found = [self._candidate(best, k) for k in range(KEPT) if best.loss[k] > -math.inf]
        likely = self._candidate(best, KEPT) if best.loss[KEPT] > -math.inf else None
        return found, likely

    def _candidate(self, best: Best, k: int) -> Candidate:
        word = int(best.word[k])
        length = word.bit_length() - 1
        decisions = tuple((word >> i) & 1 for i in range(length))
        place = [int(x) for x in best.place[k]]
        return Candidate(
            float(best.loss[k]),
            float(best.high[k]),
            decisions,
            place[0],
            place[1],
            self.background,
            float(place[2]),
            float(place[3]),
        )


def _grown(books: Shelf) -> Shelf:
    """Return a shelf with the same functions and twice the panels."""
    more = shelf(len(books.words), 2 * len(books.peaks))
    for new, old in zip(more, books, strict=True):
        new[: len(old)] = old
    return more


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

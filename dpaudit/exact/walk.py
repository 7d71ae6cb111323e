"""Prefixes walk down a lattice and meet its suffixes, compiled.

With all episodes but one at all-b, what a path's decisions before a register say of it is a
function A, what those after it say is a function B, and the odd episode's own sum s enters through
a kernel: phi(s) = log of the integral of A k_s B. Suffix functions are shelved from a middle level
on. From there on prefixes are walked depth first, and every fresh episode is odd in its turn;
episodes that were odd before the middle come as variants of the prefix, one function per own sum.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.best_steps import Best, record
from dpaudit.exact.compiling import compiled
from dpaudit.exact.lattice_arrays import Graph, step_back, step_forward
from dpaudit.exact.pairing import DENSITY, LOSES, NONE, WINS, Room, pair
from dpaudit.exact.panels import empty
from dpaudit.exact.polynomials import Array
from dpaudit.exact.shelf import Shelf, put, take
from dpaudit.exact.thresholds import Thresholds


class Search(NamedTuple):
    """What all the walks of a search read: the lattice, its suffixes, how far functions reach."""

    graph: Graph
    thresholds: Thresholds
    books: Shelf
    reach: float
    shorter: bool  # whether steps shorter than 1 can be worse than those tried


@compiled
def _suffixes_of(graph: Graph, vertex: int) -> tuple[int, int]:
    """Return the first place on the shelf of a vertex's suffixes, and how many (-1: the end)."""
    if vertex < 0:
        return 0, 1
    return graph.range_first[vertex], graph.range_count[vertex]


@compiled
def shelve_suffixes(
    graph: Graph, these: Thresholds, v: int, at: int, books: Shelf, reach: float
) -> int:
    """Shelve the suffix functions of a vertex from place `at` on; return how many.

    Returns -1 where the shelf is full, -2 where a function does not fit its room.
    """
    rooms = (empty(), empty(), empty())
    made = 0
    for w in range(2):
        child = graph.after[v, w]
        start, count = _suffixes_of(graph, child)
        for j in range(start, start + count):
            take(books, j, rooms[0])
            if not step_back(graph, these, v, w, rooms, reach):
                return -2
            if not put(books, at + made, rooms[2], (books.words[j] << 1) | w):
                return -1
            made += 1
    return made


@compiled
def _joined(prefix: int, depth: int, suffix: int) -> int:
    """Return the word of a prefix of `depth` decisions followed by a suffix."""
    return (suffix << depth) | (prefix & ((1 << depth) - 1))


@compiled
def _meet(
    search: Search,
    trail: Shelf,
    slot: int,
    kind: int,
    v: int,
    child: int,
    word: int,
    place: int,
    work: Room,
    best: Best,
    logs: Array,
    rises: Array,
) -> None:
    """Pair a prefix function with all the suffixes of a vertex (-1: with the end).

    The fresh register of vertex v is the odd one; `word` ends with v's decision, at `place`.
    """
    graph = search.graph
    h = graph.held[v]
    f = 1 - h
    at, n = graph.first[v, f], graph.tried[v, f]
    if n == 0:
        return
    if search.shorter:
        n = 2  # a density tells its own slope
    centres, sums = graph.own[at : at + n], graph.sums[at : at + n]
    start, count = _suffixes_of(graph, child)
    sign = 1.0 if n < 2 or sums[1] > sums[0] else -1.0
    scale = graph.scale[v, f]
    to, back = 2 * v + f, 2 * v + h
    these, books = search.thresholds, search.books
    for j in range(start, start + count):
        pair(trail, slot, books, j, kind, these, to, back, centres, scale, work, logs, rises)
        inner = 0.0
        if kind == DENSITY and search.shorter and sign * rises[1] < 0:
            inner = -sign * rises[1] * graph.charge[v, f]
        full = _joined(word, place + 1, books.words[j])
        record(best, logs[:n], sums, inner, full, place, f)


@compiled
def descend(
    search: Search, trail: Shelf, vertex: int, word: int, depth: int, work: Room, best: Best
) -> bool:
    """Walk all prefixes from the one in slot 0 of the trail on; False where there is no room."""
    graph, these, reach = search.graph, search.thresholds, search.reach
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
        place = depth + d
        here = words[d] | (w << place)
        if w == f or child < 0:
            kind = WINS if w == f else LOSES
            _meet(search, trail, d, kind, v, child, here, place, work, best, logs, rises)
        if child < 0:
            continue
        take(trail, d, rooms[0])
        if not step_forward(graph, these, v, w, graph.centre[v, f], rooms, reach):
            return False
        if w != f:
            if not put(trail, d + 1, rooms[1], 0):
                return False
            _meet(search, trail, d + 1, DENSITY, v, child, here, place, work, best, logs, rises)
        if not put(trail, d + 1, rooms[2], 0):
            return False
        at[d + 1], turn[d + 1], words[d + 1] = child, 0, here
        d += 1
    return True


@compiled
def advance(search: Search, v: int, w: int, source: Shelf, functions: int, target: Shelf) -> int:
    """Take a base prefix (slot 0) and its variants past a decision; add the fresh one's variants.

    Returns how many functions there are now, 0 where there is no room.
    """
    graph, these, reach = search.graph, search.thresholds, search.reach
    rooms = (empty(), empty(), empty())
    f = 1 - graph.held[v]
    for i in range(functions):
        take(source, i, rooms[0])
        if not step_forward(graph, these, v, w, graph.centre[v, f], rooms, reach):
            return 0
        if not put(target, i, rooms[2], 0):
            return 0
    made = functions
    first, count = graph.first[v, f], graph.tried[v, f]
    for k in range(first, first + count):
        take(source, 0, rooms[0])
        if not step_forward(graph, these, v, w, graph.own[k], rooms, reach):
            return 0
        if not put(target, made, rooms[2], 0):
            return 0
        made += 1
    return made


@compiled
def meet_variants(
    search: Search,
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
    graph, these, books = search.graph, search.thresholds, search.books
    logs = np.empty(len(work.top))
    one, side = np.empty(1), np.empty(1)
    start, count = _suffixes_of(graph, vertex)
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
            if search.shorter and logs[2] > logs[1]:
                inner = (logs[2] - logs[1]) / abs(sums[2] - sums[1])
            record(best, logs[:n], sums, inner, full, origin[group, 2], origin[group, 3])

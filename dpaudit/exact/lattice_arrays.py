"""A two-arm lattice in arrays, and a decision as an operator on functions of a register, compiled.

A prefix function says what the decisions so far tell of the held register; a suffix function, what
the decisions to come do. A decision takes a prefix forward and a suffix back: it integrates out the
fresh register where that one wins or nothing follows, and the held one otherwise.
"""

# An element of an array is Any to mypy and a double to the compiler.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.compiling import compiled
from dpaudit.exact.integrals import cumulate
from dpaudit.exact.lattice import Vertex
from dpaudit.exact.messages import absorb, carry, weigh
from dpaudit.exact.own_sums import Steps
from dpaudit.exact.panels import Function
from dpaudit.exact.polynomials import Array
from dpaudit.exact.thresholds import Thresholds


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


def graph_of(vertices: list[Vertex], background: int, steps: Steps, bar: float) -> Graph:
    """Return the arrays; episodes whose charge does not exceed `bar` have no own sums to try."""
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
def step_back(
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
def step_forward(
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

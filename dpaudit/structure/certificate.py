"""What structure has proved, as data: the walked states, an arm's chain of releases, or its tree.

`dpaudit.verify` re-checks it with code of its own: pull counts, times, answers and charges are
derived anew from the requests. That these are the declaration's own rests on the walk, which asked
for each of them twice; for chains and trees also on the frame of `Episodes`.
"""

from __future__ import annotations

from typing import Any

from dpaudit.core.algorithm import Disclosure, Play, Respond, Rows, Stop, Toss
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Episodes
from dpaudit.structure.chain import chain_of, requested
from dpaudit.structure.ledger import charge_of
from dpaudit.structure.walk import Node, Walk

MOST = 5_000  # releases of a chain


def of_walk(walk: Walk, horizon: int) -> dict[str, Any]:
    """Return every state that a walk has met before a horizon which it covers."""
    nodes = [node for node, _ in walk.seen.values() if node.place.time < horizon]
    nodes.sort(key=lambda node: (node.place.time, node.place.idle))  # what follows comes later
    numbers = {node.key: number for number, node in enumerate(nodes)}
    states = [_state(walk, node, numbers, horizon) for node in nodes]
    return {"kind": "walk", "horizon": horizon, "states": states}


def _state(walk: Walk, node: Node, numbers: dict[Any, int], horizon: int) -> list[Any]:
    following = [it for it in walk.visit(node)[1] if it.place.time < horizon]
    after = [numbers[it.key] for it in following]
    request, time = node.place.request, node.place.time
    if isinstance(request, Play):
        return ["play", time, request.arm, request.rounds, after]
    if isinstance(request, Disclosure):
        return ["release", time, request.rows.arm, *_release(request), after]
    if isinstance(request, Stop):
        return ["stop", time, request.arm, after]
    if isinstance(request, Toss):
        return ["toss", time, [str(exact(chance)) for chance in request.chances], after]
    return [type(request).__name__.lower(), time, list(request.arms), after]


def _release(request: Disclosure) -> list[Any]:
    if isinstance(request, Respond):
        law = ["response", str(request.one), str(request.zero), str(charge_of(request))]
        return [request.rows.first, request.rows.stop, *law]
    scale = exact(request.noise.scale)  # type: ignore[attr-defined]  # it was charged
    noise = [str(exact(request.divisor)), str(scale), str(charge_of(request))]
    return [request.rows.first, request.rows.stop, *noise]


def of_chains(algorithm: Episodes, horizon: int) -> dict[str, Any] | None:
    """Return every arm's episodes and releases before a horizon; None if they are too many."""
    arms: list[Any] = []
    for arm in range(algorithm.arms):
        episodes: list[Any] = []
        count = 0
        for rows in chain_of(algorithm, arm, horizon):
            count = rows.stop
            episodes.append([rows.first, len(rows), *_release(requested(algorithm, rows))])
            if len(episodes) > MOST:
                return None
        arms.append([episodes, [count, algorithm.episode_length(count) if count else 1]])
    return {"kind": "chains", "horizon": horizon, "states": arms}


def of_tree(algorithm: Episodes, horizon: int) -> dict[str, Any]:
    """Return what a node of dp_ucb's binary tree releases with."""
    request = requested(algorithm, Rows(0, 0, 1))
    return {"kind": "tree", "horizon": horizon, "states": _release(request)[2:]}

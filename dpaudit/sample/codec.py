"""Pairs and events as plain data: for logs, reports and replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError, InvalidArgument, require_integer
from dpaudit.sample.block import PIECES, Block, Parted, pieces_of
from dpaudit.sample.cells import Table, is_key
from dpaudit.sample.events import AtLeast, AtMost, Event, OneOf
from dpaudit.sample.learned import LearnedScore
from dpaudit.sample.runs import History, PullCounts, Pulls
from dpaudit.sample.streams import Pair, Stream

_STATISTICS = {kind.__name__: kind for kind in (History, LearnedScore, PullCounts, Pulls)}
_BOUNDS: dict[str, type[AtLeast | AtMost]] = {kind.__name__: kind for kind in (AtLeast, AtMost)}


def pair_data(pair: Pair) -> dict[str, Any]:
    """Return a pair as plain data: the stream in pieces, the step (from 0), the other reward."""
    return {
        "name": pair.name,
        "stream": [[*it] for it in zip(pair.stream.values, pair.stream.lengths, strict=True)],
        "position": pair.position,
        "value": pair.value,
    }


def pair_of(data: Any) -> Pair:
    """Return a pair from plain data: pieces, or two rows of rewards.

    Either {"stream", "position", "value"} or {"stream", "neighbour"}; a stream is a row of rewards
    or a list of [reward, times] pieces.
    """
    try:
        stream = _stream_of(data["stream"])
        name = str(data.get("name", "given"))
        if "neighbour" in data:
            return Pair.between(stream, _stream_of(data["neighbour"]), name)
        position = data["position"]
        if not isinstance(position, int):
            raise InvalidArgument("position", position, "must be an integer.")
        return Pair(name, stream, position, float(data["value"]))
    except DpauditError:
        raise
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        rule = 'must hold {"stream", "neighbour"} or {"stream", "position", "value"}.'
        raise InvalidArgument("pair", "(data)", rule) from None


def _stream_of(data: Any) -> Stream:
    if not isinstance(data, list):
        raise TypeError
    if data and isinstance(data[0], list):
        for _, times in data:
            require_integer("times of a piece", times, 1)
        return Stream(tuple(float(value) for value, _ in data), tuple(times for _, times in data))
    return Stream.of([float(reward) for reward in data])


def event_data(event: Event) -> dict[str, Any]:
    """Return an event as plain data."""
    statistic = event.statistic
    fields = {
        "statistic": type(statistic).__name__,
        "of": asdict(statistic),
        "condition": type(event).__name__,
    }
    if isinstance(event, OneOf):
        return {**fields, "keys": list(event.keys)}
    return {**fields, "bound": event.bound}


def event_of(data: dict[str, Any]) -> Event:
    """Return an event from plain data."""
    try:
        if not all(isinstance(value, int | list | tuple) for value in data["of"].values()):
            raise TypeError
        statistic: Any = _STATISTICS[data["statistic"]](**data["of"])
        if data["condition"] == OneOf.__name__:
            return OneOf(statistic, tuple(int(key) for key in data["keys"]))
        return _BOUNDS[data["condition"]](statistic, float(data["bound"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidArgument("event", "(data)", "is not an event.") from None


def block_data(found: Block) -> dict[str, Any]:
    """Return what a log keeps of a block of fresh runs."""
    tables = [
        None if it is None else [it.values.tolist(), it.counts.tolist(), it.rounds]
        for it in found.tables
    ]
    marks = [list(mark) for mark in found.marks]
    return {"counts": found.counts, "marks": marks, "tables": tables}


def block_of(data: Any, parted: Sequence[Parted], taught: Sequence[Any], rounds: int) -> Block:
    """Return a block of fresh runs from plain data."""
    try:
        counts = [
            [[[int(it) for it in row] for row in both] for both in piece]
            for piece in data["counts"]
        ]
        marks = [(int(number), str(one), str(other)) for number, one, other in data["marks"]]
        tables = [
            None if it is None else _table_of(each, *it)
            for each, it in zip(taught, data["tables"], strict=True)
        ]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidArgument("block", "(data)", "is not a block of an audit.") from None
    sizes, lengths = [[it.size] * 2 for it in parted], pieces_of(rounds, PIECES)
    whole = len(counts) == len(lengths) and all(
        [[len(row) for row in both] for both in piece] == sizes
        and all(min(row) >= 0 and sum(row) == it.stop - it.start for both in piece for row in both)
        for piece, it in zip(counts, lengths, strict=True)
    )
    if not whole:
        raise InvalidArgument("block", "(data)", "holds counts that its audit cannot give.")
    if any(not 0 <= it[0] < rounds for it in marks):
        raise InvalidArgument("block", "(data)", "holds marks that its audit cannot give.")
    return Block(counts, marks, tables)


def _table_of(statistic: Any, values: Any, counts: Any, rounds: Any) -> Table:
    kind = np.uint64 if is_key(statistic) else np.float64
    found = Table(np.array(values, dtype=kind), np.array(counts, dtype=np.int64), int(rounds))
    if found.counts.shape != (4, len(found.values)) or found.counts.min(initial=0) < 0:
        raise ValueError
    return found


def score_data(score: LearnedScore | None) -> dict[str, Any] | None:
    """Return a learned score as plain data."""
    return None if score is None else asdict(score)


def score_of(data: Any) -> LearnedScore | None:
    """Return a learned score from plain data."""
    try:
        return None if data is None else LearnedScore(**data)
    except (TypeError, ValueError):
        raise InvalidArgument("score", "(data)", "is not a learned score.") from None

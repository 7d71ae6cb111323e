"""Tables of a page: values beside every figure, and two reward streams aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from dpaudit.page.chart import short
from dpaudit.page.markup import Markup, join, tag
from dpaudit.verdict import Witness

LONGEST = 40


@dataclass(frozen=True)
class Number:
    """A number that is shown in its own way and sorted by its value."""

    shown: str
    value: float


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]], kind: str | None = None
) -> Markup:
    """Return a table; columns whose every cell is a number are aligned to the right.

    `kind` is its class: `stack` puts cells below one another on a phone, `sortable` lets a script
    sort it.
    """
    sides = [
        "number"
        if rows and all(isinstance(row[column], int | float | Number) for row in rows)
        else None
        for column in range(len(heads))
    ]
    head = [
        tag("th", name, scope="col", class_=side) for name, side in zip(heads, sides, strict=True)
    ]
    body = [
        tag("tr", [_cell(item, side) for item, side in zip(row, sides, strict=True)])
        for row in rows
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", head)),
            tag("tbody", body),
            class_=kind,
        ),
        class_="scroll",
    )


def _cell(item: object, side: str | None) -> Markup:
    if isinstance(item, int | float):
        item = Number(f"{item:,}" if isinstance(item, int) else short(item), item)
    if not isinstance(item, Number):
        return tag("td", item, class_=side)
    key = str(float(item.value)).replace("inf", "Infinity")
    return tag("td", item.shown, class_=side, data_key=key)


def folded(summary: str, *content: object) -> Markup:
    """Return content that opens on a click; no script is needed."""
    return tag("details", tag("summary", summary), *content)


def values(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Return the folded table of a figure's values."""
    return folded("Values", table(caption, heads, rows))


def streams(actions: Sequence[int], stream: Sequence[float], neighbour: Sequence[float]) -> Markup:
    """Return actions and both streams aligned by round; long ones as runs of equal columns."""
    columns = list(zip(actions, stream, neighbour, strict=True))
    groups: list[tuple[str, tuple[int, float, float]]] = []
    start = 1
    for column, group in groupby(columns):
        length = len(list(group))
        if len(columns) <= LONGEST:
            groups += [(str(t), column) for t in range(start, start + length)]
        else:
            stop = start + length - 1
            groups.append((f"{start:,}" if length == 1 else f"{start:,}\u2013{stop:,}", column))
        start += length
    marks = ["changed" if before != after else None for _, (_, before, after) in groups]
    rows = [
        ("round", [name for name, _ in groups]),
        ("arm played", [str(arm) for _, (arm, _, _) in groups]),
        ("stream", [f"{reward:g}" for _, (_, reward, _) in groups]),
        ("neighbour", [f"{reward:g}" for _, (_, _, reward) in groups]),
    ]
    body = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            [tag("td", cell, class_=mark) for cell, mark in zip(cells, marks, strict=True)],
        )
        for name, cells in rows
    ]
    return tag("div", tag("table", body, class_="streams"), class_="scroll")


def of_witness(witness: Witness) -> Markup:
    """Return a witness as aligned streams with both likelihoods and the loss."""
    from dpaudit.report import interval

    kind = "certified" if witness.loss.certified else "floating point"
    return join(
        streams(witness.actions, witness.stream, witness.neighbour),
        tag(
            "dl",
            tag("dt", "likelihood on the stream"),
            tag("dd", interval(witness.likelihood)),
            tag("dt", "on its neighbour"),
            tag("dd", interval(witness.likelihood_neighbour)),
            tag("dt", "loss"),
            tag("dd", f"{interval(witness.loss)} ({kind}), claimed {witness.epsilon:g}"),
            class_="facts",
        ),
    )

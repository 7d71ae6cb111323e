"""Tables of bounds for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from io import StringIO
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dpaudit import report
from dpaudit.regret_bounds.bound import BoundStanding, RegretBound, Scope

NUMBERS = ("finite_lower", "regret", "standard_error", "upper", "per_log", "coefficient")
WORDS = {
    "within its bounds": "within",
    "above its upper bound": "above",
    "below its lower bound": "below",
}
JUDGED = (
    "judged: lower (at T, given the algorithm's upper bounds) <= regret <= upper, within four "
    "standard errors;"
)
TREND = "a trend only: regret / log T beside its limit from below."
SIGNS = {"lower": "≥", "upper": "≤", "order": "~"}


def show(documents: Sequence[dict[str, Any]]) -> None:
    """Print one full table, or a summary line per simulation where there are several."""
    _show(report.console(quiet=False), documents)


def text(documents: Sequence[dict[str, Any]]) -> str:
    """Return what `show` prints into a pipe."""
    out = StringIO()
    _show(Console(file=out, width=report.WIDTH, highlight=False, no_color=True), documents)
    return out.getvalue().rstrip("\n")


def _show(console: Console, documents: Sequence[dict[str, Any]]) -> None:
    if len(documents) == 1:
        _full(console, documents[0])
        return
    if any(document["measured"] for document in documents):
        _summary(console, documents)
        return
    for document in documents:
        _full(console, document)
        console.print()


def _full(console: Console, document: dict[str, Any]) -> None:
    means = ", ".join(f"{mean:g}" for mean in document["means"])
    console.print(f"[bold]{document['instance']}[/bold]  means {means}")
    said = document.get("claim") or f"epsilon {document['epsilon']:g}"
    console.print(f"{said}, horizon {document['horizon']:,}")
    _bounds(console, document["bounds"])
    if document.get("unbounded"):
        names = ", ".join(document["unbounded"])
        console.print(f"  no upper bound is known here of {names}", markup=False)
    if "structural" in document:
        _structure(console, document)
    if "regimes" in document:
        _regimes(console, document["regimes"])
    if document["measured"]:
        _summary(console, [document])


def number(value: float | None) -> str:
    """Return four significant digits, thousands separated."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "inf"
    if abs(value) < 1e-9:  # rounding of an exact zero
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _table(left: Sequence[str], right: Sequence[str], last: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in last:
        table.add_column(heading, overflow="fold")
    return table


def _bounds(console: Console, bounds: Sequence[RegretBound]) -> None:
    table = _table(("bound", "form"), ("regret",), ("scope", "note"))
    notes: list[str] = []
    about = None
    for bound in bounds:
        if bound.algorithm != about:
            about = bound.algorithm
            table.add_row(f"[bold]{about or 'every private policy'}[/bold]")
        if bound.note and bound.note not in notes:
            notes.append(bound.note)
        scope = str(bound.scope)
        if bound.standing is BoundStanding.NOT_ESTABLISHED:
            scope = f"{scope}, {bound.standing}"
        sign = SIGNS["order" if bound.scope is Scope.ORDER else str(bound.side)]
        table.add_row(
            f"  {bound.name}",
            str(bound.form),
            f"{sign} {number(bound.value)}",
            scope,
            str(notes.index(bound.note) + 1) if bound.note else "",
        )
    console.print(table)
    for i, note in enumerate(notes, start=1):
        console.print(*_hanging(f"{i:>3}  ", note, console.width), sep="\n")
    console.print("[bold]what each rests on[/bold]  (`dpaudit prove` checks the claims)")
    for bound in bounds:
        head = f"  {bound.algorithm or 'every policy'}, {bound.name} ({bound.form}): "
        console.print(*_hanging(head, ", ".join(bound.claims), console.width), sep="\n")


def _hanging(head: str, text: str, width: int) -> list[str]:
    """Return a paragraph whose lines after the first are set in."""
    indent = " " * min(len(head), 5)
    lines = textwrap.wrap(head + text, width, subsequent_indent=indent, break_on_hyphens=False)
    return [escape(line) for line in lines]


def _regimes(console: Console, found: dict[str, Any]) -> None:
    if "arms" in found:
        table = _table((), ("arm mean", "gap", "paper d/(6t)", "d/t", "privacy is free from"))
        for arm in found["arms"]:
            edges = [arm.paper, arm.improved, arm.right] if math.isfinite(arm.paper) else [None] * 3
            table.add_row(*map(number, (arm.mean, arm.gap, *edges)))
        console.print("[bold]regimes of epsilon, per arm[/bold]")
        console.print(table)
        console.print(f"this epsilon: {found['regime']}")
        edge = found["minimax"]
        words = f"privacy dominates the lower bound below epsilon {number(edge.bounded)} (rewards "
        words += f"in [0, 1]), {number(edge.gaussian)} (Gaussian); in the paper's form "
        words += f"{number(edge.paper)} (l. 285 prints {number(edge.printed)}, the fraction upside "
        words += "down: rm.minimax-regime)"
        console.print(*_hanging("minimax: ", words, console.width), sep="\n")
    else:
        edge = found["minimax_linear"]
        console.print(
            f"minimax on the box: privacy dominates below epsilon {number(edge['right'])}; "
            f"paper {number(edge['paper'])}",
        )


def _structure(console: Console, document: dict[str, Any]) -> None:
    found = document["structural"]
    shape = "orthogonal" if document["orthogonal"] else "not orthogonal"
    console.print(f"[bold]structure[/bold]  arms {shape}")
    table = _table((), ("arm", "paper's rho", "rho over bases", "allocation / log T"))
    rows = zip(found["arms"], found["rho"], found["rho_valid"], found["allocation"], strict=True)
    for arm, rho, valid, share in rows:
        table.add_row(str(arm), number(rho), number(valid), number(share))
    console.print(table)
    for bound in document["bounds"]:
        gap = (bound.details or {}).get("duality_gap")
        if gap is not None:
            console.print(
                f"  {bound.name}: {bound.details['coefficient']:.8g} log T, duality gap {gap:.2g}",
            )


def _summary(console: Console, documents: Sequence[dict[str, Any]]) -> None:
    several = len(documents) > 1  # one alone is named above
    table = _table(
        ("env", "eps")[: 2 * several] + ("algorithm",),
        ("lower", "regret", "error", "upper", "/ log T", "limit"),
        ("bounds",),
    )
    for document in documents:
        for row in document["measured"]:
            table.add_row(
                *(document["instance"], f"{row['epsilon']:g}")[: 2 * several],
                row["algorithm"],
                *(number(row[name]) for name in NUMBERS),
                WORDS.get(row["verdict"], ""),
            )
    first = documents[0]
    runs = max(row["runs"] for document in documents for row in document["measured"])
    console.print(f"[bold]simulated[/bold]  horizon {first['horizon']:,}, {runs:,} runs")
    console.print(table)
    console.print(
        *_hanging("  ", JUDGED, console.width), *_hanging("  ", TREND, console.width), sep="\n"
    )

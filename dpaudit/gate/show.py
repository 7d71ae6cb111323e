"""The gate's report for people: one line per claim, what is wrong below it, a total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from dpaudit.formats.result import ClaimResult
from dpaudit.gate.spent import Fresh
from dpaudit.message import summary

if TYPE_CHECKING:
    from rich.console import Console


def show_result(out: Console, result: ClaimResult) -> None:
    """Print a claim, its problems, its counterexample and the line that replays it."""
    mark = "[yellow]open[/]" if result.undecided else "[green]ok[/]  "
    mark = "[bold red]FAIL[/]" if result.problems else mark
    line = f"{result.word:<8} {result.claim}" if result.word else result.claim
    line = summary(result.report, result.claim) if result.report else line
    out.print(f"{mark}  {escape(line)}", soft_wrap=True)
    for problem in result.problems:
        text = f"      {problem.rule.id} {problem.rule.label}: {problem.message}"
        out.print(escape(text), soft_wrap=True)
    for note in result.notes:
        out.print(f"      [dim]note: {escape(note)}[/]", soft_wrap=True)
    if result.problems and result.details:
        for line in result.details.splitlines():
            out.print(f"      {escape(line)}".rstrip(), soft_wrap=True)


def show_total(out: Console, results: Sequence[ClaimResult], fresh: Fresh | None) -> None:
    """Print how many claims are as locked."""
    bad = sum(bool(result.problems) for result in results)
    if bad:
        out.print(f"\n{bad} of {len(results)} claims got weaker or are stale.")
    else:
        out.print(f"\n{len(results)} claim{'s' * (len(results) != 1)}, none weaker than locked.")
    if left := sum(result.undecided and not result.problems for result in results):
        verb = "is" if left == 1 else "are"
        out.print(f"{left} {verb} open: nothing covers the claimed instance and horizon.")
    if fresh is not None:
        out.print(
            f"Fresh seed {fresh.seed}: error {fresh.error} for this run, {fresh.total} for the "
            f"{fresh.runs} recorded in {escape(fresh.record)}.",
            soft_wrap=True,
        )

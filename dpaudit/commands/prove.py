"""Check the paper's derivations step by step and print the ledger.

Exit code 0 when every step ends as its proof file states (errata are stated outcomes), 1 when one
does not. `--counterexample STEP` replays one step alone and shows its counterexample.

examples:
  dpaudit prove
  dpaudit prove --only karwa_vadhan
  dpaudit prove --counterexample kv.log-ratio
  dpaudit prove --json ledger.json --errata ERRATA.md
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.claims.claim import Result
    from dpaudit.claims.ledger import Entry

HELP = "check the paper's derivations step by step"
_STYLES = {
    "proved": "green",
    "certified": "green",
    "identity": "blue",
    "enumerated": "cyan",
    "sampled": "cyan",
    "granted": "cyan",
    "restricted": "yellow",
    "refuted": "red",
    "unresolved": "magenta",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `prove`."""
    parser.add_argument(
        "--only", action="append", default=[], metavar="RESULT", help="check one result; repeatable"
    )
    parser.add_argument("--json", metavar="FILE", help="write the ledger as JSON; - for stdout")
    parser.add_argument("--errata", metavar="FILE", help="write ERRATA.md; - for stdout")
    parser.add_argument("--counterexample", metavar="STEP", help="replay one step and show why")
    parser.add_argument("--list", action="store_true", help="list results and steps, check nothing")


def execute(arguments: argparse.Namespace) -> int:
    """Run the ledger and return the exit code."""
    from dpaudit.claims import ledger

    results = ledger.load_results()
    if arguments.counterexample:
        return _replay(arguments.counterexample)
    chosen = ledger.select(results, arguments.only)
    if arguments.list:
        for result in chosen:
            sys.stdout.write(f"{result.name}: {result.title}\n")
            for claim in result.claims:
                sys.stdout.write(f"  {claim.label}\n")
        return 0
    entries = _run(chosen)
    if "-" not in (arguments.json, arguments.errata):
        _print(entries)
    if arguments.json:
        import json

        data = {"counts": ledger.counts(entries), "steps": [entry.record() for entry in entries]}
        _write(arguments.json, json.dumps(data, indent=1, ensure_ascii=False) + "\n", '"counts":')
    if arguments.errata:
        from dpaudit.claims.errata import errata

        _write(arguments.errata, errata(entries), "`python -m dpaudit prove --errata")
    return 0 if all(entry.expected for entry in entries) else 1


def _write(target: str, text: str, mark: str) -> None:
    from pathlib import Path

    from dpaudit.output import write_text

    if target == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(target), text, mark)


def _run(chosen: list[Result]) -> list[Entry]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from dpaudit.claims import ledger

    total = sum(len(result.claims) for result in chosen)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stdout.isatty()
    ) as progress:
        task = progress.add_task("steps", total=total)
        entries = []
        for entry in ledger.run(
            chosen, lambda claim: progress.update(task, description=claim.label)
        ):
            entries.append(entry)
            progress.advance(task)
    return entries


def _print(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table

    from dpaudit.claims import ledger

    width = None if sys.stdout.isatty() else 160
    console = Console(width=width, highlight=False)
    table = Table(box=None, pad_edge=False)
    for name in ("result", "step", "place", "outcome", "domain"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        style = _STYLES[entry.outcome.kind]
        kind = entry.outcome.kind if entry.expected else f"{entry.outcome.kind} (surprise)"
        table.add_row(
            entry.result.name,
            entry.claim.label,
            entry.claim.place,
            f"[{style}]{kind}[/{style}]",
            ledger.domain_of(entry.claim) if entry.claim.models is None else entry.outcome.how,
        )
    console.print(table)
    seconds = sum(entry.seconds for entry in entries)
    parts = [f"{number} {kind}" for kind, number in ledger.counts(entries).items() if number]
    console.print(f"\n{len(entries)} steps: {', '.join(parts)} ({seconds:.0f} s)")
    for entry in entries:
        if not entry.expected:
            console.print(
                f"surprise: {entry.claim.label} is {entry.outcome.kind}, "
                f"its file states {entry.claim.expect}. {entry.outcome.how} "
                f"{entry.outcome.counterexample}",
                markup=False,
            )


def _replay(label: str) -> int:
    from dpaudit.claims import ledger
    from dpaudit.claims.check import check

    result, claim = ledger.find_claim(ledger.load_results(), label)
    outcome = check(claim)
    lines = [
        f"{claim.label} ({result.title}; {claim.place})",
        f"  {claim.statement}",
        f"  domain: {ledger.domain_of(claim)}",
        f"  outcome: {outcome.kind}; {outcome.how}",
    ]
    lines += [f"  {outcome.boundary}"] if outcome.boundary else []
    lines += [f"  counterexample: {outcome.counterexample}"] if outcome.counterexample else []
    lines += [f"  correction: {claim.correction}"] if claim.correction else []
    lines += [f"  consequence: {claim.survives}"] if claim.survives else []
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if outcome.kind == claim.expect else 1

"""List every algorithm with its claim, its parameters and the paper it comes from.

With --mutants, list the known-wrong variants instead: their flaw, and what refutes them. They are
targets too: `check mutants/NAME`, or `audit mutants/NAME` for those that are no declaration.
"""

from __future__ import annotations

import argparse
from dataclasses import MISSING
from typing import Any

HELP = "list the algorithms, their claims and parameters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--mutants", action="store_true", help="list the known-wrong variants")
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")


def execute(arguments: argparse.Namespace) -> int:
    """Print one row per discovered algorithm."""
    from dpaudit.core.algorithms import names
    from dpaudit.output import require_writable, write_json

    require_writable(arguments.json)
    rows = _mutants() if arguments.mutants else [describe(name) for name in names()]
    if arguments.json:
        write_json(rows, arguments.json)
    if arguments.json != "-":
        _print_mutants(rows) if arguments.mutants else _print(rows)
    return 0


def _mutants() -> list[dict[str, Any]]:
    """Return what every mutant says about itself."""
    from dpaudit.core.mutants import find, names

    return [
        {
            "name": mutant.name,
            "target": mutant.target,
            "family": mutant.family,
            "flaw": mutant.flaw,
            "declared": mutant.declared,
            "epsilon": mutant.epsilon,
            "arms": mutant.arms,
            "exact": mutant.exact,
            "sample": mutant.sample,
            "why_not": mutant.why_not or None,
        }
        for mutant in map(find, names())
    ]


def describe(name: str) -> dict[str, Any]:
    """Return what an algorithm says about itself; a parameter without default has null."""
    import sys

    from dpaudit.core.algorithms import find, parameters

    algorithm = find(name)
    title = (sys.modules[algorithm.__module__].__doc__ or "").strip().partition("\n")[0]
    return {
        "name": name,
        "claim": algorithm.notion.claimed if algorithm.private else "none",
        "neighbours": "one reward of the stream" if algorithm.private else None,
        "anytime": not algorithm.told(),
        "parameters": {
            parameter: None if default is MISSING else default
            for parameter, default in parameters(algorithm).items()
            if parameter not in ("grid", "rounding")  # every algorithm's: where noise is drawn
        },
        "paper": title,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "claim", "anytime", "parameters", "paper"):
        table.add_column(heading, no_wrap=heading in ("name", "claim", "anytime"))
    for row in rows:
        parameters = ", ".join(
            key if default is None else f"{key}={default}"
            for key, default in row["parameters"].items()
        )
        anytime = "yes" if row["anytime"] else "no"
        table.add_row(row["name"], row["claim"], anytime, parameters, _short(row["paper"]))
    _wide().print(table)


def _print_mutants(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("target", "epsilon", "refuted by", "flaw"):
        table.add_column(heading, no_wrap=heading != "flaw")
    for row in rows:
        ways = [way for way in ("exact", "sample") if row[way]]
        caught = ", ".join(ways) or "nothing here"
        table.add_row(row["target"], f"{row['epsilon']:g}", caught, row["flaw"])
    _wide().print(table)


def _wide() -> Any:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 200  # one line per row for grep and files
    return console


def _short(paper: str) -> str:
    # "Name (Authors 2022, where): what it does." without what follows the citation
    source = paper.partition("): ")[0] + ")"
    return source if source.count("(") == 1 and "): " in paper else paper

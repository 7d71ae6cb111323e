"""List every algorithm with its claim, its parameters and the paper it comes from."""

from __future__ import annotations

import argparse
from dataclasses import MISSING
from typing import Any

HELP = "list the algorithms, their claims and parameters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")


def execute(arguments: argparse.Namespace) -> int:
    """Print one row per discovered algorithm."""
    from dpaudit.core.algorithms import names
    from dpaudit.output import require_writable, write_json

    require_writable(arguments.json)
    rows = [describe(name) for name in names()]
    if arguments.json:
        write_json(rows, arguments.json)
    if arguments.json != "-":
        _print(rows)
    return 0


def describe(name: str) -> dict[str, Any]:
    """Return what an algorithm says about itself; a parameter without default has null."""
    import sys

    from dpaudit.core.algorithms import find, parameters

    algorithm = find(name)
    title = (sys.modules[algorithm.__module__].__doc__ or "").strip().partition("\n")[0]
    return {
        "name": name,
        "claim": "epsilon-global DP" if algorithm.private else "none",
        "neighbours": "one reward of the stream" if algorithm.private else None,
        "anytime": algorithm.anytime,
        "parameters": {
            parameter: None if default is MISSING else default
            for parameter, default in parameters(algorithm).items()
        },
        "paper": title,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
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
    console = Console()
    if not console.is_terminal:
        console.width = 200  # one line per algorithm for grep and files
    console.print(table)


def _short(paper: str) -> str:
    # "Name (Authors 2022, where): what it does." without what follows the citation
    source = paper.partition("): ")[0] + ")"
    return source if source.count("(") == 1 and "): " in paper else paper

"""Recompute a saved counterexample from scratch and say whether it violates its claim.

Nothing in FILE is trusted but the target, its parameters, the two streams and the actions: both
likelihoods are computed again, certified where that is possible.

Exit codes: 0 confirmed (the loss is above the claim, as recorded), 1 not confirmed, 2 usage or tool
error, such as a file that holds no counterexample.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "recompute a saved counterexample from scratch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="written by `check --witness FILE`")
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")


def execute(arguments: argparse.Namespace) -> int:
    """Print both likelihoods and the loss; return 0 if the violation is confirmed."""
    from pathlib import Path

    from dpaudit import report
    from dpaudit.output import require_writable, write_json
    from dpaudit.replay import read, replay

    require_writable(arguments.json)
    path = Path(arguments.file)
    witness = read(path)
    found = replay(witness, path.parent)
    report.show_replay(report.console(quiet=arguments.json == "-"), found)
    if arguments.json is not None:
        data: dict[str, Any] = {"confirmed": found.confirmed, "agrees": found.agrees}
        write_json(
            data | {"certified": found.loss.certified, "witness": found.witness}, arguments.json
        )
    return 0 if found.confirmed else 1

"""Recompute a saved counterexample from scratch and say whether it violates its claim.

FILE is data: it names an algorithm or mutant of dpaudit, its parameters, two streams and actions.
Both likelihoods are computed again, certified where that is possible, and judged against the
algorithm's own claim (epsilon 1 where it makes none). A counterexample about other code is
replayed only if you name that code as well: it runs.

Exit codes: 0 confirmed (the loss is above the claim), 1 not confirmed, 2 usage or tool error, such
as a file that holds no counterexample.

examples:
  dpaudit replay witness.json
  dpaudit replay witness.json --target mine.py:Mine
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "recompute a saved counterexample from scratch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="written by `check --witness FILE`")
    parser.add_argument(
        "--target", metavar="TARGET", help="the code that FILE is about, if it is yours: it runs"
    )
    parser.add_argument("--epsilon", metavar="E", help="the claim to judge (default its own)")
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")


def execute(arguments: argparse.Namespace) -> int:
    """Print both likelihoods and the loss; return 0 if the violation is confirmed."""
    from pathlib import Path

    from dpaudit import report
    from dpaudit.output import mark_of, require_writable, write_json
    from dpaudit.parsing import number
    from dpaudit.replay import replayed

    require_writable(arguments.json, mark_of("replay"))
    epsilon = None if arguments.epsilon is None else number("epsilon", arguments.epsilon)
    found = replayed(Path(arguments.file), arguments.target, epsilon)
    report.show_replay(report.console(quiet=arguments.json == "-"), found)
    if arguments.json is not None:
        data: dict[str, Any] = {"confirmed": found.confirmed, "agrees": found.agrees}
        data |= {"certified": found.loss.certified, "witness": found.witness}
        write_json(data, arguments.json, "replay")
    return 0 if found.confirmed else 1

"""Compare production code with a declaration that is meant to be the same algorithm.

DECLARATION is an algorithm by name or file.py:object, TARGET a policy in a file. The code runs on
symbols along many paths; on each the plays, the released rows with divisor and noise, and the
decisions must be the declared ones. A difference is shrunk and shown with the round where it
begins. Exit 0 if none was met (on the paths that are counted), 1 if there is one, 2 for what is no
declaration or no policy, 3 if they cannot be compared. `dpaudit lock TARGET --conforms DECLARATION`
keeps it for the gate.

example:
  dpaudit conform adap_ucb my_bandit.py:Policy --arms 2 3 --horizon 300
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpaudit.parsing import add_param

if TYPE_CHECKING:
    from dpaudit.gate.conforming import Conforming

HELP = "compare production code with a declared algorithm"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("declaration", metavar="DECLARATION", help="an algorithm: a name, or file.py:object")
    add("target", metavar="TARGET", help="the code: file.py:object")
    add("--epsilon", metavar="E", help="privacy parameter of both (default 1)")
    add("--arms", metavar="K", nargs="+", help="numbers of arms (default 2)")
    add("--horizon", metavar="T", help="rounds of a path (default 200)")
    add_param(parser)
    add("--budget", metavar="SECONDS", help="time for each number of arms (default 20)")


def execute(arguments: argparse.Namespace) -> int:
    """Compare, print what was compared, and return 1 for a difference."""
    from pathlib import Path

    from dpaudit.gate.conforming import compare, lines

    item = wanted(arguments.target, arguments.declaration, arguments)
    codes = []
    for arms in item.arms:
        found = compare(item, arms, Path.cwd())
        print("\n".join(lines(item, found)), flush=True)
        codes.append(found.exit_code)
    return 1 if 1 in codes else max(codes)


def wanted(target: str, declaration: str, arguments: argparse.Namespace) -> Conforming:
    """Return what the options ask to compare."""
    from dpaudit.gate import conforming
    from dpaudit.parsing import integer, number

    def given(name: str, usual: float) -> float:
        text = getattr(arguments, name)
        return usual if text is None else number(name, text)

    arms = arguments.arms if isinstance(arguments.arms, list) else [arguments.arms or "2"]
    horizon = arguments.horizon
    return conforming.asked(
        target,
        declaration,
        [integer("arms", text) for part in arms for text in part.split(",")],
        conforming.HORIZON if horizon is None else integer("horizon", horizon),
        given("epsilon", 1.0),
        given("budget", conforming.BUDGET),
        arguments.param,
    )

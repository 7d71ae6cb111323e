"""Compare production code with a declaration that is meant to be the same algorithm.

DECLARATION is an algorithm by name or file.py:object, TARGET a policy in a file. The code runs on
symbols along many paths; on each the plays, the released rows with divisor and noise, and the
decisions must be the declared ones. A difference is shown with the round where it begins. Exit 0 if
none was met (on the paths that are counted), 1 if there is one, 3 if they cannot be compared.

example:
  dpaudit conform adap_ucb my_bandit.py:Policy --arms 2,3 --horizon 300
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

HELP = "compare production code with a declared algorithm"
SECONDS = 20.0
GRACE = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("declaration", metavar="DECLARATION", help="an algorithm: a name, or file.py:object")
    add("target", metavar="TARGET", help="the code: file.py:object")
    add("--epsilon", metavar="E", default="1", help="privacy parameter of both (1)")
    add("--arms", metavar="K,...", default="2", help="numbers of arms (2)")
    add("--horizon", metavar="T", default="200", help="rounds of a path (200)")
    add("--budget", metavar="SECONDS", default=str(SECONDS), help="time for each number of arms")


def execute(arguments: argparse.Namespace) -> int:
    """Compare, print what was compared, and return 1 for a difference."""
    from dpaudit.errors import require_integer, require_positive
    from dpaudit.parsing import integer, number
    from dpaudit.process import answer

    epsilon, horizon = number("epsilon", arguments.epsilon), integer("horizon", arguments.horizon)
    budget = number("budget", arguments.budget)
    require_positive("epsilon", epsilon)
    require_positive("budget", budget)
    require_integer("horizon", horizon, 1)
    code = 0
    for arms in [integer("arms", text) for text in arguments.arms.split(",")]:
        require_integer("arms", arms, 2)
        asked = {"target": arguments.target, "declaration": arguments.declaration, "arms": arms}
        asked |= {"epsilon": epsilon, "horizon": horizon, "budget": budget}
        found = answer(arguments.target, conformed, asked, 2 * budget + GRACE)
        print("\n".join(found["lines"]))
        code = max(code, found["code"]) if 1 not in (code, found["code"]) else 1
    return code


def conformed(
    tell: Callable[[str, Any], None],
    target: str,
    declaration: str,
    arms: int,
    epsilon: float,
    horizon: int,
    budget: float,
) -> dict[str, Any]:
    """Compare in the process of the code."""
    from dpaudit.errors import Unsupported
    from dpaudit.report import runs
    from dpaudit.symbolic.conform import conform
    from dpaudit.symbolic.run import Escape
    from dpaudit.symbolic.subject import Target
    from dpaudit.target import resolve

    known = resolve(declaration)
    given = {"arms": arms} | ({"epsilon": epsilon} if "epsilon" in known.accepts else {})
    algorithm = known.build(horizon, given)
    head = f"{target} and {declaration} ({arms} arms, epsilon = {epsilon:g})"
    try:
        found = conform(algorithm, Target(target, arms, horizon, epsilon), budget)
    except (Unsupported, Escape) as stop:
        return {"lines": [f"SILENT    {head}: {str(stop).rstrip('.')}."], "code": 3}
    seen = (
        f"  {found.paths:,} paths of {horizon:,} rounds, {found.decisions:,} decisions compared: "
        "plays, rows, divisors, noise, indices, arms"
    )
    if found.difference is None:
        return {"lines": [f"CONFORMS  {head}", seen], "code": 0}
    gap = found.difference
    lines = [
        f"DIFFERS   {head}",
        f"  round {gap.round}: {gap.what}",
        f"  on the path {runs([str(arm) for arm in gap.path])}",
    ]
    return {"lines": lines, "code": 1}

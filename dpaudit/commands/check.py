"""Prove, hold or refute a privacy claim, and say how we know.

TARGET is an algorithm name (see `dpaudit list`), package.module:object or file.py:object, where the
object is an Algorithm class, an instance, or a function that returns one.

  structure  adds up what every release charges to every reward; proves, never refutes
  exact      likelihoods of all action sequences at small horizons; holds or refutes with a witness
  sample     a short statistical audit; refutes, never proves

Exit codes: 0 proved or holds, 1 refuted, 2 usage or tool error, 3 undecided, 130 interrupted.
"""

from __future__ import annotations

import argparse
import shlex
from fractions import Fraction
from functools import partial

HELP = "prove, hold or refute a privacy claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--epsilon", type=float, help="the claim to judge; its own, else 1")
    parser.add_argument("--arms", type=whole, help="number of arms (2)")
    parser.add_argument("--alpha", type=float, help="the algorithm's alpha, where it has one")
    parser.add_argument("--horizon", type=whole, help="rounds that structure covers (10000000)")
    parser.add_argument(
        "--exact-horizon", type=whole, help="rounds for exact (as many as the budget allows)"
    )
    parser.add_argument(
        "--method", metavar="M,...", default="structure,exact,sample", help="checks to run (all)"
    )
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="time for all checks (15)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample check (0)")
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON; - for stdout")
    parser.add_argument("--witness", metavar="FILE", help="save the counterexample, if any")


def execute(arguments: argparse.Namespace) -> int:
    """Judge one claim; print a report or JSON; return the verdict's exit code."""
    from dpaudit import check as engine
    from dpaudit import report
    from dpaudit.errors import UnknownName
    from dpaudit.output import require_writable, write_json
    from dpaudit.target import resolve
    from dpaudit.verdict import EXIT_CODES

    methods = [name.strip() for name in arguments.method.split(",")]
    for name in methods:
        if name not in engine.METHODS:
            raise UnknownName("method", name, engine.METHODS)
    require_writable(arguments.json)
    require_writable(arguments.witness)
    target = resolve(arguments.target)
    options = {"arms": arguments.arms, "alpha": arguments.alpha}
    given = {name: value for name, value in options.items() if value is not None}
    limits = {"horizon": arguments.horizon, "budget": arguments.budget}
    out = report.console(quiet=arguments.json == "-")
    found = engine.check(
        target,
        given,
        epsilon=arguments.epsilon,
        exact_horizon=arguments.exact_horizon,
        methods=methods,
        seed=arguments.seed,
        begun=partial(report.show_claim, out),
        heard=partial(report.show_finding, out),
        **{name: value for name, value in limits.items() if value is not None},
    )
    saved = None
    report.show_verdict(out, found, command(arguments), saved)
    if arguments.json is not None:
        write_json(engine.as_json(found), arguments.json)
    return 130 if found.interrupted else EXIT_CODES[found.verdict]


def whole(text: str) -> int:
    """Read an integer, also as 1e7."""
    value = Fraction(text)
    if value.denominator != 1:
        raise ValueError(f"not an integer: {text}")
    return int(value)


def command(arguments: argparse.Namespace) -> str:
    """Return the command line that leads to the same finding."""
    words = ["python", "-m", "dpaudit", "check", arguments.target]
    for name in ("epsilon", "arms", "alpha", "horizon", "exact_horizon", "budget"):
        value = getattr(arguments, name)
        if value is not None:
            words += [
                f"--{name.replace('_', '-')}",
                f"{value:g}" if name == "budget" else str(value),
            ]
    return shlex.join(words)

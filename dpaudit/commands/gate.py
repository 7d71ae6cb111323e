"""Judge every locked claim again and fail if one got weaker.

Fails when a verdict weakens, an upper bound on epsilon grows, a lower bound passes the claim, the
source changed without `lock --update`, or a target is gone. Sizes and seeds are those of the lock,
so the result does not flip. `--fresh` draws a new seed instead: each such run may refute a true
claim with the error that it states, which is recorded and taken from a total.

Exit codes: 0 nothing got weaker, 1 a claim is refuted, 2 usage or tool error (a lock without
claims is one), 4 weakened or stale lock, 130 interrupted.

examples:
  dpaudit gate
  dpaudit gate --github --sarif dpaudit.sarif --junit dpaudit.xml
  dpaudit gate --fresh
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpaudit.parsing import add_outputs

if TYPE_CHECKING:
    from pathlib import Path

    from dpaudit.gate.conforming import Conforming
    from dpaudit.gate.lock import LockedClaim

HELP = "judge every locked claim again; fail if one got weaker"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("claims", nargs="*", metavar="CLAIM", help="locked claims or targets (default all)")
    add("--lock", default="dpaudit.lock", metavar="PATH", help="the lock (default dpaudit.lock)")
    add(
        "--budget",
        metavar="SECONDS",
        help="longest time for a claim (default and at least as locked)",
    )
    add("--jobs", default="1", metavar="J", help="claims judged side by side (default 1)")
    add("--fresh", action="store_true", help="draw a new seed and spend error on it")
    add("--error", default="1e-3", metavar="E", help="total error of fresh runs (default 1e-3)")
    add("--spent", metavar="FILE", help="record of fresh runs (default dpaudit.fresh.json)")
    add_outputs(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Judge, print a line per claim, write what was asked for, return the exit code."""
    from pathlib import Path

    from dpaudit import report
    from dpaudit.errors import require_integer
    from dpaudit.formats import options as machine
    from dpaudit.formats.result import ClaimResult, exit_code
    from dpaudit.gate import spent
    from dpaudit.gate.lock import LockedClaim
    from dpaudit.gate.run import Gate
    from dpaudit.gate.show import show_result, show_total
    from dpaudit.message import FOLDER
    from dpaudit.output import waiting, write_json
    from dpaudit.parsing import integer, number

    jobs = integer("jobs", arguments.jobs)
    require_integer("jobs", jobs, 1)
    machine.require(arguments, "gate")
    path = Path(arguments.lock)
    entries = _selected(path, arguments)
    judged = [entry for entry in entries if isinstance(entry, LockedClaim)]
    budget = _budget(arguments, judged)
    fresh = None
    if arguments.fresh:
        place = arguments.spent or path.parent / "dpaudit.fresh.json"
        fresh = spent.begin(Path(place), judged, number("error", arguments.error))
    seed = None if fresh is None else fresh.seed
    gate = Gate(path.resolve().parent, Path(FOLDER), seed=seed, budget=budget, lock=path)
    out = report.console(quiet=arguments.json == "-")
    results: list[ClaimResult] = []
    try:
        with waiting(out, "judging") as say:
            begun = lambda claim: say(f"judging {claim}")  # noqa: E731
            for result in gate.results(entries, begun, jobs):
                results.append(result)
                show_result(out, result)
    except KeyboardInterrupt:
        left = len(entries) - len(results)
        sys.stderr.write(f"dpaudit: interrupted; {left} of {len(entries)} claims not judged.\n")
        return 130
    code = exit_code(results)
    show_total(out, results, fresh)
    machine.write(arguments, results)
    if arguments.json is not None:
        data = {"exit_code": code, "lock": str(path), "fresh": fresh}
        claims = [machine.as_json(it) for it in results]
        write_json(data | {"claims": claims}, arguments.json, "gate")
    return code


def _selected(path: Path, arguments: argparse.Namespace) -> list[LockedClaim | Conforming]:
    """Return what is to be judged; a lock that cannot be used is an annotation too."""
    from dpaudit.errors import DpauditError, InvalidArgument
    from dpaudit.formats import annotations
    from dpaudit.gate.lock import read
    from dpaudit.gate.select import select

    try:
        entries = select(read(path), arguments.claims)
        if not entries:
            rule = "holds no claims, so nothing was judged; add one with `dpaudit lock TARGET`."
            raise InvalidArgument("lock", path, rule)
    except DpauditError as error:
        if arguments.github:
            where = {"file": arguments.lock, "title": "dpaudit"}
            sys.stdout.write(annotations.command("error", where, str(error)) + "\n")
        raise
    return entries


def _budget(arguments: argparse.Namespace, judged: list[LockedClaim]) -> float | None:
    """Return the budget of a claim; less time may miss what the locked budget finds."""
    from dpaudit.errors import InvalidArgument
    from dpaudit.parsing import number

    budget = None if arguments.budget is None else number("budget", arguments.budget)
    locked = max((float(entry.options.budget) for entry in judged), default=0.0)
    if budget is not None and budget < locked:
        raise InvalidArgument("budget", f"{budget:g}", f"must be at least as locked, {locked:g} s.")
    return budget

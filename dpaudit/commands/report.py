"""Make a page from a verdict: self-contained, readable without scripts, in light and in dark.

TARGET is judged as `check` judges it, with the options of `check`. RUN.json is what
`check --details --json RUN.json` wrote (without --details the page has fewer figures). `--all`
judges every algorithm and every known-wrong variant and writes an index with a page for each, and
the proof ledger with the errata. Finished pages stay after Ctrl-C; `--keep` goes on from there.
The regret on a page is that of one small instance, which it names; `simulate` and `bounds` take
--env.

examples:
  dpaudit report mine.py:Mine -o mine.html
  dpaudit check adap_klucb --details --json run.json; dpaudit report run.json -o report.html
  dpaudit report --all -o pages --budget 20
  dpaudit report --all -o pages --only dp_se --only adap_ucb --ledger ledger.json

Exit codes: 0 written, 2 usage or tool error, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dpaudit.commands.check import add_judged, asked_of

HELP = "make a web page from a verdict, or an index over all algorithms"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("target", metavar="TARGET|RUN.json", nargs="?", help="what to judge, or a finished report")
    add("-o", "--output", metavar="FILE", help="the page (report.html), or the directory for --all")
    add("--all", action="store_true", help="judge everything and write an index")
    add_judged(parser)
    spent = "time for the checks of TARGET (default 15; 30 for code), or for each of --all (20)"
    add("--budget", metavar="SECONDS", help=spent)
    add(
        "--only", metavar="NAME", action="append", default=[], help="--all: one of them; repeatable"
    )
    add("--jobs", metavar="J", default="1", help="--all: judged side by side (1)")
    add("--keep", action="store_true", help="--all: keep what an earlier run has finished")
    add("--ledger", metavar="FILE", help="--all: a ledger of `prove --json`, instead of proving")


def execute(arguments: argparse.Namespace) -> int:
    """Write the page or the pages."""
    from dpaudit.errors import InvalidArgument

    if arguments.all:
        if arguments.target is not None:
            raise InvalidArgument("TARGET", arguments.target, "cannot be combined with --all.")
        require_usual(arguments)
        return _all(arguments)
    if arguments.target is None:
        raise InvalidArgument("TARGET", "(missing)", "is required, or --all.")
    from dpaudit.page.algorithm import require_page, write
    from dpaudit.page.read import read

    destination = arguments.output or "report.html"
    require_page(destination)
    if not (arguments.target.endswith(".json") or Path(arguments.target).is_file()):
        return _of_target(arguments, destination)
    require_usual(arguments)
    try:
        write(read(Path(arguments.target)), destination)
    except (ValueError, ArithmeticError) as error:
        if isinstance(error, InvalidArgument):
            raise
        # a file may hold numbers that no `check` writes and no axis can carry
        rule = f"holds numbers that cannot be drawn: {error}."
        raise InvalidArgument("file", arguments.target, rule) from None
    print(f"{destination} written.")
    return 0


def require_usual(arguments: argparse.Namespace) -> None:
    """Raise for an option that one TARGET alone has: it would be passed over."""
    from dpaudit.errors import InvalidArgument

    parser = argparse.ArgumentParser()
    add_judged(parser)
    for name, usual in vars(parser.parse_args([])).items():
        value = getattr(arguments, name)
        if value != usual and name not in ("horizon", "seed"):
            raise InvalidArgument(name, value, "is for one TARGET that is judged now.")


def _of_target(arguments: argparse.Namespace, destination: str) -> int:
    """Judge a target as `check` does, and write its page."""
    from dpaudit.examination import examine
    from dpaudit.message import summary
    from dpaudit.page.algorithm import write

    found = examine(arguments.target, asked_of(arguments, paged=True))
    if found.report.interrupted:
        raise KeyboardInterrupt
    write(found.report, destination)
    print(f"{destination} written: {summary(found.report, found.claim)}")
    return 0


def _all(arguments: argparse.Namespace) -> int:
    from dpaudit.errors import InvalidArgument, UnknownName, require_integer, require_positive
    from dpaudit.output import progress
    from dpaudit.page.collection import INDEX, Plan, collect
    from dpaudit.page.gallery import subjects
    from dpaudit.parsing import integer, number

    if arguments.output is None:
        raise InvalidArgument("output", "(missing)", "is required with --all: -o DIRECTORY.")
    plan = Plan(
        Path(arguments.output),
        number("budget", arguments.budget or "20"),
        integer("horizon", arguments.horizon or "1e7"),
        integer("seed", arguments.seed),
        arguments.keep,
        integer("jobs", arguments.jobs),
    )
    require_positive("budget", plan.budget)
    require_integer("horizon", plan.horizon, 1)
    require_integer("seed", plan.seed, 0)
    require_integer("jobs", plan.jobs, 1)
    found = {subject.name: subject for subject in subjects()}
    for name in arguments.only:
        if name not in found:
            raise UnknownName("algorithm", name, found)
    chosen = [one for name, one in found.items() if not arguments.only or name in arguments.only]
    steps = None if arguments.ledger is None else read_ledger(Path(arguments.ledger))
    with progress("report", total=len(chosen) + 1) as advance:
        rows, interrupted = collect(chosen, plan, steps_or_proofs(steps), advance)
    judged = sum(row.report is not None for row in rows)
    print(f"{plan.directory / INDEX} written: {judged} of {len(chosen)} judged.")
    if interrupted:
        sys.stderr.write("dpaudit: interrupted; the pages are kept, --keep goes on from there.\n")
    return 130 if interrupted else 0


def steps_or_proofs(steps: list[dict[str, Any]] | None) -> Any:
    """Return how to get the ledger: as it was read, or by checking every step."""

    def proved() -> list[dict[str, Any]]:
        from dpaudit.claims import ledger

        results = ledger.load_results()
        return [entry.record() for entry in ledger.run(ledger.select(results, []))]

    return proved if steps is None else lambda: steps


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """Return the steps in a file that `prove --json` wrote; anything else costs one line."""
    import msgspec

    from dpaudit.errors import InvalidArgument

    fields = ("result", "step", "place", "outcome", "statement", "domain", "how")
    faults = ("boundary", "counterexample", "correction", "survives")
    try:
        data = msgspec.json.decode(path.read_bytes())
        steps = msgspec.convert(data["steps"], list[dict[str, str]])
        if not all(set(fields + faults) <= set(step) for step in steps):
            raise ValueError
    except OSError as error:
        raise InvalidArgument("ledger", path, f"cannot be read: {error.strerror}.") from None
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        raise InvalidArgument("ledger", path, "is not a ledger of `prove --json`.") from None
    return steps

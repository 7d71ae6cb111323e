"""Audit real runs of a target: refute its privacy claim at a stated error, or stay silent.

TARGET is the name of a declared algorithm, mutants/NAME or file.py:object. The object is a class
or function called with those of arms, horizon, epsilon, rng that it accepts; it returns a policy
with pull/update (river), fit/partial_fit/predict (mabwiser), startGame/choice/getReward
(SMPyBandits), select/update, or a function (stream, rng) -> actions. Arms are numbered from 0. Exit
1 when refuted, 0 when no violation was found, which is not a proof.

examples:
  dpaudit audit ucb --epsilon 1 --horizon 1000
  dpaudit audit adap_klucb --epsilon 1 --arms 5 --horizon 1e7 --error 1e-3 --jobs 2
  dpaudit audit my_bandit.py:Policy --epsilon 1 --arms 3 --horizon 200 --log audit.log
  dpaudit audit my_bandit.py:Policy --replay report.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.parsing import TARGET, add_parameters, integer, number
from dpaudit.patience import add_yes

GRACE = 5.0  # seconds beyond a limit until the process of a target is stopped
ENDLESS = 1e9  # seconds
LEADING = 20.0  # seconds, for code on symbols
HELP = "audit real runs: refute a privacy claim at a stated error, or stay silent"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is judged, on which runs, and what is kept; `read` reads the numbers."""
    add = parser.add_argument
    add("target", metavar="TARGET", help=TARGET)
    add("--epsilon", default="1", metavar="E", help="the claim to judge (default 1)")
    add("--delta", default="0", metavar="D", help="the same with this delta (default 0)")
    add("--arms", metavar="K", help="number of arms (default 2)")
    add("--horizon", metavar="T", help="rounds of a run (default 1e5; 100 of code)")
    add_parameters(parser)
    add("--error", default="1e-3", metavar="E", help="probability of a wrong answer (default 1e-3)")
    add("--runs", metavar="N", help="runs to spend (default about a minute's worth)")
    stop = "stop after this time, at a block; the result then depends on the machine's speed"
    add("--budget", metavar="SECONDS", help=stop)
    add("--seed", default="0", metavar="S", help="seed of everything (default 0)")
    _add_evidence(parser)
    add("--jobs", default="1", metavar="J", help="workers (default 1)")
    add("--isolate", action="store_true", help="run every block in a fresh process (slower)")
    backends = "processes (default), threads or dask"
    add("--backend", default="processes", metavar="KIND", help=backends)
    add("--scheduler", metavar="ADDRESS", help="dask scheduler; none: local cluster")
    add("--log", metavar="FILE", help="log finished blocks, to resume if killed")
    add("--resume", metavar="LOG", help="continue the audit of this log")
    add("--max-memory", metavar="MB", help="stop cleanly above this")
    limit = "longest time for one run of foreign code (default 60)"
    add("--time-limit", default="60", metavar="SECONDS", help=limit)
    single = "guess many flipped rewards back from the actions of one single run"
    add("--one-run", action="store_true", help=single)
    again = "judge the witness of a JSON report again, on new runs"
    add("--replay", metavar="REPORT", help=again)
    add_yes(parser)
    add("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")


def read(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what was asked, its numbers read."""
    whole = dict.fromkeys(("arms", "horizon", "runs", "seed", "jobs"), integer)
    real = ("epsilon", "delta", "error", "budget", "max_memory", "time_limit")
    readers: dict[str, Callable[[str, str], Any]] = whole | dict.fromkeys(real, number)
    asked = {name: value for name, value in vars(arguments).items() if name != "execute"}
    return asked | {
        name: reader(name, asked[name])
        for name, reader in readers.items()
        if asked[name] is not None
    }


def _add_evidence(parser: argparse.ArgumentParser) -> None:
    """Declare which pairs of streams and which events are tried."""
    add = parser.add_argument
    values = "streams with rewards in [0, 1], or in {0, 1} only (unit)"
    add("--rewards", choices=("unit", "binary"), default="unit", help=values)
    own = 'judge your own pair: JSON with "stream" and "neighbour" (repeatable)'
    add("--pair", action="append", default=[], metavar="FILE", help=own)
    events = (
        "judge sets of frequent prefixes and pull counts, or also train a classifier on half "
        "of the runs: for leaks spread over many rounds (tables)"
    )
    add("--events", choices=("tables", "learned"), default="tables", help=events)


def execute(arguments: argparse.Namespace) -> int:
    """Run the audit, print the report, and return 1 when refuted, else 0."""
    from dpaudit.errors import require_positive
    from dpaudit.output import progress, require_writable, write_json
    from dpaudit.process import START_SECONDS, answer
    from dpaudit.report import console
    from dpaudit.sample.text import fitted

    require_writable(arguments.json)
    asked = read(arguments)
    for name in ("time_limit", "budget"):
        if asked[name] is not None:
            require_positive(name, asked[name])
    done = 0
    with progress("audit", asked["runs"]) as advance:

        def hear(kind: str, data: Any) -> None:
            nonlocal done
            if kind == "heard":
                advance(data["runs"] - done, data["note"])
                done = data["runs"]

        try:
            found = answer(arguments.target, conducted, asked, START_SECONDS, hear)
        except KeyboardInterrupt:
            if path := arguments.resume or arguments.log:
                raise KeyboardInterrupt(f"finished blocks are kept in {path}") from None
            raise
    if arguments.json and found["report"] is not None:
        write_json(found["report"], arguments.json, None if arguments.one_run else "audit")
    if arguments.json != "-" or found["report"] is None:
        print(fitted(found["lines"], console(quiet=False).width))
    if found.get("interrupted"):
        kept = found["interrupted"]
        if path := arguments.resume or arguments.log:
            kept += f"; finished blocks are kept in {path}"
        sys.stderr.write(f"dpaudit: interrupted; {kept}.\n")
        return 130
    return int(found["refuted"])


def conducted(tell: Callable[[str, Any], None], **asked: Any) -> dict[str, Any]:
    """Audit as asked, in the process of the target; `tell("heard", ...)` says how far it is."""
    import time

    from dpaudit.output import plain
    from dpaudit.sample.audit import AuditInterrupted, audit
    from dpaudit.sample.log import BlockLog
    from dpaudit.sample.request import box_of, plan_of, replayed
    from dpaudit.sample.text import report_lines
    from dpaudit.sample.workers import Workers
    from dpaudit.verdict import Status

    arguments = argparse.Namespace(**asked)
    workers = Workers(
        arguments.jobs,
        arguments.backend,
        arguments.scheduler,
        arguments.max_memory,
        arguments.isolate,
    )
    tell("limit", arguments.time_limit + GRACE)
    box_of(arguments)
    # the target is loaded; from here on every run has a limit of its own, and blocks a deadline
    tell("limit", ENDLESS if arguments.budget is None else arguments.budget + GRACE)
    if arguments.replay:
        lines, refuted = replayed(arguments)
        return {"report": None, "lines": lines, "refuted": refuted}
    if arguments.one_run:
        return _one_run(arguments)
    plan = plan_of(arguments, _leads)
    if arguments.resume:
        log = BlockLog.resume(arguments.resume, plan.identity())
    elif arguments.log:
        log = BlockLog.start(arguments.log, plan.identity())
    else:
        log = BlockLog.nowhere()
    deadline = None if arguments.budget is None else time.monotonic() + arguments.budget

    def heard(runs: int, lower: float, evidence: float) -> None:
        measure = "delta" if plan.delta else "epsilon"
        note = f"{runs:,} runs, {measure} >= {lower:.3f}, evidence {100 * evidence:.0f} %"
        note = note if runs else "choosing a pair of streams"
        tell("heard", {"runs": runs, "note": note})

    interrupted = ""
    try:
        report = audit(plan, workers, log, heard, deadline)
    except AuditInterrupted as stop:
        report = stop.report
        interrupted = f"the report is of the {report.runs:,} runs that were finished"
    finally:
        log.close()
    refuted = report.status is Status.REFUTED
    found = {"report": plain(report), "lines": report_lines(report), "refuted": refuted}
    return found | {"interrupted": interrupted}


def _leads(box: Any, epsilon: float) -> Sequence[Any]:
    """Return where a run on symbols sees a decision that tells too much of a reward.

    The time for it is only a limit for code that is slow on symbols: other code has the same leads
    every time.
    """
    import time

    from dpaudit.symbolic.leads import aimed
    from dpaudit.symbolic.subject import CodeTarget, readable

    if not readable(box.name):
        return ()
    target = CodeTarget(box.name, box.arms, box.horizon, epsilon)
    return aimed(target, time.monotonic() + LEADING)


def _one_run(arguments: argparse.Namespace) -> dict[str, Any]:
    from dpaudit.core.arithmetic import at_least, at_most, in_digits
    from dpaudit.errors import InvalidArgument
    from dpaudit.output import plain
    from dpaudit.sample.onerun import one_run_audit
    from dpaudit.sample.request import box_of

    if arguments.delta:
        rule = "must be 0 for a one-run audit: what it bounds is pure epsilon."
        raise InvalidArgument("delta", arguments.delta, rule)
    found = one_run_audit(box_of(arguments), arguments.epsilon, arguments.error, arguments.seed)
    word = "REFUTED" if found.refuted else "SILENT, which is not a proof"
    lines = [
        f"{word}  {arguments.target} against epsilon = {in_digits(found.epsilon)}, by one run",
        f"  {found.correct} of {found.guesses} guesses right ({found.canaries} canaries); "
        f"p-value {at_most(found.p_value, 3)}; epsilon >= {at_least(found.lower, 4)} at error "
        f"{in_digits(found.error)}",
        f"  independence: {found.independence}",
    ]
    return {"report": plain(found), "lines": lines, "refuted": found.refuted}

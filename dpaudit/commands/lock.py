"""Judge claims and write what was found to a lock, for `gate` to hold on to.

TARGET is an algorithm name, package.module:object or file.py:object (declared, or a black box that
only sampling judges). Files are looked for in the lock's directory. `--update` judges locked claims
again, all or those of the TARGETs, with their own options unless others are given. What gets weaker
is refused without `--reason TEXT`, which is kept in the lock. With `--conforms` what is locked is
that the TARGETs are the declared algorithm (see `dpaudit conform`).

Exit codes: 0 written, 1 a claim is refuted and nothing is written, 2 usage or tool error,
4 a claim would get weaker or the lock cannot be believed, 130 interrupted (the old lock stays).

examples:
  dpaudit lock mine.py:Mine
  dpaudit lock adap_klucb adap_ucb --arms 3 --horizon 1e6
  dpaudit lock my_bandit.py:Policy --conforms adap_ucb --arms 2,3 --horizon 100
  dpaudit lock --update
  dpaudit lock --update --reason "epsilon raised to 2 for the pilot"
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from dpaudit.parsing import add_claim, add_parameters, judged_options

if TYPE_CHECKING:
    from pathlib import Path

    from dpaudit.gate.conforming import Conforming
    from dpaudit.gate.lock import Lock
    from dpaudit.gate.update import Writer
    from dpaudit.judging import Report

HELP = "judge claims and write them to a lock for `gate`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("targets", nargs="*", metavar="TARGET", help="what to lock, or to update (default all)")
    add("--update", action="store_true", help="judge locked claims again")
    add("--remove", action="append", default=[], metavar="CLAIM", help="drop a locked claim")
    add("--reason", metavar="TEXT", help="why a claim may get weaker; kept in the lock")
    add("--lock", default="dpaudit.lock", metavar="PATH", help="the lock (default dpaudit.lock)")
    add_claim(parser)
    add("--arms", metavar="K", help="number of arms (default 2); several with --conforms")
    add("--conforms", metavar="DECLARATION", help="lock that TARGET conforms to a declaration")
    add_parameters(parser)
    add("--horizon", metavar="T", help="rounds (default 1e7; 100 for a black box)")
    add("--exact-horizon", metavar="T", help="rounds for exact (default arms + 2)")
    add("--method", metavar="M,...", help="default structure,exact,sample")
    add("--runs", metavar="N", help="runs of a black box (default 2000)")
    add("--seed", metavar="S", help="seed of the sample check (default 0)")
    add("--budget", metavar="SECONDS", help="longest time for a claim (default 60)")
    add("--jobs", default="1", metavar="J", help="claims judged side by side (default 1)")


def execute(arguments: argparse.Namespace) -> int:
    """Judge, compare, and write the lock once at the end."""
    from pathlib import Path

    from dpaudit.errors import InvalidArgument, require_integer
    from dpaudit.gate.lock import write
    from dpaudit.gate.update import Writer
    from dpaudit.output import require_writable, waiting
    from dpaudit.parsing import integer
    from dpaudit.report import console

    path = Path(arguments.lock)
    require_writable(str(path))
    reason = (arguments.reason or "").strip() or None
    if arguments.reason is not None and reason is None:
        raise InvalidArgument("reason", "''", "must say something.")
    asked = {} if arguments.conforms else judged_options(arguments)
    jobs = integer("jobs", arguments.jobs)
    require_integer("jobs", jobs, 1)
    _require_same_claims(arguments, asked)
    if not (arguments.targets or arguments.update or arguments.remove):
        raise InvalidArgument("TARGET", "(none)", "is required unless --update or --remove.")
    old, out = _locked(path, arguments, reason), console(quiet=False)
    show = partial(out.print, markup=False, soft_wrap=True)
    with waiting(out, "judging") as say:
        writer = Writer(
            path,
            old,
            reason,
            begun=lambda claim: say(f"judging {claim}"),
            heard=lambda claim, report: show("\n".join(_heard(claim, report))),
            told=lambda lines: show("\n".join(lines)),
            jobs=jobs,
        )
        try:
            lock = _judged(writer, arguments, asked)
        except KeyboardInterrupt:
            sys.stderr.write(f"dpaudit: interrupted; {path} is unchanged.\n")
            return 130
    write(path, lock)
    count = len(lock.everything)
    out.print(f"{path} holds {count} claim{'s' * (count != 1)}.", markup=False)
    return 0


def _heard(claim: str, report: Report) -> list[str]:
    """Return what was concluded; why nothing was; what to do about a proof that time has ended."""
    from dpaudit.message import summary
    from dpaudit.verdict import Status

    lines = [summary(report, claim)]
    if report.verdict is Status.SILENT:
        lines += [f"         {it.check}: {it.reason}" for it in report.findings]
    if report.partial and report.verdict is Status.PROVED:
        less = f"A slower machine may reach fewer than {report.covered:,} rounds, and fail there;"
        lines += [
            f"         {less}",
            "         lock a --horizon soon reached, or a larger --budget.",
        ]
    return lines


def _require_same_claims(arguments: argparse.Namespace, asked: dict[str, Any]) -> None:
    """Raise where an update would make another claim of a locked one."""
    from dpaudit.errors import InvalidArgument

    name = next((name for name in ("epsilon", "stated", "given") if name in asked), None)
    if arguments.update and name is not None:
        value = asked[name].words if name == "stated" else asked[name]
        rule = "makes another claim; lock it without --update, and --remove the old one."
        raise InvalidArgument({"given": "param", "stated": "claim"}.get(name, name), value, rule)


def _locked(path: Path, arguments: argparse.Namespace, reason: str | None) -> Lock:
    """Return the lock as it is; one that was edited by hand only to judge all of it again."""
    from dpaudit.gate.lock import Lock, Reason, read, read_edited

    if not (path.exists() or arguments.update or arguments.remove):
        return Lock()
    old, edited = read_edited(path)
    if not (edited and arguments.update and reason and not arguments.targets):
        return read(path)  # raises where it was edited
    everything = Reason("(all)", "edited by hand or merged; every claim judged again", reason)
    return Lock(old.claims, [*old.history, everything], old.conforming)


def _judged(writer: Writer, arguments: argparse.Namespace, asked: dict[str, Any]) -> Lock:
    """Return the lock with what was asked for: claims removed, added or judged again."""
    from dpaudit.gate.conforming import Conforming
    from dpaudit.gate.lock import LockedClaim
    from dpaudit.gate.select import select
    from dpaudit.options import Options

    for claim in arguments.remove:
        writer = writer.removed(claim)
    if arguments.conforms:
        return writer.conformed(_conformances(arguments)).lock
    if not arguments.update:
        return writer.added(arguments.targets, Options(**asked)).lock
    chosen = select(writer.lock, arguments.targets)
    writer = writer.updated([it for it in chosen if isinstance(it, LockedClaim)], asked)
    return writer.conformed([it for it in chosen if isinstance(it, Conforming)]).lock


def _conformances(arguments: argparse.Namespace) -> list[Conforming]:
    """Return the conformances that are to be locked."""
    from dpaudit.commands.conform import wanted
    from dpaudit.errors import InvalidArgument

    for name in ("method", "runs", "seed", "exact_horizon"):
        if getattr(arguments, name):
            rule = "is for claims of privacy, not for --conforms."
            raise InvalidArgument(name, getattr(arguments, name), rule)
    if arguments.update:
        raise InvalidArgument("conforms", arguments.conforms, "is locked anew, without --update.")
    return [wanted(target, arguments.conforms, arguments) for target in arguments.targets]

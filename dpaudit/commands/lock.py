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
from typing import TYPE_CHECKING, Any

from dpaudit.parsing import add_claim, stated_claim

if TYPE_CHECKING:
    from dpaudit.gate.conforming import Conforming

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
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="any other parameter")
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
    from dpaudit.gate.conforming import Conforming
    from dpaudit.gate.lock import Entry, Lock, read, read_edited, write
    from dpaudit.gate.lock import Reason as Kept
    from dpaudit.gate.select import select
    from dpaudit.gate.update import Writer
    from dpaudit.message import summary
    from dpaudit.output import require_writable
    from dpaudit.parsing import integer
    from dpaudit.report import console
    from dpaudit.subject.kinds import Options

    path = Path(arguments.lock)
    require_writable(str(path))
    reason = (arguments.reason or "").strip() or None
    if arguments.reason is not None and reason is None:
        raise InvalidArgument("reason", "''", "must say something.")
    asked = {} if arguments.conforms else _options(arguments)
    jobs = integer("jobs", arguments.jobs)
    require_integer("jobs", jobs, 1)
    if arguments.update and asked.keys() & {"epsilon", "stated", "given"}:
        name = next(name for name in ("epsilon", "stated", "given") if name in asked)
        value = asked[name].words if name == "stated" else asked[name]
        rule = "makes another claim; lock it without --update, and --remove the old one."
        raise InvalidArgument({"given": "param", "stated": "claim"}.get(name, name), value, rule)
    if not (arguments.targets or arguments.update or arguments.remove):
        raise InvalidArgument("TARGET", "(none)", "is required unless --update or --remove.")
    old, edited = Lock(), False
    if path.exists() or arguments.update or arguments.remove:
        old, edited = read_edited(path)
        if edited and not (arguments.update and reason and not arguments.targets):
            read(path)
    out = console(quiet=False)
    if edited and reason:
        everything = Kept("(all)", "edited by hand or merged; every claim judged again", reason)
        old = Lock(old.claims, [*old.history, everything], old.conforming)
    with out.status("judging") as status:
        writer = Writer(
            path,
            old,
            reason,
            begun=lambda claim: status.update(f"judging {claim}"),
            heard=lambda claim, report: out.print(
                summary(report, claim), markup=False, soft_wrap=True
            ),
            told=lambda lines: out.print("\n".join(lines), markup=False, soft_wrap=True),
            jobs=jobs,
        )
        try:
            for claim in arguments.remove:
                writer = writer.removed(claim)
            if arguments.conforms:
                writer = writer.conformed(_conformances(arguments))
            elif arguments.update:
                chosen = select(writer.lock, arguments.targets)
                writer = writer.updated([it for it in chosen if isinstance(it, Entry)], asked)
                writer = writer.conformed([it for it in chosen if isinstance(it, Conforming)])
            else:
                writer = writer.added(arguments.targets, Options(**asked))
        except KeyboardInterrupt:
            sys.stderr.write(f"dpaudit: interrupted; {path} is unchanged.\n")
            return 130
    write(path, writer.lock)
    count = len(writer.lock.everything)
    out.print(f"{path} holds {count} claim{'s' * (count != 1)}.", markup=False)
    return 0


def _conformances(arguments: argparse.Namespace) -> list[Conforming]:
    """Return the conformances that are to be locked."""
    from dpaudit.commands.conform import wanted
    from dpaudit.errors import InvalidArgument

    for name in ("method", "runs", "seed", "exact_horizon", "param"):
        if getattr(arguments, name):
            rule = "is for claims of privacy, not for --conforms."
            raise InvalidArgument(name, getattr(arguments, name), rule)
    if arguments.update:
        raise InvalidArgument("conforms", arguments.conforms, "is locked anew, without --update.")
    return [wanted(target, arguments.conforms, arguments) for target in arguments.targets]


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, parsed."""
    from dpaudit.parsing import assignment, integer, number

    readers = {"budget": number, "horizon": integer, "exact_horizon": integer}
    readers |= {"runs": integer, "seed": integer}
    typed = {name: getattr(arguments, name) for name in readers}
    found: dict[str, Any] = {
        name: readers[name](name, text) for name, text in typed.items() if text is not None
    }
    stated = stated_claim(arguments)
    if stated.epsilon is not None:
        found["epsilon"] = stated.epsilon
    if stated.texts.keys() - {"epsilon"}:
        found["stated"] = stated
    given: dict[str, Any] = dict(assignment(text) for text in arguments.param)
    if arguments.arms is not None:
        given["arms"] = integer("arms", arguments.arms)
    if given:
        found["given"] = given
    if arguments.method is not None:
        found["methods"] = tuple(name.strip() for name in arguments.method.split(","))
    return found

"""Prove, hold or refute a privacy claim, and say how we know.

TARGET is an algorithm name (see `dpaudit list`), package.module:object or file.py:object, where the
object is an Algorithm class, an instance, or a function that returns one; or a policy as people
write them, in a file (see docs/foreign-code.md), which is judged as it stands.

  structure  adds up what every release charges to every reward; proves, never refutes
  exact      likelihoods of all action sequences at small horizons; holds or refutes with a witness
  code       runs a policy's own code on symbols and adds up the same; proves, never refutes
  sample     a short statistical audit; refutes, never proves

Exit codes: 0 proved or holds for the claimed instance and horizon, 1 refuted, 2 usage or tool
error, 3 undecided or shown for shorter runs alone, 130 interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.parsing import CLAIM, TARGET, add_claim, add_outputs, add_parameters

if TYPE_CHECKING:
    from dpaudit.examination import Asked, Examined
    from dpaudit.judging import Report

HELP = "prove, hold or refute a privacy claim"
METHODS = "structure,exact,sample"
SEED = "0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("target", metavar="TARGET", help=TARGET)
    add_judged(parser)
    add(
        "--budget", metavar="SECONDS", help="time for all checks together (default 15; 30 for code)"
    )
    add("--html", metavar="FILE", help="write a page, with details (takes up to --budget again)")
    add("--details", action="store_true", help="put what a page shows into the JSON")
    add("--witness", metavar="FILE", help="save the counterexample, if there is one")
    add(
        "--certificate", metavar="FILE", help="save what structure or code has proved, for `verify`"
    )
    add_outputs(parser)


def add_judged(parser: argparse.ArgumentParser) -> None:
    """Declare what is claimed of a target, and how it is judged."""
    add = parser.add_argument
    add_claim(parser)
    add("--arms", metavar="K", help="number of arms (default 2)")
    add_parameters(parser)
    add("--horizon", metavar="T", help="rounds that are claimed (default 1e7; 1,000 of code)")
    add("--exact-horizon", metavar="T", help="rounds for exact (default what the budget allows)")
    add("--method", default=METHODS, metavar="M,...", help="default all that are for TARGET")
    add("--runs", metavar="N", help="runs of code that sample may spend (default 12,000)")
    add("--seed", default=SEED, metavar="S", help="seed of the sample check (default 0)")


def execute(arguments: argparse.Namespace) -> int:
    """Judge one claim; print a report or JSON; return the verdict's exit code."""
    from dpaudit import judging as engine
    from dpaudit import report
    from dpaudit.examination import examine
    from dpaudit.formats import options as machine
    from dpaudit.judging import Listener
    from dpaudit.output import mark_of, require_writable, waiting, write_json

    paged = arguments.html is not None or arguments.details
    asked = asked_of(arguments, paged, arguments.certificate is not None)
    machine.require(arguments, "report")
    require_writable(arguments.witness, mark_of("witness"))
    require_writable(arguments.certificate)
    if arguments.html is not None:
        from dpaudit.page.algorithm import require_page

        require_page(arguments.html)
    out = report.console(quiet=arguments.json == "-")
    saved: list[str] = []
    with waiting(out, "checking") as say:

        def concluded(found: Report) -> None:
            say("")
            saved.extend(save(found, arguments.witness))
            report.show_verdict(out, found, command(arguments), saved[0] if saved else None)

        show = partial(report.show_claim, out), partial(report.show_finding, out)
        far = lambda text: say(f"checking: {text}")  # noqa: E731
        found = examine(asked.target, asked, Listener(*show, concluded=concluded, far=far))
    if arguments.html is not None:
        from dpaudit.page.algorithm import write

        write(found.report, arguments.html)
    if arguments.certificate is not None:
        out.print(certified(found, arguments.certificate))
    if arguments.json is not None:
        write_json(engine.as_json(found.report), arguments.json, "report")
    if machine.wanted(arguments):
        machine.write(arguments, [machine.checked(found, saved[0] if saved else None)])
    if found.report.failure:
        sys.stderr.write(f"dpaudit: {found.report.failure}\n")
    return found.exit_code


def asked_of(arguments: argparse.Namespace, paged: bool, certified: bool = False) -> Asked:
    """Return what is asked; a page or details need the command that leads to them."""
    from dpaudit.examination import Asked
    from dpaudit.options import Options
    from dpaudit.parsing import judged_options

    return Asked(
        arguments.target,
        Options(**judged_options(arguments)),
        command=command(arguments) if paged else "",
        certified=certified,
    )


def certified(found: Examined, destination: str) -> str:
    """Write the certificate, if there is one; return what is said of it."""
    from dpaudit.documents import LARGEST
    from dpaudit.output import mark_of, write_json
    from dpaudit.verdict import Status

    if found.certificate is not None:
        write_json(found.certificate, destination, mark=mark_of("certificate"))
        path = Path(destination)
        if path.is_file() and (size := path.stat().st_size) > LARGEST:
            reads = (
                f"more than `verify` reads ({LARGEST >> 20} MiB); a shorter --horizon takes less"
            )
            return f"Certificate: {destination} has {size >> 20} MiB, {reads}."
        return f"Certificate: python -m dpaudit verify {destination}"
    if found.report.claim.notion is not None:
        return "No certificate: there are some of pure epsilon for one reward alone."
    if any(it.status is Status.PROVED for it in found.report.findings):
        return "No certificate was made of this proof."
    return "No certificate: neither structure nor code has proved anything."


def save(found: Report, destination: str | None) -> list[str]:
    """Write the counterexample to a file, if there are both; return the file."""
    from dpaudit.exact.witness import to_json
    from dpaudit.output import write_json

    witness = next((f.witness for f in found.findings if f.witness is not None), None)
    if destination is None or (witness is None and found.replay is None):
        return []
    if witness is not None:
        write_json(to_json(witness), destination, "witness")
    else:
        write_json(found.replay, destination, "audit")
    return [destination]


def command(arguments: argparse.Namespace) -> str:
    """Return the command line that leads to the same finding."""
    words = ["python", "-m", "dpaudit", "check", arguments.target]
    words += ["--local"] * arguments.local
    plain = (*CLAIM, "arms", "alpha", "noise", "grid", "rounding")
    for name in (*plain, "horizon", "exact_horizon", "budget", "runs"):
        if getattr(arguments, name) is not None:
            words += [f"--{name.replace('_', '-')}", getattr(arguments, name)]
    for name, usual in (("method", METHODS), ("seed", SEED)):
        if getattr(arguments, name) != usual:
            words += [f"--{name}", getattr(arguments, name)]
    for assignment in arguments.param:
        words += ["--param", assignment]
    return shlex.join(words)

"""The options `--json`, `--junit`, `--sarif` and `--github`, and what they write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.examination import Examined
from dpaudit.formats.result import ClaimResult, Problem, ProblemRule
from dpaudit.output import mark_of, require_writable, write_json, write_text
from dpaudit.report import meaning
from dpaudit.verdict import Status

JUNIT, SARIF = '<testsuite name="dpaudit"', '"name": "dpaudit"'


def require(arguments: argparse.Namespace, kind: str) -> None:
    """Raise before the work if an output cannot be written; `kind` is that of the JSON."""
    for name, mark in (("json", mark_of(kind)), ("junit", JUNIT), ("sarif", SARIF)):
        require_writable(getattr(arguments, name), mark)
    for name in ("junit", "sarif"):
        if getattr(arguments, name) == "-":
            raise InvalidArgument(name, "-", "must be a file.")
    if arguments.github and arguments.json == "-":
        raise InvalidArgument("json", "-", "and --github both write to standard output.")


def wanted(arguments: argparse.Namespace) -> bool:
    """Tell whether `write` has anything to write."""
    return bool(arguments.junit or arguments.sarif or arguments.github)


def write(arguments: argparse.Namespace, results: Sequence[ClaimResult]) -> None:
    """Write JUnit, SARIF and annotations; JSON is each command's own."""
    from dpaudit.formats import annotations, junit, sarif
    from dpaudit.sources import versions

    if arguments.junit is not None:
        write_text(Path(arguments.junit), junit.render(results, versions()), JUNIT)
    if arguments.sarif is not None:
        write_json(sarif.render(results), arguments.sarif, mark=SARIF)
    if arguments.github:
        for line in annotations.render(results):
            sys.stdout.write(f"{line}\n")


def checked(found: Examined, saved: str | None) -> ClaimResult:
    """Return what `check` found as a result: refuted and undecided are its problems."""
    from dpaudit import message

    report = found.report
    problems: tuple[Problem, ...] = ()
    if report.verdict is Status.REFUTED:
        problems = (Problem(ProblemRule.REFUTED, meaning(report)),)
    elif report.verdict is Status.SILENT or report.partial:
        problems = (Problem(ProblemRule.UNDECIDED, meaning(report)),)
    replay = message.replay_line(report, found.options, Path(saved) if saved else None)
    refuted = message.refutation_of(report)
    return ClaimResult(
        found.claim,
        report.claim.target,
        report,
        problems,
        details=message.details(refuted, found.flaw, replay) if refuted else "",
        replay=replay,
        place=found.place,
        seconds=sum(finding.seconds for finding in report.findings),
    )


def as_json(result: ClaimResult) -> dict[str, Any]:
    """Return a result as plain data."""
    report = result.report
    return {
        "claim": result.claim,
        "target": result.target,
        "verdict": result.verdict,
        "locked": result.locked,
        "epsilon": report.claim.epsilon if report else None,
        "epsilon_lower": report.lower if report else None,
        "epsilon_upper": report.upper if report else None,
        "problems": [
            {"rule": it.rule.id, "name": it.rule.label, "message": it.message}
            for it in result.problems
        ],
        "notes": result.notes,
        "details": result.details,
        "replay": result.replay,
        "place": result.place,
        "findings": report.findings if report else [],
        "seconds": result.seconds,
    }

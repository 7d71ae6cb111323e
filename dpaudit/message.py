"""A refutation as a person reads it: streams, actions, probabilities, the likely flaw, a replay.

The counterexample is saved below `.dpaudit/` and one line replays it from scratch.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from io import StringIO
from pathlib import Path

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import DpauditError
from dpaudit.judging import Report
from dpaudit.options import Options
from dpaudit.output import write_json, write_text
from dpaudit.replay import line
from dpaudit.report import bounds, conclusion, show_witness
from dpaudit.subject.kinds import Declared, Subject, nearest_flaw
from dpaudit.target import resolve
from dpaudit.verdict import Finding, Status

FOLDER = ".dpaudit"
WIDTH = 100


def refutation_of(report: Report) -> Finding | None:
    """Return the finding that refutes, one with a witness first."""
    refuted = [f for f in report.findings if f.status is Status.REFUTED]
    return next((f for f in refuted if f.witness is not None), refuted[0] if refuted else None)


def save(report: Report, claim: str, folder: Path) -> Path | None:
    """Save what a replay needs, if there is a refutation that can be replayed; return the file."""
    from dpaudit.exact.witness import to_json

    found = refutation_of(report)
    data, kind = report.replay, "audit"
    if found is not None and found.witness is not None:
        data, kind = to_json(found.witness), "witness"
    if data is None:
        return None
    slug = re.sub(r"[^A-Za-z0-9]+", "-", claim).strip("-")[:60]
    path = folder / f"{slug}-{hashlib.sha256(claim.encode()).hexdigest()[:8]}.json"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / ".gitignore", "*\n")
        write_json(data, str(path), kind)
    except (OSError, DpauditError):
        return None  # a refutation is shown even where nothing can be written
    return path


def replay_line(report: Report, options: Options, saved: Path | None) -> str | None:
    """Return the command that shows the refutation again."""
    found, claim = refutation_of(report), report.claim
    if found is None or not _nameable(claim.target):
        return None
    words = ["python", "-m", "dpaudit"]
    if saved is not None and found.witness is not None:
        return line(saved, claim)
    if saved is not None:
        return shlex.join([*words, "audit", claim.target, "--replay", str(saved)])
    words += ["check", claim.target, *claim.judged.words, "--method", found.check]
    words += ["--horizon", str(claim.horizon), "--seed", str(options.seed)]
    for name, value in options.given.items():
        words += ["--param", f"{name}={value!r}"]
    return shlex.join(words)


def _nameable(target: str) -> bool:
    """Tell whether a command line can find a target: not so a class made inside a function."""
    if ":" in target:
        return True
    try:
        resolve(target)
    except DpauditError:
        return False
    return True


def details(found: Finding, flaw: str | None, replay: str | None) -> str:
    """Return the counterexample, the nearest known flaw and the line that replays it."""
    from rich.console import Console

    lines: list[str] = []
    if found.witness is not None:
        text = StringIO()
        show_witness(Console(file=text, width=WIDTH, highlight=False, no_color=True), found.witness)
        lines += text.getvalue().strip("\n").splitlines()
    else:
        lines += [found.reason]
    lines += [f"Nearest known flaw: {flaw}"] if flaw else []
    lines += [f"Replay: {replay}"] if replay else []
    return "\n".join(lines)


def flaw_of(subject: Subject, options: Options, report: Report) -> str | None:
    """Return what the nearest known-wrong variant gets wrong, where a claim is refuted.

    The hint never hides a failure.
    """
    if not isinstance(subject, Declared) or refutation_of(report) is None:
        return None
    try:
        algorithm: Algorithm = subject.build(report.claim.horizon, options)
    except DpauditError:
        return None
    return nearest_flaw(algorithm, report.claim.epsilon) if report.claim.notion is None else None


def findings_text(report: Report) -> str:
    """Return one line per check: what it concludes and why; `details` follow a bare refutation."""
    return "\n".join(
        f"  {f.check:<10} {f.status:<8} {conclusion(f)}".rstrip()
        for f in report.findings
        if f.witness is not None or f.status is not Status.REFUTED
    )


def summary(report: Report, claim: str) -> str:
    """Return a claim in one line: verdict, name, what is known of epsilon."""
    inside, notion = report.bracket, report.claim.judged
    known = bounds(inside.lower, inside.upper, report.claim.horizon, inside.measure).rstrip(".")
    named = "epsilon=" in claim if notion.plain else "judged at" in claim
    stated = "" if named else f"  {notion}"
    reach = f"  up to {report.covered:,} of {report.claim.horizon:,} rounds" * report.partial
    return f"{report.verdict:<8} {claim}{stated}{reach}  {known}".rstrip()

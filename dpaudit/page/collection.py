"""`report --all`: judge everything, one page after the other; what is finished stays.

A subject's page and JSON are written as soon as it is judged, and the index after each, so that an
interruption leaves a directory that can be read and continued.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit.errors import Contradiction, DpauditError, InvalidArgument
from dpaudit.examination import Asked, examine
from dpaudit.judging import Report, as_json
from dpaudit.options import Options
from dpaudit.output import PAGE, plain, write_json, write_text
from dpaudit.page.algorithm import write
from dpaudit.page.gallery import GallerySubject, subjects
from dpaudit.page.index import LEDGER, IndexRow, index, ledger_page
from dpaudit.page.read import read
from dpaudit.process import Call, call, side_by_side

INDEX = "index.html"


@dataclass(frozen=True)
class Plan:
    """How to judge every subject: seconds for each, where to write, what to keep."""

    directory: Path
    budget: float
    horizon: int
    seed: int
    kept: bool
    jobs: int = 1


def judge(subject: GallerySubject, plan: Plan) -> Report:
    """Return the report on one subject with its details; raise KeyboardInterrupt on Ctrl-C."""
    saved = plan.directory / f"{subject.name}.json"
    if plan.kept and saved.exists():
        with suppress(InvalidArgument):  # another version's: judge again
            return read(saved)
    options = Options(
        subject.epsilon,
        {"arms": subject.arms},
        subject.horizon or plan.horizon,
        subject.exact_horizon,
        seed=plan.seed,
        # the figures of a declaration take as much again
        budget=plan.budget / (2 if subject.horizon is None else 1),
        runs=subject.runs,
    )
    found = examine(subject.target, Asked(subject.target, options, command=_command(subject, plan)))
    if found.report.interrupted:
        raise KeyboardInterrupt
    return found.report


def _command(subject: GallerySubject, plan: Plan) -> str:
    """Return the command line that judges the subject alone."""
    words = ["python", "-m", "dpaudit", "check", subject.target]
    shown = {
        "epsilon": subject.epsilon and f"{subject.epsilon:g}",
        "arms": subject.arms if subject.arms != 2 else None,
        "horizon": subject.horizon or plan.horizon,
        "exact-horizon": subject.exact_horizon,
        "runs": subject.runs,
        "seed": plan.seed or None,
    }
    for name, value in shown.items():
        words += [] if value is None else [f"--{name}", str(value)]
    return shlex.join(words)


def collect(
    chosen: Sequence[GallerySubject],
    plan: Plan,
    ledger: Callable[[], Sequence[dict[str, Any]]] | None,
    advance: Callable[..., Any] = lambda amount=1, note="": None,
) -> tuple[list[IndexRow], bool]:
    """Judge every subject, write the pages, the ledger and the index.

    Return the rows and whether it was interrupted.
    """
    prepare(plan.directory)
    rows: list[IndexRow] = []
    counts: dict[str, int] | None = None

    def write_index() -> None:
        waiting = len(chosen) - len(rows)
        write_text(plan.directory / INDEX, index(rows, waiting, counts), PAGE)

    try:
        work = partial(_row, plan=plan)
        for row in side_by_side(work, chosen, plan.jobs, lambda it: advance(0, it.name)):
            rows.append(row)
            write_index()
            advance(1, row.subject.name)
        if ledger is not None:
            advance(0, "proof ledger")
            counts = write_ledger(ledger(), plan.directory)
            advance(1, "proof ledger")
    except KeyboardInterrupt:
        write_index()
        return rows, True
    write_index()
    return rows, False


def _row(subject: GallerySubject, plan: Plan) -> IndexRow:
    try:
        report = judge(subject, plan) if plan.jobs == 1 else _elsewhere(subject, plan)
    except Contradiction:
        raise
    except DpauditError as error:
        return IndexRow(subject, None, str(error))
    write_json(as_json(report), str(plan.directory / f"{subject.name}.json"), "report")
    write(report, str(plan.directory / f"{subject.name}.html"), INDEX)
    return IndexRow(subject, report)


def _elsewhere(subject: GallerySubject, plan: Plan) -> Report:
    """Judge in another process, beside others."""
    import msgspec

    asked = {"name": subject.name, "plan": plain(replace(plan, jobs=1))}
    data = call(Call(subject.name, f"{__name__}:inside", asked, ("dpaudit.exact.horizons",)))
    return msgspec.convert(data, Report, strict=False)


def inside(tell: Callable[[str, Any], None], name: str, plan: dict[str, Any]) -> Report:
    """Judge one subject of the gallery."""
    import msgspec

    subject = next(it for it in subjects() if it.name == name)
    return judge(subject, msgspec.convert(plan, Plan, dec_hook=lambda kind, text: kind(text)))


def write_ledger(steps: Sequence[dict[str, Any]], directory: Path) -> dict[str, int]:
    """Write the page of the ledger and return how many steps ended in each outcome."""
    from dpaudit.claims.claim import OUTCOMES
    from dpaudit.claims.ledger import load_results

    write_text(directory / LEDGER, ledger_page(steps, load_results()), PAGE)
    return {kind: sum(step["outcome"] == kind for step in steps) for kind in OUTCOMES}


def prepare(directory: Path) -> None:
    """Make the directory, or say in one line why it cannot be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"cannot be made a directory: {error.strerror}."
        raise InvalidArgument("output", directory, rule) from None

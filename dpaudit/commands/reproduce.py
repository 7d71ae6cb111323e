"""Reproduce the experiments of Azize and Basu (2022).

Writes every picture as PNG and SVG with its numbers as CSV beside it, and statements.md: which
statements of the paper's experimental section reproduce and which do not. Finished panels are kept
when interrupted; a rerun with the same parameters continues.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpaudit.patience import add_yes, require_soon

if TYPE_CHECKING:
    from pathlib import Path

    from dpaudit.experiments.statements import Judgement

HELP = "regenerate the paper's experiments and judge its statements about them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("experiment", choices=("comparison", "regimes", "alpha", "all"))
    add("--out", required=True, metavar="DIR", help="folder for pictures and numbers")
    add("--horizon", default="1e7", metavar="T", help="rounds of a run (default 1e7)")
    add("--runs", default="20", metavar="N", help="runs of every simulation (default 20)")
    add("--seed", default="0", metavar="S", help="seed (default 0)")
    add("--jobs", metavar="J", help="processes (default: one per processor)")
    add_yes(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Run the missing panels, draw all of them, judge the statements."""
    import os
    import time

    from dpaudit.errors import InvalidArgument, require_integer
    from dpaudit.experiments import figures, panels, statements
    from dpaudit.output import progress, write_text
    from dpaudit.parsing import integer

    horizon, runs = integer("horizon", arguments.horizon), integer("runs", arguments.runs)
    seed = integer("seed", arguments.seed)
    jobs = integer("jobs", arguments.jobs) if arguments.jobs else os.cpu_count() or 1
    require_integer("runs", runs, 1)
    require_integer("seed", seed, 0)
    require_integer("jobs", jobs, 1)
    if not 10 <= horizon <= 2**53:
        raise InvalidArgument("horizon", horizon, "must be between 10 and 2^53.")
    chosen = list(panels.EXPERIMENTS) if arguments.experiment == "all" else [arguments.experiment]
    folder = _folder(arguments.out)
    todo = [panel for name in chosen for panel in panels.EXPERIMENTS[name](horizon, runs, seed)]
    started = time.perf_counter()
    found = {panel.name: panels.kept(panel, folder) for panel in todo}
    records = {name: record for name, record in found.items() if record is not None}
    missing = [panel for panel in todo if panel.name not in records]
    if not arguments.yes:
        require_soon(sum(panels.expected(panel, jobs) for panel in missing))
    total = sum(panel.runs * len(panel.cells) for panel in missing)
    try:
        with progress("reproduce", total=total) as advance:
            for panel in missing:
                record = panels.run(panel, jobs, advance)
                figures.draw(panel, record, folder)
                panels.keep(panel, record, folder)  # last, so that a record means finished
                records[panel.name] = record
    except KeyboardInterrupt:
        if not records:
            raise
        done = f"{len(records)} of {len(todo)} panels are finished and kept in {folder}"
        raise KeyboardInterrupt(done) from None
    for environment in panels.ENVIRONMENTS if "comparison" in chosen else ():
        four = [it for it in todo if it.name.startswith(f"comparison_{environment}_")]
        figures.draw_together(environment, four, records, folder)
    judgements = [item for name in chosen for item in statements.JUDGES[name](records)]
    label = "statements" if arguments.experiment == "all" else f"statements_{chosen[0]}"
    settings = f"Horizon {horizon:,}, {runs} runs, seed {seed}.\n\n"
    write_text(folder / f"{label}.md", settings + statements.markdown(judgements), "| statement |")
    _print(judgements)
    drawn = f"{len(todo)} panel{'s' * (len(todo) != 1)}"
    print(f"{drawn} in {folder} after {time.perf_counter() - started:,.0f} s")
    return 0


def _folder(text: str) -> Path:
    import os
    from pathlib import Path

    from dpaudit.errors import InvalidArgument

    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgument("out", text, f"cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise InvalidArgument("out", text, "cannot be written: permission denied.")
    return folder


def _print(judgements: list[Judgement]) -> None:
    from rich.table import Table

    from dpaudit import report

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 1, 0))
    for heading in ("verdict", "statement", "numbers"):
        table.add_column(heading)
    for judgement in judgements:
        table.add_row(judgement.verdict, judgement.statement, judgement.evidence)
    report.console(quiet=False).print(table)

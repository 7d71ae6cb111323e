"""The gate: every locked claim judged again and compared, one result each.

A claim that got weaker without being refuted is searched once more beyond its locked small horizon,
because a reader wants a counterexample and not only a missing proof.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.errors import Contradiction, DpauditError
from dpaudit.examination import Asked, apart
from dpaudit.formats.result import ClaimResult, Problem, ProblemRule
from dpaudit.gate.compare import STRENGTH, problems
from dpaudit.gate.conforming import Conforming
from dpaudit.gate.conforming import result as compared
from dpaudit.gate.lock import LockedClaim, options_of
from dpaudit.judging import Report
from dpaudit.process import side_by_side
from dpaudit.sources import engine_digest
from dpaudit.symbolic.run import CodeLine
from dpaudit.verdict import Status

SPARE = 2  # times the locked seconds, for a proof that may reach fewer rounds where time is scarce


@dataclass(frozen=True)
class Gate:
    """Where files are looked for and counterexamples go; another seed or budget, if any."""

    root: Path
    folder: Path
    seed: int | None = None
    budget: float | None = None
    lock: Path | None = None

    def results(
        self,
        entries: Sequence[LockedClaim | Conforming],
        begun: Callable[[str], Any] = lambda claim: None,
        jobs: int = 1,
    ) -> Iterator[ClaimResult]:
        """Yield the result of every claim; raise KeyboardInterrupt if a check was interrupted."""
        yield from side_by_side(self.result, entries, jobs, lambda entry: begun(entry.claim))

    def result(self, entry: LockedClaim | Conforming) -> ClaimResult:
        """Judge one claim again, in a process of its own, and compare."""
        if isinstance(entry, Conforming):
            return compared(entry, self.root, self._lock_place(entry.claim))
        start = time.monotonic()
        options = options_of(entry)
        options = replace(
            options,
            seed=options.seed if self.seed is None else self.seed,
            budget=_seconds(entry) if self.budget is None else self.budget,
        )
        least = STRENGTH[entry.verdict]
        enough = [str(it) for it in Status if STRENGTH[it] >= least > STRENGTH[Status.REFUTED]]
        asked = Asked(
            entry.target,
            options,
            fixed=True,
            enough=tuple(enough),
            root=str(self.root),
            declared=entry.options.runs is None,
        )
        try:
            judged = apart(asked)
        except Contradiction:
            raise
        except DpauditError as error:
            return ClaimResult(
                entry.claim,
                entry.target,
                None,
                (Problem(ProblemRule.VANISHED, f"cannot be judged any more: {error}"),),
                entry.verdict,
                place=self._lock_place(entry.claim),
                seconds=time.monotonic() - start,
            )
        details, replay = replace(judged, claim=entry.claim).explained(self.folder)
        return ClaimResult(
            entry.claim,
            entry.target,
            judged.report,
            tuple(problems(entry, judged.report, judged.sources.files)),
            entry.verdict,
            _notes(entry, judged.report, judged.sources.packages),
            details,
            replay,
            judged.place or self._lock_place(entry.claim),
            time.monotonic() - start,
        )

    def _lock_place(self, claim: str) -> CodeLine | None:
        """Return the line of the lock that names a claim, for targets without a file here."""
        if self.lock is None:
            return None
        lines = self.lock.read_text(encoding="utf-8").splitlines()
        at = [n for n, line in enumerate(lines, 1) if f'"claim": "{claim}"' in line]
        return CodeLine(os.path.relpath(self.lock), at[0] if at else 1)


def _seconds(entry: LockedClaim) -> float:
    """Return the budget of a claim: more than locked where the end of its time decided."""
    late = entry.verdict is Status.PROVED and entry.covered < entry.options.horizon
    return float(entry.options.budget) * (SPARE if late else 1)


def _notes(entry: LockedClaim, report: Report, packages: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    if entry.verdict is Status.REFUTED:
        notes.append("was locked as REFUTED; the reason is in the history of the lock")
    if STRENGTH[report.verdict] > STRENGTH[entry.verdict]:
        notes.append(
            f"stronger than locked ({entry.verdict}); keep it with `dpaudit lock --update`"
        )
    if entry.versions.get("engine") != engine_digest()[:16]:
        version = entry.versions.get("dpaudit", "?")
        notes.append(f"locked with another engine (dpaudit {version})")
    for name, locked in entry.packages.items():
        if packages.get(name) != locked:
            notes.append(f"locked with {name} {locked}, judged with {packages.get(name, 'none')}")
    return tuple(notes)

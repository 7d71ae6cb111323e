"""The gate: every locked claim judged again and compared, one result each.

A claim that got weaker without being refuted is searched once more beyond its locked small horizon,
because a reader wants a counterexample and not only a missing proof.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.check import Report
from dpaudit.errors import Contradiction, DpauditError
from dpaudit.gate import message
from dpaudit.gate.compare import STRENGTH, problems
from dpaudit.gate.lock import Entry, options_of
from dpaudit.gate.naming import locked_subject
from dpaudit.gate.places import Place, place_of
from dpaudit.gate.result import Problem, Result, Rule
from dpaudit.gate.subject import Judged, Options, Subject, searched
from dpaudit.sources import engine_digest, sources_of
from dpaudit.verdict import Status


@dataclass(frozen=True)
class Gate:
    """Where files are looked for and counterexamples go; another seed or budget, if any."""

    root: Path
    folder: Path
    seed: int | None = None
    budget: float | None = None
    lock: Path | None = None

    def results(
        self, entries: list[Entry], begun: Callable[[str], Any] = lambda claim: None
    ) -> Iterator[Result]:
        """Yield the result of every claim; raise KeyboardInterrupt if a check was interrupted."""
        for entry in entries:
            begun(entry.claim)
            yield self.result(entry)

    def result(self, entry: Entry) -> Result:
        """Judge one claim again and compare."""
        start = time.monotonic()
        options = options_of(entry)
        options = replace(
            options,
            seed=options.seed if self.seed is None else self.seed,
            budget=options.budget if self.budget is None else self.budget,
        )
        try:
            subject = locked_subject(entry, self.root)
            judged = subject.judge(options)
            sources = sources_of(subject.text, subject.source, self.root)
        except Contradiction:
            raise
        except DpauditError as error:
            return Result(
                entry.claim,
                entry.target,
                None,
                (Problem(Rule.VANISHED, f"cannot be judged any more: {error}"),),
                entry.verdict,
                place=self._lock_place(entry.claim),
                seconds=time.monotonic() - start,
            )
        weaker = STRENGTH[judged.report.verdict] < STRENGTH[entry.verdict]
        if weaker or entry.verdict is Status.REFUTED:
            judged = searched(subject, options, judged)
        found = problems(entry, judged.report, sources.files)
        result = explained(subject, options, judged, entry.claim, self.folder)
        return replace(
            result,
            target=entry.target,
            problems=tuple(found),
            locked=entry.verdict,
            notes=_notes(entry, judged.report, sources.packages),
            place=place_of(subject.text, subject.source) or self._lock_place(entry.claim),
            seconds=time.monotonic() - start,
        )

    def _lock_place(self, claim: str) -> Place | None:
        """Return the line of the lock that names a claim, for targets without a file here."""
        if self.lock is None:
            return None
        lines = self.lock.read_text(encoding="utf-8").splitlines()
        at = [n for n, line in enumerate(lines, 1) if f'"claim": "{claim}"' in line]
        return Place(os.path.relpath(self.lock), at[0] if at else 1)


def explained(
    subject: Subject, options: Options, judged: Judged, claim: str, folder: Path
) -> Result:
    """Return a result with the counterexample saved and shown, and no problems yet."""
    report = judged.report
    found = message.refutation_of(report)
    replay, details = None, ""
    if found is not None:
        saved = message.save(judged, claim, folder)
        replay = message.replay_line(judged, options, saved)
        flaw = message.flaw_of(subject, options, report)
        details = message.details(found, flaw, replay)
    return Result(claim, subject.text, report, details=details, replay=replay)


def _notes(entry: Entry, report: Report, packages: Mapping[str, str]) -> tuple[str, ...]:
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

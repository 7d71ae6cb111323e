"""Writing a lock: new claims, old claims judged again, and reasons for what got weaker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import Contradiction, DpauditError, InvalidArgument
from dpaudit.examination import Asked, Examined, apart
from dpaudit.gate.compare import lowered, weakened
from dpaudit.gate.conforming import Conforming, locked
from dpaudit.gate.lock import Lock, LockedClaim, LockError, Reason, entry_of, options_of, sizes_of
from dpaudit.judging import Report
from dpaudit.options import Options
from dpaudit.process import side_by_side
from dpaudit.subject.kinds import claim_id
from dpaudit.verdict import Status

Heard = Callable[[str, Report], Any]


class Weaker(LockError):
    """A change that weakens a claim and comes without a reason; exit code 1 if it is refuted."""

    def __init__(self, path: Path, claim: str, changes: Sequence[str], exit_code: int) -> None:
        rule = f"would get weaker: '{claim}': {'; '.join(changes)}. Give --reason TEXT."
        super().__init__(path, rule)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Writer:
    """A lock in the making; every method returns the next one and leaves the file alone."""

    path: Path
    lock: Lock
    reason: str | None = None
    begun: Callable[[str], Any] = lambda claim: None
    heard: Heard = lambda claim, report: None
    told: Callable[[list[str]], Any] = lambda lines: None
    """Who is told what a comparison of code with a declaration says."""
    jobs: int = 1

    @property
    def root(self) -> Path:
        """Where targets in files are looked for."""
        return self.path.resolve().parent

    def added(self, targets: Sequence[str], options: Options) -> Writer:
        """Judge and add claims that are not locked yet."""
        for target in targets:
            claim = claim_id(target, options.given, options.epsilon, options.stated)
            if self.lock.entry(claim) is not None or targets.count(target) > 1:
                rule = "is locked already; judge it again with `dpaudit lock --update`."
                raise InvalidArgument("claim", f"'{claim}'", rule)
        writer = self

        def work(target: str) -> Examined:
            return apart(Asked(target, options, fixed=True, root=str(self.root)))

        names = [
            claim_id(target, options.given, options.epsilon, options.stated) for target in targets
        ]
        pending = iter(names)
        found = side_by_side(work, targets, self.jobs, lambda target: self.begun(next(pending)))
        for claim, target, judged in zip(names, targets, found, strict=True):
            report, refuted = judged.report, judged.report.verdict is Status.REFUTED
            self.heard(claim, report)
            change = f"locked although REFUTED at {report.claim.judged}"
            entry = entry_of(claim, target, judged.options, report, judged.sources)
            writer = writer._with(entry, [change] if refuted else [], refuted)
        return writer

    def updated(self, entries: Sequence[LockedClaim], overrides: Mapping[str, Any]) -> Writer:
        """Judge locked claims again; their options stay unless overridden."""
        writer = self
        work = partial(self._again, overrides=overrides)
        found = side_by_side(work, entries, self.jobs, lambda entry: self.begun(entry.claim))
        for entry, (judged, refuted) in zip(entries, found, strict=True):
            report = judged.report
            self.heard(entry.claim, report)
            new = entry_of(entry.claim, entry.target, judged.options, report, judged.sources)
            changes = [problem.message.rstrip(".") for problem in weakened(entry, report)]
            changes += lowered(entry.options, new.options)
            if refuted and report.verdict is not Status.REFUTED:
                changes.insert(0, "REFUTED with the options that are locked")
            writer = writer._with(new, changes, refuted)
        return writer

    def _again(self, entry: LockedClaim, overrides: Mapping[str, Any]) -> tuple[Examined, bool]:
        """Judge a locked claim again; tell whether it is refuted, also with its old options."""
        before = options_of(entry)
        declared = entry.options.runs is None
        asked = Asked(entry.target, fixed=True, root=str(self.root), declared=declared)
        try:
            judged = apart(replace(asked, options=replace(before, **overrides)))
            refuted = judged.report.verdict is Status.REFUTED
            if not refuted and sizes_of(judged.options) != entry.options:
                # other options may miss what the locked ones find
                again = apart(replace(asked, options=before))
                refuted = again.report.verdict is Status.REFUTED
        except (Contradiction, LockError):
            raise
        except DpauditError as error:
            rule = (
                f"'{entry.claim}' cannot be judged any more: {' '.join(str(error).split())} "
                "Drop it with `dpaudit lock --remove CLAIM --reason TEXT`."
            )
            raise LockError(self.path, rule) from None
        return judged, refuted

    def conformed(self, items: Sequence[Conforming]) -> Writer:
        """Compare code with declarations, again or for the first time; all must conform."""
        new = []
        for item in items:
            self.begun(item.claim)
            new.append(locked(item, self.root, self.told))
        names = {item.claim for item in items}
        others = [it for it in self.lock.conforming if it.claim not in names]
        return self._changed(conforming=[*others, *new])

    def removed(self, claim: str) -> Writer:
        """Drop a claim."""
        if any(it.claim == claim for it in self.lock.conforming):
            kept = self._reasoned(claim, ["conformance removed"])
            left = [it for it in self.lock.conforming if it.claim != claim]
            return self._changed(conforming=left, history=kept)
        entry = self.lock.entry(claim)
        if entry is None:
            known = ", ".join(repr(it.claim) for it in self.lock.everything) or "(none)"
            raise InvalidArgument("remove", f"'{claim}'", f"is not locked; locked are {known}.")
        kept = self._reasoned(claim, [f"{entry.verdict} claim removed"])
        claims = [it for it in self.lock.claims if it.claim != claim]
        return self._changed(claims=claims, history=kept)

    def _with(self, entry: LockedClaim, changes: Sequence[str], refuted: bool) -> Writer:
        code = 1 if refuted else LockError.exit_code
        history = self._reasoned(entry.claim, changes, code)
        others = [it for it in self.lock.claims if it.claim != entry.claim]
        return self._changed(claims=[*others, entry], history=history)

    def _changed(self, **parts: Any) -> Writer:
        return replace(self, lock=msgspec.structs.replace(self.lock, **parts))

    def _reasoned(
        self, claim: str, changes: Sequence[str], exit_code: int = LockError.exit_code
    ) -> list[Reason]:
        if not changes:
            return self.lock.history
        if not self.reason:
            raise Weaker(self.path, claim, changes, exit_code)
        return [*self.lock.history, Reason(claim, "; ".join(changes), self.reason)]

"""Writing a lock: new claims, old claims judged again, and reasons for what got weaker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.check import Report
from dpaudit.errors import Contradiction, DpauditError, InvalidArgument
from dpaudit.gate.compare import lowered, weakened
from dpaudit.gate.lock import Entry, Lock, LockError, Reason, entry_of, options_of
from dpaudit.gate.naming import locked_subject, subject_of
from dpaudit.gate.subject import Options, Subject, claim_id, searched
from dpaudit.sources import sources_of
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

    @property
    def root(self) -> Path:
        """Where targets in files are looked for."""
        return self.path.resolve().parent

    def added(self, target: str, options: Options) -> Writer:
        """Judge and add a claim that is not locked yet."""
        claim = claim_id(target, options.given, options.epsilon)
        if self.lock.entry(claim) is not None:
            rule = "is locked already; judge it again with `dpaudit lock --update`."
            raise InvalidArgument("claim", f"'{claim}'", rule)
        entry, report = self._judged(claim, target, subject_of(target, self.root), options)
        refuted = report.verdict is Status.REFUTED
        change = f"locked although REFUTED at epsilon = {report.claim.epsilon:g}"
        return self._with(entry, [change] if refuted else [], refuted)

    def updated(self, entry: Entry, overrides: Mapping[str, Any]) -> Writer:
        """Judge a locked claim again; its options stay unless overridden."""
        before = options_of(entry)
        try:
            subject = locked_subject(entry, self.root)
            options = replace(before, **overrides)
            new, report = self._judged(entry.claim, entry.target, subject, options)
            refuted = report.verdict is Status.REFUTED
            if not refuted and new.options != entry.options:
                # other options may miss what the locked ones find
                again = searched(subject, before, subject.judge(before)).report
                refuted = again.verdict is Status.REFUTED
        except (Contradiction, LockError):
            raise
        except DpauditError as error:
            rule = (
                f"'{entry.claim}' cannot be judged any more: {' '.join(str(error).split())} "
                "Drop it with `dpaudit lock --remove CLAIM --reason TEXT`."
            )
            raise LockError(self.path, rule) from None
        changes = [problem.message.rstrip(".") for problem in weakened(entry, report)]
        changes += lowered(entry.options, new.options)
        if refuted and report.verdict is not Status.REFUTED:
            changes.insert(0, "REFUTED with the options that are locked")
        return self._with(new, changes, refuted)

    def removed(self, claim: str) -> Writer:
        """Drop a claim."""
        entry = self.lock.entry(claim)
        if entry is None:
            known = ", ".join(repr(it.claim) for it in self.lock.claims) or "(none)"
            raise InvalidArgument("remove", f"'{claim}'", f"is not locked; locked are {known}.")
        kept = self._reasoned(claim, [f"{entry.verdict} claim removed"])
        left = [it for it in self.lock.claims if it.claim != claim]
        return replace(self, lock=Lock(left, kept))

    def _judged(
        self, claim: str, target: str, subject: Subject, options: Options
    ) -> tuple[Entry, Report]:
        self.begun(claim)
        sized = subject.sizes(options)
        report = searched(subject, sized, subject.judge(sized)).report
        self.heard(claim, report)
        sources = sources_of(subject.text, subject.source, self.root)
        return entry_of(claim, target, sized, report, sources), report

    def _with(self, entry: Entry, changes: Sequence[str], refuted: bool) -> Writer:
        code = 1 if refuted else LockError.exit_code
        history = self._reasoned(entry.claim, changes, code)
        others = [it for it in self.lock.claims if it.claim != entry.claim]
        return replace(self, lock=Lock([*others, entry], history))

    def _reasoned(
        self, claim: str, changes: Sequence[str], exit_code: int = LockError.exit_code
    ) -> list[Reason]:
        if not changes:
            return self.lock.history
        if not self.reason:
            raise Weaker(self.path, claim, changes, exit_code)
        return [*self.lock.history, Reason(claim, "; ".join(changes), self.reason)]

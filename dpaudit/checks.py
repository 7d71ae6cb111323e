"""The checks of one claim, one after the other: whatever happens in one of them is a finding."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpaudit.deadline import Expired, deadline
from dpaudit.errors import BadDeclaration, Contradiction, InvalidArgument, Unsupported
from dpaudit.target import said
from dpaudit.verdict import Finding, Status

PATIENCE = 1.0  # seconds beyond its share until a check that does not look at the clock is stopped


@dataclass
class Checks:
    """What the checks of a target have found so far, and the first error that ended one."""

    target: str
    arms: int
    heard: Callable[[Finding], Any]
    findings: list[Finding] = field(default_factory=list)
    failure: str = ""
    broken: bool = False
    """Whether the declaration breaks its contract."""
    interrupted: bool = False

    def take(
        self,
        name: str,
        check: Callable[[float], list[Finding]],
        share: float,
        moment: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Give a check its share of the time; it is stopped with `PATIENCE` after a moment.

        A check that fails is silent; Ctrl-C keeps what an exception brings along.
        """
        start = time.monotonic()
        try:
            with deadline(moment + PATIENCE, clock):
                found = check(share)
        except KeyboardInterrupt as stop:
            self.interrupted, found = True, getattr(stop, "findings", [])
        except Contradiction:
            raise
        except BaseException as error:
            reason, spent = self.reason(name, error), time.monotonic() - start
            found = [Finding(name, Status.SILENT, reason, arms=self.arms, seconds=spent)]
        for finding in found:
            self.findings.append(finding)
            self.heard(finding)

    def reason(self, name: str, error: BaseException) -> str:
        """Return why a check that an error has ended is silent; what failed is written down."""
        if isinstance(error, Expired):
            return "The budget ended before it had an answer."
        if isinstance(error, InvalidArgument | Unsupported):
            return str(error)
        if isinstance(error, BadDeclaration):
            self.failure, self.broken = str(error), True
            return f"The declaration is broken. {error}"
        why = f"{said(error)}{place_of(error)}"
        self.failure = self.failure or f"TARGET={self.target} failed in {name}: {why}"
        return f"It failed: {why}"


def place_of(error: BaseException) -> str:
    """Return where an error was raised: the last line outside of installed packages."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [it for it in frames if "-packages" not in it.filename and it.filename[:1] != "<"]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""

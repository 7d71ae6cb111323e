"""Findings, witnesses, and the one verdict they combine into.

A finding is what one check may conclude, with its meaning fixed:

| status  | who may say it   | meaning                                                             |
|---------|------------------|---------------------------------------------------------------------|
| PROVED  | structure        | epsilon is respected by every transcript up to the stated horizon   |
| HOLDS   | exact            | respected by every action sequence and every pair at this size      |
| REFUTED | exact, sample    | violated; exact brings a witness, sample an error probability       |
| SILENT  | any              | nothing concluded; `reason` says why and how far the check got      |

Precedence: REFUTED, PROVED, HOLDS, SILENT. Proved and refuted at once is a bug in dpaudit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dpaudit.errors import Contradiction


class Status(StrEnum):
    """What a check, or the whole audit, concludes."""

    PROVED = "PROVED"
    HOLDS = "HOLDS"
    SILENT = "SILENT"
    REFUTED = "REFUTED"


EXIT_CODES = {Status.PROVED: 0, Status.HOLDS: 0, Status.REFUTED: 1, Status.SILENT: 3}


@dataclass(frozen=True)
class Enclosure:
    """An interval that contains the truth: with outward rounding if certified, else as measured."""

    lower: float
    upper: float
    certified: bool

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ValueError(f"an enclosure needs lower <= upper, got [{self.lower}, {self.upper}]")

    @property
    def width(self) -> float:
        """upper - lower (0 where both are the same infinity)."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower


@dataclass(frozen=True)
class Witness:
    """A pair of neighbouring streams and an action sequence that violate the claim."""

    target: str
    parameters: dict[str, float | int | str]
    actions: tuple[int, ...]
    stream: tuple[float, ...]
    neighbour: tuple[float, ...]
    position: int
    likelihood: Enclosure
    likelihood_neighbour: Enclosure
    loss: Enclosure
    epsilon: float


@dataclass(frozen=True)
class Course:
    """How an audit's evidence against one hypothesis grew over fresh runs, in logarithms.

    `evidence` is the e-process after so many `rounds` (a run on each stream); reaching `needed`
    refutes the claim. `lower` is the bound on epsilon by then.
    """

    hypothesis: str
    needed: float
    rounds: tuple[int, ...]
    evidence: tuple[float, ...]
    lower: tuple[float, ...]


@dataclass(frozen=True)
class Finding:
    """What one check concludes about a claim, and what it does not cover."""

    check: str
    status: Status
    reason: str
    epsilon_lower: float = 0.0
    epsilon_upper: float = float("inf")
    certified: bool = False
    arms: int = 0
    horizon: int = 0
    streams: str = ""
    witness: Witness | None = None
    error: float | None = None
    overcharged: bool = False  # structure met a reward that is charged more than the claim
    seconds: float = 0.0
    courses: tuple[Course, ...] = ()


def combine(findings: Sequence[Finding]) -> Status:
    """Return the verdict of all findings; raise `Contradiction` where they cannot all be right."""
    statuses = {finding.status for finding in findings}
    refuted = [f for f in findings if f.status is Status.REFUTED]
    proved = [f for f in findings if f.status is Status.PROVED]
    for bad in refuted:
        for good in proved:
            if good.horizon >= bad.horizon:
                raise Contradiction(
                    f"{good.check} proved and {bad.check} refuted the same claim: "
                    f"a bug in dpaudit, please report it. {good.reason} / {bad.reason}"
                )
    for status in (Status.REFUTED, Status.PROVED, Status.HOLDS):
        if status in statuses:
            return status
    return Status.SILENT

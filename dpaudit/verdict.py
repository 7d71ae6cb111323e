"""Findings, witnesses, and the one verdict they combine into.

A finding is what one check may conclude, with its meaning fixed:

| status  | who may say it   | meaning                                                             |
|---------|------------------|---------------------------------------------------------------------|
| PROVED  | structure, code  | epsilon is respected by every transcript up to the horizon          |
| HOLDS   | exact            | respected by every action sequence and every pair of that length    |
| REFUTED | exact, sample    | violated; exact brings a witness, sample an error probability       |
| SILENT  | any              | nothing concluded; `reason` says why and how far the check got      |

A finding speaks of one instance. Where an algorithm is built for a horizon, the instance of
another horizon is another algorithm: `instance` names it, and what is found of it says nothing of
the claimed one.

Precedence: REFUTED, then what covers most rounds, PROVED before HOLDS. Proved and refuted at once
is a bug in dpaudit. The exit code is 0 only where the claimed instance and horizon are covered.
"""

from __future__ import annotations

import math
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


UNDECIDED = 3


def exit_code(status: Status, covered: int, horizon: int) -> int:
    """Return 1 for a refutation, 0 where `covered` rounds reach the claimed horizon, else 3."""
    if status is Status.REFUTED:
        return 1
    concluded = status in (Status.PROVED, Status.HOLDS)
    return 0 if concluded and covered >= horizon else UNDECIDED


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

    def meets(self, other: Enclosure) -> bool:
        """Tell whether both may contain the same number."""
        return self.lower <= other.upper and other.lower <= self.upper


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

    @property
    def violates(self) -> bool:
        """Whether the whole enclosure of the loss lies above epsilon, or is infinite."""
        return self.loss.lower > self.epsilon or self.loss.lower == math.inf


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
class Program:
    """What is proved of a program that runs, rounding included: it is (epsilon, delta)-DP.

    Where `epsilon` is None it has all that is proved of the declaration, whatever the notion.
    `name` says which program, `assumes` under which assumptions.
    """

    name: str
    epsilon: float | None
    delta: float
    assumes: str


@dataclass(frozen=True)
class Bracket:
    """What is known of a number other than epsilon: rho, mu, or the delta at an epsilon."""

    measure: str
    lower: float = 0.0
    upper: float = float("inf")
    certified: bool = False


ANY_REWARDS = "all streams of rewards of up to 1e9 in size"


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
    instance: int | None = None  # the horizon it was built for, if that is not the claimed one
    streams: str = ""
    witness: Witness | None = None
    error: float | None = None
    seconds: float = 0.0
    courses: tuple[Course, ...] = ()
    program: Program | None = None  # what a proof says of a program that runs
    rounding: str = ""  # why it says nothing, and what would help
    always: bool = False  # proved at every horizon, not only at this one
    bracket: Bracket | None = None
    """Where the claim is not pure epsilon for one reward: its number, in place of epsilon's."""


def combine(findings: Sequence[Finding], horizon: int) -> tuple[Status, int]:
    """Return the verdict on one instance and the rounds, of `horizon`, that it speaks of.

    Raise `Contradiction` where the findings cannot all be right.
    """
    refuted = [f for f in findings if f.status is Status.REFUTED and f.horizon <= horizon]
    proved = [f for f in findings if f.status is Status.PROVED]
    for bad in refuted:
        for good in proved:
            if good.horizon >= bad.horizon:
                raise Contradiction(
                    f"{good.check} proved and {bad.check} refuted the same claim: "
                    f"a bug in dpaudit, please report it. {good.reason} / {bad.reason}"
                )
    if refuted:
        return Status.REFUTED, min(f.horizon for f in refuted)
    held = [f for f in findings if f.status is Status.HOLDS]
    best = max((*proved, *held), key=lambda f: min(f.horizon, horizon), default=None)
    return (Status.SILENT, 0) if best is None else (best.status, min(best.horizon, horizon))

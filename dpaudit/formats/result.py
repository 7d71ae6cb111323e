"""The outcome of a gate for one claim: what was found, and the problems that turn it red.

A problem names a rule with a stable id, so that machines can count, hide and compare it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from dpaudit.judging import Report
from dpaudit.symbolic.run import CodeLine
from dpaudit.verdict import UNDECIDED, Status


class ProblemRule(Enum):
    """What can be wrong with a claim; ids never change their meaning."""

    REFUTED = (
        "DPA001",
        "ClaimRefuted",
        "A counterexample violates the privacy claim.",
        "Replay the counterexample, then mend the noise, the sensitivity or the claim.",
    )
    VERDICT = (
        "DPA002",
        "VerdictWeakened",
        "The verdict is weaker than the locked one.",
        "Mend the algorithm, or accept it with `dpaudit lock --update --reason TEXT`.",
    )
    UPPER = (
        "DPA003",
        "UpperBoundGrew",
        "The upper bound on epsilon is above the locked one.",
        "Mend the algorithm, or accept it with `dpaudit lock --update --reason TEXT`.",
    )
    LOWER = (
        "DPA004",
        "LowerBoundPassesClaim",
        "A lower bound on epsilon is above the claim.",
        "Look for a counterexample with `dpaudit check TARGET --budget 300`.",
    )
    SOURCE = (
        "DPA005",
        "SourceChanged",
        "The source changed and the lock was not updated.",
        "Run `dpaudit lock --update` and commit the lock with the change.",
    )
    VANISHED = (
        "DPA006",
        "TargetVanished",
        "The target of a locked claim cannot be judged.",
        "Restore the target, or drop it with `dpaudit lock --remove CLAIM --reason TEXT`.",
    )
    CLAIM = (
        "DPA007",
        "ClaimWeakened",
        "The algorithm claims less than was locked.",
        "Restore the claim, or accept it with `dpaudit lock --update --reason TEXT`.",
    )
    UNDECIDED = (
        "DPA008",
        "ClaimUndecided",
        "The claim is neither proved nor refuted.",
        "Give more with `--budget`, or declare the algorithm so that structure can prove it.",
    )
    CONFORMS = (
        "DPA009",
        "NoLongerConforms",
        "Code that was locked as conforming to a declaration is another algorithm now.",
        "Mend the code where it differs, or drop it with `dpaudit lock --remove CLAIM`.",
    )

    @property
    def id(self) -> str:
        """The stable id."""
        return self.value[0]

    @property
    def label(self) -> str:
        """The name in CamelCase."""
        return self.value[1]

    @property
    def text(self) -> str:
        """What it means, in a sentence."""
        return self.value[2]

    @property
    def remedy(self) -> str:
        """What to do about it, in a sentence."""
        return self.value[3]


@dataclass(frozen=True)
class Problem:
    """A rule that a claim breaks, and how, in one line."""

    rule: ProblemRule
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", " ".join(self.message.split()))


@dataclass(frozen=True)
class ClaimResult:
    """One claim: the verdict now, the one that was locked, and what is wrong."""

    claim: str
    target: str
    report: Report | None
    problems: tuple[Problem, ...] = ()
    locked: Status | None = None
    notes: tuple[str, ...] = ()
    details: str = ""
    replay: str | None = None
    place: CodeLine | None = None
    seconds: float = 0.0
    word: str = ""
    """What is said of a claim that is not one of privacy: CONFORMS, DIFFERS, SILENT."""

    @property
    def undecided(self) -> bool:
        """Whether a claim that could be proved is covered by nothing, as locked or not.

        Code may be such that nothing can be proved of it: then an audit's silence is all that there
        is to lock.
        """
        if self.report is None or self.report.exit_code in (0, 1):
            return False
        return self.report.partial or not self.report.code

    @property
    def verdict(self) -> str:
        """The verdict now; `NOT JUDGED` where the target could not be judged."""
        return self.word or (str(self.report.verdict) if self.report else "NOT JUDGED")

    @property
    def judged(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict != "NOT JUDGED"


def exit_code(results: Sequence[ClaimResult]) -> int:
    """Return 1 if a claim is refuted, 4 if anything else is wrong, 3 if one is open, else 0."""
    rules = {problem.rule for result in results for problem in result.problems}
    if ProblemRule.REFUTED in rules:
        return 1
    if rules:
        return 4
    return UNDECIDED if any(result.undecided for result in results) else 0

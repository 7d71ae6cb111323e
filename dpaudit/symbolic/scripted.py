"""Runs of code on symbols that follow a script: how the comparisons come out, then chance or zeros.

What happens is logged in its order: branches and plays. What a branch compared lies between it and
what follows, so that a comparison which decides the next arm belongs to the next round wherever the
code makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.symbolic.drivers import STYLES
from dpaudit.symbolic.run import Run, active
from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.values import Linear
from dpaudit.symbolic.walk import Subject

MOST_BRANCHES = 20_000  # of one path


@dataclass(frozen=True)
class Event:
    """A branch (by its number) or a play (by its round), and what had been compared before it."""

    kind: str
    number: int
    compared: int


class Scripted(Run):
    """A run that follows a script, and chance after it; without chance, the first outcomes."""

    def __init__(self, script: tuple[int, ...], rng: Any) -> None:
        super().__init__(prefix=script)
        self.rng = rng
        self.log: list[Event] = []

    def branch(self, outcomes: int, real: Any = None) -> int:
        """Return the outcome that the script says."""
        position = len(self.trace)
        if self.escaped is not None:
            raise self.escaped
        if position >= MOST_BRANCHES:
            raise self.escape(f"more than {MOST_BRANCHES} branches on rewards or noise in one run")
        chosen = 0 if self.rng is None else int(self.rng.integers(outcomes))
        if position < len(self.prefix):
            chosen = min(self.prefix[position], outcomes - 1)
        self.log.append(Event("branch", position, len(self.decided)))
        self.trace.append((chosen, outcomes))
        return chosen

    def row(self, round: int, shadow: float | None = None) -> int:
        """Return a new reward: its round has been played."""
        self.log.append(Event("play", round, len(self.decided)))
        return super().row(round, shadow)

    def compared(self, number: int) -> list[Any]:
        """Return what a branch compared, with the signs that are left."""
        at = next(k for k, it in enumerate(self.log) if it.kind == "branch" and it.number == number)
        stop = self.log[at + 1].compared if at + 1 < len(self.log) else len(self.decided)
        return self.decided[self.log[at].compared : stop]

    def before(self, round: int) -> list[Any]:
        """Return what was compared between two plays, before the one of a round."""
        plays = {it.number: it.compared for it in self.log if it.kind == "play"}
        return self.decided[plays.get(round - 1, 0) : plays[round]]


@dataclass
class PlayedPath:
    """One path of the code: its arms, and per round what was compared before the arm was played."""

    arms: list[int]
    decided: list[list[Any]]
    run: Scripted

    def script(self, rounds: int) -> tuple[int, ...]:
        """Return how the comparisons before the play of a round (from 1) came out."""
        log = self.run.log
        at = next(k for k, it in enumerate(log) if it.kind == "play" and it.number == rounds - 1)
        branches = sum(it.kind == "branch" for it in log[:at])
        return tuple(choice for choice, _ in self.run.trace[:branches])


@dataclass(frozen=True)
class Stage:
    """Code that can be run by scripts."""

    target: CodeTarget
    subject: Subject

    @classmethod
    def of(cls, target: CodeTarget) -> Stage:
        """Load the code."""
        return cls(target, subject_of(target))

    def played(
        self, script: tuple[int, ...], rng: Any, rounds: int, further: bool = True
    ) -> PlayedPath:
        """Run the code for some rounds; unless `further`, no more than the first one beyond."""
        run = Scripted(script, rng)
        run.files = self.subject.files
        arms: list[int] = []

        def reward(round: int) -> Any:
            return Linear(0, {run.row(round): 1}, {})

        with active(run):
            policy = self.subject.build()
            driver = self.subject.driver(policy)
            if driver is None:
                raise wrong_style(self.target.text, policy)
            driver.begin(policy, self.target.arms)
            memory: dict[str, Any] = {}
            for at in range(rounds):
                arms.append(driver.turn(policy, memory, self.target.arms, at, reward))
                if not further and len(run.trace) > len(script):
                    break
        self.subject.unchanged()
        if run.escaped is not None:
            raise run.escaped
        return PlayedPath(arms, [run.before(at) for at in range(len(arms))], run)


def wrong_style(text: str, policy: Any) -> InvalidArgument:
    """Return the error of an object that is not called round by round."""
    known = ", ".join("/".join(driver.methods) for driver in reversed(STYLES))
    kind = "function of the whole stream" if callable(policy) else type(policy).__name__
    rule = f"is a {kind}; only policies with one of {known} are compared."
    return InvalidArgument("TARGET", text, rule)

"""Phases of elimination, written once: play every survivor equally long, release, keep the best.

In phase e = 1, 2, ... every survivor is played for `phase_length(e, survivors)` rounds, the mean of
these rounds alone is released with `noise(e, survivors)`, and those within `width` of the largest
mean go on. A phase that the horizon cuts is never released. The last survivor is played alone.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Rows, State, Step
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.noise import Noise
from dpaudit.core.unchanged import unchanged


class Phase(NamedTuple):
    """Survivors of a phase, and how many of them have been played and released."""

    number: int
    survivors: tuple[int, ...]
    played: int = 0


class SurvivorPlayed(NamedTuple):
    """A survivor has been played; its rows are to be released."""

    phase: Phase
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class Phases(Algorithm):
    """Play every survivor, release, eliminate, repeat; what it asks of itself counts survivors."""

    @abstractmethod
    def phase_length(self, number: int, survivors: int) -> int:
        """Return the rounds of every survivor in a phase."""

    @abstractmethod
    def noise(self, number: int, survivors: int) -> Noise:
        """Return the noise on the mean of a survivor's rounds in a phase."""

    @abstractmethod
    def width(self, number: int, survivors: int, m: Arithmetic) -> Any:
        """Return how far below the largest noisy mean an arm may be to go on."""

    def alone(self, number: int) -> int:
        """Return the rounds for which the last survivor is played at a time."""
        return self.phase_length(number, 1)

    def start(self) -> State:
        """Return the first phase with every arm."""
        return Phase(1, tuple(range(self.arms)))

    def step(self, state: State) -> Step:
        """Play and release every survivor, then keep those near the best."""
        match state:
            case SurvivorPlayed(phase, rows):
                noise = self.noise(phase.number, len(phase.survivors))
                after = phase._replace(played=phase.played + 1)
                return Step(Release(rows.arm, rows, noise, divisor=len(rows)), lambda _: after)
            case Phase(number, (only,)):
                following = Phase(number + 1, (only,))
                return Step(Play(only, self.alone(number)), lambda _: following)
            case Phase(number, survivors, played) if played < len(survivors):
                rounds = self.phase_length(number, len(survivors))
                return Step(
                    Play(survivors[played], rounds), lambda rows: SurvivorPlayed(state, rows)
                )
            case Phase(number, survivors):
                registers = tuple((arm,) for arm in survivors)
                return Step(
                    Keep(survivors, registers, lambda m: self.width(number, len(survivors), m)),
                    lambda kept: Phase(number + 1, kept),
                )
        raise TypeError(f"not a state of {self.name}: {state!r}")


FRAME = ("start", "step")


def in_phases(algorithm: Algorithm) -> TypeGuard[Phases]:
    """Tell whether an algorithm runs in the frame of `Phases`, unchanged."""
    return isinstance(algorithm, Phases) and unchanged(algorithm, Phases, FRAME)

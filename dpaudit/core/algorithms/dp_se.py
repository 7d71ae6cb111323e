"""DP-SE (Sajed & Sheffet 2019): successive elimination on noisy epoch means; beta = 1 / T.

Epoch e = 1, 2, ... on survivors S, Delta_e = 2^-e: every survivor is pulled
R_e = ceil(1 + max(32 log(8 |S| e^2 / beta) / Delta_e^2,
8 log(4 |S| e^2 / beta) / (epsilon Delta_e)))
times; its mean over that epoch alone gets Laplace(1 / (epsilon R_e)). With
h_e = sqrt(log(8 |S| e^2 / beta) / (2 R_e)) and c_e = log(4 |S| e^2 / beta) / (epsilon R_e), arm j
goes when (largest mean) - (mean of j) > 2 h_e + 2 c_e. The last survivor is played to the end.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Rows, State, Step
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Laplace
from dpaudit.errors import InvalidArgument, require_positive


class Epoch(NamedTuple):
    """Survivors of an epoch, and how many of them have been played and released."""

    number: int
    survivors: tuple[int, ...]
    played: int = 0


class Released(NamedTuple):
    """A survivor has been played; its rows are to be released."""

    epoch: Epoch
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class DPSE(Algorithm):
    """Batched successive elimination; the horizon enters through beta."""

    epsilon: float = 1.0
    horizon: int
    beta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            require_positive("beta", self.beta)
            if self.beta > 1:
                raise InvalidArgument("beta", self.beta, "must be at most 1.")

    @property
    def failure(self) -> Fraction:
        """beta, or 1 / T where none was given."""
        return Fraction(1, self.horizon) if self.beta is None else exact(self.beta)

    def rounds(self, epoch: int, survivors: int) -> int:
        """Return R_e."""
        gap = 2.0**-epoch
        weight = float(survivors * epoch**2 / self.failure)
        wide = 32 * math.log(8 * weight) / gap**2
        private = 8 * math.log(4 * weight) / (self.epsilon * gap)
        return math.ceil(max(wide, private) + 1)

    def start(self) -> State:
        """Return the first epoch with every arm."""
        return Epoch(1, tuple(range(self.arms)))

    def step(self, state: State) -> Step:
        """Play and release every survivor, then keep those near the best."""
        match state:
            case Released(epoch, rows):
                noise = Laplace(1 / (exact(self.epsilon) * len(rows)))
                after = epoch._replace(played=epoch.played + 1)
                return Step(Release(rows.arm, rows, noise, divisor=len(rows)), lambda _: after)
            case Epoch(number, (only,)):
                return Step(Play(only, self.horizon), lambda _: state)
            case Epoch(number, survivors, played) if played < len(survivors):
                rounds = self.rounds(number, len(survivors))
                return Step(Play(survivors[played], rounds), lambda rows: Released(state, rows))
            case Epoch(number, survivors):
                registers = tuple((arm,) for arm in survivors)
                return Step(
                    Keep(survivors, registers, lambda m: self.width(number, len(survivors), m)),
                    lambda kept: Epoch(number + 1, kept),
                )
        raise TypeError(f"not a state of {self.name}: {state!r}")

    def width(self, epoch: int, survivors: int, m: Arithmetic) -> Any:
        """Return 2 h_e + 2 c_e."""
        rounds, weight = self.rounds(epoch, survivors), survivors * epoch**2 / self.failure
        hoeffding = m.sqrt(m.log(m.number(8 * weight)) / (2 * rounds))
        return 2 * hoeffding + 2 * m.log(m.number(4 * weight)) / (m.number(self.epsilon) * rounds)

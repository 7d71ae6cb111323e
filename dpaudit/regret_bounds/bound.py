"""A bound on regret as a value: the number, what it is about, and what it rests on.

| field      | meaning                                                                          |
|------------|----------------------------------------------------------------------------------|
| `side`     | lower: no private policy does better; upper: this algorithm does no worse        |
| `form`     | paper: as Azize and Basu (2022) print it; sharp: the best form established       |
| `scope`    | what the number may be compared with (below)                                     |
| `standing` | established; or not established, with the reason in `note`; or an order only     |
| `claims`   | labels in the ledger of `dpaudit prove`, or a reference                          |

Scopes. `asymptotic`: coefficient times log T; the theorem says liminf regret / log T >= coefficient
for policies that are consistent, so at one finite T a policy may lie below it and the meaningful
comparison is the trend of regret / log T. `minimax`: some instance of the class is this bad, not
necessarily the one at hand. `finite`: holds for the expected regret at this T on this instance.
`order`: no constant is claimed; the number is the formula with constant 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.regret_bounds.finite import Finite
from dpaudit.regret_bounds.laws import BernoulliLaw, RewardLaw


class BoundSide(StrEnum):
    """Which way a bound points."""

    LOWER = "lower"
    UPPER = "upper"


class BoundForm(StrEnum):
    """Whose statement it is."""

    PAPER = "paper"
    SHARP = "sharp"


class Scope(StrEnum):
    """What the number may be compared with."""

    ASYMPTOTIC = "asymptotic"
    MINIMAX = "minimax"
    FINITE = "finite"
    ORDER = "order"


class BoundStanding(StrEnum):
    """Whether a proof supports the number."""

    ESTABLISHED = "established"
    NOT_ESTABLISHED = "not established"
    ORDER_ONLY = "order only"


@dataclass(frozen=True)
class RegretBound:
    """One bound on the regret at a horizon; of every private policy where no algorithm is named."""

    name: str
    side: BoundSide
    form: BoundForm
    scope: Scope
    value: float
    claims: tuple[str, ...]
    standing: BoundStanding = BoundStanding.ESTABLISHED
    note: str = ""
    algorithm: str = ""
    details: dict[str, Any] | None = None


PAPER, SHARP = BoundForm


def lower_bound(
    name: str, form: BoundForm, scope: Scope, value: float, claims: str, note: str = "", **more: Any
) -> RegretBound:
    """Return a bound that no private policy is below; its claims are separated by commas."""
    based = tuple(claims.split(", "))
    return RegretBound(name, BoundSide.LOWER, form, scope, value, based, note=note, **more)


def upper_bound(
    algorithm: str, name: str, form: BoundForm, value: float, claims: str, note: str = ""
) -> RegretBound:
    """Return a bound that an algorithm is not above; its claims are separated by commas."""
    about = name, BoundSide.UPPER, form, Scope.FINITE, value, tuple(claims.split(", "))
    return RegretBound(*about, note=note, algorithm=algorithm)


@dataclass(frozen=True)
class Instance:
    """A stochastic bandit: one reward law per arm."""

    laws: tuple[RewardLaw, ...]

    def __post_init__(self) -> None:
        if len(self.laws) < 2:
            raise InvalidArgument("arms", len(self.laws), "must be at least 2.")

    @cached_property
    def means(self) -> tuple[float, ...]:
        """The mean rewards."""
        return tuple(law.mean for law in self.laws)

    @cached_property
    def best(self) -> float:
        """The largest mean."""
        return max(self.means)

    @cached_property
    def suboptimal(self) -> tuple[tuple[RewardLaw, float], ...]:
        """The laws of the suboptimal arms with their gaps; several arms may be optimal."""
        return tuple((law, self.best - law.mean) for law in self.laws if law.mean < self.best)

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.laws)

    @cached_property
    def bounded(self) -> bool:
        """Whether all rewards lie in [0, 1], as the algorithms and their upper bounds need."""
        return all(
            isinstance(law, BernoulliLaw)
            or (isinstance(law, Finite) and min(law.support) >= 0 and max(law.support) <= 1)
            for law in self.laws
        )

    @cached_property
    def simulable(self) -> bool:
        """Whether the simulator has this environment."""
        return all(isinstance(law, BernoulliLaw) for law in self.laws)

    def replaced(self, arm: int, law: RewardLaw) -> Instance:
        """Return the instance with another law for one arm."""
        return Instance((*self.laws[:arm], law, *self.laws[arm + 1 :]))


def bernoulli(means: Sequence[float]) -> Instance:
    """Return the Bernoulli instance with these means."""
    return Instance(tuple(BernoulliLaw(float(mean)) for mean in means))

"""The declaration of a bandit algorithm: a pure transition system that never holds a reward.

The state is public, immutable and hashable. Private numbers live in registers that the algorithm
names and never reads. `step(state)` says what it wants (`Play`, `Release`, `Accumulate`, `Respond`,
`Choose`, `Keep`, `Toss`, `Stop`) and how the answer moves the state; an interpreter answers. The
simulator, the stream runner, the ledger and the exact engine are interpreters of the same
declaration.

The reward rows are counted per arm: `Rows(arm, 3, 5)` are the fourth and fifth rewards of an arm.
Time runs with the rounds played. A run ends when the horizon is reached, in the middle of a `Play`
if need be; what would have been released after it never is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.lattice import ROUNDINGS
from dpaudit.core.noise import Noise
from dpaudit.core.notions import Kind, Notion
from dpaudit.core.scores import Rule
from dpaudit.errors import InvalidArgument, require_integer, require_positive

FINEST_GRID = 2**53
State = Hashable
Register = Hashable


@dataclass(frozen=True)
class Rows:
    """The rewards number `first` to `stop - 1` of an arm: a receipt that holds no reward."""

    arm: int
    first: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.first


@dataclass(frozen=True)
class Play:
    """Pull an arm for some rounds; the answer is the `Rows` of these rewards."""

    arm: int
    rounds: int


@dataclass(frozen=True)
class Release:
    """Overwrite a register with (sum of the rows) / divisor + fresh noise; no answer."""

    register: Register
    rows: Rows
    noise: Noise
    divisor: Fraction | int = 1


@dataclass(frozen=True)
class Accumulate:
    """Add (sum of the rows) / divisor + fresh noise to a register (0 at first); no answer."""

    register: Register
    rows: Rows
    noise: Noise
    divisor: Fraction | int = 1


@dataclass(frozen=True)
class Respond:
    """Add a randomised response to one row to a register (0 at first); no answer.

    A reward r adds 1 with probability zero + (one - zero) r and else nothing: `one` is the chance
    of a 1 for a reward of 1, `zero` for one of 0. Both are exact (`dpaudit.core.response`).
    """

    register: Register
    rows: Rows
    one: Fraction
    zero: Fraction


@dataclass(frozen=True)
class Choose:
    """Let a rule pick one of `arms` from their registers; the answer is the arm.

    `registers[i]` are the registers whose sum arm `arms[i]` shows to the rule. `rule` builds the
    rule in an arithmetic; its parameters are arrays over the arms. Ties go to the earliest arm.
    """

    arms: tuple[int, ...]
    registers: tuple[tuple[Register, ...], ...]
    rule: Callable[[Arithmetic], Rule]


@dataclass(frozen=True)
class Keep:
    """Drop the arms that another one clearly beats; the answer: the survivors.

    Arm `arms[i]` shows x_i, the sum of `registers[i][j]` times `weights[i][j]`; a weight is 1 where
    none are given, has any sign, and is public. With a width w_i for each arm it goes when some
    x_k - w_k / 2 is above x_i + w_i / 2. One width for all arms keeps those within it of the
    largest.
    """

    arms: tuple[int, ...]
    registers: tuple[tuple[Register, ...], ...]
    width: Callable[[Arithmetic], Any]
    weights: tuple[tuple[Fraction | float, ...], ...] | None = None


@dataclass(frozen=True)
class Toss:
    """Toss a public coin; the answer is its side, i with probability `chances[i]`.

    The toss is independent of everything else. The chances are exact, add up to 1, and hang on the
    public state alone: no register has a way into them.
    """

    chances: tuple[Fraction | int, ...]


@dataclass(frozen=True)
class Stop:
    """End the run and recommend an arm; there is no answer, and nothing follows.

    The recommendation, and when it came, are part of the output: an action sequence shows it as the
    number `arms + arm` in every round that is left. A horizon that comes first cuts the run.
    """

    arm: int


Disclosure = Release | Accumulate | Respond
"""What fills a register from rewards."""
Question = Choose | Keep | Toss | Stop
"""What can come between two plays without a reward."""
Request = Play | Disclosure | Question


@dataclass(frozen=True)
class Step:
    """A request, and the public state that follows its answer."""

    request: Request
    then: Callable[[Any], State]


@dataclass(frozen=True)
class Promise:
    """What an algorithm promises: a notion of privacy, or nothing."""

    notion: Notion | None
    anytime: bool

    @property
    def epsilon(self) -> float | None:
        """The epsilon of a promise of pure epsilon for one reward; None for any other."""
        return self.notion.level if self.notion is not None and self.notion.plain else None


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """A bandit algorithm, declared once; its dataclass fields are its parameters.

    With a `grid`, whatever it releases with Laplace or Gaussian noise is released on a lattice: see
    `dpaudit.core.lattice`, which also says what `rounding` may be.
    """

    arms: int
    grid: int | None = None
    rounding: str | None = None

    private: ClassVar[bool] = True
    notion: ClassVar[Kind] = Kind.PURE
    """What it promises if it is private; its parameters of that notion's names give the level."""

    def __post_init__(self) -> None:
        require_integer("arms", self.arms, 2)
        if self.grid is not None:
            require_integer("grid", self.grid, 1)
            if self.grid > FINEST_GRID:
                rule = "must be at most 2^53: rewards are rounded to it in doubles."
                raise InvalidArgument("grid", self.grid, rule)
        elif self.rounding is not None:
            raise InvalidArgument("rounding", self.rounding, "is for lattice noise: give a grid.")
        if self.rounding not in (None, *ROUNDINGS):
            rule = f"must be one of {', '.join(ROUNDINGS)}."
            raise InvalidArgument("rounding", self.rounding, rule)
        for parameter in fields(self):
            if parameter.type in ("float", float):
                require_positive(parameter.name, getattr(self, parameter.name))
        if "horizon" in self.__dict__:
            require_integer("horizon", self.__dict__["horizon"], self.arms)

    @property
    def name(self) -> str:
        """The name on the command line: the module's."""
        return type(self).__module__.rpartition(".")[2]

    @classmethod
    def told(cls) -> bool:
        """Tell whether it is built for a horizon: a parameter of that name makes it one of many.

        Otherwise it is anytime: one instance serves every horizon, and a run contains every shorter
        one.
        """
        return any(parameter.name == "horizon" for parameter in fields(cls))

    @property
    def claim(self) -> Promise:
        """The promise that the checks judge."""
        names = self.notion.parameters if self.private else ()
        if missing := [name for name in names if name not in self.__dict__]:
            rule = f"claims privacy without a parameter {missing[0]}; add one, or private = False."
            raise InvalidArgument("algorithm", type(self).__name__, rule)
        numbers = [self.__dict__[name] for name in names]
        return Promise(Notion(self.notion, *numbers) if numbers else None, not self.told())

    @abstractmethod
    def start(self) -> State:
        """Return the public state before the first round."""

    @abstractmethod
    def step(self, state: State) -> Step:
        """Return the next request and how its answer moves the state."""


def require_algorithm(value: Any) -> None:
    """Raise unless a value is an algorithm; a name has to be built first."""
    if not isinstance(value, Algorithm):
        rule = "must be an Algorithm, such as dpaudit.load(...) returns."
        raise InvalidArgument("algorithm", repr(value), rule)

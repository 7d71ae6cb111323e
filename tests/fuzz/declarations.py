"""Random declarations as plain data: what Hypothesis prints can be pasted and run again.

A `Script` interprets a program: an opening, then a body that repeats (and an ending that a script
which was told its horizon turns to). An instruction plays, releases, chooses or keeps; who plays
next may hang on the last choice, on an earlier one or on none, so decisions may stay hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import astuple, dataclass
from enum import Enum, IntFlag
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scripted_rules import Index, Kept, Ruled

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Keep,
    Play,
    Release,
    Respond,
    Rows,
    Step,
    Stop,
    Toss,
)
from dpaudit.core.noise import Gaussian, Laplace, Noise, NoNoise

LAWS: dict[str, Callable[..., Noise]] = {
    "Laplace": Laplace,
    "Gaussian": lambda deviation: Gaussian(variance=deviation**2),
    "NoNoise": NoNoise,
}


def noise_of(law: tuple[Any, ...]) -> Noise:
    """Return the noise that a tuple names."""
    return LAWS[law[0]](*law[1:])


@dataclass(frozen=True)
class Pull:
    """Play an arm, or the one that the latest decision named."""

    arm: int | None
    rounds: int = 1


@dataclass(frozen=True)
class Tell:
    """Release rows of an arm (None: the one played last) into a register (None: the arm's own).

    `window` is ("last", n), ("first", n), ("all", 0) or ("skip", n): all rows but the first n.
    `noise` is ("Laplace", scale), ("Gaussian", deviation) or ("NoNoise",).
    """

    register: Hashable
    arm: int | None
    window: tuple[str, int]
    noise: tuple[Any, ...]
    divisor: int | Fraction = 1
    adds: bool = False


@dataclass(frozen=True)
class Pick:
    """Choose among arms; `shown[arm]` are the registers whose sum an arm shows.

    `order` is a tuple of arms, or "fewest", "most" (by pulls) or "recent" (last played first).
    """

    order: tuple[int, ...] | str
    shown: tuple[tuple[Hashable, ...], ...]
    index: Index


@dataclass(frozen=True)
class Trim:
    """Keep the arms within a width of the best; later decisions are among them alone."""

    order: tuple[int, ...] | str
    shown: tuple[tuple[Hashable, ...], ...]
    width: float


@dataclass(frozen=True)
class Flip:
    """Toss a public coin with a side per arm; an extra side leaves the last decision as it was.

    A chance of "pulls" stands for the arm's share of the rounds so far.
    """

    chances: tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """Add a randomised response to an arm's latest reward to a register, as `Tell` names them."""

    register: Hashable
    arm: int | None
    one: Fraction
    zero: Fraction


@dataclass(frozen=True)
class Halt:
    """Stop and recommend what was chosen last (or arm 0), once there are so many rounds."""

    rounds: int


Instruction = Pull | Tell | Pick | Trim | Flip | Answer | Halt


@dataclass(frozen=True)
class Program:
    """What a script does: `names[arm]` is an arm's own register, `states` how states are kept."""

    opening: tuple[Instruction, ...]
    body: tuple[Instruction, ...]
    names: tuple[Hashable, ...]
    states: str = "tuple"
    ending: tuple[Instruction, ...] = ()


class Memory(NamedTuple):
    """The public state: instruction, pulls, last arm played, last choice, arms still in play."""

    at: int
    pulls: tuple[int, ...]
    last: int
    chosen: int
    alive: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """A state as a frozen dataclass."""

    at: int
    pulls: tuple[int, ...]
    last: int
    chosen: int
    alive: tuple[int, ...]


class Bits(IntFlag):
    """Unnamed bits, but for one that is never set."""

    NAMED = 1 << 8


class Phase(Enum):
    """A choice by name."""

    NONE = -1
    FIRST = 0
    SECOND = 1
    THIRD = 2
    FOURTH = 3


def pack(memory: Memory, kind: str) -> Hashable:
    """Return a memory as a state of some kind."""
    match kind:
        case "tuple":
            return tuple(memory)
        case "record":
            return Record(*memory)
        case "set":
            return frozenset(zip(Memory._fields, memory, strict=True))
        case "flag":
            alive = Bits(sum(1 << arm for arm in memory.alive))
            return (memory.at, memory.pulls, Bits(memory.last + 1), Bits(memory.chosen + 1), alive)
        case "enum":
            return (*memory[:2], Phase(memory.last), Phase(memory.chosen), memory.alive)
    return memory


def unpack(state: Any) -> Memory:
    """Return the memory behind a state."""
    match state:
        case Memory():
            return state
        case Record():
            return Memory(*astuple(state))
        case frozenset():
            return Memory(**dict(state))
        case (at, pulls, Bits() as last, Bits() as chosen, Bits() as alive):
            arms = tuple(arm for arm in range(len(pulls)) if int(alive) >> arm & 1)
            return Memory(at, pulls, int(last) - 1, int(chosen) - 1, arms)
        case (at, pulls, Phase() as last, Phase() as chosen, alive):
            return Memory(at, pulls, last.value, chosen.value, alive)
    return Memory(*state)


@dataclass(frozen=True, kw_only=True)
class Script(Algorithm):
    """A declaration that interprets a program."""

    program: Program
    epsilon: float = 1.0

    def start(self) -> Hashable:
        """Return the state before the opening."""
        arms = tuple(range(self.arms))
        return pack(Memory(0, (0,) * self.arms, -1, -1, arms), self.program.states)

    def turns_to_ending(self, memory: Memory) -> bool:
        """Return whether the body gives way to the ending."""
        return False

    def step(self, state: Hashable) -> Step:
        """Return what the instruction says."""
        program, memory = self.program, unpack(state)
        begin = len(program.opening)
        whole = (*program.opening, *program.body, *program.ending)
        final = begin + len(program.body)
        at = memory.at
        if at == begin and program.ending and self.turns_to_ending(memory):
            at = final
        following = begin if at + 1 == final else final if at + 1 == len(whole) else at + 1
        after = memory._replace(at=following)

        def then(**changes: Any) -> Hashable:
            return pack(after._replace(**changes), program.states)

        if isinstance(whole[at], Halt) and sum(memory.pulls) < whole[at].rounds:
            return self.step(pack(after, program.states))
        match whole[at]:
            case Halt():
                return Step(Stop(max(memory.chosen, 0)), lambda _: then())
            case Pull(arm, rounds):
                arm = memory.chosen if arm is None else arm
                pulls = list(memory.pulls)
                pulls[arm] += rounds
                return Step(Play(arm, rounds), lambda _: then(pulls=tuple(pulls), last=arm))
            case Tell(register, arm, window, noise, divisor, adds):
                arm = memory.last if arm is None else arm
                name = program.names[arm] if register is None else register
                rows = Rows(arm, *_rows(window, memory.pulls[arm]))
                kind = Accumulate if adds else Release
                return Step(kind(name, rows, noise_of(noise), divisor), lambda _: then())
            case Answer(register, arm, one, zero):
                arm = memory.last if arm is None else arm
                name = program.names[arm] if register is None else register
                row = Rows(arm, memory.pulls[arm] - 1, memory.pulls[arm])
                return Step(Respond(name, row, one, zero), lambda _: then())
            case Pick(order, shown, index):
                arms = _ordered(order, memory)
                rule = Ruled(index, arms, memory.pulls)
                request = Choose(arms, tuple(shown[arm] for arm in arms), rule)
                return Step(request, lambda arm: then(chosen=arm))
            case Trim(order, shown, width):
                arms = _ordered(order, memory)
                request = Keep(arms, tuple(shown[arm] for arm in arms), Kept(width))
                return Step(request, lambda kept: then(alive=kept, chosen=kept[0]))
            case Flip(chances):
                arms, total = range(self.arms), sum(memory.pulls)
                shares = tuple(Fraction(memory.pulls[arm], total) for arm in arms)
                coin = shares if chances == ("pulls",) else chances
                return Step(Toss(coin), lambda side: then(chosen=side) if side in arms else then())
        raise TypeError(f"no instruction at {at}")


@dataclass(frozen=True, kw_only=True)
class Told(Script):
    """A script that knows its horizon and ends otherwise in the last two rounds."""

    horizon: int
    anytime: ClassVar[bool] = False

    def turns_to_ending(self, memory: Memory) -> bool:
        """Return whether the last two rounds have come."""
        return sum(memory.pulls) >= self.horizon - 2


def _rows(window: tuple[str, int], pulls: int) -> tuple[int, int]:
    match window:
        case ("last", n):
            return max(0, pulls - n), pulls
        case ("first", n):
            return 0, min(n, pulls)
        case ("skip", n):
            return min(n, pulls - 1), pulls
    return 0, pulls


def _ordered(order: tuple[int, ...] | str, memory: Memory) -> tuple[int, ...]:
    arms = np.arange(len(memory.pulls)).tolist()
    match order:
        case "fewest":
            arms.sort(key=lambda arm: memory.pulls[arm])
        case "most":
            arms.sort(key=lambda arm: -memory.pulls[arm])
        case "recent":
            arms.sort(key=lambda arm: arm != memory.last)
        case _:
            arms = list(order)
    return tuple(arm for arm in arms if arm in memory.alive) or tuple(arms)

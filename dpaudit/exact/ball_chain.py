"""A two-armed path as a chain: one register held, one fresh, at every decision.

At a decision both registers hold one Laplace release each. Afterwards the release of one of them is
overwritten (doubling episodes overwrite the winner's) or of both; what is left is a function of a
single register. A path that keeps both registers through two decisions has no such chain, and
neither has one whose registers add up several releases: these are `Unsupported`.

A chain knows the releases, not the rewards: the centres come with the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from dpaudit.core.algorithm import Accumulate, Choose, Release
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Rule
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path


class Drop(Enum):
    """Which of the two registers is forgotten after a decision."""

    HELD = "held"
    FRESH = "fresh"
    BOTH = "both"


@dataclass(frozen=True)
class Stage:
    """One decision: the fresh release, where the held and fresh arms stand in the rule, who wins.

    `held` is the position (0 or 1) of the held register's arm in the rule; ties go to position 0.
    `fresh` and `older` number the path's releases.
    """

    rule: Callable[[Arithmetic], Rule]
    held: int
    older: int
    fresh: int
    held_wins: bool
    drop: Drop


@dataclass(frozen=True)
class Chain:
    """The releases of a path, and its decisions in order; `drop` BOTH starts the chain anew."""

    releases: tuple[Release, ...]
    stages: tuple[Stage, ...]

    def rate(self, release: int) -> Fraction:
        """Return 1 / scale of a release's noise."""
        noise = self.releases[release].noise
        assert isinstance(noise, Laplace)
        return 1 / exact(noise.scale)

    def centre(self, release: int, total: Fraction) -> Fraction:
        """Return a release's centre for a sum of rewards."""
        return total / exact(self.releases[release].divisor)


def single_release(event: Release | Accumulate, held: Container[Hashable]) -> Release:
    """Return a release as one with Laplace noise that its register holds alone; raise otherwise.

    `held` are the registers that hold one already; adding to such a one is `Unsupported`.
    """
    if isinstance(event, Accumulate):
        if event.register in held:
            raise Unsupported("A register that adds up releases is not in the certified engine.")
        event = Release(event.register, event.rows, event.noise, event.divisor)
    if not isinstance(event.noise, Laplace):
        raise Unsupported(f"{type(event.noise).__name__} noise is not in the certified engine.")
    return event


def chain_of(path: Path) -> Chain:
    """Return a path's chain, or raise `Unsupported` where it has none."""
    releases: list[Release] = []
    stages: list[Stage] = []
    current: dict[Hashable, int] = {}
    renewed: set[Hashable] = set()
    message: Hashable = None  # the register that the message is a function of
    pending: tuple[Any, ...] | None = None
    for event in path.events:
        if isinstance(event, Release | Accumulate):
            release = single_release(event, current)
            current[release.register] = len(releases)
            renewed.add(release.register)
            releases.append(release)
        elif isinstance(event, Decided):
            names = _two_registers(event)
            if pending is not None:
                stages.append(_closed(pending, renewed))
                left = pending[1][0] if stages[-1].drop is Drop.FRESH else pending[1][1]
                message = None if stages[-1].drop is Drop.BOTH else left
            if message is None:
                message = names[0]
            if message not in names:
                raise Unsupported("The decisions do not share a register.")
            held = names.index(message)
            order = (names[held], names[1 - held])
            wins = event.request.arms.index(event.outcome) == held
            rule = event.request.rule  # type: ignore[union-attr]
            pending = (rule, order, held, current[order[0]], current[order[1]], wins)
            renewed = set()
    if pending is not None:
        stages.append(_closed(pending, set(pending[1])))
    return Chain(tuple(releases), tuple(stages))


def _two_registers(event: Decided) -> tuple[Hashable, Hashable]:
    request = event.request
    if not isinstance(request, Choose) or len(request.arms) != 2:
        raise Unsupported("The chain engine answers choices between two arms.")
    if any(len(group) != 1 for group in request.registers):
        raise Unsupported("An arm that sums several registers has no one-dimensional chain.")
    (first,), (second,) = request.registers
    if first == second:
        raise Unsupported("Two arms share a register.")
    return first, second


def _closed(pending: tuple[Any, ...], renewed: set[Hashable]) -> Stage:
    rule, (held, fresh), position, older, newer, wins = pending
    if held in renewed and fresh in renewed:
        drop = Drop.BOTH
    elif held in renewed:
        drop = Drop.HELD
    elif fresh in renewed:
        drop = Drop.FRESH
    else:
        raise Unsupported("Two decisions in a row look at the same two releases.")
    return Stage(rule, position, older, newer, wins, drop)

"""The stream runner: a declared algorithm on a fixed reward stream, with sampled noise.

The reward at step t is stream[t] whichever arm is played, as in the definition of global DP. This
is the reference interpreter: the faster ones are tested against it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Keep,
    Play,
    Release,
    Respond,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.lattice import Lattice, rounded, whole_sum
from dpaudit.core.scores import DRAWS, winner_is_known
from dpaudit.core.walk import FOREIGN, Place, advised, begin, said
from dpaudit.errors import InvalidArgument


class Rewards(Protocol):
    """Where rewards come from; only their sums over rows are ever asked for."""

    def play(self, arm: int, rounds: int) -> None:
        """Collect the rewards of the next rounds for an arm."""

    def total(self, rows: Rows) -> float:
        """Return the sum of an arm's collected rewards."""

    def steps(self, rows: Rows, grid: int, rounding: str, rng: Any) -> int:
        """Return the sum of an arm's collected rewards, each rounded to one of 0..grid."""


class StreamRewards:
    """Rewards of a fixed stream: step t pays stream[t], whichever arm is played."""

    def __init__(self, stream: NDArray[np.float64], arms: int) -> None:
        self.stream = stream
        self.time = 0
        self.times: list[list[int]] = [[] for _ in range(arms)]

    def play(self, arm: int, rounds: int) -> None:
        """Give the next steps of the stream to an arm."""
        self.times[arm].extend(range(self.time, self.time + rounds))
        self.time += rounds

    def total(self, rows: Rows) -> float:
        """Return the sum of the arm's rewards number first to stop - 1, correctly rounded."""
        return math.fsum(self._of(rows))

    def steps(self, rows: Rows, grid: int, rounding: str, rng: Any) -> int:
        """Return the sum of the same rewards on a grid, in integers."""
        return whole_sum(rounded(self._of(rows), grid, rounding, rng), grid)

    def _of(self, rows: Rows) -> NDArray[np.float64]:
        return self.stream[self.times[rows.arm][rows.first : rows.stop]]


@dataclass(frozen=True)
class Trajectory:
    """What a run made public: the arm of every play, its rounds, and the number of releases.

    A run that stopped ends with the number of arms + the arm that it recommends.
    """

    arms: tuple[int, ...]
    rounds: tuple[int, ...]
    releases: int

    @property
    def actions(self) -> NDArray[np.int64]:
        """The arm of every step."""
        return np.repeat(np.array(self.arms, dtype=np.int64), self.rounds)


def interpret(algorithm: Algorithm, horizon: int, rewards: Rewards, rng: Any) -> Trajectory:
    """Run a declaration for `horizon` rounds on some rewards and return what it made public."""
    registers: dict[Hashable, float] = {}
    arms: list[int] = []
    rounds: list[int] = []
    releases = 0
    place = begin(algorithm)
    while True:
        answer: Any = None
        match place.request:
            case Play():
                answer = place.rows(horizon)
                rewards.play(answer.arm, len(answer))
                arms.append(answer.arm)
                rounds.append(len(answer))
                if place.time + len(answer) == horizon:
                    return Trajectory(tuple(arms), tuple(rounds), releases)
            case Release(register):
                registers[register] = released(place, rewards, rng)
                releases += 1
            case Accumulate(register):
                added = released(place, rewards, rng)
                registers[register] = registers.get(register, 0.0) + added
                releases += 1
            case Respond(register) as request:
                bit = response(request, rewards.total(request.rows), rng)
                registers[register] = registers.get(register, 0.0) + bit
                releases += 1
            case Choose() | Keep():
                answer = decide(place, shown(place, registers), rng)
            case Toss() as coin:
                answer = tossed(coin, rng)
            case Stop(arm):
                arms.append(algorithm.arms + arm)
                rounds.append(horizon - place.time)
                return Trajectory(tuple(arms), tuple(rounds), releases)
        place = place.after(answer)


def released(place: Place, rewards: Rewards, rng: Any) -> float:
    """Return what a release makes public.

    On a lattice that is an integer, the sum of rounded rewards and of noise, as a multiple of the
    step: the double that stands for it is computed from the integer alone.
    """
    request = place.request
    rows, noise, divisor = request.rows, request.noise, request.divisor  # type: ignore[union-attr]
    if not isinstance(noise, Lattice):
        return rewards.total(rows) / float(divisor) + drawn(place, rng)
    steps = rewards.steps(rows, int(noise.cells(divisor)), noise.rounding, rng)
    return float((steps + noise.integer(rng)) * noise.step)


def drawn(place: Place, rng: Any) -> float:
    """Return one draw of a release's noise."""
    try:
        noise = float(place.request.noise.sample(rng))  # type: ignore[union-attr]
    except FOREIGN as error:
        place.breach("its noise", f"raised {said(error)}")
    if not math.isfinite(noise):
        place.breach("its noise", f"drew {noise}")
    return noise


def response(request: Respond, reward: float, rng: Any) -> float:
    """Return the randomised response to one reward: 1 where a uniform number is below its chance.

    The sum of a single row may be off by an ulp of larger sums, so it is clipped to [0, 1].
    """
    one, zero = float(request.one), float(request.zero)
    return float(rng.random() < zero + (one - zero) * min(max(reward, 0.0), 1.0))


def shown(place: Place, registers: Mapping[Hashable, float]) -> NDArray[np.float64]:
    """Return what every arm shows to a decision: its registers added up, with their weights."""
    request: Any = place.request
    groups, weights = request.registers, getattr(request, "weights", None)
    if weights is None:
        return np.array([sum(registers[name] for name in group) for group in groups])
    rows = (zip(*row, strict=True) for row in zip(groups, weights, strict=True))
    return np.array([math.fsum(float(w) * registers[name] for name, w in row) for row in rows])


def decide(place: Place, x: NDArray[np.float64], rng: Any) -> Any:
    """Return the answer of a decision: the chosen arm, or the survivors.

    The generator of the noise is given to the rules of dpaudit that draw, and to no other: another
    rule's `winner` draws from a generator of its own, so that whatever it does is post-processing
    of the registers, and a score needs none.
    """
    request = place.request
    if isinstance(request, Keep):
        apart_by = (place.width[:, None] + place.width) / 2
        near = x >= (x - apart_by).max(axis=1)  # one width w for all: x >= x.max() - w
        return tuple(arm for arm, kept in zip(request.arms, near, strict=True) if kept)
    rule, arms = place.rule, request.arms  # type: ignore[union-attr]
    try:
        known: Any = rng if isinstance(rule, DRAWS) else None
        winner = operator.index(rule.winner(x, known if winner_is_known(rule) else apart(rng)))
    except FOREIGN as error:
        place.breach("its rule", f"raised {advised(error)}")
    if not 0 <= winner < len(arms):
        place.breach("its rule", f"chose number {winner} of {len(arms)} arms")
    return arms[winner]


def side_edges(chances: Sequence[Fraction | int]) -> NDArray[np.float64]:
    """Return where each side of a coin ends on [0, 1]; one without a chance has no room there."""
    return np.array([float(edge) for edge in accumulate(chances)])


def tossed(coin: Toss, rng: Any) -> int:
    """Return the side that comes up: the first that ends above one uniform number."""
    return int(np.searchsorted(side_edges(coin.chances), rng.random(), side="right"))


def apart(rng: Any) -> np.random.Generator:
    """Return a generator whose draws tell nothing of those of `rng`."""
    return np.random.default_rng(rng.integers(2**63, size=4))


def in_any_order(count: int, ask: Callable[[int], Any]) -> list[Any]:
    """Return what `ask` says of each of 0..count - 1, asked in an order that no seed fixes.

    It is the same in any order, unless foreign code keeps something from one call to the next (a
    draw that is used again, say): then runs are not independent, and made again they differ.
    """
    found: list[Any] = [None] * count
    for number in np.random.default_rng().permutation(count).tolist():
        found[number] = ask(number)
    return found


def run_stream(
    algorithm: Algorithm, stream: Sequence[float] | NDArray[Any], rng: Any
) -> Trajectory:
    """Run an algorithm on a reward stream; the horizon is the stream's length."""
    rewards = np.asarray(stream, dtype=float)
    if rewards.ndim != 1 or len(rewards) < 1:
        raise InvalidArgument("stream", rewards.shape, "must be one row of at least one reward.")
    if (outside := rewards[~((rewards >= 0) & (rewards <= 1))]).size:
        raise InvalidArgument("reward", float(outside[0]), "must lie in [0, 1].")
    return interpret(algorithm, len(rewards), StreamRewards(rewards, algorithm.arms), rng)

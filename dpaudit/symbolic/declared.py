"""The declaration that code is, read off its runs on symbols where every decision is affine.

A comparison of the code must be one between sides, each the sum of some rows of one arm (in one
piece, with one coefficient) and Laplace draws of one coefficient, or none: then it is a `Choose`
between these arms, and each side a register that was released before, with the rows, divisor and
scale of the form; several draws are as many registers with a share of the rows each.
A draw belongs to one register, and a register that was overwritten does not come back: what is
shared, kept or summed up is no declaration of this kind, and that is said. The code runs anew for
every sequence of outcomes that is asked for, until its next decision: nothing is enumerated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Request, Rows, State, Step
from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.noise import Laplace, Noise, NoNoise
from dpaudit.core.scores import Affine, Rule
from dpaudit.errors import DpauditError, Unsupported
from dpaudit.symbolic.run import Escape, Run
from dpaudit.symbolic.scripted import PlayedPath, Stage
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.symbolic.values import Linear

LAPLACE = "laplace"
Script = tuple[int, ...]
Asked = tuple[Request, dict[int, int]]  # a request, and the outcome that each answer stands for


@dataclass(frozen=True)
class Side:
    """One side of a comparison: weight x (sum of rows / divisor + draws)."""

    rows: Rows
    draws: tuple[int, ...]
    weight: Fraction
    divisor: Fraction

    @property
    def key(self) -> Any:
        """What makes it the same: the draws, and what they hide."""
        return self.draws, self.rows, self.divisor

    @property
    def registers(self) -> tuple[Any, ...]:
        """The registers whose sum it is."""
        arm = self.rows.arm
        return tuple((arm, k) for k in range(len(self.draws))) if len(self.draws) > 1 else (arm,)


@dataclass(frozen=True)
class Compared:
    """A decision: the side that wins, the others, what is added to each of them, and ties."""

    winner: Side
    others: tuple[tuple[Side, Fraction], ...]
    outcomes: int
    ties: bool


@dataclass
class Reading:
    """The requests of some code, by the outcomes of its comparisons."""

    target: CodeTarget
    rounds: int
    runs: dict[Script, PlayedPath] = field(default_factory=dict)
    known: dict[Script, list[Asked]] = field(default_factory=dict)
    stopped: str = ""
    """Why some path could not be read, if so."""

    def __post_init__(self) -> None:
        self.stage = Stage.of(self.target)

    def step(self, state: Any) -> Step:
        """Return what the code asks for; a state is the outcomes so far and a place among them."""
        script, place = state
        try:
            if script not in self.known:
                self.known[script] = self._asked(script)
        except (DpauditError, Escape) as stop:
            self.stopped = self.stopped or str(stop).rstrip(".")
            raise Unsupported(str(stop)) from None
        request, outcomes = self.known[script][place]
        if outcomes:
            return Step(request, lambda arm: ((*script, outcomes[arm]), place + 1))
        return Step(request, lambda _: (script, place + 1))

    def _played(self, script: Script) -> PlayedPath:
        if script not in self.runs:
            self.runs[script] = self.stage.played(script, None, self.rounds, further=False)
        return self.runs[script]

    def _asked(self, script: Script) -> list[Asked]:
        """Return the requests of the path with these outcomes, up to the decision after them."""
        played = self._played(script)
        found: list[Asked] = []
        path = _Path(played)
        for event in played.run.log:
            if event.kind == "play":
                path.play(event.number)
                last = found[-1][0] if found else None
                arm = played.arms[event.number]
                if isinstance(last, Play) and last.arm == arm:
                    found[-1] = (Play(arm, last.rounds + 1), {})
                else:
                    found.append((Play(arm, 1), {}))
                continue
            compared = path.compared(event.number)
            found += [(release, {}) for release in path.releases(compared)]
            past = event.number < len(script)
            found.append((_choice(compared), {} if past else self._answers(script, compared)))
            if not past:
                break
        return found

    def _answers(self, script: Script, compared: Compared) -> dict[int, int]:
        """Return which outcome of the decision after these each arm's victory is."""
        found = {}
        for outcome in range(compared.outcomes):
            path = _Path(self._played((*script, outcome))).until(len(script))
            found[path.compared(len(script)).winner.rows.arm] = outcome
        if len(found) != compared.outcomes:
            raise Unsupported("it compares an arm with itself.")
        return found


class _Path:
    """What was played and released on one path."""

    def __init__(self, played: PlayedPath) -> None:
        self.played, self.run = played, played.run
        self.mine: dict[int, list[int]] = {}
        self.held: dict[int, Any] = {}
        self.gone: set[Any] = set()

    def play(self, at: int) -> None:
        """Note a round."""
        self.mine.setdefault(self.played.arms[at], []).append(at)

    def until(self, number: int) -> _Path:
        """Play up to a branch."""
        for event in self.run.log:
            if event.kind == "branch" and event.number == number:
                return self
            if event.kind == "play":
                self.play(event.number)
        raise Unsupported("it branches otherwise when it runs again.")

    def compared(self, number: int) -> Compared:
        """Return what a branch compares."""
        outcomes = self.run.trace[number][1]
        entries = self.run.compared(number)
        if len(entries) != outcomes - 1:
            raise Unsupported("a decision is no comparison of affine values.")
        winners: set[Side] = set()
        others: list[tuple[Side, Fraction]] = []
        ties = False
        for difference, signs in entries:
            if not isinstance(difference, Linear) or difference.publics:
                raise Unsupported("a decision is no comparison of affine values.")
            above, below = (_side(self, difference, sign) for sign in (1, -1))
            rest = Fraction(difference.rest)
            if not signs <= {0, 1}:
                above, below, rest = below, above, -rest
            if not (signs <= {0, 1} or signs <= {0, -1}) or signs == {0}:
                raise Unsupported("it asks whether two values are equal.")
            winners.add(above)
            others.append((below, -rest))
            ties = 0 in signs
        if len(winners) != 1:
            raise Unsupported("a decision is no largest of several indices.")
        sides = [*winners, *(side for side, _ in others)]
        if outcomes > 2 and not all(side.draws for side in sides):
            raise Unsupported("several arms are compared without noise.")
        return Compared(sides[0], tuple(others), outcomes, ties)

    def releases(self, compared: Compared) -> list[Release]:
        """Return what is to be released before a decision."""
        found: list[Release] = []
        for side in (compared.winner, *(side for side, _ in compared.others)):
            arm = side.rows.arm
            if self.held.get(arm) == side.key:
                continue
            used = {draw for key in (*self.gone, *self.held.values()) for draw in key[0]}
            if side.key in self.gone or used & set(side.draws):
                raise Unsupported("it uses noise again that was used for another release.")
            if arm in self.held:
                self.gone.add(self.held[arm])
            self.held[arm] = side.key
            laws: list[Noise] = [Laplace(_scale(self.run, draw)) for draw in side.draws]
            laws = laws or [NoNoise()]
            found += [
                Release(register, side.rows, law, divisor=side.divisor * len(laws))
                for register, law in zip(side.registers, laws, strict=True)
            ]
        return found

    def rows(self, rounds: set[int]) -> Rows:
        """Return rounds as consecutive rows of one arm."""
        for arm, mine in self.mine.items():
            places = [place for place, at in enumerate(mine) if at in rounds]
            if places and len(places) == len(rounds) == places[-1] - places[0] + 1:
                return Rows(arm, places[0], places[-1] + 1)
        raise Unsupported("it compares sums of rewards that are not of one arm in one piece.")


def _scale(run: Run, draw: int) -> Fraction:
    law = run.laws[draw]
    if law.kind != LAPLACE or law.scale is None:
        raise Unsupported(f"its noise is {law.kind}, not Laplace.")
    return law.scale


def _side(path: _Path, difference: Linear, sign: int) -> Side:
    """Return the part of a difference whose weights have a sign."""
    run = path.run
    rows = {name: Fraction(w) for name, w in difference.rows.items() if w * sign > 0}
    draws = {name: Fraction(w) for name, w in difference.draws.items() if w * sign > 0}
    if any(run.columns[name].owner != name for name in rows):
        raise Unsupported("it compares rewards that it has changed.")
    each, weights = ({abs(weight) for weight in it.values()} for it in (rows, draws))
    if len(each) != 1 or len(weights) > 1:
        raise Unsupported("a side of a comparison is no noisy mean or sum of rewards.")
    for draw in draws:
        _scale(run, draw)
    weight = max(weights, default=Fraction(1))
    mine = path.rows({run.columns[name].round for name in rows})
    return Side(mine, tuple(sorted(draws)), weight, weight / each.pop())


def _choice(compared: Compared) -> Choose:
    """Return the decision; where there is no noise at all, who wins ties comes first."""
    first = compared.winner
    sides = [(first, Fraction(0)), *compared.others]
    noisy = any(side.draws for side, _ in sides)
    ahead = first if compared.ties else compared.others[0][0]
    sides.sort(key=lambda it: it[0].rows.arm if noisy else it[0] is not ahead)
    arms = tuple(side.rows.arm for side, _ in sides)
    if len(set(arms)) != len(arms):
        raise Unsupported("it compares an arm with itself.")
    shifts = np.array([shift / first.weight for _, shift in sides], dtype=object)
    weights = np.array([side.weight / first.weight for side, _ in sides], dtype=object)
    plain = all(weight == 1 for weight in weights)

    def rule(m: Arithmetic) -> Rule:
        return Affine(m.number(shifts), 1 if plain else m.number(weights))

    return Choose(arms, tuple(side.registers for side, _ in sides), rule)


def read_off(target: CodeTarget, rounds: int) -> tuple[Algorithm, Reading]:
    """Return the declaration of some code for its first rounds, and what reads it.

    What cannot be read raises where it is asked for, and `Reading.stopped` says why.
    """
    reading = Reading(target, rounds)

    @dataclass(frozen=True, kw_only=True)
    class ReadOff(Algorithm):
        """What some code does."""

        epsilon: float

        def start(self) -> State:
            """Return the state before the first round."""
            return (), 0

        def step(self, state: State) -> Step:
            """Ask the code."""
            return reading.step(state)

    return ReadOff(arms=target.arms, epsilon=target.epsilon), reading

"""Conformance: is this code the algorithm that is declared? The same plays, releases and decisions.

The code runs on symbols along many paths: every outcome of the first decisions, then outcomes at
random, so that unlikely paths are followed as well as likely ones. Beside it the declaration is
answered with the code's own choices. On every path each play must be the code's, each comparison
that the code makes must be one of two declared indices, and the arm that the declared rule picks
from them must be the code's (`dpaudit.symbolic.indices`). A difference is shrunk: to the fewest
rounds, then to the fewest comparisons that come out otherwise than the first way. What was compared
is counted: paths that were not followed are not covered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release
from dpaudit.core.noise import Laplace
from dpaudit.core.walk import begin
from dpaudit.errors import Unsupported
from dpaudit.symbolic.indices import Differs, Register, decided
from dpaudit.symbolic.run import Escape
from dpaudit.symbolic.scripted import PlayedPath, Stage
from dpaudit.symbolic.subject import CodeTarget

EVERY = 4  # decisions whose outcomes are all followed
RANDOM = 40  # paths beyond


@dataclass(frozen=True)
class Difference:
    """Where code and declaration part: the round (from 1), the path to it, and what differs."""

    round: int
    path: tuple[int, ...]
    what: str
    script: tuple[int, ...] = ()
    """How the comparisons before it came out."""

    @property
    def size(self) -> tuple[int, int, int]:
        """What is shrunk: rounds, comparisons that do not come out the first way, comparisons."""
        return self.round, sum(map(bool, self.script)), len(self.script)


@dataclass(frozen=True)
class Conformance:
    """What was compared, and the first difference if there is one."""

    paths: int
    rounds: int
    decisions: int
    difference: Difference | None = None
    reached: frozenset[int] = frozenset()
    """The blocks of the code that were followed."""


@dataclass(frozen=True)
class _Compared:
    """The code and the declaration, to be compared on any path."""

    algorithm: Algorithm
    stage: Stage

    def difference(self, played: PlayedPath) -> Difference | int:
        """Return where a path of the code leaves the declaration, or how many decisions agreed."""
        try:
            return self._agreed(played)
        except Differs as stop:
            script = played.script(stop.round)
            return Difference(stop.round, tuple(played.arms[: stop.round]), str(stop), script)

    def _agreed(self, played: PlayedPath) -> int:
        """Answer the declaration with the code's plays; return the decisions that agreed."""
        place = begin(self.algorithm)
        decisions, horizon = 0, len(played.arms)
        rounds: dict[int, list[int]] = {arm: [] for arm in range(self.algorithm.arms)}
        registers: dict[Any, Register] = {}
        taken: set[int] = set()
        while place.time < horizon:
            request, at = place.request, place.time
            answer: Any = None
            if isinstance(request, Play):
                answer = place.rows(horizon)
                rounds[request.arm] += range(at, at + len(answer))
                _require_played(request, played, at, len(answer))
            elif isinstance(request, Release) and isinstance(request.noise, Laplace):
                rows, scale = request.rows, float(request.noise.scale)
                mine = tuple(rounds[rows.arm][rows.first : rows.stop])
                registers[request.register] = Register(mine, Fraction(request.divisor), scale)
            elif isinstance(request, Choose):
                met, played.decided[at] = played.decided[at], []
                arm, run = played.arms[at], played.run
                answer = decided(request, place.rule, registers, met, run, at, arm, taken)
                decisions += 1
            else:
                raise Unsupported(f"{type(request).__name__} is not compared with code.")
            place = place.after(answer)
        return decisions

    def shrunk(self, found: Difference, end: float) -> Difference:
        """Return the smallest difference that leaving out or resetting comparisons leads to."""
        position = 0
        while position < len(found.script) and time.monotonic() < end:
            before, after = found.script[:position], found.script[position + 1 :]
            for script in ((*before, *after), (*before, 0, *after), before):
                got = self._tried(script, found.round)
                if got is not None and got.size < found.size:
                    found, position = got, -1
                    break
            position += 1
        return found

    def _tried(self, script: tuple[int, ...], rounds: int) -> Difference | None:
        try:
            got = self.difference(self.stage.played(script, None, rounds))
        except (Unsupported, Escape):
            return None
        return got if isinstance(got, Difference) else None


def _require_played(request: Play, played: PlayedPath, first: int, rounds: int) -> None:
    for now in range(first, first + rounds):
        if played.decided[now]:
            raise Differs(now + 1, "the code compares noisy values, the declaration none")
        if played.arms[now] != request.arm:
            raise Differs(
                now + 1,
                f"the declaration plays arm {request.arm} (an episode of {request.rounds} "
                f"rounds from round {first + 1}), the code arm {played.arms[now]}",
            )


def conform(algorithm: Algorithm, target: CodeTarget, budget: float, seed: int = 0) -> Conformance:
    """Compare code with a declaration on many paths; the smallest difference that was met.

    Raises `Unsupported` or `Escape` where they cannot be compared and no path differs.
    """
    case = _Compared(algorithm, Stage.of(target))
    end = time.monotonic() + budget
    total, found = Conformance(0, 0, 0), None
    paths = _paths(case, np.random.default_rng(seed), end)
    while True:
        try:
            played = next(paths, None)
            got = None if played is None else case.difference(played)
        except (Unsupported, Escape):
            if found is None:
                raise
            break  # what differs stays different
        if played is None or got is None:
            break
        if isinstance(got, Difference):
            found = got if found is None or got.size < found.size else found
            got = 0
        total = Conformance(total.paths + 1, total.rounds + len(played.arms), total.decisions + got)
    if not total.paths:
        raise Unsupported("the budget ended before the first path.")
    if found is not None:
        found = case.shrunk(found, end + budget)
    return replace(total, difference=found, reached=frozenset(case.stage.subject.reached))


def _paths(case: _Compared, rng: Any, end: float) -> Iterator[PlayedPath]:
    """Yield paths: all outcomes of the first branches, then random ones."""
    rounds = case.stage.target.horizon
    pending: list[tuple[int, ...]] = [()]
    while pending and time.monotonic() < end:
        script = pending.pop()
        played = case.stage.played(script, rng, rounds)
        yield played
        taken = played.run.trace[:EVERY]
        for position in range(len(script), len(taken)):
            before = tuple(choice for choice, _ in taken[:position])
            pending += [(*before, k) for k in range(taken[position][1]) if k != taken[position][0]]
    for _ in range(RANDOM):
        if time.monotonic() > end:
            return
        yield case.stage.played((), rng, rounds)

"""Conformance: is this code the algorithm that is declared? The same plays, releases and decisions.

The code runs on symbols along many paths: every outcome of the first decisions, then outcomes at
random, so that unlikely paths are followed as well as likely ones. Beside it the declaration is
answered with the code's own choices. On every path each play must be the code's; each comparison
that
the code makes must be a positive multiple of the difference of two declared indices (the same rows
with the same divisor, fresh Laplace noise of the same scale, bonuses equal up to rounding); and the
arm that the declared rule picks from these values must be the code's. Draws in another order, or
vectorised, conform. The first difference is reported with its round. What was compared is counted:
paths that were not followed are not covered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.symbolic.drivers import Driver
from dpaudit.symbolic.run import Run, active
from dpaudit.symbolic.subject import Target, subject_of
from dpaudit.symbolic.values import Linear
from dpaudit.symbolic.walk import Subject

CLOSE = 1e-9
EVERY = 4  # decisions whose outcomes are all followed
RANDOM = 40  # paths beyond


@dataclass(frozen=True)
class Difference:
    """Where code and declaration part: the round (from 1), the path to it, and what differs."""

    round: int
    path: tuple[int, ...]
    what: str


@dataclass(frozen=True)
class Conformance:
    """What was compared, and the first difference if there is one."""

    paths: int
    rounds: int
    decisions: int
    difference: Difference | None = None


@dataclass
class _Played:
    """One path of the code: arms, and per round what was compared before the arm was played."""

    arms: list[int]
    decided: list[list[Any]]
    run: Run


class _Differs(Exception):
    def __init__(self, round: int, what: str) -> None:
        super().__init__(what)
        self.round, self.what = round, what


def conform(algorithm: Algorithm, target: Target, budget: float, seed: int = 0) -> Conformance:
    """Compare code with a declaration on many paths; the shortest difference that was met."""
    subject = subject_of(target)
    paths = rounds = decisions = 0
    found: Difference | None = None
    end = time.monotonic() + budget
    for played in _paths(subject, target, np.random.default_rng(seed), end):
        paths += 1
        rounds += len(played.arms)
        try:
            decisions += _compared(algorithm, played)
        except _Differs as stop:
            if found is None or stop.round < found.round:
                found = Difference(stop.round, tuple(played.arms[: stop.round]), stop.what)
    return Conformance(paths, rounds, decisions, found)


def _paths(subject: Subject, target: Target, rng: Any, end: float) -> Iterator[_Played]:
    """Yield paths: all outcomes of the first branches, then random ones."""
    pending: list[tuple[int, ...]] = [()]
    while pending and time.monotonic() < end:
        prefix = pending.pop()
        played = _played(subject, target, _Scripted(prefix, rng))
        yield played
        taken = played.run.trace[:EVERY]
        for position in range(len(prefix), len(taken)):
            before = tuple(choice for choice, _ in taken[:position])
            pending += [(*before, k) for k in range(taken[position][1]) if k != taken[position][0]]
    for _ in range(RANDOM):
        if time.monotonic() > end:
            return
        yield _played(subject, target, _Scripted((), rng))


class _Scripted(Run):
    """A run that follows a prefix, and chance after it."""

    def __init__(self, prefix: tuple[int, ...], rng: Any) -> None:
        super().__init__(prefix=prefix)
        self.rng = rng

    def branch(self, outcomes: int, real: Any = None) -> int:
        position = len(self.trace)
        scripted = position < len(self.prefix)
        chosen = self.prefix[position] if scripted else int(self.rng.integers(outcomes))
        self.trace.append((chosen, outcomes))
        return chosen


def _played(subject: Subject, target: Target, run: Run) -> _Played:
    run.files = subject.files
    found = _Played([], [], run)
    with active(run):
        policy = subject.build()
        driver: Driver | None = subject.driver(policy)
        if driver is None:
            raise Unsupported("a function of the whole stream is not compared; give a policy.")
        driver.begin(policy, target.arms)
        memory: dict[str, Any] = {}

        def reward(round: int) -> Any:
            return Linear(0, {run.row(round): 1}, {})

        for at in range(target.horizon):
            before = len(run.decided)
            found.arms.append(driver.turn(policy, memory, target.arms, at, reward))
            found.decided.append(run.decided[before:])
    if run.escaped is not None:
        raise run.escaped
    return found


@dataclass
class _Register:
    """What a register holds by the declaration: rounds, divisor, scale; and the code's draw."""

    rounds: tuple[int, ...]
    divisor: Fraction
    scale: float
    draw: int | None = None


def _compared(algorithm: Algorithm, played: _Played) -> int:
    """Answer the declaration with the code's plays; return the decisions that agreed."""
    state: Any = algorithm.start()
    at = decisions = 0
    rounds: dict[int, list[int]] = {arm: [] for arm in range(algorithm.arms)}
    registers: dict[Any, _Register] = {}
    taken: set[int] = set()
    waiting: list[Any] = []
    while at < len(played.arms):
        step = algorithm.step(state)
        request = step.request
        if isinstance(request, Play):
            stop = min(at + request.rounds, len(played.arms))
            for now in range(at, stop):
                met = waiting + played.decided[now]
                waiting = []
                if met:
                    raise _Differs(now + 1, "the code compares noisy values, the declaration none")
                if played.arms[now] != request.arm:
                    raise _Differs(
                        now + 1,
                        f"the declaration plays arm {request.arm} (an episode of {request.rounds} "
                        f"rounds from round {at + 1}), the code arm {played.arms[now]}",
                    )
                rounds[request.arm].append(now)
            from dpaudit.core.algorithm import Rows

            mine = rounds[request.arm]
            answer: Any = Rows(request.arm, len(mine) - (stop - at), len(mine))
            at = stop
        elif isinstance(request, Release) and isinstance(request.noise, Laplace):
            rows = request.rows
            mine = rounds[rows.arm][rows.first : rows.stop]
            scale = float(request.noise.scale)
            registers[request.register] = _Register(tuple(mine), Fraction(request.divisor), scale)
            answer = None
        elif isinstance(request, Choose):
            met = waiting + played.decided[at]
            played.decided[at], waiting = [], []
            answer = _decided(request, registers, met, played, at, taken)
            decisions += 1
        else:
            raise Unsupported(f"{type(request).__name__} is not compared with code.")
        state = step.then(answer)
    return decisions


def _decided(
    request: Choose,
    registers: dict[Any, _Register],
    met: list[Any],
    played: _Played,
    at: int,
    taken: set[int],
) -> int:
    """Return the arm of a decision in which code and declaration agree."""
    rule = request.rule(FLOAT)
    if not isinstance(rule, Affine):
        raise Unsupported(f"a {type(rule).__name__} rule is not compared with code.")
    shifts = np.broadcast_to(np.asarray(rule.shift, dtype=float), len(request.arms))
    slopes = np.broadcast_to(np.asarray(rule.scale, dtype=float), len(request.arms))
    arm = played.arms[at]
    if not met:
        raise _Differs(at + 1, "the declaration decides here, the code compares nothing")
    order: set[tuple[int, int]] = set()
    for difference, signs in met:
        if not isinstance(difference, Linear):
            raise Unsupported("the code compares values that are not affine in rewards and noise.")
        pair = _pair(request, registers, shifts, slopes, difference, played.run, taken)
        if pair is None:
            raise _Differs(
                at + 1,
                "the code compares values that are no declared indices: "
                + _shown(difference, played.run, request, registers),
            )
        first, second = pair
        if signs <= {0, 1}:
            order.add((first, second))
        elif signs <= {0, -1}:
            order.add((second, first))
    if not all(_above(order, arm, other) for other in request.arms if other != arm):
        raise _Differs(at + 1, f"the code plays arm {arm}, which is not the largest index")
    return arm


def _above(order: set[tuple[int, int]], one: int, other: int) -> bool:
    reached, pending = {one}, [one]
    while pending:
        here = pending.pop()
        for a, b in order:
            if a == here and b not in reached:
                reached.add(b)
                pending.append(b)
    return other in reached


def _pair(
    request: Choose,
    registers: dict[Any, _Register],
    shifts: Any,
    slopes: Any,
    difference: Linear,
    run: Run,
    taken: set[int],
) -> tuple[int, int] | None:
    """Return the arms whose declared indices a comparison compares, up to a positive factor."""
    for i, one in enumerate(request.arms):
        for j, other in enumerate(request.arms):
            if i == j:
                continue
            wanted: dict[int, float] = {}
            known = [registers.get(request.registers[k][0]) for k in (i, j)]
            if any(len(request.registers[k]) != 1 for k in (i, j)) or None in known:
                raise Unsupported("an index over several registers is not compared with code.")
            for sign, slope, register in ((1, slopes[i], known[0]), (-1, slopes[j], known[1])):
                assert register is not None
                for when in register.rounds:
                    wanted[when] = wanted.get(when, 0.0) + sign * slope / float(register.divisor)
            if _same(difference, run, wanted, shifts[i] - shifts[j], known, taken, slopes[[i, j]]):
                return one, other
    return None


def _same(
    difference: Linear,
    run: Run,
    wanted: dict[int, float],
    shift: float,
    known: list[Any],
    taken: set[int],
    slopes: Any,
) -> bool:
    rows = {run.columns[name].round: float(w) for name, w in difference.rows.items()}
    if rows.keys() != wanted.keys() or difference.publics or len(difference.draws) != 2:
        return False
    when = next(iter(wanted))
    factor = rows[when] / wanted[when]
    if factor <= 0 or any(not _close(rows[k], factor * w) for k, w in wanted.items()):
        return False
    if abs(float(difference.rest) / factor - shift) > CLOSE * (1 + abs(shift)):
        return False
    draws = sorted(difference.draws.items(), key=lambda it: -it[1])
    for register, (name, weight), sign, slope in zip(known, draws, (1, -1), slopes, strict=True):
        scale = run.laws[name].scale
        if scale is None or sign * weight <= 0:
            return False
        if not _close(abs(float(weight)) * float(scale), factor * slope * register.scale):
            return False
        if register.draw not in (None, name) or (register.draw is None and name in taken):
            return False
    for register, (name, _) in zip(known, draws, strict=True):
        register.draw = name
        taken.add(name)
    return True


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= CLOSE * (abs(a) + abs(b))


def _shown(difference: Linear, run: Run, request: Choose, registers: dict[Any, Any]) -> str:
    """Say in words what the code compares and what is declared."""
    rounds = sorted(run.columns[name].round + 1 for name in difference.rows)
    scales = sorted(
        abs(float(w)) * float(run.laws[n].scale or 0) for n, w in difference.draws.items()
    )
    held = {arm: registers.get(request.registers[i][0]) for i, arm in enumerate(request.arms)}
    declared = "; ".join(
        f"arm {arm}: {len(it.rounds)} rewards, scale {it.scale:.6g}"
        for arm, it in held.items()
        if it
    )
    noise = ", ".join(f"{scale:.6g}" for scale in scales) or "none"
    return f"{len(rounds)} rewards, noise of scale {noise} (declared {declared})"

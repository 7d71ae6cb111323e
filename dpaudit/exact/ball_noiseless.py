"""Algorithms without noise: a path happens or it does not, decided in balls or by formulas.

Registers hold exact rationals. A decision compares scores in balls at rising precision. Where the
balls still overlap, two scores are equal if their formulas on the exact registers are the same
tree, and then the earlier arm wins; otherwise the comparison is undecided and `Unsupported` says
so. Two neighbouring streams with different actions make the loss infinite.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Play, Release, Rows
from dpaudit.core.arithmetic import BALL, ball, exact
from dpaudit.core.noise import NoNoise
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact.ball_symbolic import TREE, Tree, rational
from dpaudit.exact.paths import Decided, Event, Path, Played

PRECISIONS = (64, 256, 1024, 4096)


def is_noiseless(path: Path) -> bool:
    """Does a path release something, and never add noise?"""
    releases = [event for event in path.events if isinstance(event, Release | Accumulate)]
    return bool(releases) and all(isinstance(event.noise, NoNoise) for event in releases)


@dataclass(frozen=True)
class Differing:
    """One reward, all others at `background`: changing it from `background` changes the actions."""

    path: Path
    release: Release | Accumulate
    background: int


def differing(algorithm: Algorithm, horizon: int) -> Differing | None:
    """Look for a single reward that matters, with all the others at 0 or all at 1."""
    for background in (0, 1):
        plain = [Fraction(background)] * horizon
        path = follow(algorithm, plain)
        for position in range(horizon):
            stream = list(plain)
            stream[position] = Fraction(1 - background)
            if not np.array_equal(follow(algorithm, stream).actions, path.actions):
                holds = (
                    event
                    for event in path.events
                    if isinstance(event, Release | Accumulate)
                    and any(position in part for part in path.steps(event.rows))
                )
                return Differing(path, next(holds), background)
    return None


def follow(algorithm: Algorithm, stream: Sequence[Fraction]) -> Path:
    """Return the path that a noiseless algorithm takes on a stream."""
    registers: dict[Hashable, Fraction] = {}
    pulls: dict[int, list[Fraction]] = {arm: [] for arm in range(algorithm.arms)}
    events: list[Event] = []
    state, now = algorithm.start(), 0
    while True:
        step = algorithm.step(state)
        request = step.request
        answer: Any = None
        if isinstance(request, Play):
            rounds = min(request.rounds, len(stream) - now)
            before = len(pulls[request.arm])
            answer = Rows(request.arm, before, before + rounds)
            pulls[request.arm] += stream[now : now + rounds]
            events.append(Played(answer, now))
            now += rounds
            if now == len(stream):
                return Path(tuple(events), now)
        elif isinstance(request, Release | Accumulate):
            rows = request.rows
            total = sum(pulls[rows.arm][rows.first : rows.stop], Fraction(0))
            _store(request, total, registers)
            events.append(request)
        elif isinstance(request, Choose):
            answer = _winner(request, registers)
            events.append(Decided(request, answer))
        else:
            raise Unsupported("The noiseless engine answers `Choose` alone.")
        state = step.then(answer)


def _store(
    request: Release | Accumulate, total: Fraction, registers: dict[Hashable, Fraction]
) -> None:
    before = registers.get(request.register, Fraction(0))
    kept = before if isinstance(request, Accumulate) else Fraction(0)
    registers[request.register] = kept + total / exact(request.divisor)


def happens(path: Path, sums: Mapping[Rows, Fraction]) -> bool:
    """Decide whether the rewards lead along this path."""
    registers: dict[Hashable, Fraction] = {}
    for event in path.events:
        if isinstance(event, Release | Accumulate):
            _store(event, sums[event.rows], registers)
        elif isinstance(event, Decided):
            if not isinstance(event.request, Choose):
                raise Unsupported("The noiseless engine answers `Choose` alone.")
            if event.outcome != _winner(event.request, registers):
                return False
    return True


def _winner(request: Choose, registers: Mapping[Hashable, Fraction]) -> int:
    values = [sum((registers[name] for name in group), Fraction(0)) for group in request.registers]
    best = 0
    for position in range(1, len(values)):
        if _beats(request, values, position, best):
            best = position
    return request.arms[best]


def _beats(request: Choose, values: list[Fraction], challenger: int, holder: int) -> bool:
    """Is a later arm's score certainly larger? Equal scores keep the earlier arm."""
    formulas = [_formula(request, values, position) for position in (challenger, holder)]
    if formulas[0] == formulas[1]:
        return False
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            one, two = (_score(request, values, position) for position in (challenger, holder))
            if one > two:
                return True
            if one < two:
                return False
    raise Unsupported(
        f"Two scores agree to {PRECISIONS[-1]} bits and no formula proves them equal."
    )


def _formula(request: Choose, values: list[Fraction], position: int) -> tuple[Any, ...]:
    """What a score depends on; for a KL bound the clipped mean decides, and 1 is a plateau."""
    rule = request.rule(TREE).at(position)
    value = values[position]
    if isinstance(rule, KLBound):
        mean = _mean(rule, value)
        return ("top",) if mean == 1 else (mean, rule.level)
    if isinstance(rule, Affine):
        scale = rule.scale if isinstance(rule.scale, Tree) else exact(rule.scale)
        return (value, scale, rule.shift)
    raise Unsupported(f"{type(rule).__name__} is not in the noiseless engine.")


def _mean(rule: Any, value: Fraction) -> Fraction:
    scale, shift = rational(rule.scale), rational(rule.shift)
    if scale is None or shift is None:
        raise Unsupported("The mean of a KL score is not a rational of its register.")
    return min(max(scale * value + shift, Fraction(0)), Fraction(1))


def _score(request: Choose, values: list[Fraction], position: int) -> arb:
    rule = request.rule(BALL).at(position)
    if isinstance(rule, Affine):
        score: arb = ball(rule.scale) * ball(values[position]) + ball(rule.shift)
        return score
    assert isinstance(rule, KLBound)
    mean = _mean(request.rule(TREE).at(position), values[position])
    if mean == 1:
        return arb("inf")
    return upper_bound(mean, ball(rule.level))


def upper_bound(mean: Fraction, level: arb) -> arb:
    """Enclose v = -log(1 - q) for the largest q with d(mean, q) <= level, by bisection in balls."""
    if mean == 0:
        return level
    p, rest = ball(mean), ball(1 - mean)
    constant = p * p.log() + rest * rest.log() - level

    def excess(v: arb) -> arb:
        value: arb = constant - p * (1 - (-v).exp()).log() + rest * v
        return value

    low, high = (-rest.log()).lower(), arb(1)
    while not excess(high) > 0 or not high > low:
        high *= 2
    for _ in range(ctx.prec):
        middle = ((low + high) / 2).mid()
        value = excess(middle)
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:
            break
    found: arb = low.union(high)
    return found

"""Likelihoods of action sequences from the definition; no code is shared with the engines.

A path's probability is an integral over the releases that its decisions read. One release is held;
given it, the others fall apart into groups that no decision joins, each done likewise. Where each
condition of a decision begins to hold is found by asking the rule itself (`winner`, no inverse).
The innermost integral is exact; the others are panels in quantiles, cut where means clip, and cut
again `rounds` times where that changes them: the error is what another round changes.
"""

import math
from collections import namedtuple
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

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
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import Gaussian, NoNoise
from dpaudit.core.scores import DRAWS, Score

SURE = (NoNoise, Respond)  # values that are listed, not integrated over
DEEPEST = 3  # integrals inside one another
LOW = (1e-13, 1e-9, 1e-6, 1e-4, 3e-3, 0.02, 0.06, 0.12, 0.2, 0.3, 0.4)
SCAN = np.array([*LOW, 0.5, *(1 - u for u in LOW[::-1])])
# Lobatto's rule, whose ends see a jump wherever it is; parts of unequal length, too
NODES = np.array([1e-9 - 1, -math.sqrt(3 / 7), 0, math.sqrt(3 / 7), 1 - 1e-9])
WEIGHTS = np.array([9, 49, 64, 49, 9]) / 90


# releases: (steps, divisor, noise); decisions: (request, outcome, releases that each arm shows)
Path = namedtuple("Path", "actions releases decisions chance")


MOST_POINTS = 20_000_000  # of one integral: some seconds


class Declined(Exception):
    """The oracle has no answer; the reason is a few words."""


def all_paths(algorithm: Algorithm, horizon: int) -> list[Path]:
    found: list[Path] = []

    def walk(
        state: Any, played: tuple, releases: tuple, held: dict, decisions: tuple, chance: float
    ) -> None:
        while True:
            step = algorithm.step(state)
            request, answer = step.request, None
            if isinstance(request, Play):
                first = played.count(request.arm)
                played = (*played, *(request.arm,) * request.rounds)
                if len(played) >= horizon:
                    return found.append(Path(played[:horizon], releases, decisions, chance))
                answer = Rows(request.arm, first, first + request.rounds)
            elif isinstance(request, Stop):
                rest = (algorithm.arms + request.arm,) * (horizon - len(played))
                return found.append(Path((*played, *rest), releases, decisions, chance))
            elif isinstance(request, Release | Accumulate | Respond):
                rows, name = request.rows, request.register
                steps = [t for t, arm in enumerate(played) if arm == rows.arm][: rows.stop]
                kept = () if isinstance(request, Release) else held.get(name, ())
                held = {**held, name: (*kept, len(releases))}
                law = (1.0, request) if isinstance(request, Respond) else ()
                law = law or (float(request.divisor), request.noise)
                new = tuple(steps[rows.first :]), *law
                releases = (*releases, new)
            elif isinstance(request, Toss):
                for side, p in enumerate(request.chances):
                    if p:
                        now = chance * float(p)
                        walk(step.then(side), played, releases, held, decisions, now)
                return None
            else:
                shown = [[i for name in group for i in held[name]] for group in request.registers]
                sizes = range(1, len(request.arms) + 1) if isinstance(request, Keep) else ()
                some = [kept for size in sizes for kept in combinations(request.arms, size)]
                for o in some or request.arms:
                    now = (*decisions, (request, o, shown))
                    walk(step.then(o), played, releases, held, now, chance)
                return None
            state = step.then(answer)

    walk(algorithm.start(), (), (), {}, (), 1.0)
    return found


def goes(request: Choose | Keep, outcome: Any, x: Any) -> Any:
    # conditions along the last axis, each a half-line in a score, which hold together
    if isinstance(request, Keep):
        near = x >= x.max(axis=-1, keepdims=True) - float(request.width(FLOAT))
        return near == np.isin(request.arms, outcome)
    won = np.asarray(request.rule(FLOAT).winner(x, None)) == request.arms.index(outcome)
    return won[..., None]


class Integral:
    def __init__(self, path: Path, stream: Any, rounds: int = 0) -> None:
        self.noises, self.rounds, self.points = [law for *_, law in path.releases], rounds, 0
        self.centres = [math.fsum(stream[t] for t in at) / over for at, over, _ in path.releases]
        self.decisions = [(*d, {i for group in d[2] for i in group}) for d in path.decisions]
        choices = [d[0] for d in path.decisions if isinstance(d[0], Choose)]
        rules = [choice.rule(FLOAT) for choice in choices]
        if any(isinstance(it, (*DRAWS, Gaussian)) for it in (*rules, *self.noises)):
            raise Declined("Gaussian noise or a rule that draws")
        self.kinks = [0.0, 1.0]
        for rule, choice in zip(rules, choices, strict=True):
            x = np.linspace(-9, 9, 199)[:, None] * np.ones(len(choice.arms))
            if isinstance(rule, Score) and (np.diff(rule.value(x), axis=0) < 0).any():
                raise Declined("a score that falls")  # `group` takes the largest for the best
            shift, scale = (np.ravel(getattr(rule, n, v)) for n, v in (("shift", 0), ("scale", 1)))
            self.kinks += [*(-shift / scale), *((1 - shift) / scale)]
        everything = frozenset().union(*(read for *_, read in self.decisions))
        self.value = path.chance * float(self.chance(everything, (), np.zeros((1, 0)))[0])

    def groups(self, rest: frozenset[int]) -> list[frozenset[int]]:
        parts = [frozenset({i}) for i in rest]
        for *_, read in self.decisions:
            joined = [part for part in parts if part & read]
            parts = [part for part in parts if not part & read] + [frozenset().union(*joined)]
        return [part for part in parts if part]

    def chance(self, rest: frozenset[int], held: tuple[int, ...], x: Any) -> Any:
        parts = [self.group(part, held, x) for part in self.groups(rest)]
        return np.prod([np.ones(len(x)), *parts], axis=0)

    def group(self, part: frozenset[int], held: tuple[int, ...], x: Any) -> Any:
        i = min(sorted(part), key=lambda i: max(map(len, self.groups(part - {i})), default=0))
        order, left, noise, centre = (*held, i), part - {i}, self.noises[i], self.centres[i]
        if left and sum(not isinstance(self.noises[j], SURE) for j in order) >= DEEPEST:
            raise Declined("many releases that hang together")
        now = []
        for request, outcome, shown, read in self.decisions:
            if i in read and (read <= {*order} or isinstance(request, Choose)):
                # a choice that reads what is not held yet comes out at best
                free = [len({*group} - {*order}) for group in shown]
                best = [1e9 if arm == outcome else -1e9 for arm in request.arms]
                count = np.array([[group.count(j) for j in order] for group in shown], dtype=float)
                now.append((request, outcome, count, np.where(free, best, 0.0)))

        def fits(value: Any, rows: Any) -> Any:
            self.points += value.size
            if self.points > MOST_POINTS:
                raise Declined("too many points")
            fine = [np.ones((*value.shape, 1), dtype=bool)]
            for request, outcome, count, rest in now:
                past = (x[rows] @ count[:, :-1].T)[(slice(None), *(None,) * (value.ndim - 1))]
                shown = past + value[..., None] * count[:, -1] + rest
                fine.append(goes(request, outcome, shown))
            return np.concatenate(fine, axis=-1)

        if isinstance(noise, Respond):
            one = float(noise.zero + (noise.one - noise.zero) * Fraction(centre))
            found = np.zeros(len(x))
            for bit, share in ((0.0, 1 - one), (1.0, one)):
                value = np.full(len(x), bit)
                rest = self.chance(left, order, np.column_stack((x, value)))
                found += share * fits(value, slice(None)).all(-1) * rest
            return found
        if isinstance(noise, NoNoise):
            value = np.full(len(x), centre)
            rest = self.chance(left, order, np.column_stack((x, value)))
            return fits(value, slice(None)).all(-1) * rest
        scale = float(noise.scale)

        def quantile(u: Any) -> Any:
            tail = np.log(2 * np.clip(np.minimum(u, 1 - u), 1e-17, 1))
            return centre + scale * np.where(u < 0.5, tail, -tail)

        def panels(owner: Any, low: Any, high: Any) -> Any:
            u = low[:, None] + (high - low)[:, None] * (NODES + 1) / 2
            rows = np.column_stack((np.repeat(x[owner], len(NODES), 0), quantile(u.ravel())))
            return (high - low) / 2 * (self.chance(left, order, rows).reshape(u.shape) @ WEIGHTS)

        owner, low, high = intervals(lambda u, rows: fits(quantile(u), rows), len(x))
        if not left:
            return np.bincount(owner, high - low, len(x))
        kinks = (np.array(self.kinks) - centre) / scale
        tails = np.exp(-np.abs(kinks)) / 2
        cuts = np.unique([0, 1, *SCAN[1:-1:2], *np.where(kinks < 0, tails, 1 - tails)])
        low, high = np.maximum(low[:, None], cuts[:-1]), np.minimum(high[:, None], cuts[1:])
        owner, low, high = (v[low < high] for v in (owner[:, None] + 0 * (low > 0), low, high))
        found, whole = np.zeros(len(x)), panels(owner, low, high)
        for _ in range(self.rounds):
            middle = low + 0.41 * (high - low)
            halves = panels(owner, low, middle), panels(owner, middle, high)
            again = np.abs(sum(halves) - whole) > 1e-7
            found += np.bincount(owner, np.where(again, 0.0, sum(halves)), len(x))
            low, high = np.append(low[again], middle[again]), np.append(middle[again], high[again])
            owner, whole = np.tile(owner[again], 2), np.append(*(half[again] for half in halves))
        return found + np.bincount(owner, whole, len(x))


def intervals(fits: Any, rows: int) -> tuple[Any, Any, Any]:
    inside = fits(np.tile(SCAN, (rows, 1)), slice(None))
    owner, place, which = np.nonzero(np.diff(inside, axis=1))
    low, high, before = SCAN[place], SCAN[place + 1], inside[owner, place, which]
    for _ in range(20 if len(owner) else 0):
        middle = (low + high) / 2
        same = fits(middle, owner)[np.arange(len(owner)), which] == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    order = np.lexsort((low, owner))
    owner, low = owner[order], low[order]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner) + 1
    edges = np.ones((rows, 2 + max(rank, default=0)))
    edges[:, 0], edges[owner, rank] = 0.0, low
    left, right = edges[:, :-1], edges[:, 1:]
    owner, place = np.nonzero(fits((left + right) / 2, slice(None)).all(-1) & (left < right))
    return owner, left[owner, place], right[owner, place]

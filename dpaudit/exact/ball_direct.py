"""The worst loss where likelihoods are evaluated one by one: eliminations, three or more arms.

Nothing is shared between paths, so the reach is short; the conditions of the extremal-streams
corollary are checked on every path all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from flint import ctx

from dpaudit.core.algorithm import Keep
from dpaudit.errors import Unsupported
from dpaudit.exact import ball_elimination, ball_order
from dpaudit.exact.ball_concave import Step
from dpaudit.exact.ball_exponential import Imprecise
from dpaudit.exact.ball_search import LAST_PRECISION
from dpaudit.exact.clock import GRACE, Clock
from dpaudit.exact.conditions import require_extremal, require_single_use
from dpaudit.exact.paths import Decided, Path
from dpaudit.exact.rounding import above, below
from dpaudit.verdict import Enclosure


@dataclass(frozen=True)
class Direct:
    """The enclosure of the largest loss and the step that attains its lower end."""

    loss: Enclosure
    path: Path
    step: Step
    complete: bool


def widest(path: Path) -> int:
    """Return the largest number of arms that a decision looks at."""
    return max((len(e.request.arms) for e in path.events if isinstance(e, Decided)), default=0)


def _eliminates(path: Path) -> bool:
    return any(isinstance(e, Decided) and isinstance(e.request, Keep) for e in path.events)


def eliminates(paths: Sequence[Path]) -> bool:
    """Do these paths eliminate arms? Then those that show as the same actions are grouped."""
    return any(map(_eliminates, paths))


def applies(paths: Sequence[Path]) -> bool:
    """Do these paths eliminate arms, or choose among more than two?"""
    return any(_eliminates(path) or widest(path) > 2 for path in paths)


def search(paths: Sequence[Path], binary: bool, clock: Clock) -> Direct:
    """Enclose the largest loss over all groups of paths that show as the same actions."""
    jobs = _eliminations(paths) if eliminates(paths) else _orders(paths)
    candidates: list[tuple[Step, Path]] = []
    complete, late = True, clock.later(GRACE)
    for path, steps in jobs:
        if candidates and clock.late:
            complete = False
            break
        late()
        candidates += [(step, path) for step in _settled(steps, binary)]
    if not candidates:
        raise Unsupported("No release enters a decision within the horizon.")
    best, path = max(candidates, key=lambda item: item[0].lower.mid())
    lower = max(below(best.lower), 0.0)
    upper = max(max(above(step.upper) for step, _ in candidates), lower)
    loss = Enclosure(lower, upper if complete else math.inf, certified=True)
    return Direct(loss, path, best, complete)


Job = tuple[Path, Callable[[bool], list[Step]]]


def _settled(steps: Callable[[bool], list[Step]], binary: bool) -> list[Step]:
    """Return the steps at a precision that makes every ball narrow."""
    precision = 256
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                found = steps(binary)
            except Imprecise:
                found = None
            if found is not None and all(
                step.lower.is_finite() and step.upper.is_finite() and step.upper.rad() < 1e-12
                for step in found
            ):
                return found
        precision *= 2
    raise Unsupported(f"The balls stay wide at {LAST_PRECISION} bits.")


def _orders(paths: Sequence[Path]) -> list[Job]:
    jobs: list[Job] = []
    for path in paths:
        require_extremal(path)
        order = ball_order.order_of(path)
        jobs.append((path, partial(ball_order.order_steps, order)))
    return jobs


def _eliminations(paths: Sequence[Path]) -> list[Job]:
    """Group the paths that show as the same actions: they differ in the last outcome alone."""
    groups: dict[bytes, list[Path]] = {}
    for path in paths:
        require_single_use(path)
        groups.setdefault(path.actions.tobytes(), []).append(path)
    jobs: list[Job] = []
    for together in groups.values():
        runs = [ball_elimination.epochs_of(path) for path in together]
        if len({len(run) for run in runs}) > 1 or any(run[:-1] != runs[0][:-1] for run in runs):
            raise Unsupported("Paths of the same actions differ before their last elimination.")
        for number in range(len(runs[0])):
            last = number == len(runs[0]) - 1
            union = [run[number] for run in (runs if last else runs[:1])]
            jobs.append(
                (
                    together[0],
                    partial(ball_elimination.epoch_steps, union),
                )
            )
    return jobs

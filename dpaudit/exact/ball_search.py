"""The search for the largest loss over all paths, releases, backgrounds and steps.

Every candidate is enclosed. The lower end of the result is the best lower end that is attained, the
upper end the largest upper end of any candidate; a candidate that could still raise the upper end
is looked at more closely, the others are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import ctx

from dpaudit.core.arithmetic import ball
from dpaudit.errors import Unsupported
from dpaudit.exact import ball_affine, ball_kl, ball_worst
from dpaudit.exact.ball_chain import Chain
from dpaudit.exact.ball_exponential import Imprecise
from dpaudit.exact.ball_steps import mesh_steps
from dpaudit.exact.clock import GRACE, Clock
from dpaudit.exact.rounding import above, below
from dpaudit.verdict import Enclosure

LAST_PRECISION = 1 << 15
# cells of a grid's smooth stretches, and mesh points per unit of own sum, in the first pass and at
# most: widths are of second order in both
FIRST_PASS, FINEST = (300, 16), (20_000, 4096)


@dataclass(frozen=True)
class Found:
    """The enclosure of the largest loss and the candidate that attains its lower end."""

    loss: Enclosure
    chain: int
    release: int
    own: Fraction
    neighbour: Fraction
    background: int
    complete: bool


@dataclass(frozen=True)
class _Candidate:
    lower: float
    upper: float
    chain: int
    release: int
    background: int
    own: Fraction
    neighbour: Fraction


def _result(candidates: Sequence[_Candidate], complete: bool) -> Found:
    if not candidates:
        raise Unsupported("No release enters a decision within the horizon.")
    best = max(candidates, key=lambda item: item.lower)
    lower = max(best.lower, 0.0)
    upper = max(max(item.upper for item in candidates), lower) if complete else math.inf
    loss = Enclosure(lower, upper, certified=True)
    place = best.chain, best.release, best.own, best.neighbour, best.background
    return Found(loss, *place, complete)


def affine(chains: Sequence[Chain], binary: bool, clock: Clock, width: float) -> Found:
    """Search under affine scores: concave curves, in balls."""
    precision = 256
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                return _affine(chains, binary, clock, min(width, 1e-9))
            except Imprecise:
                precision *= 2
    raise Unsupported(f"The balls stay wide at {LAST_PRECISION} bits.")


def _affine(chains: Sequence[Chain], binary: bool, clock: Clock, width: float) -> Found:
    rates = [chain.rate(release) for chain in chains for release in range(len(chain.releases))]
    unit = ball_affine.unit_of(rates)
    measure = ball_worst.full_step if binary else ball_worst.any_step
    found: list[_Candidate] = []
    wide: dict[int, ball_worst.Curve] = {}
    best = 0.0
    for background in (1, 0):
        shared = ball_worst.Sharing(unit, background)
        for number, chain in enumerate(chains):
            if found and clock.late:
                return _result(found, complete=False)
            clock.later(GRACE)()
            for release, curve in shared.curves(chain) if chain.stages else ():
                # a concave curve is steepest where its own sum is farthest from the others
                rows = len(chain.releases[release].rows)
                start, direction = (Fraction(0), 1) if background else (Fraction(rows), -1)
                bounds = measure(curve, start, direction)
                item = _measured(bounds, number, release, background, start, direction)
                best = max(best, item.lower)
                if item.upper - item.lower > width and item.upper > best:
                    wide[len(found)] = curve
                found.append(item)
    for index, curve in wide.items():
        item = found[index]
        if item.upper > best:
            direction = 1 if item.background else -1
            bounds = ball_worst.narrowed(curve, item.own, direction, width)
            found[index] = _measured(
                bounds, item.chain, item.release, item.background, item.own, direction
            )
            best = max(best, found[index].lower)
    return _result(found, complete=True)


def _measured(
    bounds: ball_worst.Bounds,
    chain: int,
    release: int,
    background: int,
    start: Fraction,
    direction: int,
) -> _Candidate:
    if not (bounds.lower.is_finite() and bounds.upper.is_finite() and bounds.upper.rad() < 1e-9):
        raise Imprecise("a likelihood's ball reaches zero.")
    end = start + direction * bounds.step
    lower, upper = below(bounds.lower), above(bounds.upper)
    return _Candidate(lower, upper, chain, release, background, start, end)


def _finer(cells: int, mesh: int, excess: float) -> tuple[int, int]:
    """Return a finer pass for an enclosure that is `excess` times too wide."""
    wanted = math.sqrt(2 * min(excess, 1e6))
    cells = math.ceil(cells * min(max(wanted, 1.5), 3.0))
    doubled = mesh * 2 ** min(max(math.ceil(math.log2(wanted)), 1), 3)
    return min(cells, FINEST[0]), min(doubled, FINEST[1])


def grids(chains: Sequence[Chain], binary: bool, clock: Clock, width: float) -> Found:
    """Search under KL scores: every own sum, on grids that are refined where it matters."""
    known: dict[tuple[int, int, int], _Candidate] = {}
    active = {(number, background) for number in range(len(chains)) for background in (0, 1)}
    complete = False
    cells, mesh = FIRST_PASS
    while True:
        chosen = [chains[number] for number, _ in sorted(active) if chains[number].stages]
        engine = ball_kl.Engine(chosen, cells, 1 if binary else mesh)
        for background in (1, 0):
            shared = ball_kl.Sharing(engine, background)
            for number, chain in enumerate(chains):
                if (number, background) not in active or not chain.stages:
                    continue
                if known and clock.late:
                    return _result(list(known.values()), complete)
                clock.later(GRACE)()
                for release, scan in shared.curves(chain):
                    kappa = ball(chain.rate(release) / Fraction(chain.releases[release].divisor))
                    steps = mesh_steps(scan, engine.mesh, above(kappa), rising=background == 1)
                    item = _Candidate(
                        -math.inf if math.isnan(steps.lower) else steps.lower,
                        math.inf if math.isnan(steps.upper) else steps.upper,
                        number,
                        release,
                        background,
                        steps.own,
                        steps.other,
                    )
                    key = (number, release, background)
                    old = known.get(key, item)
                    known[key] = replace(
                        item if item.lower >= old.lower else old,
                        upper=min(item.upper, old.upper),
                    )
        complete = True
        result = _result(list(known.values()), complete)
        if result.loss.width <= width or (cells, mesh) == FINEST:
            break
        cells, mesh = _finer(cells, mesh, result.loss.width / width)
        limit = result.loss.lower + width
        active = {(item.chain, item.background) for item in known.values() if item.upper > limit}
    return result

"""Certified numbers: enclosures of log-likelihoods with outward rounding end to end, in balls.

Every parameter comes from the declaration evaluated in balls or as a fraction, never from a
double. The precision doubles until the result is tight, so a ball that comes back is both sound
and narrow, or `Unsupported` says why there is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flint import arb, ctx

from dpaudit.core.algorithm import Algorithm, Release, Rows
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact import ball_affine, ball_worst
from dpaudit.exact.ball_chain import Chain, chain_of
from dpaudit.exact.ball_conditions import require_extremal
from dpaudit.exact.ball_exponential import Imprecise
from dpaudit.exact.paths import Path, all_paths
from dpaudit.exact.rounding import above, below
from dpaudit.verdict import Enclosure

FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
TARGET_BITS = 80


def tighten(
    compute: Callable[[], arb], bits: int = TARGET_BITS, first: int = FIRST_PRECISION
) -> arb:
    """Return compute() at a precision, doubled from `first`, that leaves `bits` correct bits."""
    precision = first
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                found = compute()
            except Imprecise:
                found = None
            if found is not None and found.is_finite() and found.rel_accuracy_bits() >= bits:
                return found
        precision *= 2
    raise Unsupported(f"The ball stays wide at {LAST_PRECISION} bits.")


def path_log_likelihood(path: Path, sums: Mapping[Rows, Fraction]) -> arb:
    """Return a ball around the log-probability of a decision path; -inf where it is impossible.

    `sums[rows]` is the exact sum of the rewards of each released `Rows`. The radius is relative
    to the log-likelihood's precision, however small the probability is.
    """
    chain = chain_of(path)
    if not chain.stages:
        return arb(0)
    totals = {number: sums[release.rows] for number, release in enumerate(chain.releases)}
    probability = tighten(lambda: ball_affine.likelihood(chain, totals))
    with ctx.workprec(2 * TARGET_BITS):
        return probability.log()


@dataclass(frozen=True)
class WorstLoss:
    """A certified enclosure of epsilon*(T) and the place where its lower end is attained.

    The likelihood of `path` with the rewards of `release` summing to `neighbour` is the larger one,
    with `own` the smaller one, every other reward being `background`. Where `complete` is false the
    budget ended the search: the upper end is infinite, the lower end still stands.
    """

    loss: Enclosure
    path: Path
    release: Release
    own: Fraction
    neighbour: Fraction
    background: int
    streams: str
    paths: int
    complete: bool
    seconds: float


Streams = Literal["real", "binary"]
COVERS = {
    "real": "all pairs of neighbouring streams in [0, 1]^T",
    "binary": "all pairs of neighbouring streams in {0, 1}^T",
}


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    streams: Streams = "real",
    budget_seconds: float | None = None,
    width: float = 1e-9,
) -> WorstLoss:
    """Enclose the largest loss over all action sequences and all neighbouring streams.

    Uses the extremal-streams corollary, after checking its conditions on every path; a declaration
    that fails them is `Unsupported`. No bound from the structure of the noise enters.
    """
    if streams not in COVERS:
        raise InvalidArgument("streams", streams, "must be real or binary.")
    require_integer("horizon", horizon, algorithm.arms)
    began = time.monotonic()
    paths = list(all_paths(algorithm, horizon))
    for path in paths:
        require_extremal(path)
    chains = [chain_of(path) for path in paths]
    precision = 128 + 2 * horizon.bit_length() * 8
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            try:
                return _affine_worst(paths, chains, streams, began, budget_seconds, width)
            except Imprecise:
                precision *= 2
    raise Unsupported(f"The balls stay wide at {LAST_PRECISION} bits.")


def _affine_worst(
    paths: list[Path],
    chains: list[Chain],
    streams: Streams,
    began: float,
    budget_seconds: float | None,
    width: float,
) -> WorstLoss:
    rates = [chain.rate(release) for chain in chains for release in range(len(chain.releases))]
    unit = ball_affine.unit_of(rates)
    measure = ball_worst.full_step if streams == "binary" else ball_worst.any_step
    found: list[tuple[ball_worst.Bounds, int, int, int]] = []
    open_curves: dict[int, ball_worst.Curve] = {}
    best, complete = arb(0), True
    for background in (1, 0):
        shared = ball_worst.Sharing(unit, background)
        for number, chain in enumerate(chains):
            if budget_seconds is not None and time.monotonic() - began > budget_seconds:
                complete = False
                break
            for release, curve in shared.curves(chain) if chain.stages else ():
                start, direction = _start(chain, release, background)
                bounds = measure(curve, start, direction)
                if not (bounds.lower.is_finite() and bounds.upper.rad() < width):
                    raise Imprecise("a likelihood's ball reaches zero.")
                best = arb.max(best, bounds.lower)
                if not bounds.upper - bounds.lower < width and bounds.upper > best:
                    open_curves[len(found)] = curve
                found.append((bounds, number, release, background))
    for index, curve in open_curves.items():
        bounds, number, release, background = found[index]
        if bounds.upper > best:
            start, direction = _start(chains[number], release, background)
            bounds = ball_worst.narrowed(curve, start, direction, width)
            best = arb.max(best, bounds.lower)
            found[index] = bounds, number, release, background
    if not found:
        raise Unsupported("No release enters a decision within the horizon or the budget.")
    bounds, number, release, background = max(found, key=lambda item: item[0].lower.mid())
    upper = math.inf if not complete else max(above(item[0].upper) for item in found)
    start, direction = _start(chains[number], release, background)
    return WorstLoss(
        Enclosure(below(bounds.lower), max(upper, 0.0), certified=True),
        paths[number],
        chains[number].releases[release],
        own=start,
        neighbour=start + direction * bounds.step,
        background=background,
        streams=COVERS[streams],
        paths=len(paths),
        complete=complete,
        seconds=time.monotonic() - began,
    )


def _start(chain: Chain, release: int, background: int) -> tuple[Fraction, int]:
    """The own sum that a concave curve's steepest step leaves, and its direction."""
    return (Fraction(0), 1) if background else (Fraction(len(chain.releases[release].rows)), -1)

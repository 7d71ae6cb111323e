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

import numpy as np
from flint import arb, ctx

from dpaudit.core.algorithm import Accumulate, Algorithm, Keep, Release, Rows
from dpaudit.core.arithmetic import BALL
from dpaudit.core.scores import Affine
from dpaudit.errors import InvalidArgument, Unsupported, require_integer
from dpaudit.exact import (
    ball_affine,
    ball_direct,
    ball_elimination,
    ball_kl,
    ball_order,
    ball_search,
    ball_sums,
    noiseless,
)
from dpaudit.exact.ball_chain import Chain, chain_of
from dpaudit.exact.ball_exponential import Imprecise
from dpaudit.exact.clock import ENDLESS, GRACE, Clock, OutOfTime
from dpaudit.exact.conditions import require_extremal
from dpaudit.exact.known import require_alike
from dpaudit.exact.paths import Decided, Path, all_paths, require_shown
from dpaudit.exact.region import Region, region_of
from dpaudit.verdict import Enclosure

FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
TARGET_BITS = 80
GRID_WIDTH = 1e-8
# cells of a sheet, and the widths of a log-likelihood that end its refinement or make it useless
SHEETS = (120, 400, 800)
SHEET_WIDTH, SHEET_LIMIT = 1e-3, 1e-2


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


def path_log_likelihood(path: Path, sums: Mapping[Rows, Fraction], clock: Clock = ENDLESS) -> arb:
    """Return a ball around the log-probability of a decision path; -inf where it is impossible.

    `sums[rows]` is the exact sum of the rewards of each released `Rows`. Affine scores give about
    80 correct bits, however small the probability is; KL scores and IMED are enclosed on grids,
    refined until the ball is 1e-8 wide or the grid is at its finest. Registers that add up releases
    are enclosed on sheets, refined until the ball is 1e-3 wide or the sheet is at its finest. A
    clock may end either refinement, which leaves a wider ball.
    """
    require_alike(path, set())
    if any(isinstance(event, Decided) and isinstance(event.request, Keep) for event in path.events):
        epochs = ball_elimination.epochs_of(path)
        probability = tighten(lambda: ball_elimination.likelihood(epochs, sums))
        with ctx.workprec(2 * TARGET_BITS):
            return probability.log()
    region = region_of(path)
    if noiseless.applies(region):
        known = [sums[episode.rows] for episode in region.episodes]
        return arb(0) if noiseless.happens(region, known) else arb("-inf")
    if ball_direct.widest(path) > 2:
        order = ball_order.order_of(path)
        probability = tighten(lambda: ball_order.likelihood(order, sums))
        with ctx.workprec(2 * TARGET_BITS):
            return probability.log()
    if ball_sums.sums_registers(region):
        return _on_sheets(region, sums, clock)
    chain = chain_of(path)
    if not chain.stages:
        return arb(0)
    totals = {number: sums[release.rows] for number, release in enumerate(chain.releases)}
    if isinstance(chain.stages[0].rule(BALL), Affine):
        probability = tighten(lambda: ball_affine.likelihood(chain, totals))
        with ctx.workprec(2 * TARGET_BITS):
            return probability.log()
    if ball_kl.impossible(chain):
        return arb("-inf")
    for cells in (300, 1200, 4800, 19200):
        began = time.monotonic()
        log = ball_kl.likelihood(chain, totals, cells).log()
        if log.hi - log.lo < GRID_WIDTH or not clock.allows(4 * (time.monotonic() - began)):
            break
    if not np.isfinite(log.lo):
        raise Unsupported("The likelihood is too small for the grid engine.")
    return arb(float(log.lo)).union(arb(float(log.hi)))


def _on_sheets(region: Region, sums: Mapping[Rows, Fraction], clock: Clock) -> arb:
    """Refine a sheet as long as that can make the ball as narrow as it must be."""
    for cells in SHEETS:
        began = time.monotonic()
        found = ball_sums.likelihood(region, sums, cells)
        if found.hi == 0:
            return arb("-inf")
        log = found.log()
        width = log.hi - log.lo
        if width < SHEET_WIDTH or not width < SHEET_LIMIT * (SHEETS[-1] / cells) ** 2:
            break
        if not clock.allows(10 * (time.monotonic() - began)):
            break
    if not width < SHEET_LIMIT:
        raise Unsupported("The likelihood is too small for the certified sheets.")
    return arb(float(log.lo)).union(arb(float(log.hi)))


@dataclass(frozen=True)
class WorstLoss:
    """A certified enclosure of epsilon*(T) and the place where its lower end is attained.

    The likelihood of `path` with the rewards of `release` summing to `neighbour` is the larger one,
    with `own` the smaller one, every other reward being `background`. (Without noise a reward may
    enter many releases; `release` is the first that holds the changed one.) Where `complete` is
    false the budget ended the search: the upper end is infinite, the lower end still stands.
    """

    loss: Enclosure
    path: Path
    release: Release | Accumulate
    own: Fraction
    neighbour: Fraction
    background: int
    streams: str
    paths: int
    complete: bool
    seconds: float


Streams = Literal["real", "binary"]
COVERS: dict[str, str] = {
    "real": "all pairs of neighbouring streams in [0, 1]^T",
    "binary": "all pairs of neighbouring streams in {0, 1}^T",
}


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    streams: Streams = "real",
    budget_seconds: float | None = None,
    width: float = 1e-6,
) -> WorstLoss:
    """Enclose the largest loss over all action sequences and all neighbouring streams.

    Uses the extremal-streams corollary, after checking its conditions on every path; a declaration
    that fails them is `Unsupported`. No bound from the structure of the noise enters. Affine scores
    give nearly all digits; KL scores refine their grids until the enclosure is at most `width`
    wide or the budget is spent. Where not even one pass fits the budget, the result is incomplete:
    the upper end is infinite, the lower end still stands.
    """
    if streams not in COVERS:
        raise InvalidArgument("streams", streams, "must be real or binary.")
    require_integer("horizon", horizon, algorithm.arms)
    began, clock = time.monotonic(), Clock.of(budget_seconds)
    try:
        return _worst_loss(algorithm, horizon, streams, clock, began, width)
    except OutOfTime:
        raise Unsupported("The budget ended before the first pair was certified.") from None


def _worst_loss(
    algorithm: Algorithm, horizon: int, streams: Streams, clock: Clock, began: float, width: float
) -> WorstLoss:
    # a search that is listed in time states a lower end, however little budget is left for it
    listing = clock.later(GRACE)
    paths: list[Path] = []
    alike: set[int] = set()
    for path in all_paths(algorithm, horizon, listing):
        listing()
        if noiseless.applies(region_of(path)):
            if not paths:
                return _noiseless(algorithm, horizon, streams, clock, began)
            raise Unsupported(
                "Without noise the loss is 0 or infinite: look for two streams that differ."
            )
        require_alike(path, alike)
        paths.append(path)
    if not ball_direct.eliminates(paths):
        for path in paths:
            require_shown(algorithm, path, listing)
    if ball_direct.applies(paths):
        direct = ball_direct.search(paths, streams == "binary", clock)
        return WorstLoss(
            direct.loss,
            direct.path,
            direct.step.release,
            direct.step.own,
            direct.step.other,
            direct.step.background,
            COVERS[streams],
            len(paths),
            direct.complete,
            time.monotonic() - began,
        )
    chains = []
    for path in paths:
        listing()
        require_extremal(path)
        chains.append(chain_of(path))
    decided = next((chain.stages[0].rule(BALL) for chain in chains if chain.stages), None)
    if decided is None:
        raise Unsupported("No release enters a decision within the horizon.")
    search = ball_search.affine
    if not isinstance(decided, Affine):
        search = ball_search.grids
        # a path that no noise can take has no likelihoods to compare
        chains = [Chain(c.releases, ()) if ball_kl.impossible(c) else c for c in chains]
    found = search(chains, streams == "binary", clock, width)
    return WorstLoss(
        found.loss,
        paths[found.chain],
        chains[found.chain].releases[found.release],
        own=found.own,
        neighbour=found.neighbour,
        background=found.background,
        streams=COVERS[streams],
        paths=len(paths),
        complete=found.complete,
        seconds=time.monotonic() - began,
    )


def _noiseless(
    algorithm: Algorithm, horizon: int, streams: Streams, clock: Clock, began: float
) -> WorstLoss:
    """One reward that changes the actions makes the loss infinite; finding none proves nothing."""
    found = noiseless.differing(algorithm, horizon, clock)
    if found is None:
        raise Unsupported("No single reward on an all-0 or all-1 stream changes the actions.")
    total = Fraction(found.background * len(found.release.rows))
    return WorstLoss(
        Enclosure(math.inf, math.inf, certified=True),
        found.path,
        found.release,
        own=total + 1 - 2 * found.background,
        neighbour=total,
        background=found.background,
        streams=COVERS[streams],
        paths=1,
        complete=True,
        seconds=time.monotonic() - began,
    )

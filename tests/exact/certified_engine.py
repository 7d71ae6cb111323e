"""The certified engine alone, as the tests ask it: no falling back on doubles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from dpaudit.core.algorithm import Algorithm, Rows
from dpaudit.exact import algebra
from dpaudit.exact.balls import certified
from dpaudit.exact.balls.cells import Cells
from dpaudit.exact.balls.exponentials import Exponentials
from dpaudit.exact.balls.interval import Interval
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.likelihood import enclosed
from dpaudit.exact.paths import Path
from dpaudit.exact.region import Region, region_of
from dpaudit.exact.search import Streams, WorstLoss
from dpaudit.exact.trees import Forest, forest_of
from dpaudit.exact.worst import LossSearch


def path_log_likelihood(path: Path, sums: Mapping[Rows, Fraction], clock: Clock = ENDLESS) -> arb:
    """Return a ball around the log-probability of a path by the sums of its released rows."""
    region = region_of(path)
    totals = {i: sums[episode.rows] for i, episode in enumerate(region.episodes)}
    return certified.log_likelihood(region, totals, clock) if region.decisions else arb(0)


def log_likelihood(region: Region, totals: Sequence[float] | np.ndarray) -> float:
    """Return the middle of a region's enclosure, by the sums of its releases."""
    sums = {i: Fraction(float(total)) for i, total in enumerate(totals)}
    found = enclosed(region, sums, "ball")
    return 0.5 * (found.log_lower + found.log_upper)


def worst_loss(
    algorithm: Algorithm,
    horizon: int,
    streams: Streams = "real",
    budget_seconds: float | None = None,
) -> WorstLoss:
    """Enclose the largest loss, or raise `Unsupported`, `OutOfTime` before there is a pair."""
    clock = Clock.of(budget_seconds)
    return LossSearch(algorithm, horizon, streams, clock).certified()


def tree(path: Path) -> Forest:
    """Return the comparisons of a path."""
    return forest_of(region_of(path))


def numbered(path: Path, sums: Mapping[Rows, Fraction]) -> dict[int, Fraction]:
    """Return the sums of a path's released rows by episode."""
    return {i: sums[episode.rows] for i, episode in enumerate(region_of(path).episodes)}


def exponentials(tree: Forest, totals: Mapping[int, Fraction]) -> arb:
    """Enclose the probability of an affine tree at the current precision."""
    centres = {i: kind.centre(totals[i]) for i, kind in tree.kinds.items()}
    return algebra.log_likelihood(Exponentials([tree]), tree, centres).exp()


def cells(tree: Forest, totals: Mapping[int, Fraction], count: int) -> Interval:
    """Enclose the probability of a tree on cells."""
    centres = {i: kind.centre(totals[i]) for i, kind in tree.kinds.items()}
    more = [(tree.kinds[i], np.array([float(centre)])) for i, centre in centres.items()]
    return algebra.log_likelihood(Cells([tree], count, 1, more), tree, centres).exp()

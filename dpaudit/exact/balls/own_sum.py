"""A likelihood by one release's own sum, on a mesh, and the largest loss of one reward's change.

A Laplace law of rate r is moved over a weight W: left of its centre mu the density is a multiple of
the one at the last centre, right of mu of the one at the first, so two running sums A and B serve
all centres, L = A + B and L' = r (B - A).

phi(s) is the log-likelihood by a release's own sum s in [0, n], L(mu) its exponential as a function
of the centre mu = s / divisor, W the register's weight. A Laplace density of rate r satisfies
f'' = r^2 f - r^2 delta, so L'' = r^2 (L - W(mu)) and, with kappa = r / divisor and phi' in units of
kappa, kappa^2 (1 - W / L - phi'^2) = phi'' <= kappa^2 (1 - phi'^2). Between mesh points phi is
within h^2 / 8 times these bounds of its chord, on either side.

The sup over 0 <= p < q <= n, q - p <= 1 of phi(q) - phi(p) is then bounded interval by interval:
q up to the mesh point one reward above p's interval, and q in the last interval before p + 1. All
excess over mesh values is of second order in the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.ndimage import maximum_filter1d

from dpaudit.exact.algebra import Bounds
from dpaudit.exact.balls.interval import UNDERFLOW, Array, Interval, up, where
from dpaudit.exact.balls.weight import ROUND, Indices, Masses, Weight


@dataclass(frozen=True)
class Scan:
    """Likelihoods and their derivative in the centre, at nodes; on the intervals the weight's top.

    `mass` encloses the integral L of the weight against a Laplace law centred at each node, and
    `change` encloses L' / (rate L).
    """

    mass: Interval
    change: Interval
    top: Array


class Moving:
    """A Laplace law that is moved over nodes of its grid, from its first centre to its last."""

    def __init__(self, first: Masses, last: Masses, nodes: Indices) -> None:
        self.first, self.last, self.nodes = first, last, nodes
        x, rate = Interval.of(first.grid.x[nodes]), first.rate
        self._left = (rate * (Interval.of(last.centre) - x)).exp()
        self._right = (rate * (x - Interval.of(first.centre))).exp()

    def __call__(self, weight: Weight) -> Scan:
        """Return the likelihoods of a weight."""
        nodes = self.nodes
        means = self.first.grid.means(weight, float(self.first.rate.hi))
        left = self.last.running(weight, True, means)[nodes].times(self._left)
        right = self.first.running(weight, False, means)[nodes].times(self._right)
        mass = (left + right).clear_of_underflow()
        # (B - A) / (B + A) rises in B and falls in A, whatever their ends
        low = _share(right.lo, left.hi).lo
        high = _share(right.hi, left.lo).hi
        change = Interval(np.maximum(low - ROUND, -1.0), np.minimum(high + ROUND, 1.0))
        top = np.zeros(0)
        if len(nodes) > 1:
            top = np.maximum.reduceat(weight.range.hi, nodes[:-1])
            # reduceat's last span runs to the end of the grid: cut it at the last node
            top[-1] = weight.range.hi[nodes[-2] : nodes[-1]].max()
        return Scan(mass, change, top)


def _share(b: Array, a: Array) -> Interval:
    """Enclose (b - a) / (b + a), within the rounding of b + a; anything where both vanish."""
    total = a + b
    clear = total > UNDERFLOW
    quotient = (Interval.of(b) - Interval.of(a)).over(Interval.of(np.where(clear, total, 1.0)))
    return where(clear, quotient, Interval(np.full_like(total, -1.0), np.ones_like(total)))


def mesh_steps(scan: Scan, mesh: int, kappa: float, rising: bool) -> Bounds:
    """Enclose the largest loss over steps of at most 1 (over whole steps of 1 if mesh is 1).

    `rising` takes phi(q) - phi(p), otherwise phi(p) - phi(q); `kappa` is at least rate / divisor.
    """
    log = scan.mass.log()
    phi, slope, top, mass = log, scan.change, scan.top, scan.mass
    if not rising:
        phi, slope, top, mass = phi[::-1], -slope[::-1], top[::-1], mass[::-1]
    count = len(phi.lo) - 1
    if mesh == 1:
        loss = phi[1:] - phi[:-1]
        best = int(np.argmax(loss.lo))
        upper = float(np.max(loss.hi))
        return _steps(float(loss.lo[best]), upper, best, best + 1, log, 1, rising)
    above, below = _bulges(slope, top, mass, kappa, mesh)
    # the best mesh pair, for the lower end
    gain = _ahead(phi.lo, mesh + 1) - phi.hi
    best = int(np.argmax(gain))
    end = best + int(np.argmax(phi.lo[best : best + mesh + 1]))
    # interval maxima and minima, curvature included
    high = up(np.maximum(phi.hi[:-1], phi.hi[1:]) + above)
    low = np.minimum(phi.lo[:-1], phi.lo[1:]) - below
    upper = float(np.max(_ahead(high, mesh) - low))
    if count > mesh:
        start, stop = slice(0, count - mesh), slice(mesh, count)
        jump = np.maximum(
            phi.hi[mesh:-1] - phi.lo[: count - mesh],
            phi.hi[mesh + 1 :] - phi.lo[1 : count - mesh + 1],
        )
        whole = jump + above[stop] + below[start]
        back = kappa / mesh * np.maximum(0.0, -_least_slope(slope, above, below, mesh, kappa))
        direct = high[stop] - low[start]
        upper = max(upper, float(np.max(np.minimum(whole + back[stop], direct))))
    lower = max(float(gain[best]) - 1e-13, 0.0)
    upper = max(float(up(upper + 1e-13)), 0.0)
    return _steps(lower, upper, best, end, log, mesh, rising)


def _ahead(values: Array, size: int) -> Array:
    """Return for every place the largest of the next `size` values; nan if there is one."""
    if np.isnan(values).any():  # which the filter would pass over
        return np.full_like(values, np.nan)
    shift = -(size // 2)
    found = maximum_filter1d(values, size, mode="constant", cval=-np.inf, origin=shift)
    return np.asarray(found)


def _bulges(
    slope: Interval, top: Array, mass: Interval, kappa: float, mesh: int
) -> tuple[Array, Array]:
    """How far phi can be above and below its chord on each interval."""
    length = 1.0 / mesh
    shrink = float(Interval.of(-up(kappa * length)).exp().lo) * (1 - 1e-12)
    least = np.maximum(mass.lo[:-1], mass.lo[1:]) * shrink
    with np.errstate(divide="ignore"):
        ratio = np.where(least > 0, top / np.where(least > 0, least, 1.0), np.inf) * (1 + 1e-12)
    bend = kappa * np.maximum(1.0, ratio)  # |phi''| / kappa: how fast phi' / kappa moves
    size = np.minimum(np.abs(slope.lo), np.abs(slope.hi))
    size = np.where((slope.lo <= 0) & (slope.hi >= 0), 0.0, size)
    steep = np.maximum(np.maximum(size[:-1], size[1:]) - bend * length, 0.0)
    factor = kappa**2 * length**2 / 8 * (1 + 1e-9)
    convex = factor * (1 - np.minimum(steep, 1.0) ** 2)
    concave = factor * ratio
    return concave, convex


def _least_slope(slope: Interval, above: Array, below: Array, mesh: int, kappa: float) -> Array:
    """A lower bound of phi' / kappa on each interval."""
    bend = 8 * mesh * np.maximum(above, below) / kappa * (1 + 1e-9)
    return np.asarray(np.maximum(np.maximum(slope.lo[:-1], slope.lo[1:]) - bend, -1.0))


def _steps(
    lower: float, upper: float, start: int, stop: int, log: Interval, mesh: int, rising: bool
) -> Bounds:
    """Turn positions on the (mirrored) mesh into own sums; `stop` has the larger likelihood."""
    last = len(log.lo) - 1
    own, other = (start, stop) if rising else (last - start, last - stop)
    likely = float(log.lo[other])
    return Bounds(lower, upper, Fraction(own, mesh), Fraction(other, mesh), likely)

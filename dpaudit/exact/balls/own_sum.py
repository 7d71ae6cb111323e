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

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from dpaudit.core.arithmetic import ball
from dpaudit.exact.algebra import Bounds, Curve
from dpaudit.exact.balls.interval import Array, Interval, above, range_of, up, where
from dpaudit.exact.balls.weight import ROUND, Indices, Masses, Weight, away, moved
from dpaudit.exact.region import Batch


def centres_of(kind: Batch, mesh: int) -> list[Fraction]:
    """Return the centres at the own sums 0, 1 / mesh, 2 / mesh, ..., n; none if the mesh is 0."""
    if not mesh:
        return []
    return [kind.centre(Fraction(number, mesh)) for number in range(kind.rows * mesh + 1)]


def cap_of(kind: Batch) -> float:
    """Return what the logarithm of a release's density changes by at most, for one reward."""
    return above(ball(kind.rate / kind.divisor))


@dataclass(frozen=True)
class Scan:
    """Likelihoods by own sum on a mesh, with their derivative; on the intervals the weight's top.

    `mass` encloses the integral L of the weight against a Laplace law centred at each node, and
    `change` encloses L' / (rate L). Rows are functions.
    """

    kind: Batch
    mesh: int
    mass: Interval
    change: Interval
    top: Array
    _found: dict[bool, list[Bounds]] = field(default_factory=dict)

    def split(self) -> list[Curve]:
        """Return a curve for every function."""

        def curve(row: int) -> Curve:
            return Curve(lambda rising, whole: self.largest(rising)[row])

        return [curve(row) for row in range(len(self.mass.lo))]

    def largest(self, rising: bool) -> list[Bounds]:
        """Enclose the largest gains of steps of at most 1; of whole steps if the mesh is 1."""
        if rising not in self._found:
            kappa = cap_of(self.kind)
            found = mesh_steps(self, self.mesh, kappa, rising)
            # the density of a release, and so its integral, changes by at most exp(kappa)
            self._found[rising] = [replace(it, upper=min(it.upper, kappa)) for it in found]
        return self._found[rising]


class Moving:
    """A Laplace law that is moved over nodes of its grid, from its first centre to its last."""

    def __init__(self, kind: Batch, mesh: int, grid: Array, missed: float = 0.0) -> None:
        """Prepare the nodes of own sums on a mesh; weights miss so much probability."""
        self.kind, self.mesh, centres = kind, mesh, centres_of(kind, mesh)
        first, last = (Masses(grid, kind.rate, kind.centre(own)) for own in (0, kind.rows))
        nodes, off = np.searchsorted(grid, np.array(centres, dtype=float)), away(centres)
        self.first, self.last, self.nodes, self.missed = first, last, nodes, missed
        self.spread, self.off = moved(first.rate, off), float(first.rate.hi) * off
        x, rate = Interval.of(first.grid[nodes]), first.rate
        self._left = (rate * (Interval.of(last.centre) - x)).exp()
        self._right = (rate * (x - Interval.of(first.centre))).exp()

    def __call__(self, weight: Weight) -> Scan:
        """Return the likelihoods of a weight."""
        nodes = self.nodes
        left = self.last.running(weight, True)[..., nodes].times(self._left)
        right = self.first.running(weight, False)[..., nodes].times(self._right)
        if self.missed:
            left, right = (Interval(it.lo, up(it.hi + self.missed)) for it in (left, right))
        mass = (left + right).times(self.spread).clear_of_underflow()
        # (B - A) / (B + A) rises in B and falls in A, whatever their ends
        low = _share(right.lo, left.hi).lo
        high = _share(right.hi, left.lo).hi
        tops, slack = weight.range.hi + self.missed, ROUND
        if self.off:
            # a centre is in a cell beside its node; between them (L' / (r L))' <= r (1 + W / L)
            tops = np.pad(tops, [(0, 0)] * (tops.ndim - 1) + [(1, 1)], mode="edge")
            tops = np.maximum.reduce([tops[..., :-2], tops[..., 1:-1], tops[..., 2:]])
            beside = tops[..., np.minimum(nodes, tops.shape[-1] - 1)]
            with np.errstate(divide="ignore"):
                slack = slack + 2 * self.off * (1 + beside / mass.lo)
        low, high = (np.asarray(end, dtype=float) for end in (low - slack, high + slack))
        change = Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))
        top = tops[..., :0]
        if len(nodes) > 1:
            # a last span would run to the end of the grid
            top = np.maximum.reduceat(tops[..., : nodes[-1]], nodes[:-1], axis=-1)
        return Scan(self.kind, self.mesh, mass, change, top)


def _share(b: Array, a: Array) -> Interval:
    """Enclose (b - a) / (b + a), within the rounding of b + a; anything where both vanish."""
    total = a + b
    clear = total > range_of(total).lost
    quotient = (Interval.of(b) - Interval.of(a)).over(Interval.of(np.where(clear, total, 1.0)))
    return where(clear, quotient, Interval(np.full_like(total, -1.0), np.ones_like(total)))


def mesh_steps(scan: Scan, mesh: int, kappa: float, rising: bool) -> list[Bounds]:
    """Enclose the largest losses over steps of at most 1 (over whole steps of 1 if mesh is 1).

    `rising` takes phi(q) - phi(p), otherwise phi(p) - phi(q); `kappa` is at least rate / divisor.
    """
    phi, slope, top, mass = scan.mass.log(), scan.change, scan.top, scan.mass
    if not rising:
        back = (..., slice(None, None, -1))
        phi, slope, top, mass = phi[back], -slope[back], top[back], mass[back]
    last = phi.lo.shape[-1] - 1
    if mesh == 1:
        loss = phi[..., 1:] - phi[..., :-1]
        best = np.argmax(loss.lo, axis=-1)
        lower = np.take_along_axis(loss.lo, best[:, None], axis=-1)[:, 0]
        return _steps(lower, np.max(loss.hi, axis=-1), best, best + 1, 1, last, rising)
    # the best mesh pair, for the lower end
    gain = _ahead(phi.lo, mesh + 1) - phi.hi
    best = np.argmax(gain, axis=-1)
    ends = [
        start + int(np.argmax(row[start : start + mesh + 1]))
        for row, start in zip(phi.lo, best, strict=True)
    ]
    lower = np.take_along_axis(gain, best[:, None], axis=-1)[:, 0] - 1e-13
    upper = up(_most(phi, slope, _bulges(slope, top, mass, kappa, mesh), mesh, kappa) + 1e-13)
    return _steps(lower, np.maximum(upper, 0.0), best, np.array(ends), mesh, last, rising)


def _most(
    phi: Interval, slope: Interval, bulges: tuple[Array, Array], mesh: int, kappa: float
) -> Array:
    """Bound the largest gains from above, curvature between mesh points included."""
    above, below = bulges
    count = phi.lo.shape[-1] - 1
    high = up(np.maximum(phi.hi[..., :-1], phi.hi[..., 1:]) + above)
    low = np.minimum(phi.lo[..., :-1], phi.lo[..., 1:]) - below
    upper = np.max(_ahead(high, mesh) - low, axis=-1)
    if count > mesh:
        start, stop = (..., slice(0, count - mesh)), (..., slice(mesh, count))
        jump = np.maximum(
            phi.hi[..., mesh:-1] - phi.lo[start],
            phi.hi[..., mesh + 1 :] - phi.lo[..., 1 : count - mesh + 1],
        )
        whole = jump + above[stop] + below[start]
        back = kappa / mesh * np.maximum(0.0, -_least_slope(slope, above, below, mesh, kappa))
        direct = high[stop] - low[start]
        upper = np.maximum(upper, np.max(np.minimum(whole + back[stop], direct), axis=-1))
    return np.asarray(upper)


def _ahead(values: Array, size: int) -> Array:
    """Return for every place the largest of the next `size` values; nan in rows that have one."""
    found, reach = values, 1
    while reach < size:
        step = min(reach, size - reach)
        wider = found.copy()
        np.maximum(found[..., :-step], found[..., step:], out=wider[..., :-step])
        found, reach = wider, reach + step
    return np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, found)


def _bulges(
    slope: Interval, top: Array, mass: Interval, kappa: float, mesh: int
) -> tuple[Array, Array]:
    """How far phi can be above and below its chord on each interval."""
    length = 1.0 / mesh
    shrink = float(Interval.of(-up(kappa * length)).exp().lo) * (1 - 1e-12)
    least = np.maximum(mass.lo[..., :-1], mass.lo[..., 1:]) * shrink
    with np.errstate(divide="ignore"):
        ratio = np.where(least > 0, top / np.where(least > 0, least, 1.0), np.inf) * (1 + 1e-12)
    bend = kappa * np.maximum(1.0, ratio)  # |phi''| / kappa: how fast phi' / kappa moves
    size = np.minimum(np.abs(slope.lo), np.abs(slope.hi))
    size = np.where((slope.lo <= 0) & (slope.hi >= 0), 0.0, size)
    steep = np.maximum(np.maximum(size[..., :-1], size[..., 1:]) - bend * length, 0.0)
    factor = kappa**2 * length**2 / 8 * (1 + 1e-9)
    convex = factor * (1 - np.minimum(steep, 1.0) ** 2)
    concave = factor * ratio
    return up(np.asarray(concave, dtype=float)), up(np.asarray(convex, dtype=float))


def _least_slope(slope: Interval, above: Array, below: Array, mesh: int, kappa: float) -> Array:
    """A lower bound of phi' / kappa on each interval."""
    bend = 8 * mesh * np.maximum(above, below) / kappa * (1 + 1e-9)
    return np.asarray(np.maximum(np.maximum(slope.lo[..., :-1], slope.lo[..., 1:]) - bend, -1.0))


def _steps(
    lower: Array,
    upper: Array,
    start: Indices,
    stop: Indices,
    mesh: int,
    last: int,
    rising: bool,
) -> list[Bounds]:
    """Turn positions on the (mirrored) mesh, whose last is given, into own sums.

    `stop` has the larger likelihood. What is not a number is no bound.
    """
    lower, upper = (
        np.where(np.isnan(lower), -np.inf, lower),
        np.where(np.isnan(upper), np.inf, upper),
    )
    if mesh != 1:
        lower = np.where(lower < 0.0, 0.0, lower)
    found = []
    for low, high, own, other in zip(lower, upper, start, stop, strict=True):
        sums = (int(own), int(other)) if rising else (last - int(own), last - int(other))
        p, q = (Fraction(number, mesh) for number in sums)
        found.append(Bounds(float(low), float(high), p, q))
    return found

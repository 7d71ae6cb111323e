"""The joint density of two registers on a grid, cut along curves and integrated, to second order.

A `Joint` knows enclosures of the density at the nodes; on every cell its supremum and bounds of two
derivatives along either axis (infinite where there are none). On a cell of length h a function is
within the least of h^2 |W''| / 8, h |W'| / 2 and sup W of its chord. Outside the window the density
is taken as zero: the sheet follows the event that no register ever leaves it. Doubles are rounded
outward: sums and products of non-negative ones by a relative margin and a least double.

A decision restricts the density W(x, y) to one side of a monotone curve x = theta(y); then the
first register is integrated out, or gets a fresh Laplace release of rate r:

  W'(s, y) = integral over x > theta(y) (or x < theta(y)) of W(x, y) f(s - x) dx.

At every node y this is an integral of a function close to its chords against an exponential: exact
weights at both ends of a cell, one recursion from either side. The bounds on cells follow from

  |W'_s| <= r W',  |W'_ss| = r^2 |W' - W 1|,
  |W'_y|  <= conv |W_y| + |theta'| W f,
  |W'_yy| <= conv |W_yy| + (2 |theta'| |W_y| + theta'^2 (|W_x| + r W) + |theta''| W) f,

the last factors at x = theta(y). They are infinite where theta jumps, which grids keep to slivers.
Where the curve leaves the window the density jumps to zero, and W'_y by |theta'| W f.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpaudit.core.arithmetic import ball
from dpaudit.exact.balls.interval import Array, Interval, down, up
from dpaudit.exact.balls.roots import Theta
from dpaudit.exact.balls.weight import ROUND, outward, times

LEAST = 1e-300  # covers underflow


@dataclass(frozen=True)
class Axis:
    """Increasing nodes of a register, 0 among them."""

    x: Array

    @property
    def length(self) -> Array:
        """Cell lengths, rounded up."""
        return np.asarray(up(np.diff(self.x)))


@dataclass(frozen=True)
class Joint:
    """Densities at nodes; on cells the supremum and bounds of two derivatives along each axis."""

    axes: tuple[Axis, Axis]
    at: Interval
    top: Array
    first: tuple[Array, Array]
    second: tuple[Array, Array]

    @property
    def turned(self) -> Joint:
        """The same with the registers exchanged."""
        return Joint(
            (self.axes[1], self.axes[0]),
            Interval(self.at.lo.T, self.at.hi.T),
            self.top.T,
            (self.first[1].T, self.first[0].T),
            (self.second[1].T, self.second[0].T),
        )


@dataclass(frozen=True)
class Marginal:
    """A function of one register: values at nodes, and on cells its supremum and derivatives."""

    at: Interval
    top: Array
    first: Array
    second: Array

    def integral(self, axis: Axis) -> Interval:
        """Enclose the integral over the window."""
        slack = gap(axis.length, self.first, self.second, self.top)
        short = np.maximum(down(np.diff(axis.x)), 0.0)
        least = 0.5 * (self.at.lo[:-1] + self.at.lo[1:]) * (1 - ROUND) - slack
        low = np.sum(short * np.maximum(least, 0.0)) * (1 - 1e-10)
        most = np.minimum(0.5 * (self.at.hi[:-1] + self.at.hi[1:]) + slack, self.top)
        return Interval(low, np.sum(axis.length * most) * (1 + 1e-10) + LEAST)


def gap(length: Array, first: Array, second: Array, top: Array) -> Array:
    """Bound the distance of a function from its chord, cell by cell."""
    bent = np.minimum(times(length**2 / 8, second), times(length / 2, first))
    return np.asarray(np.minimum(bent, top) * (1 + ROUND))


def laplace(axis: Axis, rate: Fraction) -> Marginal:
    """Return the Laplace density of a rate, centred at 0."""
    r = outward(ball(rate))
    at = (0.5 * r).times((-(r * Interval.of(np.abs(axis.x)))).exp())
    top = np.maximum(at.hi[:-1], at.hi[1:])
    return Marginal(at, top, top * r.hi * (1 + ROUND), top * r.hi**2 * (1 + ROUND))


def product(axes: tuple[Axis, Axis], a: Marginal, b: Marginal) -> Joint:
    """Return the joint density of two independent registers."""

    def outer(p: Array, q: Array) -> Array:
        return times(p[:, None], q[None, :]) * (1 + ROUND)

    low = np.outer(a.at.lo, b.at.lo) * (1 - ROUND)
    at = Interval(np.where(low < LEAST, 0.0, low), outer(a.at.hi, b.at.hi) + LEAST)
    return Joint(
        axes,
        at,
        outer(a.top, b.top) + LEAST,
        (outer(a.first, b.top), outer(a.top, b.first)),
        (outer(a.second, b.top), outer(a.top, b.second)),
    )


STEP = 2e-15  # covers one step of a recursion


def shares(a: Array, b: Array, rate: Fraction) -> tuple[Interval, Interval, Interval]:
    """Enclose the weights of W(a) and W(b) in the integral of a chord, and the decay over [a, b].

    The chord is integrated against (rate / 2) exp(-rate (b - x)); seen from a the two change roles.
    """
    rows = []
    with ctx.workprec(160):
        r = ball(rate)
        for left, right in zip(a.tolist(), b.tolist(), strict=True):
            u = r * (arb(right) - arb(left))
            decay = (-u).exp()
            part = (1 - decay) / u if u > 0 else arb(1)
            rows.append((outward((part - decay) / 2), outward((1 - part) / 2), outward(decay)))
    far, near, decay = (
        Interval(np.array([row[i].lo for row in rows]), np.array([row[i].hi for row in rows]))
        for i in range(3)
    )
    return far.clip(0.0, 1.0), near.clip(0.0, 1.0), decay.clip(0.0, 1.0)


@dataclass(frozen=True)
class Cut:
    """One side of a curve over the second axis: which cells it keeps, and the parts of cells."""

    theta: Theta
    above: bool

    def ends(self, upper: bool) -> Array:
        """Return where the kept part ends at each node, for the larger or the smaller region."""
        return np.asarray(self.theta.at.lo if upper == self.above else self.theta.at.hi)

    def touched(self, x: Array) -> NDArray[np.bool_]:
        """Return which cells the region may touch (first axis by second)."""
        if self.above:
            return np.asarray(x[1:, None] >= self.theta.at.lo[None, :-1])
        return np.asarray(x[:-1, None] <= self.theta.at.hi[None, 1:])

    def span(self, x: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return for each cell of the second axis the first and the last cell the curve meets."""
        last = len(x) - 2
        start = np.clip(np.searchsorted(x, self.theta.at.lo[:-1], "left") - 1, 0, last)
        stop = np.clip(np.searchsorted(x, self.theta.at.hi[1:], "right") - 1, 0, last)
        return start, stop


class Fibres:
    """The integrals of a sheet along its first axis, restricted to one side of a curve.

    `rate` None integrates the density itself; otherwise it is convolved with Laplace noise.
    """

    def __init__(self, sheet: Joint, cut: Cut, rate: Fraction | None) -> None:
        self.sheet, self.cut, self.rate = sheet, cut, rate
        self.x, self.length = sheet.axes[0].x, sheet.axes[0].length
        if rate is not None:
            self.far, self.near, self.decay = shares(self.x[:-1], self.x[1:], rate)
            self.r = outward(ball(rate))
        second = np.minimum(*_beside(sheet.second[0]))
        first = np.minimum(*_beside(sheet.first[0]))
        self.highest = np.minimum(*_beside(sheet.top))
        self.gap = gap(self.length[:, None], first, second, self.highest)

    def _chord(self, upper: bool) -> tuple[Array, Array]:
        """Bounds at both ends of every cell of a chord above (below) the density."""
        at = self.sheet.at.hi if upper else self.sheet.at.lo
        return at[:-1], at[1:]

    def masses(self, upper: bool) -> tuple[Array, Array]:
        """Bound what each cell sends to its right end and to its left end, at each node."""
        a, b = self._chord(upper)
        x, s = self.x, self.cut.ends(upper)
        last = len(x) - 2
        inside = np.clip(s, x[0], x[-1])
        k = np.clip(np.searchsorted(x, inside, "right") - 1, 0, last)
        cell = np.arange(last + 1)[:, None]
        kept = cell > k[None, :] if self.cut.above else cell < k[None, :]
        right, left = self._whole(a, b, upper)
        right, left = np.where(kept, right, 0.0), np.where(kept, left, 0.0)
        column = np.arange(len(s))
        part = self._part(a[k, column], b[k, column], k, inside, upper)
        right[k, column], left[k, column] = part
        return right, left

    def _combine(self, p: Array, q: Array, a: Array, b: Array, gap: Array, upper: bool) -> Array:
        """Bound p a + q b, the density being within `gap` of the chord."""
        if upper:
            return np.asarray((p * a + q * b + (p + q) * gap) * (1 + ROUND) + LEAST)
        found = (p * a + q * b) * (1 - ROUND) - (p + q) * gap * (1 + ROUND)
        return np.where(found < LEAST, 0.0, found)

    def _whole(self, a: Array, b: Array, upper: bool) -> tuple[Array, Array]:
        if self.rate is None:
            short = np.maximum(down(np.diff(self.x)), 0.0)
            half = 0.5 * (self.length if upper else short)[:, None]
            mass = self._combine(half, half, a, b, self.gap, upper)
            return mass, mass
        far, near = ((w.hi if upper else w.lo)[:, None] for w in (self.far, self.near))
        return (
            self._combine(far, near, a, b, self.gap, upper),
            self._combine(near, far, a, b, self.gap, upper),
        )

    def _part(
        self, a: Array, b: Array, k: NDArray[np.intp], s: Array, upper: bool
    ) -> tuple[Array, Array]:
        """The same for the cells that the curve cuts at s."""
        low, high = self.x[k], self.x[k + 1]
        share = Interval.of(s - low) * Interval(down(1 / (high - low)), up(1 / (high - low)))
        share = Interval(down(down(share.lo)), up(up(share.hi))).clip(0.0, 1.0)
        ends = a + (b - a) * share.lo, a + (b - a) * share.hi
        middle = np.maximum(*ends) * (1 + ROUND) if upper else np.minimum(*ends) * (1 - ROUND)
        middle = middle + (ROUND if upper else -ROUND) * (a + b)
        middle = np.maximum(middle, 0.0)
        start, stop = (s, high) if self.cut.above else (low, s)
        one, two = (middle, b) if self.cut.above else (a, middle)
        gap = self.gap[k, np.arange(len(s))]
        if self.rate is None:
            half = np.maximum(0.5 * (up(stop - start) if upper else down(stop - start)), 0.0)
            mass = self._combine(half, half, one, two, gap, upper)
            return mass, mass
        far, near, _ = shares(start, stop, self.rate)
        _, _, rest = shares(*((low, s) if self.cut.above else (s, high)), self.rate)
        p, q, e = (w.hi if upper else w.lo for w in (far, near, rest))
        right = self._combine(p, q, one, two, gap, upper)
        left = self._combine(q, p, one, two, gap, upper)
        if self.cut.above:
            return right, left * e * (1 + ROUND if upper else 1 - ROUND)
        return right * e * (1 + ROUND if upper else 1 - ROUND), left

    def nodes(self, right: Array, left: Array, upper: bool) -> Array:
        """Add up at every node what all cells send there."""
        decay = self.decay.hi if upper else self.decay.lo
        margin, extra = (1 + STEP, LEAST) if upper else (1 - STEP, 0.0)
        count = len(self.x)
        found = np.zeros((count, right.shape[1]))
        running = np.zeros(right.shape[1])
        for i in range(1, count):
            running = (running * decay[i - 1] + right[i - 1]) * margin + extra
            found[i] += running
        running = np.zeros(right.shape[1])
        for i in range(count - 2, -1, -1):
            running = (running * decay[i] + left[i]) * margin + extra
            found[i] += running
        return found * margin

    def spread(self, bound: Array) -> Array:
        """Bound the integral of a function below `bound` on the cells that the region touches."""
        kept = np.where(self.cut.touched(self.x), bound, 0.0)
        if self.rate is None:
            return np.asarray(times(self.length[:, None], kept).sum(0) * (1 + 1e-10))
        share = up(self.far.hi + self.near.hi)[:, None]
        sent = times(share, kept) * (1 + ROUND)
        at = self.nodes(sent, sent, upper=True)
        swell = Interval.of(up(0.5 * self.r.hi * self.length)).exp().hi[:, None]
        return np.asarray(np.maximum(at[:-1], at[1:]) * swell * (1 + ROUND))

    def along(self, bound: Array) -> Array:
        """Return the supremum of a bound where the curve runs, for each cell of the second axis."""
        start, stop = self.cut.span(self.x)
        found = np.zeros(bound.shape[1])
        for column in np.flatnonzero(self.cut.theta.slope.hi > 0):
            found[column] = bound[start[column] : stop[column] + 1, column].max()
        return found

    def kernel(self) -> Array:
        """Bound f(s - theta) for s in each cell of the first axis, y in each of the second."""
        x, theta, r = self.x, self.cut.theta.at, self.r
        if r.hi * (x[-1] - x[0]) > 600:
            return np.full((len(x) - 1, len(theta.lo) - 1), 0.5 * r.hi)

        def exponential(sign: float, t: Array) -> Array:
            """Bound exp(+-r t) for t in the window; one moved into it only comes nearer."""
            return np.asarray((sign * r * Interval.of(np.clip(t, x[0], x[-1]))).exp().hi)

        left = np.outer(exponential(1.0, x[1:]), exponential(-1.0, theta.lo[:-1]))
        right = np.outer(exponential(-1.0, x[:-1]), exponential(1.0, theta.hi[1:]))
        return np.asarray(0.5 * r.hi * np.minimum(np.minimum(left, right), 1.0) * (1 + ROUND))

    def leaves(self) -> NDArray[np.bool_]:
        """Return the cells of the second axis where the curve may leave the window of the first."""
        low, high = self.cut.theta.at.lo[:-1], self.cut.theta.at.hi[1:]
        first, last = self.x[0], self.x[-1]
        return np.asarray((low <= first) & (first <= high) | (low <= last) & (last <= high))

    def sideways(self, kernel: Array, rate: float) -> tuple[Array, Array]:
        """Bound both derivatives along the second axis."""
        sheet, slope = self.sheet, self.cut.theta.slope.hi
        # a slope that jumps by J moves a function by h J / 4 off its chord, as J 2 / h of bend does
        jumps = np.where(self.leaves(), 2 * slope / np.diff(sheet.axes[1].x) * (1 + ROUND), 0.0)
        bend = (self.cut.theta.sharpest + jumps) * (1 + ROUND)
        w = self.along(sheet.top)
        across, aside = self.along(sheet.first[0]), self.along(sheet.first[1])
        square = times(slope, slope)
        push = times(slope, w)
        pull = 2 * times(slope, aside) + times(square, across + rate * w) + times(bend, w)
        first = self.spread(sheet.first[1]) + times(push, kernel)
        second = self.spread(sheet.second[1]) + times(pull, kernel)
        return first * (1 + ROUND), second * (1 + ROUND)


def _beside(cells: Array) -> tuple[Array, Array]:
    """Return for every node of the second axis the bounds of the cells on its left and right."""
    left = np.concatenate([cells[:, :1], cells], axis=1)
    right = np.concatenate([cells, cells[:, -1:]], axis=1)
    return left, right


def added(sheet: Joint, cut: Cut, rate: Fraction) -> Joint:
    """Cut a sheet, then add a fresh Laplace release to its first register."""
    fibres = Fibres(sheet, cut, rate)
    low = fibres.nodes(*fibres.masses(upper=False), upper=False)
    high = fibres.nodes(*fibres.masses(upper=True), upper=True)
    r = float(fibres.r.hi)
    top = fibres.spread(sheet.top)
    source = np.where(cut.touched(fibres.x), sheet.top, 0.0)
    first, second = fibres.sideways(fibres.kernel(), r)
    return Joint(
        sheet.axes,
        Interval(np.where(low < LEAST, 0.0, low), high + LEAST),
        top,
        (top * r * (1 + ROUND), first),
        (np.maximum(top, source) * r**2 * (1 + ROUND), second),
    )


def integrated(sheet: Joint, cut: Cut) -> Marginal:
    """Cut a sheet, then integrate its first register out."""
    fibres = Fibres(sheet, cut, None)
    low = fibres.masses(upper=False)[0].sum(0) * (1 - 1e-10)
    high = fibres.masses(upper=True)[0].sum(0) * (1 + 1e-10) + LEAST
    first, second = fibres.sideways(np.ones(1), 0.0)
    return Marginal(Interval(low, high), fibres.spread(sheet.top), first, second)

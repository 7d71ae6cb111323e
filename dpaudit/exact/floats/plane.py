"""Three arms: the likelihood of a path through functions of single registers, region by region.

Hold two registers x_a, x_b with weight H(x_a, x_b), their densities included, while the third, z,
is fresh. If z wins, H is multiplied by the smaller of two tails T_a(x_a), T_b(x_b), T_a being the
chance that z beats x_a. If a wins, H'(z, x_b) = f(z) times the integral of H over
x_a >= max(theta(z), theta'(x_b)), the values that beat z and b.

Which of the two is the smaller (or larger) changes along the curve where the two losers' scores
tie, and nowhere else. So the plane is cut into regions by such curves, and on each region

    H(x_a, x_b) = sum over r of P_r(x_a) Q_r(x_b)

with few terms. A fresh winner multiplies P_r on one side of the new curve and Q_r on the other. If
a wins, then beyond the new curve P_r becomes its own tail integral R_r(theta(z)), and one more term
1 x E(x_b) corrects for the regions further up:

    E(x_b) = the integral of H above c(x_b) - sum over r of R_r(c(x_b)) Q_r(x_b),

c(x_b) being the region's upper end; on the near side H' does not depend on z at all but for f(z).
The functions of one register are smooth between known points, so no error comes from the curves.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Affine, KLBound, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.clock import ENDLESS, Clock
from dpaudit.exact.floats.axis import ORDER, Tails, make_axis, resolve, split
from dpaudit.exact.floats.line import log_survival
from dpaudit.exact.floats.strips import (
    Above,
    Border,
    Contest,
    HeldSide,
    Lines,
    Message,
    Moved,
    Tie,
    Turned,
    pruned,
)
from dpaudit.exact.known import scores_of
from dpaudit.exact.region import Region, require_read_once, scales_of

Array = NDArray[np.float64]

# Of a log-likelihood. Balls showed errors of at most 1e-11 for epsilon from 0.1 to 8; a likelihood
# that cancels comes with a larger error of its own, which balls showed to be an upper bound.
PLANE_ERROR = 1e-9
_WORTHLESS = 1e-2
_ROUNDING = 1e-15  # of magnitudes; at least three times what balls showed, epsilon up to 32
_REACH = 42.0
# where these scores bend is known; a bend inside a panel costs far more than `PLANE_ERROR`
_SMOOTH = (Affine, KLBound)


def contests_of(region: Region) -> tuple[Contest, ...]:
    """Return the decisions of a three-arm region; raise `Unsupported` where it has no plane."""
    require_read_once(region)
    found = []
    for decision in region.decisions:
        if len(decision.shown) != 3 or not hasattr(decision.request, "rule"):
            raise Unsupported("The plane engine needs choices between three arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The plane engine needs registers that hold a single release.")
        rule = decision.request.rule(FLOAT)
        if not isinstance(rule, Score) or type(rule) not in _SMOOTH:
            raise Unsupported(f"The plane engine has no regions for {type(rule).__name__}.")
        shown = tuple(group[0] for group in decision.shown)
        scores = scores_of(rule, 3)
        winner = decision.arms.index(decision.outcome)
        found.append(Contest(shown, scores, winner))  # type: ignore[arg-type]
    return tuple(found)


def estimate(region: Region, means: Array, clock: Clock = ENDLESS) -> tuple[float, float]:
    """Return the log-likelihood of a three-arm region with these centres of releases, its error.

    Raise `Unsupported` where cancellation leaves nothing.
    """
    return Plane(contests_of(region), means, scales_of(region), clock).estimate()


def log_likelihood(region: Region, means: Array, clock: Clock = ENDLESS) -> float:
    """Return a log-likelihood whose error is at most `PLANE_ERROR`, or raise `Unsupported`."""
    value, error = estimate(region, means, clock)
    if error > PLANE_ERROR:
        raise Unsupported("The likelihood is too small for the plane engine's doubles.")
    return value


class Plane:
    """One path and one vector of centres."""

    def __init__(
        self,
        contests: tuple[Contest, ...],
        means: Array,
        scales: Array,
        clock: Clock = ENDLESS,
    ) -> None:
        self.contests, self.means, self.scales, self.clock = contests, means, scales, clock
        self.points = _breakpoints(contests, means)
        self.log_scale = 0.0
        # the ties of affine scores are parallel lines, which never cross
        self.parallel = all(isinstance(s, Affine) for contest in contests for s in contest.scores)

    def density(self, index: int, x: Array) -> Array:
        """Return the density of a release."""
        scale = self.scales[index]
        return np.asarray(np.exp(-np.abs(x - self.means[index]) / scale) / (2 * scale))

    def tail(self, index: int, x: Array) -> Array:
        """Return the probability that a release is above x."""
        with np.errstate(over="ignore"):
            return np.exp(log_survival(x, float(self.means[index]), float(self.scales[index])))

    def estimate(self) -> tuple[float, float]:
        """Carry the message through the contests and integrate what is left."""
        if not self.contests:
            return 0.0, 0.0
        shown = self.contests[0].shown
        start = np.zeros(1, dtype=np.int64)
        message = Message(self._fresh(shown[0]), self._fresh(shown[1]), start, ())
        for contest, fresh in zip(self.contests, freshness(self.contests), strict=True):
            self.clock()
            if contest.winner == fresh:
                message = self._fresh_wins(contest, fresh, message)
            else:
                if contest.shown[contest.winner] != message.first.index:
                    message = message.turned()
                message = self._held_wins(contest, fresh, message)
            message = self._normal(pruned(message))
        return self._total(message)

    def _fresh(self, index: int) -> HeldSide:
        scale = float(self.scales[index])
        axis = make_axis(self.points[index], scale, _REACH)
        nothing = np.zeros((0, *axis.x.shape))

        def density(x: Array, _: Array) -> tuple[Array, Array]:
            found = self.density(index, x)[None]
            return found, found

        axis, _, values, sizes = resolve(axis, nothing, density)
        return HeldSide(index, axis, values, sizes)

    def _normal(self, message: Message) -> Message:
        sides = []
        for side in (message.first, message.second):
            top = float(side.sizes.max(initial=0.0))
            if not top > 0:
                raise Unsupported("The likelihood is too small for the plane engine.")
            self.log_scale += float(np.log(top))
            sides.append(replace(side, values=side.values / top, sizes=side.sizes / top))
        return replace(message, first=sides[0], second=sides[1])

    def _fresh_wins(self, contest: Contest, fresh: int, message: Message) -> Message:
        index = contest.shown[fresh]
        sides = []
        for side in (message.first, message.second):
            position = contest.shown.index(side.index)
            count = len(side.values)

            def times(
                x: Array, carried: Array, p: int = position, n: int = count
            ) -> tuple[Array, Array]:
                factor = self.tail(index, contest.least_to_win(fresh, p, x))
                return carried[:n] * factor, carried[n:] * factor

            axis, carried, found, sizes = resolve(side.axis, side.carried, times)
            old = HeldSide(side.index, axis, carried[:count], carried[count:].max(axis=2))
            sides.append((old, HeldSide(side.index, axis, found, sizes)))
        (first, first_cut), (second, second_cut) = sides
        curve = Tie(contest, contest.shown.index(first.index), contest.shown.index(second.index))
        bit = 1 << len(message.curves)
        return Message(
            _joined(first, first_cut),
            _joined(second_cut, second),
            np.concatenate([message.regions, message.regions | bit]),
            (*message.curves, curve),
        )

    def _held_wins(self, contest: Contest, fresh: int, message: Message) -> Message:
        """The first register wins over the second and the fresh one, which takes its place."""
        first, second = message.first, message.second
        position = contest.shown.index(second.index)
        floor = Tie(contest, fresh, position)
        tails = Tails(first.axis, first.values)
        regions = np.unique(message.regions)
        lines = Lines(message, tails, regions, contest, position, self.parallel)
        axis, carried = split(second.axis, second.carried, lines.crossings())
        axis, carried, found, sizes = resolve(axis, carried, lines)
        count = len(second.values)
        index = contest.shown[fresh]
        new_axis = make_axis(self.points[index], float(self.scales[index]), _REACH)

        def beaten(z: Array, _: Array) -> tuple[Array, Array]:
            cut = contest.least_to_win(contest.winner, fresh, z.ravel())
            mass = np.concatenate([np.ones((1, cut.size)), tails(cut)]).reshape(-1, *z.shape)
            mass = mass * self.density(index, z)
            return mass, np.abs(mass)

        new_axis, _, values, new_sizes = resolve(new_axis, np.zeros((0, *new_axis.x.shape)), beaten)
        # terms: the near side; every old term beyond the new curve; every region's correction
        rows = [0, *range(1, count + 1), *([0] * len(regions))]
        keys = [0, *(message.regions << 1 | 1), *(regions << 1 | 1)]
        second_values = np.concatenate([found[:1], carried[:count], found[1:]])
        second_sizes = np.concatenate([sizes[:1], carried[count:].max(axis=2), sizes[1:]])
        curves = tuple(Above(Moved(c, contest, fresh), floor) for c in message.curves)
        return Message(
            HeldSide(index, new_axis, values[rows], new_sizes[rows]),
            HeldSide(second.index, axis, second_values, second_sizes),
            np.array(keys, dtype=np.int64),
            (floor, *curves),
        )

    def _total(self, message: Message) -> tuple[float, float]:
        tails = Tails(message.first.axis, message.first.values)
        lines = Lines(message, tails, message.regions[:0], None, 0, self.parallel)
        side = message.second
        axis, carried = split(side.axis, side.carried, lines.crossings())
        axis, _, found, sizes = resolve(axis, carried, lines)
        total = float(axis.integrals(found[:1])[0])
        # functions are resolved to a part of their magnitude: what is left after cancelling
        lost = _ROUNDING * float(axis.integrals(np.repeat(sizes[:1, :, None], ORDER, axis=2))[0])
        if not lost < _WORTHLESS * total:
            raise Unsupported("The likelihood is too small for the plane engine's doubles.")
        error = max(PLANE_ERROR, float(-np.log1p(-lost / total)))
        return float(np.log(total) + self.log_scale), error


def _joined(one: HeldSide, two: HeldSide) -> HeldSide:
    values = np.concatenate([one.values, two.values])
    return replace(one, values=values, sizes=np.concatenate([one.sizes, two.sizes]))


def freshness(contests: tuple[Contest, ...]) -> list[int]:
    """Return the fresh position of every contest; raise `Unsupported` unless there is just one."""
    held = set(contests[0].shown[:2])
    found = []
    for place, contest in enumerate(contests):
        fresh = [p for p in range(3) if contest.shown[p] not in held]
        if len(fresh) != 1 or not held <= set(contest.shown):
            raise Unsupported("The plane engine needs one fresh register at every decision.")
        winner = contest.shown[contest.winner]
        if any(winner in later.shown for later in contests[place + 1 :]):
            raise Unsupported("The winner's register is read again after it won.")
        held = set(contest.shown) - {winner}
        found.append(fresh[0])
    return found


def _breakpoints(contests: tuple[Contest, ...], means: Array) -> list[list[float]]:
    """Return where the functions of every register may not be smooth, over its whole life."""
    points: list[list[float]] = [[float(mean)] for mean in means]
    curves: list[Border] = []
    held = list(contests[0].shown[:2]) if contests else []

    def add(index: int, values: Array) -> None:
        known = points[index]
        for value in np.ravel(values):
            if np.isfinite(value) and all(abs(value - k) > 1e-12 for k in known):
                known.append(float(value))

    for contest, fresh in zip(contests, freshness(contests) if contests else [], strict=True):
        own = {p: np.array(contest.kinks(p)) for p in range(3)}
        for p, q in permutations(range(3), 2):
            add(contest.shown[p], own[p])
            if own[q].size:
                add(contest.shown[p], contest.least_to_win(p, q, own[q]))
        index, winner = contest.shown[fresh], contest.winner
        if winner == fresh:
            for episode in held:
                p = contest.shown.index(episode)
                add(episode, contest.least_to_win(p, fresh, np.array(points[index])))
            one, two = (contest.shown.index(episode) for episode in held)
            curves.append(Tie(contest, one, two))
            continue
        if contest.shown[winner] != held[0]:
            held, curves = held[::-1], [Turned(curve) for curve in curves]
        old = np.array(points[held[0]])
        add(index, contest.least_to_win(fresh, winner, old))
        p = contest.shown.index(held[1])
        add(held[1], contest.least_to_win(p, winner, old))
        for curve in curves:
            add(held[1], curve.second_of(old))
        floor = Tie(contest, fresh, p)
        curves = [floor, *(Above(Moved(curve, contest, fresh), floor) for curve in curves)]
        held = [index, held[1]]
    return points

"""Three arms: the likelihood of a path through a two-dimensional message on fixed grids.

Hold two registers x_i, x_j with weight V while the third, y, is fresh. If the fresh arm wins,
V <- V P(y >= max of its two thresholds), a minimum of two tails. If arm i wins,
V'(y, x_j) = f(y) times the integral of V over x_i above both its thresholds; as a tail integral
falls with its limit, that is the smaller of the two tails.

The kinks of these minima run along curves that the grid does not follow, so accuracy is second
order in the panels, not spectral: `PLANE_ERROR` is what was measured, far above that of two arms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Score
from dpaudit.errors import Unsupported
from dpaudit.exact.chain import log_survival
from dpaudit.exact.grid import ORDER, Grid, make_edges
from dpaudit.exact.pairwise import Duel
from dpaudit.exact.region import Region, require_laplace

Array = NDArray[np.float64]

# Four times the largest change of a log-likelihood between panels of 0.5 and 0.3 noise scales.
PLANE_ERROR = 1e-3
_WIDEST = 0.5


@dataclass(frozen=True)
class Contest:
    """A three-arm decision: the episodes shown, the scores, the position that won."""

    shown: tuple[int, int, int]
    scores: tuple[Score, Score, Score]
    winner: int

    def least_to_win(self, winner: int, loser: int, x: Array) -> Array:
        """Return the value from which a position beats another's value (ties: earlier position)."""
        first, second = min(winner, loser), max(winner, loser)
        duel = Duel((self.scores[first], self.scores[second]), ties=0)
        return np.asarray(duel.least_to_win(0 if winner == first else 1, x))

    def image(self, source: int, target: int, points: list[float]) -> list[float]:
        """Return the register values of one position at which it meets another's values."""
        return Duel((self.scores[source], self.scores[target]), 0).image(0, points)


def contests_of(region: Region) -> tuple[Contest, ...]:
    """Return the decisions of a three-arm region; raise `Unsupported` where it has no plane."""
    found = []
    for decision in region.decisions:
        if len(decision.shown) != 3 or not hasattr(decision.request, "rule"):
            raise Unsupported("The plane engine needs choices between three arms.")
        if any(len(group) != 1 for group in decision.shown):
            raise Unsupported("The plane engine needs registers that hold a single release.")
        rule = decision.request.rule(FLOAT)
        if not isinstance(rule, Score):
            raise Unsupported(f"The plane engine has no regions for {type(rule).__name__}.")
        shown = tuple(group[0] for group in decision.shown)
        scores = tuple(rule.at(position) for position in range(3))
        winner = decision.arms.index(decision.outcome)
        found.append(Contest(shown, scores, winner))  # type: ignore[arg-type]
    return tuple(found)


def log_likelihood(region: Region, means: Array) -> float:
    """Return the log-likelihood of a three-arm region with given centres of its releases."""
    return Plane(region, means).log_likelihood()


class Plane:
    """One path and one vector of centres."""

    def __init__(self, region: Region, means: Array) -> None:
        self.scales = require_laplace(region, "plane")
        self.means = means
        self.contests = contests_of(region)
        self.grids: dict[int, Grid] = {}
        kinks: dict[int, list[float]] = {i: [] for i in range(len(means))}
        for contest in self.contests:
            for a in range(3):
                kinks[contest.shown[a]] += _own_kinks(contest.scores[a])
                for b in range(3):
                    if a != b:
                        theirs = [float(means[contest.shown[b]]), *_own_kinks(contest.scores[b])]
                        kinks[contest.shown[a]] += contest.image(b, a, theirs)
        for index, points in kinks.items():
            edges = make_edges(points, float(means[index]), float(self.scales[index]), _WIDEST)
            self.grids[index] = Grid(edges)

    def density(self, index: int, x: Array) -> Array:
        """Return the density of a release."""
        scale = self.scales[index]
        return np.asarray(np.exp(-np.abs(x - self.means[index]) / scale) / (2 * scale))

    def tail(self, index: int, x: Array) -> Array:
        """Return the probability that a release is above x."""
        with np.errstate(over="ignore"):
            return np.exp(log_survival(x, float(self.means[index]), float(self.scales[index])))

    def log_likelihood(self) -> float:
        """Carry the message, without the held registers' own densities, through the contests."""
        if not self.contests:
            return 0.0
        first = self.contests[0]
        held = [first.shown[0], first.shown[1]]
        message = np.ones((len(self.grids[held[0]]), len(self.grids[held[1]])))
        log_scale = 0.0
        for place, contest in enumerate(self.contests):
            fresh = [p for p in range(3) if contest.shown[p] not in held]
            if len(fresh) != 1:
                raise Unsupported("The plane engine needs one fresh register at every decision.")
            after = self.contests[place + 1].shown if place + 1 < len(self.contests) else ()
            if contest.shown[contest.winner] in after:
                raise Unsupported("The winner's register is read again after it won.")
            if contest.winner == fresh[0]:
                message = self._fresh_wins(contest, held, fresh[0], message)
            else:
                message, held = self._held_wins(contest, held, fresh[0], message)
            top = float(message.max())
            if not top > 0:
                raise Unsupported("The likelihood is too small for the plane engine's grids.")
            message = message / top
            log_scale += float(np.log(top))
        left, right = (self._weights(index) for index in held)
        return float(np.log(left @ message @ right) + log_scale)

    def _weights(self, index: int) -> Array:
        grid = self.grids[index]
        return grid.weights(
            lambda x, _: self.density(index, x), grid.fine, [float(self.means[index])]
        )

    def _fresh_wins(self, contest: Contest, held: list[int], fresh: int, message: Array) -> Array:
        tails = []
        for index in held:
            position = contest.shown.index(index)
            cut = contest.least_to_win(fresh, position, self.grids[index].points)
            tails.append(self.tail(contest.shown[fresh], cut))
        return np.asarray(message * np.minimum(tails[0][:, None], tails[1][None, :]))

    def _held_wins(
        self, contest: Contest, held: list[int], fresh: int, message: Array
    ) -> tuple[Array, list[int]]:
        winner = contest.shown[contest.winner]
        if held[0] != winner:
            message, held = message.T, held[::-1]
        other, new = held[1], contest.shown[fresh]
        position = contest.shown.index(other)
        cut_new = contest.least_to_win(contest.winner, fresh, self.grids[new].points)
        cut_other = contest.least_to_win(contest.winner, position, self.grids[other].points)
        by_new = self._tails(winner, message, cut_new)
        by_other = self._own_tails(winner, message, cut_other)
        return np.minimum(by_new, by_other[None, :]), [new, other]

    def _rest(self, winner: int, message: Array) -> Array:
        masses = (self._weights(winner)[:, None] * message).reshape(-1, ORDER, message.shape[1])
        sums = np.zeros((len(masses) + 1, message.shape[1]))
        sums[:-1] = np.cumsum(masses.sum(1)[::-1], axis=0)[::-1]
        return sums

    def _partial(self, winner: int, cut: Array) -> tuple[NDArray[np.int64], Array, Array]:
        grid = self.grids[winner]
        panel = grid.panel_of(cut)
        inside = np.clip(cut, grid.left[panel], grid.right[panel])
        weights = grid.partial(lambda x: self.density(winner, x), inside, grid.right[panel], panel)
        beyond = np.where(cut > grid.edges[-1], self.tail(winner, cut), 0.0)
        return panel, weights, beyond

    def _tails(self, winner: int, message: Array, cut: Array) -> Array:
        """Return the tail integral of every column from every cut."""
        panel, weights, beyond = self._partial(winner, cut)
        blocks = message.reshape(-1, ORDER, message.shape[1])
        inside = (
            np.einsum("yp,ypj->yj", weights, blocks[panel]) + self._rest(winner, message)[panel + 1]
        )
        far = beyond[:, None] * message[-1]
        return np.asarray(np.where(beyond[:, None] > 0, far, np.maximum(inside, 0.0)))

    def _own_tails(self, winner: int, message: Array, cut: Array) -> Array:
        """Return the tail integral of every column from a cut of its own."""
        panel, weights, beyond = self._partial(winner, cut)
        blocks = message.reshape(-1, ORDER, message.shape[1])
        columns = np.arange(message.shape[1])
        inside = np.einsum("jp,jp->j", weights, blocks[panel, :, columns])
        inside = inside + self._rest(winner, message)[panel + 1, columns]
        return np.asarray(np.where(beyond > 0, beyond * message[-1], np.maximum(inside, 0.0)))


def _own_kinks(score: Score) -> list[float]:
    from dpaudit.exact.pairwise import kinks

    return kinks(score)

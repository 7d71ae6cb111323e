"""Thompson's rule on released means, in doubles: both registers on nodes, each decision a matrix.

Given the registers, the arms' draws are independent Beta or Gaussian variables, so that a decision
is no threshold but a factor P(one draw exceeds the other), smooth in both registers but where a
mean is clipped. A register becomes a discrete measure: Gauss nodes between the points where
something bends (clipping, its centres), and the tails beyond the last of them, on which every
factor is constant, or which are too light to matter (Gaussian draws: nothing is clipped, so nodes
go on to `REACH` noise scales). For Beta draws P(one exceeds the other) is an integral over (0, 1),
by the double exponential rule; for Gaussian draws it is a normal distribution function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, ndtr

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import DRAWS, GaussianDraw
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Curve
from dpaudit.exact.region import Region
from dpaudit.exact.schedule import Batch, Chain, Turn

Array = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
DRAWS_ERROR = 1e-8  # of a log-likelihood; ten times the largest that was measured by quadrature
MOST_PULLS = 20_000  # of a batch: beyond, the draws are too sharp for the rule's nodes
REACH = 40.0  # noise scales around a centre, beyond which lies less than e^-40 of a release
LEAST = 1e-6  # a likelihood whose logarithm the mass beyond leaves alone


@dataclass(frozen=True)
class Measure:
    """A register's nodes: panels that hold every bend, and the two points where tails begin."""

    kind: Batch
    edges: Array

    @cached_property
    def x(self) -> Array:
        """The nodes, the first and the last edge among them."""
        middle, half = self._panels
        inner = (middle[:, None] + half[:, None] * NODES).ravel()
        return np.concatenate([self.edges[:1], inner, self.edges[-1:]])

    @property
    def _panels(self) -> tuple[Array, Array]:
        return (self.edges[1:] + self.edges[:-1]) / 2, np.diff(self.edges) / 2

    def masses(self, at: Fraction) -> Array:
        """Return what a release with this centre, one of the edges, puts on the nodes."""
        rate, centre = float(self.kind.rate), float(at)
        inner = (self._panels[1][:, None] * WEIGHTS).ravel()
        inner *= 0.5 * rate * np.exp(-rate * np.abs(self.x[1:-1] - centre))
        tails = 0.5 * np.exp(-rate * np.abs(self.edges[[0, -1]] - centre))
        return np.concatenate([tails[:1], inner, tails[1:]])


@dataclass(frozen=True)
class Drawing:
    """A decision: both registers, and the chance that the held one's draw is the larger."""

    held: Batch
    fresh: Batch
    wins: Array  # by the nodes of the held and of the fresh register


class Draws(Algebra[Array]):
    """Functions of a register are their values at its nodes."""

    def __init__(self, chain: Chain, centres: Mapping[int, float]) -> None:
        bends: dict[Batch, set[float]] = {}
        sharpest, widest = 1.0, 0.25
        for stage in chain.stages:
            for position, episode in _shown(stage):
                kind, centre = chain.kind(episode), centres[episode]
                if _gaussian(stage):
                    reach = REACH / float(kind.rate)
                    sharpest = max(sharpest, _gaussian_law(stage, position)[0] ** -2)
                    found, widest = (centre - reach, centre, centre + reach), np.inf
                else:
                    n, shift = _law(stage, position)
                    sharpest, found = max(sharpest, n), (centre, -shift, 1 - shift)
                bends.setdefault(kind, set()).update(found)
        self.cut = widest == np.inf
        self.measures = {
            kind: Measure(kind, _edges(kind, it, sharpest, widest)) for kind, it in bends.items()
        }

    def duel(self, chain: Chain, stage: Turn) -> Drawing:
        """Return a stage's matrix."""
        if _gaussian(stage):
            return self._gaussian_duel(chain, stage)
        held, fresh = (self._parameters(chain, stage, *it) for it in _shown(stage))
        sharpest = max(_law(stage, position)[0] for position, _ in _shown(stage))
        wins = exceeds(held[1], fresh[1], sharpest)
        return Drawing(held[0], fresh[0], wins)

    def _gaussian_duel(self, chain: Chain, stage: Turn) -> Drawing:
        """Return the matrix of P(N(held, .) > N(fresh, .)) at the nodes."""
        kinds = [chain.kind(episode) for _, episode in _shown(stage)]
        laws = [_gaussian_law(stage, position) for position, _ in _shown(stage)]
        held, fresh = (
            self.measures[kind].x + shift for kind, (_, shift) in zip(kinds, laws, strict=True)
        )
        spread = np.hypot(laws[0][0], laws[1][0])
        return Drawing(kinds[0], kinds[1], ndtr((held[:, None] - fresh) / spread))

    def _parameters(
        self, chain: Chain, stage: Turn, position: int, episode: int
    ) -> tuple[Batch, tuple[Array, Array]]:
        """Return the Beta parameters of a draw at the nodes of its register."""
        n, shift = _law(stage, position)
        kind = chain.kind(episode)
        mean = np.clip(self.measures[kind].x + shift, 0, 1)
        return kind, (mean * n + 1, (1 - mean) * n + 1)

    def one(self, kind: Batch) -> Array:
        """Return the constant 1."""
        return np.ones_like(self.measures[kind].x)

    def times(self, first: Array, second: Array) -> Array:
        """Return the product."""
        return first * second

    def absorb(self, function: Array, duel: Drawing, fresh: Fraction, held_wins: bool) -> Array:
        """Multiply by the chance of the outcome, the fresh register integrated out."""
        return function * (_outcome(duel, held_wins) @ self.measures[duel.fresh].masses(fresh))

    def beyond(
        self, function: Array, duel: Drawing, centre: Fraction, held_wins: bool, of_held: bool
    ) -> Array:
        """Integrate one register out."""
        out = self.measures[duel.held if of_held else duel.fresh].masses(centre) * function
        factor = _outcome(duel, held_wins)
        return np.asarray(out @ factor if of_held else factor @ out)

    def log_total(self, function: Array, kind: Batch, centre: Fraction) -> float:
        """Return the logarithm of the integral."""
        with np.errstate(divide="ignore"):
            found = float(np.log(function @ self.measures[kind].masses(centre)))
        if self.cut and found < np.log(LEAST):
            raise Unsupported("The likelihood is too small for the nodes of Gaussian draws.")
        return found

    def curve(self, function: Array, kind: Batch) -> Curve:
        """Raise: no theorem reduces the streams of Thompson's rule to few."""
        raise Unsupported("Extremal streams do not apply to draws.")


def drawn(region: Region) -> bool:
    """Tell whether every decision of a region is Thompson's."""
    requests = [decision.request for decision in region.decisions]
    return all(isinstance(it, Choose) and type(it.rule(FLOAT)) in DRAWS for it in requests)


def exceeds(first: tuple[Array, Array], second: tuple[Array, Array], sharpest: float) -> Array:
    """Return P(one Beta draw exceeds another) for all pairs of parameters."""
    step = min(0.05, 0.5 / np.sqrt(sharpest + 1))
    s = np.arange(-3.4, 3.4 + step / 2, step)
    steep = np.pi / 2 * np.sinh(s)
    log_t, log_rest = -np.logaddexp(0, -2 * steep), -np.logaddexp(0, 2 * steep)
    a, b = (part[:, None] for part in first)
    log_density = (a * log_t + b * log_rest) - betaln(a, b)  # t (1 - t) of the substitution inside
    density = np.exp(log_density) * (np.pi * np.cosh(s) * step)
    density /= density.sum(axis=1, keepdims=True)
    below = betainc(second[0][:, None], second[1][:, None], np.exp(log_t))
    return np.asarray(np.clip(density @ below.T, 0.0, 1.0))


def _outcome(duel: Drawing, held_wins: bool) -> Array:
    return duel.wins if held_wins else 1 - duel.wins


def _shown(stage: Turn) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return position and episode of the held and of the fresh register."""
    return (stage.held, stage.older), (1 - stage.held, stage.fresh)


def _law(stage: Turn, position: int) -> tuple[float, float]:
    rule = stage.request.rule(FLOAT)
    n, shift = (float(np.broadcast_to(it, 2)[position]) for it in (rule.n, rule.shift))  # type: ignore[attr-defined]
    if not 0 < n <= MOST_PULLS:
        raise Unsupported(f"Thompson's rule is integrated for up to {MOST_PULLS:,} pulls.")
    return n, shift


def _gaussian(stage: Turn) -> bool:
    return isinstance(stage.request.rule(FLOAT), GaussianDraw)


def _gaussian_law(stage: Turn, position: int) -> tuple[float, float]:
    rule = stage.request.rule(FLOAT)
    both = (rule.deviation, rule.shift)  # type: ignore[attr-defined]
    deviation, shift = (float(np.broadcast_to(it, 2)[position]) for it in both)
    return deviation, shift


def _edges(kind: Batch, bends: set[float], sharpest: float, most: float) -> Array:
    """Return the edges of the panels: every bend, none wider than noise and draws allow."""
    found = np.array(sorted(bends))
    widest = min(2 / float(kind.rate), most, 3 / np.sqrt(sharpest))
    parts = [
        np.linspace(a, b, max(int(np.ceil((b - a) / widest)), 1), endpoint=False)
        for a, b in zip(found[:-1], found[1:], strict=True)
    ]
    edges = np.concatenate([*parts, found[-1:]])
    if len(edges) > 400:
        raise Unsupported("The noise is too narrow for the nodes of Thompson's rule.")
    return edges

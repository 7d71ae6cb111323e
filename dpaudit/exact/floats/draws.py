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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, ndtr

from dpaudit.core.algorithm import Choose
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import DRAWS, GaussianDraw
from dpaudit.errors import Unsupported
from dpaudit.exact.algebra import Algebra, Curve, Message
from dpaudit.exact.region import Batch, Region
from dpaudit.exact.trees import Edge, Forest

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
    """A decision: both registers, and the chance that the first one's draw is the larger."""

    kinds: tuple[Batch, Batch]
    wins: Array  # by the nodes of the first and of the second register


class Draws(Algebra[Array]):
    """Functions of a register are their values at its nodes; every decision is between two arms."""

    def __init__(self, tree: Forest, centres: Mapping[int, float]) -> None:
        bends: dict[Batch, set[float]] = {}
        sharpest, widest = 1.0, 0.25
        for edge in tree.edges:
            for place, episode in zip(edge.places, edge.ends, strict=True):
                kind, centre = tree.kinds[episode], centres[episode]
                gaussian, spread, shift = _law(edge, place)
                if gaussian:
                    reach = REACH / float(kind.rate)
                    sharpest = max(sharpest, spread**-2)
                    found, widest = (centre - reach, centre, centre + reach), np.inf
                else:
                    sharpest, found = max(sharpest, spread), (centre, -shift, 1 - shift)
                bends.setdefault(kind, set()).update(found)
        self.cut = widest == np.inf
        self.measures = {
            kind: Measure(kind, _edges(kind, it, sharpest, widest)) for kind, it in bends.items()
        }

    def duel(self, tree: Forest, edge: Edge) -> Drawing:
        """Return a decision's matrix: P(the first draw exceeds the second one) at the nodes."""
        kinds = tree.kinds_of(edge)
        (gaussian, spread, shift), (_, other, offset) = (_law(edge, it) for it in edge.places)
        first, second = self.measures[kinds[0]].x + shift, self.measures[kinds[1]].x + offset
        if gaussian:
            return Drawing(kinds, ndtr((first[:, None] - second) / np.hypot(spread, other)))
        beta = (_beta(first, spread), _beta(second, other))
        return Drawing(kinds, exceeds(*beta, max(spread, other)))

    def times(self, first: Array, second: Array) -> Array:
        return first * second

    def message(self, function: Array | None, sent: Message) -> Array:
        """Integrate a release out: the sum of the chances of the outcome over its nodes."""
        out = self.measures[sent.kind].masses(sent.centre)
        chances = sent.duel.wins if sent.first_wins else 1 - sent.duel.wins
        out = out if function is None else out * function
        return np.asarray(out @ chances if sent.of_first else chances @ out)

    def log_total(self, function: Array, kind: Batch, centre: Fraction) -> float:
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


def _law(edge: Edge, place: int) -> tuple[bool, float, float]:
    """Return if a draw is Gaussian, its deviation, or the pulls of a Beta draw, and the shift."""
    rule: Any = edge.request.rule(FLOAT)
    gaussian = isinstance(rule, GaussianDraw)
    spread = rule.deviation if gaussian else rule.n
    spread, shift = (float(np.broadcast_to(it, 2)[place]) for it in (spread, rule.shift))
    if not 0 < spread <= MOST_PULLS:
        raise Unsupported(f"Thompson's rule is integrated for up to {MOST_PULLS:,} pulls.")
    return gaussian, spread, shift


def _beta(mean: Array, pulls: float) -> tuple[Array, Array]:
    """Return the parameters of the draws of clipped means."""
    clipped = np.clip(mean, 0, 1)
    return clipped * pulls + 1, (1 - clipped) * pulls + 1


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

"""Decision rules over registers, in the manner of atoms: value, inverse, monotonicity in one class.

A `Rule` picks an arm from register values. A `Score` is a rule of the simplest kind: arg max over
arms of a function of the arm's own register that is non-decreasing and continuous, so that
{x : value(x) >= v} = [inverse(v), inf) and {x : value(x) <= v} = (-inf, inverse_upper(v)].
The two inverses differ on plateaus only. Values may be compared between arms; KL scores use the
coordinate v = -log(1 - q), which does not saturate.

Parameters are numbers or arrays over arms (last axis), in the arithmetic that built the rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit.core import divergence
from dpaudit.core.arithmetic import FLOAT, Arithmetic
from dpaudit.errors import Unsupported


class Rule(ABC):
    """Picks an arm from the register values of the arms (last axis); vectorised over the others."""

    @abstractmethod
    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Return the position of the chosen arm; ties go to the earliest."""

    def at(self, arm: Any) -> Self:
        """Return the rule with the parameters of one arm, by any index of these."""
        picked = {
            field.name: value[arm] if np.ndim(value := getattr(self, field.name)) else value
            for field in fields(self)  # type: ignore[arg-type]
        }
        return replace(self, **picked)  # type: ignore[type-var]


class Score(Rule):
    """Arg max over arms of a continuous non-decreasing function of the arm's own register."""

    @abstractmethod
    def value(self, x: Any) -> Any:
        """Return the score of register value `x`, vectorised."""

    @abstractmethod
    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v: -inf if all do, inf if none does."""

    @abstractmethod
    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v: inf if all do, -inf if none does."""

    def kinks(self) -> list[float]:
        """Return the register values at which the score is not smooth; none unless it says so."""
        return []

    def compared(self, x: Any) -> Any:
        """Return what a run compares: the score, or what stands for it in doubles."""
        return self.value(x)

    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Return the position of the largest score; ties go to the earliest."""
        return np.argmax(self.compared(x), axis=-1)


class Formula(Score):
    """A score by its formula alone: increasing on [low, high], and constant beyond.

    `formula` is written once, against an `Arithmetic`: doubles simulate it, and intervals with two
    derivatives certify it, that it increases included. Its parameters are the fields of a frozen
    dataclass. Inverses are found by halving.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    @abstractmethod
    def formula(self, x: Any, m: Arithmetic) -> Any:
        """Return the score of x in [low, high], by the four operations and the functions of m."""

    def value(self, x: Any) -> Any:
        """Return the formula of x, clipped to [low, high]; raise where that is not a number.

        A run would take such an arm for the best one, and go on.
        """
        clipped = np.clip(x, self.low, self.high)
        with np.errstate(all="ignore"):
            found = self.formula(clipped, FLOAT)
        if (odd := np.isnan(found) & ~np.isnan(clipped)).any():
            at = np.broadcast_to(clipped, np.shape(odd))[odd].flat[0]
            raise Unsupported(f"{type(self).__name__}: the formula of {at:g} is not a number.")
        return found

    def _halved(self, v: Any, short: Any = np.less) -> Any:
        """Return the x in [low, high] up to which the score is short of v."""
        shape = np.broadcast_shapes(np.shape(v), np.shape(self.value(self.low)))
        low, high = np.full(shape, self.low), np.full(shape, self.high)
        for _ in range(64):
            middle = 0.5 * (low + high)
            up = short(self.value(middle), v)
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return high

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        x = np.where(self.value(self.high) < v, np.inf, self._halved(v))
        return np.where(self.value(self.low) >= v, -np.inf, x)[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        x = np.where(self.value(self.high) <= v, np.inf, self._halved(v, np.less_equal))
        return np.where(self.value(self.low) > v, -np.inf, x)[()]

    def kinks(self) -> list[float]:
        """Return the ends of the range."""
        return [self.low, self.high]


@dataclass(frozen=True)
class Affine(Score):
    """value(x) = scale x + shift, with scale > 0: mean plus bonus."""

    shift: Any
    scale: Any = 1

    def value(self, x: Any) -> Any:
        """Return scale x + shift."""
        return self.scale * x + self.shift

    def inverse(self, v: Any) -> Any:
        """Return (v - shift) / scale."""
        return (v - self.shift) / self.scale

    def inverse_upper(self, v: Any) -> Any:
        """Return (v - shift) / scale: there is no plateau."""
        return self.inverse(v)


@dataclass(frozen=True)
class KLBound(Score):
    """The KL upper confidence bound max{q : d(m, q) <= level}, as v = -log(1 - q).

    m = clip(scale x + shift) to [0, 1]. Plateaus: v = level where m = 0, v = inf where m = 1.
    A run compares the bound of m rounded down to a multiple of 2^-40, which never falls.
    """

    level: Any
    shift: Any = 0
    scale: Any = 1

    def value(self, x: Any) -> Any:
        """Return v, infinite exactly where the clipped mean is 1."""
        return divergence.upper_bound(self._clipped(x), self.level)

    def compared(self, x: Any) -> Any:
        """Return v of the mean rounded down: the bound of the mean itself falls here and there."""
        return divergence.monotone_upper_bound(self._clipped(x), self.level)

    def _clipped(self, x: Any) -> Any:
        mean = np.clip(self.scale * x + self.shift, 0, 1)
        if not (isinstance(self.scale, int) and self.scale == 1):
            # 49 (1 / 49) rounds to the double below 1, which would miss a tie
            mean = np.where(mean >= divergence.ALMOST_ONE, 1.0, mean)
        return mean

    def _mean(self, v: Any) -> Any:
        above = np.maximum(v, np.nextafter(self.level, np.inf))
        return divergence.lower_mean(above, self.level)

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        x = (self._mean(v) - self.shift) / self.scale
        return np.where(np.asarray(v) <= self.level, -np.inf, x)[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        v = np.asarray(v, dtype=float)
        x = (np.where(v == self.level, 0.0, self._mean(v)) - self.shift) / self.scale
        return np.where(np.isinf(v), v, np.where(v < self.level, -np.inf, x))[()]

    def kinks(self) -> list[float]:
        """Return where the mean is clipped."""
        return _registers(self, [0.0, 1.0])


@dataclass(frozen=True)
class PrivateKLBound(Score):
    """The private bound max{q : d_epsilon(m, q) <= level}, as v = -log(1 - q).

    m = clip(scale x + shift). Plateaus: where m = 0, and v = inf where epsilon (1 - m) <= level.
    """

    level: Any
    epsilon: Any
    shift: Any = 0
    scale: Any = 1

    def value(self, x: Any) -> Any:
        """Return v, infinite where epsilon (1 - m) <= level."""
        mean = np.clip(self.scale * x + self.shift, 0, 1)
        return divergence.private_upper_bound(mean, self.level, self.epsilon)

    def _least(self) -> Any:
        return divergence.private_upper_bound(np.zeros_like(self.level), self.level, self.epsilon)

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        mean = divergence.private_lower_mean(v, self.level, self.epsilon)
        x = (np.maximum(mean, 0.0) - self.shift) / self.scale
        return np.where(np.asarray(v) <= self._least(), -np.inf, x)[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        v = np.asarray(v, dtype=float)
        mean = divergence.private_lower_mean(v, self.level, self.epsilon)
        x = (np.maximum(mean, 0.0) - self.shift) / self.scale
        return np.where(np.isinf(v), np.inf, np.where(v < self._least(), -np.inf, x))[()]

    def kinks(self) -> list[float]:
        """Return where the mean is clipped, the bound becomes 1, and its two forms meet."""
        changes = divergence.private_changes(float(self.level), float(self.epsilon))
        return _registers(self, [0.0, 1.0, *changes])


def _registers(score: Any, means: list[float]) -> list[float]:
    return [(mean - float(score.shift)) / float(score.scale) for mean in means]


@dataclass(frozen=True)
class Imed(Rule):
    """IMED: arg min of n d(m, largest m) + log n, with m = clip(scale x + shift) to [0, 1].

    `epsilon` None uses the relative entropy d; otherwise d_epsilon. The rule is joint: every
    register enters every arm's value.
    """

    n: Any
    shift: Any = 0
    scale: Any = 1
    epsilon: Any = None

    def value(self, x: Any) -> Any:
        """Return n d(m, largest m) + log n for every arm (last axis); smaller is better."""
        mean = np.clip(self.scale * x + self.shift, 0, 1)
        best = np.max(mean, axis=-1, keepdims=True)
        gap = (
            divergence.bernoulli(mean, best)
            if self.epsilon is None
            else divergence.private_bernoulli(mean, best, self.epsilon)
        )
        return self.n * np.where(mean == best, 0.0, gap) + np.log(self.n)

    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Return the position of the smallest value; ties go to the earliest."""
        return np.argmin(self.value(x), axis=-1)


@dataclass(frozen=True)
class BetaDraw(Rule):
    """Thompson's rule: arg max of a draw from Beta(m n + 1, (1 - m) n + 1), m = clip(x + shift)."""

    n: Any
    shift: Any = 0

    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Draw once per arm and return the position of the largest draw."""
        mean = np.clip(x + self.shift, 0, 1)
        return np.argmax(rng.beta(mean * self.n + 1, (1 - mean) * self.n + 1), axis=-1)


@dataclass(frozen=True)
class GaussianDraw(Rule):
    """Thompson's rule: arg max of a draw from N(x + shift, deviation^2)."""

    deviation: Any
    shift: Any = 0

    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Draw once per arm and return the position of the largest draw."""
        mean = x + self.shift
        return np.argmax(rng.normal(mean, np.broadcast_to(self.deviation, mean.shape)), axis=-1)


@dataclass(frozen=True)
class Challenger(Rule):
    """Who is hardest to tell from a leader: arg max of (x - x of the leader) scale, but for it.

    With scale = 1 / sqrt(1 / n + 1 / n of the leader) that is the smallest transportation cost
    (x - x_leader)^2 / (2 (1 / n + 1 / n_leader)) of Gaussian means. The rule is joint.
    """

    leader: int
    scale: Any = 1

    def winner(self, x: Any, rng: np.random.Generator) -> Any:
        """Return the position of the challenger; ties go to the earliest."""
        lead = (x - x[..., self.leader, None]) * self.scale
        lead = np.where(np.arange(x.shape[-1]) == self.leader, -np.inf, lead)
        return np.argmax(lead, axis=-1)


DRAWS = (BetaDraw, GaussianDraw)
RULES = (Affine, KLBound, PrivateKLBound, Imed, *DRAWS, Challenger)
KNOWN_WINNERS = tuple(rule.winner for rule in (Score, Imed, *DRAWS, Challenger))


def winner_is_known(rule: Rule) -> bool:
    """Tell whether a rule decides by a `winner` of this module, and not by one of its own.

    So does what it compares: a score that is not of this module compares its value.
    """
    from dpaudit.core.unchanged import held, plain  # the code check reads this module, not that one

    shadowed = "winner" in vars(rule) or "compared" in vars(rule)
    compares = held(type(rule), "compared") in (None, Score.compared) or type(rule) in RULES
    known = held(type(rule), "winner") in KNOWN_WINNERS
    return plain(rule) and not shadowed and compares and known

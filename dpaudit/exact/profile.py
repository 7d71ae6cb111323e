"""Everything that a pair of laws says about privacy: not one number but the whole profile.

For laws P and Q of the actions on two neighbouring streams: delta(epsilon), the smallest delta of
(epsilon, delta)-DP for this pair and direction; the trade-off curve of f-DP (Dong, Roth & Su 2022);
relative entropy; total variation. All are sums over action sequences, exact up to the error of the
likelihoods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import Contradiction, InvalidArgument
from dpaudit.exact.likelihood import Engine, Likelihood, of_paths, require_engine
from dpaudit.exact.paths import all_paths, by_actions
from dpaudit.exact.region import require_rewards

Array = NDArray[np.float64]
ROUNDED = 1e-12  # what adding doubles up may lose


@dataclass(frozen=True)
class Law:
    """All action sequences of a horizon, with enclosures of their probabilities."""

    probabilities: dict[tuple[int, ...], Likelihood]

    @property
    def log_values(self) -> Array:
        """The log-probabilities, in the order of the sequences."""
        return np.array([0.5 * (p.log_lower + p.log_upper) for p in self.probabilities.values()])

    @property
    def lower(self) -> float:
        """The sum of the lower ends: at most 1 if all is well."""
        return math.fsum(p.lower for p in self.probabilities.values())

    @property
    def upper(self) -> float:
        """The sum of the upper ends: at least 1 if all is well."""
        return math.fsum(p.upper for p in self.probabilities.values())

    @property
    def certified(self) -> bool:
        """Whether every probability is certified."""
        return all(p.certified for p in self.probabilities.values())


def law(
    algorithm: Algorithm, stream: Sequence[float] | NDArray[Any], engine: Engine = "ball"
) -> Law:
    """Return every action sequence of the stream's length with its probability."""
    require_engine(engine)
    rewards = require_rewards(stream, len(np.asarray(stream)))
    groups = by_actions(all_paths(algorithm, len(rewards)))
    whole = Law({tuple(it[0].actions.tolist()): of_paths(it, rewards, engine) for it in groups})
    if whole.certified and not whole.lower - ROUNDED <= 1 <= whole.upper + ROUNDED:
        raise Contradiction("Certified likelihoods of all action sequences do not add up to 1.")
    return whole


@dataclass(frozen=True)
class Profile:
    """Two log-probability vectors over the same action sequences, and what follows from them."""

    log_p: Array
    log_q: Array

    @property
    def losses(self) -> Array:
        """The privacy loss log(p / q) of every action sequence; 0 where neither can happen."""
        with np.errstate(invalid="ignore"):
            return np.where(self.log_p == self.log_q, 0.0, self.log_p - self.log_q)

    def delta(self, epsilon: float) -> float:
        """Return the sum of (p - e^epsilon q)^+: the smallest delta at this epsilon."""
        loss = self.losses
        with np.errstate(invalid="ignore", over="ignore"):
            excess = -np.expm1(np.minimum(epsilon - loss, 0.0))
        return float(np.sum(np.exp(self.log_p) * np.where(loss > epsilon, excess, 0.0)))

    def trade_off(self) -> tuple[Array, Array]:
        """Return the corners (alpha, beta) of the trade-off curve: reject P in favour of Q.

        alpha is the probability under P of rejecting it, beta the probability under Q of not
        rejecting; the optimal tests reject in order of growing log(p / q).
        """
        order = np.argsort(self.losses, kind="stable")
        alpha = np.concatenate([[0.0], np.cumsum(np.exp(self.log_p[order]))])
        beta = 1.0 - np.concatenate([[0.0], np.cumsum(np.exp(self.log_q[order]))])
        return np.clip(alpha, 0.0, 1.0), np.clip(beta, 0.0, 1.0)

    @property
    def total_variation(self) -> float:
        """Half the sum of |p - q|."""
        return 0.5 * float(np.abs(np.exp(self.log_p) - np.exp(self.log_q)).sum())

    @property
    def kl(self) -> float:
        """The relative entropy of P with respect to Q."""
        terms = np.exp(self.log_p) * np.where(np.isneginf(self.log_p), 0.0, self.losses)
        return float(terms.sum())


def profile(
    algorithm: Algorithm,
    stream: Sequence[float] | NDArray[Any],
    neighbour: Sequence[float] | NDArray[Any],
    engine: Engine = "float",
) -> Profile:
    """Return the profile of an algorithm's actions on a pair of streams."""
    if len(np.asarray(stream)) != len(np.asarray(neighbour)):
        raise InvalidArgument("neighbour", "(length)", "must be as long as the stream.")
    p, q = law(algorithm, stream, engine), law(algorithm, neighbour, engine)
    return Profile(p.log_values, q.log_values)

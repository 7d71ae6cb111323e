"""The law of the actions on one stream: every action sequence with its probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.exact.likelihood import Engine, Likelihood, path_likelihood, require_engine, total
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import require_rewards


@dataclass(frozen=True)
class Law:
    """All action sequences of a horizon, with enclosures of their probabilities."""

    probabilities: dict[tuple[int, ...], Likelihood]

    @property
    def log_values(self) -> NDArray[np.float64]:
        """The log-probabilities, in the order of the sequences."""
        return np.array(
            [
                0.5 * (p.log_lower + p.log_upper) if p.log_upper > -math.inf else -math.inf
                for p in self.probabilities.values()
            ]
        )

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
    parts: dict[tuple[int, ...], list[Likelihood]] = {}
    for path in all_paths(algorithm, len(rewards)):
        actions = tuple(int(arm) for arm in path.actions)
        parts.setdefault(actions, []).append(path_likelihood(path, rewards, engine))
    return Law({actions: total(found) for actions, found in parts.items()})

"""A block of simulated runs, and what it leaves behind: pull counts, regret curves, releases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.environments import Environment


@dataclass(frozen=True)
class RunBlock:
    """Runs to simulate, and the times at which their regret is read; the last is the horizon."""

    environment: Environment
    times: NDArray[np.int64]
    runs: int
    rng: np.random.Generator


@dataclass(frozen=True)
class Outcome:
    """Runs along the first axis: pulls[run, arm], curve[run, checkpoint], releases[run]."""

    pulls: NDArray[np.int64]
    curve: NDArray[np.float64]
    releases: NDArray[np.int64]


def checkpoints(horizon: int, count: int = 64) -> NDArray[np.int64]:
    """Return log-spaced times from 1 to the horizon, both included."""
    times = np.geomspace(1, horizon, count).round().astype(np.int64)
    times[-1] = horizon
    return np.unique(times)

"""Likelihoods by quasi-Monte Carlo on the rules themselves: no thresholds, no elimination.

Of the points of a scrambled Sobol sequence, turned into noise, those count whose decisions all come
out as on the path. 2^16 points are within about 1e-3 of a probability.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import laplace, qmc

from dpaudit.core.arithmetic import FLOAT
from dpaudit.exact.region import Region

NEAR = 2e-3


def frequency(region: Region, stream: np.ndarray, points: int = 1 << 16, seed: int = 0) -> float:
    """Return the share of noise on which the decisions of a region come out as they did."""
    rng = np.random.default_rng(seed)
    drawn = qmc.Sobol(len(region.episodes), rng=rng).random(points)
    scales = np.array([float(1 / episode.kind.rate) for episode in region.episodes])
    centres = [
        sum(float(np.sum(np.asarray(stream)[part.start : part.stop])) for part in episode.steps)
        / float(episode.kind.divisor)
        for episode in region.episodes
    ]
    shown = np.array(centres) + scales * laplace.ppf(np.clip(drawn, 1e-12, 1 - 1e-12))
    right = np.ones(points, dtype=bool)
    for decision in region.decisions:
        registers = [shown[:, list(group)].sum(axis=1) for group in decision.shown]
        won = decision.request.rule(FLOAT).winner(np.stack(registers, axis=-1), rng)
        right &= won == decision.arms.index(decision.outcome)
    return float(right.mean())

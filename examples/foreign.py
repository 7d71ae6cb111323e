"""Bandits of other libraries, built for an audit (pip install river mabwiser).

python -m dpaudit audit examples/foreign.py:river_ucb --arms 2 --epsilon 1
python -m dpaudit audit examples/foreign.py:mabwiser_ucb --arms 2 --epsilon 1
"""

from __future__ import annotations

from typing import Any

import numpy as np


def river_ucb(rng: np.random.Generator) -> Any:
    """Return river's UCB policy."""
    from river import bandit

    return bandit.UCB(delta=1, seed=int(rng.integers(2**31)))


def mabwiser_ucb(arms: int, rng: np.random.Generator) -> Any:
    """Return mabwiser's UCB1 policy."""
    from mabwiser.mab import MAB, LearningPolicy

    policy = LearningPolicy.UCB1(alpha=1.25)
    return MAB(list(range(arms)), policy, seed=int(rng.integers(2**31)))

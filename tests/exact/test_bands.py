"""Eliminations with a width for each arm: certified likelihoods beside runs; weights: refused."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from charted import runs_of

from dpaudit.core.algorithm import Algorithm, Keep, Play, Release, Rows, Step
from dpaudit.core.noise import Laplace
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood

STREAM = (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Bands(Algorithm):
    """Play and release every arm once, eliminate, then play the survivors in turn."""

    widths: tuple[float, ...] = (0.2, 1.5, 0.8)
    weights: tuple[tuple[float, ...], ...] | None = None

    private = False

    def start(self):
        return ("play", 0)

    def step(self, state):
        match state:
            case ("play", arm):
                return Step(Play(arm, 1), lambda _: ("tell", arm))
            case ("tell", arm):
                after = ("play", arm + 1) if arm + 1 < self.arms else ("keep",)
                return Step(Release(arm, Rows(arm, 0, 1), Laplace(1)), lambda _: after)
            case ("keep",):
                arms = tuple(range(self.arms))
                shown = tuple((arm,) for arm in arms)
                asked = Keep(arms, shown, lambda m: m.number(np.array(self.widths)), self.weights)
                return Step(asked, lambda kept: ("turn", kept, 0))
            case ("turn", kept, i):
                return Step(Play(kept[i % len(kept)], 1), lambda _: ("turn", kept, i + 1))


def test_bands_of_different_widths_have_the_likelihoods_that_runs_show():
    algorithm, runs = Bands(arms=3), 20_000
    found = law(algorithm, STREAM, "ball")
    assert found.certified and found.lower <= 1 <= found.upper
    rng = np.random.default_rng(2)
    counts = Counter(tuple(it.actions.tolist()) for it in runs_of(algorithm, STREAM, runs, rng))
    assert set(counts) <= set(found.probabilities)
    for actions, chance in found.probabilities.items():
        p = math.exp(0.5 * (chance.log_lower + chance.log_upper))
        assert abs(counts[actions] / runs - p) <= 5.5 * math.sqrt(p * (1 - p) / runs) + 1e-4


def test_one_width_for_all_is_the_same_as_equal_widths():
    equal = law(Bands(arms=3, widths=(0.7, 0.7, 0.7)), STREAM, "ball")
    uneven = law(Bands(arms=3, widths=(0.7, 0.7, 0.9)), STREAM, "ball")
    actions = (0, 1, 2, 2, 2, 2)
    assert equal.probabilities[actions].lower != uneven.probabilities[actions].lower


def test_weighted_sums_are_refused_by_name():
    algorithm = Bands(arms=3, weights=((1.0,), (-1.0,), (0.5,)))
    with pytest.raises(Unsupported, match="Weighted sums are compared between two arms"):
        likelihood(algorithm, (0, 1, 2, 2, 2, 2), STREAM)

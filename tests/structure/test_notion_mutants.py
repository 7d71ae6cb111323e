"""No algorithm that gets a notion wrong is proved; where a short run shows it, it is refuted."""

from __future__ import annotations

import pytest
from notion_mutants import (
    MUTANTS,
    Approximate,
    ClassicalAboveOne,
    DeltaPerRelease,
    MeansNoiseOnSums,
    RhoTakenForEpsilon,
    RootTwoForgotten,
    SplitOverArms,
    VarianceAsDeviation,
)

from dpaudit.core.algorithms import load
from dpaudit.core.notions import Notion
from dpaudit.exact.attained import Pairs
from dpaudit.exact.refuting import judge
from dpaudit.exact.sequences import TRIED, Steered, attained_by
from dpaudit.structure import accounting, prove
from dpaudit.verdict import Status


def built(kind, horizon=2_000):
    return kind(arms=2, **({"horizon": horizon} if kind.told() else {}))


SLOW = ("RootOfLevels", "DeltaPerRelease")  # trees and long histories walk many states
EVERY = [
    pytest.param(kind, id=kind.__name__, marks=[pytest.mark.slow] * (kind.__name__ in SLOW))
    for kind in MUTANTS
]


@pytest.mark.parametrize("kind", EVERY)
def test_none_is_proved_at_its_own_claim(kind):
    algorithm, horizon = built(kind), 2_000
    notion = algorithm.claim.notion
    assert isinstance(notion, Notion)
    if notion.plain:
        found = prove(algorithm, horizon)
        assert found.epsilon_upper > notion.level
    else:
        found = accounting.judge(algorithm, horizon, notion)
        assert found.bracket.upper > notion.bound
    assert found.status is Status.SILENT


def test_the_right_formula_is_proved():
    right = Approximate(arms=2)
    assert accounting.judge(right, 2_000, right.claim.notion).status is Status.PROVED


SHOWN = [
    (VarianceAsDeviation, 5, (1.0, 1.0, 0.0, 0.0, 0.0)),
    (RhoTakenForEpsilon, 5, (1.0, 1.0, 0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(("kind", "horizon", "stream"), SHOWN)
def test_a_pair_shows_the_flaw(kind, horizon, stream):
    algorithm = built(kind)
    pairs = Pairs(algorithm, horizon, algorithm.claim.notion, "ball")
    changed = [(*stream[:i], 1 - stream[i], *stream[i + 1 :]) for i in (2, 3)]
    tries = [pairs.look(stream, other).value for other in changed]
    best = max(tries, key=lambda value: value.lower)
    assert best.certified and best.lower > algorithm.claim.notion.bound


BY_ONE_SEQUENCE = [
    (RootTwoForgotten, Steered(33, 0, 1, 0, 33)),
    (MeansNoiseOnSums, Steered(33, 0, 2, 0, 33)),
    (ClassicalAboveOne, Steered(129, 0, 1, 0, 129)),
    pytest.param(DeltaPerRelease, Steered(129, 1, 6, 0, 2), marks=pytest.mark.slow),
    pytest.param(SplitOverArms, Steered(1025, 1, 9, 0, 4), marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("kind", "steered"), BY_ONE_SEQUENCE)
def test_one_long_sequence_shows_the_flaw(kind, steered):
    algorithm = built(kind)
    notion = algorithm.claim.notion
    assert steered in TRIED
    found = (one.value for one in attained_by(algorithm, steered, notion))
    assert any(value.certified and value.lower > notion.bound for value in found)


def test_one_long_sequence_attains_most_of_what_the_right_one_is_charged():
    right = load("adac_ucb", arms=2)
    found = [one.value for one in attained_by(right, TRIED[0], right.claim.notion)]
    best = max(value.lower for value in found)
    assert 0.8 * 0.5 < best < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "horizon", "stream"), SHOWN)
def test_the_search_finds_it_by_itself(kind, horizon, stream):
    algorithm = built(kind)
    [found] = judge(lambda size: algorithm, algorithm, algorithm.claim.notion, [horizon], 600.0)
    assert found.status is Status.REFUTED

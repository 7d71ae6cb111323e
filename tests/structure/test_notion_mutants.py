"""No algorithm that gets a notion wrong is proved; where a short run shows it, it is refuted."""

from __future__ import annotations

import pytest
from notion_mutants import (
    MUTANTS,
    Approximate,
    RhoTakenForEpsilon,
    VarianceAsDeviation,
)

from dpaudit.core.notions import Notion
from dpaudit.exact.attained import Pairs
from dpaudit.exact.refuting import judge
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


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "horizon", "stream"), SHOWN)
def test_the_search_finds_it_by_itself(kind, horizon, stream):
    algorithm = built(kind)
    [found] = judge(lambda size: algorithm, algorithm, algorithm.claim.notion, [horizon], 600.0)
    assert found.status is Status.REFUTED

"""Nets of comparisons: against sheets in doubles, totals, brute force, and narrow windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Formula, KLBound
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.balls import integrals, windows
from dpaudit.exact.balls.curves import Extreme, Tie, composed, inverse, largest
from dpaudit.exact.floats import plane
from dpaudit.exact.likelihood import exact_sum
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of


def enclosed(path, stream: np.ndarray, cells: int) -> tuple[float, float, float]:
    """The net's ends, and what a sheet of doubles says."""
    region = region_of(path)
    totals = {i: exact_sum(stream, episode.steps) for i, episode in enumerate(region.episodes)}
    with np.errstate(divide="ignore"):
        log = integrals.Probability(region, totals).on(cells).log()
    other = plane.log_likelihood(plane.program_of(region), region.means(region.sums(stream)))
    return float(log.lo), float(log.hi), other


# of first order, where a jump lies within a cell: noise that is narrow beside it feels that most
@pytest.mark.parametrize(("epsilon", "width"), [(0.3, 5e-3), (1.0, 5e-3), (6.0, 5e-2)])
def test_three_arms_agree_with_the_sheet(epsilon: float, width: float) -> None:
    rng = np.random.default_rng(int(10 * epsilon))
    paths = list(all_paths(load("adap_klucb", arms=3, epsilon=epsilon, alpha=1.0), 5))
    for index in rng.choice(len(paths), 3, replace=False):
        stream = rng.choice([0.0, 0.25, 1.0], 5)
        low, high, other = enclosed(paths[index], stream, 1500)
        assert low - plane.PLANE_ERROR <= other <= high + plane.PLANE_ERROR
        assert high - low < width


def test_sums_agree_with_the_sheet() -> None:
    rng = np.random.default_rng(3)
    paths = [p for p in all_paths(load("dp_klucb", arms=2), 7) if region_of(p).adds]
    found = []
    for index in rng.choice(len(paths), 4, replace=False):
        stream = rng.integers(0, 2, 7).astype(float)
        low, high, other = enclosed(paths[index], stream, 1000)
        assert low - plane.SUMS_ERROR <= other <= high + plane.SUMS_ERROR
        found.append(high - low if other > -math.inf else 0.0)
    assert max(found) < 1e-3


def test_the_law_of_three_arms_is_whole_and_certified() -> None:
    found = law(load("adap_klucb", arms=3), (1.0, 0.0, 0.5, 1.0, 0.0))
    assert found.certified
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-5


def test_the_worst_loss_of_three_arms_encloses_brute_force() -> None:
    algorithm = load("adap_klucb", arms=3, alpha=1.0)
    found = worst_loss(algorithm, 4, streams="binary")
    assert found.loss.certified and found.complete
    assert found.loss.upper - found.loss.lower < 1e-5
    most = 0.0
    for actions in {tuple(path.actions.tolist()) for path in all_paths(algorithm, 4)}:
        logs = {
            stream: likelihood(algorithm, actions, stream, engine="float").log_upper
            for stream in product((0.0, 1.0), repeat=4)
        }
        for stream, value in logs.items():
            for t in range(4):
                other = (*stream[:t], 1 - stream[t], *stream[t + 1 :])
                most = max(most, value - logs[other])
    assert found.loss.lower - 1e-7 <= most <= found.loss.upper + 1e-7


def test_what_leaves_a_narrow_window_is_counted(monkeypatch) -> None:
    path = list(all_paths(load("adap_klucb", arms=3), 5))[3]
    stream = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    *wide, other = enclosed(path, stream, 300)
    for module in (windows, integrals):
        monkeypatch.setattr(module, "REACH", 3)
    low, high, _ = enclosed(path, stream, 300)
    assert low <= other <= high
    assert high - low > 100 * (wide[1] - wide[0])


@dataclass(frozen=True)
class Bonus(Formula):
    """Not affine, and rising: x + x^3 / 10 on [-1, 3]."""

    low, high = -1, 3

    def formula(self, x, m):
        return x + x * x * x / m.number(10)


@dataclass(frozen=True, kw_only=True)
class Own(DoublingEpisodes):
    def rule(self, pulls, time, m):
        return Bonus()


def test_a_formula_of_ones_own_is_certified_for_three_arms() -> None:
    found = law(Own(arms=3), (1.0, 0.0, 1.0, 0.0))
    assert found.certified
    assert found.lower <= 1 <= found.upper


@dataclass(frozen=True, kw_only=True)
class PlainKLUCB(DoublingEpisodes):
    """KL bounds without a shift: every decision clips at the same register values."""

    def rule(self, pulls, time, m):
        return KLBound(m.log(time) / pulls)


def test_plateaus_that_meet_from_one_decision_to_the_next_are_narrow():
    """The whole line was kept for a plateau that asks for the end of the next one's."""
    stream, found = np.array([1.0, 1.0, 1.0, 0.0, 1.0]), []
    for path in all_paths(PlainKLUCB(arms=3, epsilon=1 / 3), 5):
        low, high, other = enclosed(path, stream, 600)
        assert low - plane.PLANE_ERROR <= other <= high + plane.PLANE_ERROR
        found.append(high - low)
    assert max(found) < 1e-2


A, B, C = Tie(0, 0, 1), Tie(0, 1, 2), Tie(1, 2, 0)


def test_ties_of_one_decision_are_one() -> None:
    assert composed((A,), (B,)) == (Tie(0, 0, 2),)
    assert composed((A,), inverse((A,))) == ()
    assert composed((A,), (C,)) == (A, C)


def test_extremes_come_out_and_turn_over() -> None:
    both = largest((A,), (C,))
    assert both == Extreme(((A,), (C,)), True)
    assert largest(both, (A,)) == both
    assert inverse(both) == Extreme((inverse((A,)), inverse((C,))), False)
    assert composed(both, (B,)) == Extreme(((Tie(0, 0, 2),), (C, B)), True)

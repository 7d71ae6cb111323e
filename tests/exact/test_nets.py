"""Nets of comparisons: against the rules themselves, totals, brute force, and narrow windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from quasi import NEAR, frequency

from dpaudit.core.algorithms import load
from dpaudit.core.episodes import CumulativeBatches, DoublingEpisodes
from dpaudit.core.scores import Formula, KLBound, Score
from dpaudit.exact import enumerate as enumerate_
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.balls import integrals, windows
from dpaudit.exact.balls.certified import Wide
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.balls.curves import Extreme, Tie, composed, inverse, largest
from dpaudit.exact.clock import OutOfTime
from dpaudit.exact.floats.own import MeasuredDuels
from dpaudit.exact.known import OWN_ERROR
from dpaudit.exact.likelihood import exact_sum, of_paths
from dpaudit.exact.paths import all_paths, paths_of
from dpaudit.exact.region import region_of


def enclosed(path, stream: np.ndarray, cells: int, known=Known) -> tuple[float, float]:
    """The ends of a net's probability."""
    region = region_of(path)
    totals = {i: exact_sum(stream, episode.steps) for i, episode in enumerate(region.episodes)}
    found = integrals.Probability(region, totals, known()).on(cells)
    return float(found.lo), float(found.hi)


CASES = [("adap_klucb", 3, 5, {"alpha": 1.0}), ("dp_klucb", 2, 5, {}), ("dp_imed", 2, 5, {})]


# of first order, where a jump lies within a cell: noise that is narrow beside it feels that most
@pytest.mark.parametrize(("epsilon", "width"), [(0.3, 1e-3), (1.0, 1e-3), (6.0, 5e-2)])
@pytest.mark.parametrize(("name", "arms", "horizon", "given"), CASES)
def test_nets_agree_with_rules_and_doubles(name, arms, horizon, given, epsilon, width) -> None:
    rng = np.random.default_rng(int(10 * epsilon))
    stream = rng.choice([0.0, 0.25, 1.0], horizon)
    paths = list(all_paths(load(name, arms=arms, epsilon=epsilon, **given), horizon))
    likely = sorted(paths, key=lambda path: -frequency(region_of(path), stream, 1 << 10))
    for path in likely[:3]:
        low, high = enclosed(path, stream, 600)
        assert low - NEAR <= frequency(region_of(path), stream) <= high + NEAR
        assert high - low < width
        measured = enclosed(path, stream, 600, MeasuredDuels)
        assert max(low, measured[0]) <= min(high, measured[1]) + OWN_ERROR


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
    wide, about = enclosed(path, stream, 300), frequency(region_of(path), stream)
    for module in (windows, integrals):
        monkeypatch.setattr(module, "REACH", 3)
    low, high = enclosed(path, stream, 300)
    assert low <= wide[0] and wide[1] <= high and low - NEAR <= about <= high + NEAR
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
        low, high = enclosed(path, stream, 600)
        assert low - NEAR <= frequency(region_of(path), stream) <= high + NEAR
        found.append(high - low)
    assert max(found) < 1e-2


@dataclass(frozen=True)
class Steep(Score):
    """No formula, and without bounds."""

    scale: Any

    def value(self, x):
        return np.arcsinh(np.asarray(x) * self.scale)

    def inverse(self, v):
        return np.sinh(v) / self.scale

    inverse_upper = inverse


@dataclass(frozen=True, kw_only=True)
class SteepSums(CumulativeBatches):
    def rule(self, pulls, time, m):
        return Steep(1 / np.asarray(pulls, dtype=float))


def test_scores_of_ones_own_on_sums_are_answered_or_called_wide() -> None:
    """Beyond a window there are no points between: the score was blamed for the engine's nan."""
    algorithm, stream = SteepSums(arms=2, epsilon=2.0), np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    found = likelihood(algorithm, (0, 1, 0, 1), stream[:4], "float")
    (path,) = paths_of(algorithm, (0, 1, 0, 1))
    assert not found.certified
    assert found.lower - NEAR <= frequency(region_of(path), stream[:4]) <= found.upper + NEAR
    with pytest.raises(Wide):
        likelihood(algorithm, (0, 1, 0, 1, 0), stream, "float")


def test_a_budget_that_ends_a_closer_look_certifies_nothing(monkeypatch) -> None:
    def late(paths, stream, engine, clock):
        if engine == "ball":
            raise OutOfTime
        return of_paths(paths, stream, engine, clock)

    monkeypatch.setattr(enumerate_, "of_paths", late)
    found = worst_loss(SteepSums(arms=2, epsilon=2.0), 4, streams="binary", budget=600)
    assert found.loss.lower > 0 and found.loss.upper == math.inf
    assert not found.loss.certified and not found.complete


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

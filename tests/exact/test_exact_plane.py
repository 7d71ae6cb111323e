"""Three arms on a sheet: totals, parents and children, balls, and finer panels."""

from __future__ import annotations

from dataclasses import dataclass

import certified_engine as engine
import numpy as np
import pytest

from dpaudit.core.algorithms import load
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import law
from dpaudit.exact.floats import arrange, plane, sheet
from dpaudit.exact.likelihood import path_likelihood
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of

NAMES = ["adap_ucb", "adap_klucb"]


def evaluated(path, stream: np.ndarray) -> float:
    """The sheet's answer, also where closed forms are what is used."""
    region = region_of(path)
    return plane.log_likelihood(plane.program_of(region), region.means(region.sums(stream)))


def logs(name: str, stream: np.ndarray, epsilon: float = 1.0) -> dict[tuple[int, ...], float]:
    paths = all_paths(load(name, arms=3, epsilon=epsilon), len(stream))
    return {tuple(path.actions.tolist()): evaluated(path, stream) for path in paths}


def assert_children_sum_to_their_parent(name: str, horizon: int) -> None:
    """Relative errors, so a wrong region shows even where nothing ever happens."""
    stream = np.random.default_rng(2).random(horizon)
    parents, children = logs(name, stream[:-1]), logs(name, stream)
    for prefix, value in parents.items():
        parts = [np.exp(log - value) for actions, log in children.items() if actions[:-1] == prefix]
        assert abs(sum(parts) - 1) < plane.PLANE_ERROR, prefix


@pytest.mark.parametrize("name", NAMES)
def test_children_sum_to_their_parent_however_unlikely_it_is(name: str) -> None:
    assert_children_sum_to_their_parent(name, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "adap_moss", "lazy_dp_ucb"])
def test_children_sum_to_their_parent_at_horizon_6(name: str) -> None:
    assert_children_sum_to_their_parent(name, 6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
@pytest.mark.parametrize("name", NAMES)
def test_likelihoods_of_all_sequences_sum_to_one_at_horizon_6(name: str, epsilon: float) -> None:
    stream = np.random.default_rng(8).integers(0, 2, 6).astype(float)
    total = sum(np.exp(v) for v in logs(name, stream, epsilon).values())
    assert abs(total - 1) < plane.PLANE_ERROR


@pytest.mark.parametrize("name", ["adap_ucb", "adap_moss", "lazy_dp_ucb"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 32.0])
def test_agrees_with_certified_balls(name: str, epsilon: float) -> None:
    """Up to a likelihood of e^-60: nothing cancels on a sheet."""
    rng = np.random.default_rng(5)
    paths = list(all_paths(load(name, arms=3, epsilon=epsilon), 6))
    for index in rng.choice(len(paths), 2, replace=False):
        stream = rng.integers(0, 2, 6).astype(float)
        certified = path_likelihood(paths[index], stream, "ball")
        assert certified.certified
        assert abs(evaluated(paths[index], stream) - certified.log_lower) < plane.PLANE_ERROR


def test_the_measured_error_covers_what_finer_panels_change(monkeypatch) -> None:
    rng = np.random.default_rng(4)
    paths = [
        list(all_paths(load("adap_klucb", arms=3, epsilon=epsilon), 5))[int(rng.integers(9))]
        for epsilon in (0.3, 1.0, 5.0)
    ]
    stream = rng.random(5)
    coarse = [evaluated(path, stream) for path in paths]
    for module in (sheet, arrange):
        monkeypatch.setattr(module, "OUTER", 14)
        monkeypatch.setattr(module, "OUTER_RULE", sheet.GaussRule(14))
    monkeypatch.setattr(sheet, "INNER", 16)
    monkeypatch.setattr(sheet, "INNER_RULE", sheet.GaussRule(16))
    fine = [evaluated(path, stream) for path in paths]
    assert np.abs(np.subtract(coarse, fine)).max() < 0.2 * plane.PLANE_ERROR


def test_the_law_of_kl_scores_is_whole() -> None:
    stream = np.random.default_rng([3, 8]).random(5).round(3)
    found = law(load("adap_klucb", arms=3), stream, engine="float")
    assert abs(np.exp(found.log_values).sum() - 1) < 1e-11
    assert found.lower < 1 < found.upper


def test_a_joint_rule_is_unsupported() -> None:
    path = next(all_paths(load("adap_imed", arms=3), 5))
    region = region_of(path)
    with pytest.raises(Unsupported, match="Imed"):
        engine.log_likelihood(region, region.means(region.sums(np.zeros(5))))


@dataclass(frozen=True, kw_only=True)
class PlainKLUCB(DoublingEpisodes):
    """KL bounds without a shift: every decision clips at the same register values."""

    def rule(self, pulls, time, m):
        return KLBound(m.log(time) / pulls)


@pytest.mark.parametrize("stream", [(1.0, 1.0, 1.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0, 1.0)])
def test_plateaus_that_meet_from_one_decision_to_the_next_lose_no_mass(stream):
    # wide noise puts much of it on plateaus, where an earlier tie and a later one coincide
    found = law(PlainKLUCB(arms=3, epsilon=1 / 3), stream, "float")
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-6

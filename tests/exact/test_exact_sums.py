"""Registers that are sums of releases: dp_klucb and dp_imed accumulate, dp_ucb adds tree nodes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import load
from dpaudit.core.arithmetic import FLOAT, Arithmetic
from dpaudit.core.episodes import CumulativeBatches
from dpaudit.core.scores import Affine, Score
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood, recompute, worst_loss
from dpaudit.exact.paths import paths_of
from dpaudit.exact.region import region_of
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream

Values = NDArray[np.float64]


def built(name: str, horizon: int, epsilon: float = 1.0) -> Algorithm:
    known = {"horizon": horizon} if name == "dp_ucb" else {}
    return load(name, arms=2, epsilon=epsilon, **known)


def assert_whole(name: str, horizon: int, epsilon: float, seed: int) -> None:
    stream = np.random.default_rng(seed).random(horizon).round(2)
    found = law(built(name, horizon, epsilon), stream, engine="float")
    assert found.certified and found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-3


@pytest.mark.parametrize("name, horizon", [("dp_klucb", 6), ("dp_imed", 5), ("dp_ucb", 5)])
def test_likelihoods_sum_to_one(name: str, horizon: int) -> None:
    assert_whole(name, horizon, 1.0, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("name, horizon", [("dp_klucb", 8), ("dp_imed", 8), ("dp_ucb", 8)])
def test_likelihoods_sum_to_one_for_every_epsilon(name: str, horizon: int, epsilon: float) -> None:
    assert_whole(name, horizon, epsilon, seed=3)


def laplace(x: Any, scale: float) -> Any:
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_tail(x: Any, scale: float) -> Any:
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(x > 0, tail, 1 - tail)


def least_by_bisection(rule: Any, arm: int, other: Values) -> Values:
    """The register from which an arm wins, from the rule itself and nothing else."""
    rng = np.random.default_rng(0)

    def wins(x: Values) -> NDArray[np.bool_]:
        shown = [x, other] if arm == 0 else [other, x]
        return np.asarray(rule.winner(np.stack(shown, axis=-1), rng) == arm)

    low, high = np.full_like(other, -50.0), np.full_like(other, 50.0)
    always, never = wins(low), ~wins(high)
    for _ in range(55):
        middle = 0.5 * (low + high)
        won = wins(middle)
        low, high = np.where(won, low, middle), np.where(won, middle, high)
    return np.where(always, -np.inf, np.where(never, np.inf, high))


def composite(ends: Values, order: int) -> tuple[Values, Values]:
    """Gauss-Legendre nodes and weights between ends (last axis), flattened there."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half, middle = 0.5 * np.diff(ends, axis=-1), 0.5 * (ends[..., 1:] + ends[..., :-1])
    x = middle[..., None] + half[..., None] * nodes
    w = half[..., None] * weights
    return x.reshape(*x.shape[:-2], -1), w.reshape(*w.shape[:-2], -1)


def nested(name: str, actions: list[int], stream: list[float], epsilon: float) -> float:
    """Two decisions by brute force: fine panels over the loser of the first one, then the winner.

    Panels are halved where a threshold jumps; they know nothing of corners, each of which costs
    about the square of their width, 1e-8.
    """
    algorithm = built(name, len(actions), epsilon)
    (path,) = paths_of(algorithm, actions)
    one, two = (d.request.rule(FLOAT) for d in region_of(path).decisions)  # type: ignore[union-attr]
    scale, won, last, fresh = 1 / epsilon, actions[2], actions[3], stream[2]
    mine, theirs = stream[won], stream[1 - won]
    inside = np.linspace(0, 1, 2001)  # beyond, the clipped means stay put
    outside = np.linspace(0, 40 * scale, 201)[1:]
    panels = np.concatenate([-outside[::-1], inside, 1 + outside])

    def both(x: Values) -> Values:
        return np.array([np.clip(least_by_bisection(r, won, x), -99, 99) for r in (one, two)])

    values = both(panels)
    for _ in range(30):
        jumps = np.flatnonzero(np.abs(np.diff(values)).max(0) > 0.05)
        middle = 0.5 * (panels[jumps] + panels[jumps + 1])
        values = np.insert(values, jumps + 1, both(middle), axis=1)
        panels = np.insert(panels, jumps + 1, middle)
    y, weights = composite(panels, 3)
    cut = np.clip(least_by_bisection(one, won, y), mine - 40 * scale, mine + 40 * scale)
    then = least_by_bisection(two, won, y)
    kinks = np.sort(np.stack([np.full_like(y, mine), np.clip(then - fresh, -99, 99)], -1), axis=-1)
    kinks = np.clip(kinks, cut[:, None], mine + 40 * scale)
    ends = np.concatenate([cut[:, None], kinks, np.full_like(cut, mine + 40 * scale)[:, None]], -1)
    x, inner = composite(ends, 60)
    wins = laplace_tail(then[:, None] - x - fresh, scale)
    part = (inner * laplace(x - mine, scale) * (wins if last == won else 1 - wins)).sum(-1)
    return float((weights * laplace(y - theirs, scale) * part).sum())


@pytest.mark.parametrize("name, epsilon", [("dp_imed", 1.0), ("dp_klucb", 2.0)])
def test_agrees_with_nested_quadrature_on_the_rule_itself(name: str, epsilon: float) -> None:
    stream, actions = [0.25, 0.75, 0.5, 0.0], [0, 1, 0, 1]
    expected = nested(name, actions, stream, epsilon)
    found = likelihood(built(name, 4, epsilon), actions, stream)
    assert 0 < expected < 1 and found.certified
    assert found.lower - 1e-7 < expected < found.upper + 1e-7


def frequencies(algorithm: Algorithm, stream: list[float], runs: int) -> dict[tuple[int, ...], int]:
    drawn = run_many(algorithm, Stream.of(stream), runs, np.random.default_rng(17))
    rows = (
        np.concatenate([drawn.arms, np.atleast_2d(drawn.starts)], axis=1)
        if (drawn.starts.ndim == 2)
        else drawn.arms
    )
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    found: dict[tuple[int, ...], int] = {}
    for index, count in zip(first, counts, strict=True):
        actions = tuple(int(arm) for arm in drawn.actions(int(index)))
        found[actions] = found.get(actions, 0) + int(count)
    return found


def assert_agrees_with_monte_carlo(name: str, horizon: int, epsilon: float, runs: int) -> None:
    """Error probability below 1e-6: 6.5 standard deviations, at most 64 sequences."""
    algorithm = built(name, horizon, epsilon)
    stream = np.random.default_rng(1).integers(0, 2, horizon).astype(float).tolist()
    counts = frequencies(algorithm, stream, runs)
    assert sum(counts.values()) == runs
    found = law(algorithm, stream, engine="float").probabilities
    assert set(counts) <= set(found)
    for actions, probability in found.items():
        p = probability.middle
        deviation = math.sqrt(runs * p * (1 - p)) + 1
        assert abs(counts.get(actions, 0) - runs * p) < 6.5 * deviation


@pytest.mark.parametrize(
    "name, horizon, epsilon, runs",
    [("dp_klucb", 5, 2.0, 200_000), ("dp_imed", 5, 1.0, 200_000), ("dp_ucb", 5, 2.0, 20_000)],
)
def test_agrees_with_monte_carlo_on_short_runs(
    name: str, horizon: int, epsilon: float, runs: int
) -> None:
    assert_agrees_with_monte_carlo(name, horizon, epsilon, runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, horizon, epsilon",
    [("dp_klucb", 8, 3.0), ("dp_klucb", 8, 1.0), ("dp_imed", 8, 1.0), ("dp_ucb", 7, 1.0)],
)
def test_agrees_with_a_million_runs(name: str, horizon: int, epsilon: float) -> None:
    assert_agrees_with_monte_carlo(name, horizon, epsilon, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class SumUCB(CumulativeBatches):
    """Linear scores on accumulated sums: the worst loss is known in part."""

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        return Affine(m.sqrt(m.log(time) / pulls), scale=1 / pulls)


def test_linear_scores_on_accumulated_sums() -> None:
    stream = np.random.default_rng(0).random(6)
    found = law(SumUCB(arms=2, epsilon=2.0), stream, engine="float")
    assert abs(np.exp(found.log_values).sum() - 1) < 1e-9


def test_swapping_the_arms_of_a_symmetric_rule_swaps_the_likelihoods() -> None:
    """No ties and equal rewards: 0,1,0,0.. and 0,1,1,1.. are mirror images."""
    algorithm = SumUCB(arms=2, epsilon=1.0)
    stream = [0.5] * 8
    for actions in ([0, 1, 0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0]):
        mirrored = [0, 1, *(1 - arm for arm in actions[2:])]
        one, two = (
            likelihood(algorithm, shown, stream, engine="float") for shown in (actions, mirrored)
        )
        assert abs(one.log_lower - two.log_lower) < 1e-10


def test_paths_of_too_many_terms_are_unsupported() -> None:
    """Arm 0 at five pulls shows v4 + v1, then arm 1 wins, then arm 0 shows v4 + v2."""
    algorithm = built("dp_ucb", 9)
    actions = [0, 1, 0, 0, 0, 0, 1, 0, 0]
    with pytest.raises(Unsupported, match="more than 5,000 terms"):
        likelihood(algorithm, actions, [0.5] * 9, engine="float")


def test_three_arms_add_up() -> None:
    found = law(load("dp_klucb", arms=3), [0.5] * 6, engine="float")
    assert found.certified and found.lower <= 1 <= found.upper and found.upper - found.lower < 1e-3


def test_a_likelihood_below_the_smallest_double_is_not_called_zero() -> None:
    """Closed forms, which answer affine scores, have its logarithm."""
    algorithm, actions, stream = SumUCB(arms=2, epsilon=5000.0), [0, 1, 1, 0], [1.0, 0, 0, 0]
    found = likelihood(algorithm, actions, stream, engine="float")
    assert found.lower == 0.0 and -math.inf < found.log_lower < -745


def test_impossible_paths_have_likelihood_zero() -> None:
    """At epsilon = 1 the first bounds are both 1, so arm 0 wins the tie for certain."""
    found = likelihood(built("dp_klucb", 6), [0, 1, 1, 0, 0, 0], [0.5] * 6, engine="float")
    assert found.upper == 0.0


@pytest.mark.parametrize(
    "name, horizon, epsilon",
    [
        ("dp_imed", 4, 1.0),
        ("dp_klucb", 4, 3.0),
        pytest.param("dp_ucb", 5, 1.0, marks=pytest.mark.slow),
    ],
)
def test_worst_loss_by_enumeration_is_a_lower_bound_below_epsilon(
    name: str, horizon: int, epsilon: float
) -> None:
    """All three are proved to be epsilon-DP, so no pair of streams may show more."""
    algorithm = built(name, horizon, epsilon)
    found = worst_loss(algorithm, horizon, streams="binary")
    assert found.complete and found.loss.certified
    assert 0.1 < found.loss.lower <= found.loss.upper <= epsilon
    assert "{0,1}^T" in found.covers
    assert found.witness is not None
    again = recompute(found.witness, algorithm)
    assert again.loss.meets(found.witness.loss) and abs(again.loss.lower - found.loss.lower) < 1e-6


def test_half_rewards_are_called_a_lower_bound() -> None:
    algorithm = SumUCB(arms=2, epsilon=1.0)
    found = worst_loss(algorithm, 4)
    assert found.loss.upper == math.inf and "lower bound" in found.covers
    binary = worst_loss(algorithm, 4, streams="binary")
    assert found.loss.lower >= binary.loss.lower - 1e-6

"""Comparisons without circles, of any number of arms: messages against everything else there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import ctx
from quasi import NEAR, frequency

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Rows, Step
from dpaudit.core.noise import Gaussian, Laplace, Noise
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import law, likelihood, worst_loss
from dpaudit.exact.balls import integrals, polytopes
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.likelihood import exact_sum
from dpaudit.exact.paths import all_paths
from dpaudit.exact.region import region_of
from dpaudit.exact.trees import forest_of

# who meets: stars, releases that come back after decisions without them, two trees
GROUPS = {
    "a star": ((0, 1, 2),),
    "a star whose leaf meets another": ((0, 1, 2), (1, 3)),
    "two stars": ((0, 1), (1, 2, 3)),
    "a release that comes back": ((0, 1), (1, 2), (0, 3)),
    "a caterpillar": ((0, 1), (0, 2), (2, 3), (2, 4)),
    "two trees": ((0, 1), (2, 3)),
}
SHIFTS = (0.3, 0.0, -0.2, 0.1, 0.45)
STREAM = (1.0, 0.0, 0.5, 1.0, 0.25)


@dataclass(frozen=True, kw_only=True)
class Meetings(Algorithm):
    """Every arm releases one reward; then groups of arms meet, and the winner is played."""

    groups: tuple[tuple[int, ...], ...]
    noises: tuple[Noise, ...]
    bends: bool = False
    epsilon: float = 1.0

    def start(self) -> Any:
        return (0, 0, None)

    def step(self, state: Any) -> Step:
        arm, done, chosen = state
        if chosen is not None:
            return Step(Play(chosen, 1), lambda _: (arm, done, None))
        if arm < 2 * self.arms:
            which, releasing = divmod(arm, 2)
            noise = self.noises[which % len(self.noises)]
            asked = Release(which, Rows(which, 0, 1), noise) if releasing else Play(which, 1)
            return Step(asked, lambda _: (arm + 1, done, None))
        arms = self.groups[min(done, len(self.groups) - 1)]
        if done >= len(self.groups):
            return Step(Play(0, 1), lambda _: state)

        def rule(m: Any) -> Any:
            shifts = m.number(np.array([SHIFTS[i] for i in arms]))
            return (
                KLBound(shifts + m.number(1), shift=m.number(0.2)) if self.bends else Affine(shifts)
            )

        registers = tuple((i,) for i in arms)
        return Step(Choose(arms, registers, rule), lambda won: (arm, done + 1, won))


def declared(name: str, *noises: Noise, bends: bool = False) -> tuple[Meetings, int]:
    """Return an algorithm and the horizon of its last decision."""
    groups = GROUPS[name]
    arms = 1 + max(max(group) for group in groups)
    return Meetings(arms=arms, groups=groups, noises=noises, bends=bends), arms + len(groups)


LAPLACE = (Laplace(1), Laplace(Fraction(1, 2)), Laplace(Fraction(4, 3)))
GAUSSIAN = (Gaussian(variance=1), Gaussian(variance=Fraction(1, 3)))


def stream_of(horizon: int) -> np.ndarray:
    return np.array([*STREAM, *(0.5,) * horizon][:horizon])


def sums_of(region: Any, stream: np.ndarray) -> dict[int, Fraction]:
    return {i: exact_sum(stream, e.steps) for i, e in enumerate(region.episodes)}


@pytest.mark.parametrize("noises", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", GROUPS)
def test_affine_likelihoods_add_up_to_one(name: str, noises: tuple[Noise, ...]) -> None:
    algorithm, horizon = declared(name, *noises)
    found = law(algorithm, stream_of(horizon))
    assert found.certified
    assert found.lower <= 1 <= found.upper
    assert found.upper - found.lower < 1e-10


@pytest.mark.parametrize("name", GROUPS)
def test_affine_messages_agree_with_the_elimination_of_polytopes(name: str) -> None:
    algorithm, horizon = declared(name, *LAPLACE)
    stream = stream_of(horizon)
    for path in all_paths(algorithm, horizon):
        region = region_of(path)
        with ctx.workprec(256):
            parts = polytopes.parts_of(region)
            other = float(polytopes.likelihood(region, parts, sums_of(region, stream)).log())
        found = likelihood(algorithm, path.actions, stream)
        assert found.log_lower - 1e-12 <= other <= found.log_upper + 1e-12
        assert abs(math.exp(other) - frequency(region, stream)) < NEAR


@pytest.mark.parametrize("name", ["a star", "a star whose leaf meets another", "two stars"])
def test_bent_messages_agree_with_nets_and_points(name: str) -> None:
    algorithm, horizon = declared(name, *LAPLACE, bends=True)
    stream = stream_of(horizon)
    total = [0.0, 0.0]
    for path in all_paths(algorithm, horizon):
        region = region_of(path)
        found = likelihood(algorithm, path.actions, stream)
        net = integrals.Probability(region, sums_of(region, stream), Known()).on(600)
        assert found.certified and found.log_upper - found.log_lower < 1e-6
        assert found.lower <= net.hi and found.upper >= net.lo
        assert abs(found.middle - frequency(region, stream)) < NEAR
        total = [total[0] + found.lower, total[1] + found.upper]
    assert total[0] <= 1 <= total[1]


@pytest.mark.parametrize("noises", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", ["a star", "a release that comes back", "two trees"])
def test_the_largest_loss_is_that_of_all_streams(name: str, noises: tuple[Noise, ...]) -> None:
    algorithm, horizon = declared(name, *noises)
    found = worst_loss(algorithm, horizon, streams="binary")
    assert found.loss.certified and found.method == "extremal streams"
    listed = worst_pair(algorithm, horizon, (0.0, 1.0))
    assert found.loss.lower <= listed.most + 1e-9 and found.loss.upper >= listed.loss - 1e-9
    assert found.loss.width < 1e-9


def test_the_largest_loss_of_bent_scores_is_that_of_all_streams() -> None:
    algorithm, horizon = declared("a star", *LAPLACE, bends=True)
    found = worst_loss(algorithm, horizon, streams="binary")
    listed = worst_pair(algorithm, horizon, (0.0, 1.0))
    assert found.loss.certified and found.loss.width < 2e-6
    assert found.loss.lower <= listed.most + 1e-9 and found.loss.upper >= listed.loss - 1e-9


def test_circles_are_no_trees() -> None:
    for groups in (((0, 1), (0, 1)), ((0, 1, 2), (1, 2)), ((0, 1), (1, 2), (0, 2))):
        algorithm = Meetings(arms=3, groups=groups, noises=LAPLACE)
        for path in all_paths(algorithm, 3 + len(groups)):
            with pytest.raises(Unsupported, match="circle"):
                forest_of(region_of(path))

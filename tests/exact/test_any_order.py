"""A register is known by its releases: decisions may name their arms in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from monte_carlo import agrees, frequencies
from quasi import NEAR, frequency

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Play, Step
from dpaudit.core.algorithms.dp_klucb import DPKLUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, KLBound
from dpaudit.exact import likelihood
from dpaudit.exact.balls import integrals
from dpaudit.exact.balls.compare import Known
from dpaudit.exact.clock import Clock, OutOfTime
from dpaudit.exact.likelihood import exact_sum
from dpaudit.exact.paths import paths_of
from dpaudit.exact.profile import law
from dpaudit.exact.region import region_of


class FewestFirst:
    """Offers the arm with fewer pulls first, so that it wins ties."""

    def choice(self, pulls: tuple[int, ...]) -> Choose:
        plain = super().choice(pulls)  # type: ignore[misc]
        order = sorted(plain.arms, key=lambda arm: pulls[arm])

        def rule(m: Any) -> Any:
            found = plain.rule(m)
            changed = {
                name: np.array([value[arm] for arm in order])
                for name in type(found).__dataclass_fields__
                if np.ndim(value := getattr(found, name))
            }
            return replace(found, **changed)

        return Choose(tuple(order), tuple(plain.registers[arm] for arm in order), rule)


@dataclass(frozen=True, kw_only=True)
class FewestFirstUCB(FewestFirst, DPUCB):
    pass


@dataclass(frozen=True, kw_only=True)
class FewestFirstKLUCB(FewestFirst, DPKLUCB):
    pass


@dataclass(frozen=True, kw_only=True)
class Duels(Algorithm):
    """Each arm adds up what it has; the last one played meets the others in turn."""

    epsilon: float = 1.0
    duels: tuple[tuple[int, int], ...]
    scales: tuple[Any, ...] = (1,)

    def start(self) -> Any:
        return ((), ())

    def step(self, state: Any) -> Step:
        played, released = state
        if len(played) > len(released):
            arm = played[-1].arm
            scale = self.scales[len(played) % len(self.scales)]
            add = Accumulate(("total", arm), played[-1], Laplace(scale))
            return Step(add, lambda _: (played, (*released, arm)))
        if len(played) < self.arms:
            return Step(Play(len(played), 1), lambda rows: ((*played, rows), released))
        arms = self.duels[(len(played) - self.arms) % len(self.duels)]

        def rule(m: Any) -> Any:
            return Affine(m.number(np.array([0.4, 0.1])))

        registers = tuple((("total", arm),) for arm in arms)
        return Step(Choose(arms, registers, rule), lambda arm: ("play", arm, played, released))


@dataclass(frozen=True, kw_only=True)
class PlayedDuels(Duels):
    def step(self, state: Any) -> Step:
        if state[0] == "play":
            _, arm, played, released = state
            return Step(Play(arm, 1), lambda rows: ((*played, rows), released))
        return super().step(state)


STREAM = (1.0, 0.0, 0.5, 1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "algorithm",
    [FewestFirstUCB(arms=2, horizon=5, epsilon=2.0), FewestFirstKLUCB(arms=2, epsilon=2.0)],
)
def test_likelihoods_of_arms_in_another_order_add_up_to_one(algorithm: Algorithm) -> None:
    """By the position of an arm they added up to 0.97, certified."""
    floats = law(algorithm, STREAM[:5], "float")
    assert floats.lower <= 1 <= floats.upper
    assert floats.upper - floats.lower < 1e-3
    seen = frequencies(algorithm, STREAM[:5])
    for actions, found in floats.probabilities.items():
        assert agrees(found, seen.get(actions, 0.0)), actions


@pytest.mark.parametrize("actions", [(0, 1, 0, 1, 0), (0, 1, 0, 1, 1)])
def test_balls_follow_the_registers(actions: tuple[int, ...]) -> None:
    algorithm = FewestFirstKLUCB(arms=2, epsilon=2.0)
    (path,) = paths_of(algorithm, actions)
    region = region_of(path)
    stream = np.array(STREAM[:5])
    sums = {i: exact_sum(stream, e.steps) for i, e in enumerate(region.episodes)}
    ball = integrals.Probability(region, sums, Known()).on(600)
    about = frequency(region, stream)
    assert ball.lo - NEAR <= about <= ball.hi + NEAR
    assert ball.hi - ball.lo < 1e-3 * ball.lo


@pytest.mark.parametrize(
    "duels",
    [((1, 0),), ((0, 1), (1, 0)), ((0, 2), (2, 0), (0, 2)), ((0, 1), (1, 2)), ((2, 1), (1, 0))],
)
def test_duels_between_some_arms(duels: tuple[tuple[int, int], ...]) -> None:
    """What is answered agrees with real runs, whichever arms meet in whichever order."""
    arms = 1 + max(arm for pair in duels for arm in pair)
    algorithm = PlayedDuels(arms=arms, duels=duels)
    found = law(algorithm, STREAM[: arms + 2], "float")
    seen = frequencies(algorithm, STREAM[: arms + 2])
    assert set(seen) <= set(found.probabilities)
    for actions, one in found.probabilities.items():
        assert agrees(one, seen.get(actions, 0.0)), actions


class BoundedDuels(PlayedDuels):
    def step(self, state: Any) -> Step:
        found = super().step(state)
        if not isinstance(found.request, Choose):
            return found

        def rule(m: Any) -> Any:
            return KLBound(m.number(np.array([0.2, 0.5])), m.number(np.array([0.0, 0.8])))

        return Step(replace(found.request, rule=rule), found.then)


def test_releases_of_unlike_noise_add_up() -> None:
    """Narrow noise fell between cells that were as wide as the widest: 0.41 was found as 1e-7."""
    algorithm = BoundedDuels(arms=2, duels=((0, 1),), scales=(Fraction(1, 4), 2, 2, 2))
    actions = (0, 1, 0, 0, 0)
    found = likelihood(algorithm, actions, STREAM[:5], "float")
    assert found.certified and agrees(found, frequencies(algorithm, STREAM[:5])[actions])


class Late(Clock):
    def allows(self, seconds: float) -> bool:
        return False


def test_a_net_that_had_no_time_is_not_called_wide() -> None:
    algorithm = BoundedDuels(arms=2, duels=((0, 1),), scales=(Fraction(1, 4), 2, 2, 2))
    with pytest.raises(OutOfTime):
        likelihood(algorithm, (0, 1, 0, 0, 0), STREAM[:5], "float", Late())

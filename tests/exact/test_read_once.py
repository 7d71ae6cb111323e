"""A release that comes back, or that two arms show, is no fresh draw: every engine refuses it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from dpaudit.core.algorithm import Release
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace
from dpaudit.core.perstep import PerStep
from dpaudit.core.scores import Affine
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood


@dataclass(frozen=True, kw_only=True)
class Reread(PerStep):
    """An arm shows its first pull, then its second, then both: the first is no fresh draw."""

    epsilon: float = 1.0

    def release(self, rows):
        return Release((rows.arm, rows.first), rows, Laplace(1 / exact(self.epsilon)))

    def registers(self, arm, pulls):
        return ((arm, pulls - 1),) if pulls < 3 else ((arm, 1), (arm, 0))

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(m.log(time) / pulls))


@dataclass(frozen=True, kw_only=True)
class SharedNoise(Reread):
    """From the second decision on, both arms show the third pull as well."""

    def registers(self, arm, pulls):
        return ((arm, 0),)

    def choice(self, pulls):
        found = super().choice(pulls)
        third = next(((arm, 1) for arm in (0, 1) if pulls[arm] > 1), None)
        shown = tuple((*group, third) if third else group for group in found.registers)
        return replace(found, registers=shown)


class OneRegister(Reread):
    """Both arms show the first arm's first pull."""

    def registers(self, arm, pulls):
        return ((0, 0),)


@pytest.mark.parametrize("actions", [[0, 1, 2, 0], [0, 1, 2, 1], [0, 1, 2, 2]])
@pytest.mark.parametrize("engine", ["ball", "float"])
def test_three_arms_that_show_one_release_are_refused(actions, engine):
    """Comparisons of a release with itself, left out, would make each outcome certain."""
    with pytest.raises(Unsupported):
        likelihood(OneRegister(arms=3), actions, [0.5] * 4, engine=engine)


@pytest.mark.parametrize("engine", ["ball", "float"])
@pytest.mark.parametrize(
    "algorithm, actions",
    [
        (Reread(arms=2), [0, 1, 0, 0, 1]),
        (SharedNoise(arms=2), [0, 1, 0, 1]),
        (OneRegister(arms=2), [0, 1, 0]),
    ],
)
def test_a_release_that_is_no_fresh_draw_is_refused(algorithm, actions, engine):
    """Taken for fresh, the first path would get 0.032 of a probability of 0.005."""
    with pytest.raises(Unsupported, match="part of a sum|the same release"):
        likelihood(algorithm, actions, [0.2, 0.9, 0.5, 0.1, 0.7][: len(actions)], engine=engine)

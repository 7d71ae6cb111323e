"""Derived noises and rules are refused: the engines would compute with their base's formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine, KLBound
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss


@dataclass(frozen=True)
class Bent(Affine):
    def value(self, x: Any) -> Any:
        return np.tanh(x) + self.shift


@dataclass(frozen=True)
class Blunt(KLBound):
    def value(self, x: Any) -> Any:
        return np.round(super().value(x))


class Silent(Laplace):
    def sample(self, rng: Any) -> float:
        return 0.0


def shadowed(scale: Fraction) -> Laplace:
    noise = Laplace(scale)
    object.__setattr__(noise, "sample", lambda rng: 0.0)
    return noise


@dataclass(frozen=True, kw_only=True)
class BentUCB(AdapUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return Bent(super().rule(pulls, time, m).shift)


@dataclass(frozen=True, kw_only=True)
class BluntKLUCB(AdapKLUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return Blunt(super().rule(pulls, time, m).level)


@dataclass(frozen=True, kw_only=True)
class SilentUCB(AdapUCB):
    def release(self, rows: Any) -> Any:
        right = super().release(rows)
        return replace(right, noise=Silent(right.noise.scale))


@dataclass(frozen=True, kw_only=True)
class ShadowedUCB(AdapUCB):
    def release(self, rows: Any) -> Any:
        right = super().release(rows)
        return replace(right, noise=shadowed(right.noise.scale))


@dataclass(frozen=True, kw_only=True)
class CostUCB(AdapUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return Affine(super().rule(pulls, time, m).shift, scale=-1)


@dataclass(frozen=True, kw_only=True)
class CostKLUCB(AdapKLUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return KLBound(super().rule(pulls, time, m).level, 1, -1)


@pytest.mark.parametrize("kind", [CostUCB, CostKLUCB])
def test_scores_that_fall_with_their_register_are_refused(kind: type[Algorithm]) -> None:
    """A falling score is another comparison, which was once certified as the rising one."""
    for engine in ("ball", "float"):
        with pytest.raises(Unsupported, match="scale that is not positive"):
            likelihood(kind(arms=2), [0, 1, 0, 0], [1, 0, 1, 0], engine=engine)
        with pytest.raises(Unsupported, match="scale that is not positive"):
            worst_loss(kind(arms=2), 4)


@pytest.mark.parametrize("kind", [BentUCB, BluntKLUCB, SilentUCB, ShadowedUCB])
@pytest.mark.parametrize("arms", [2, 3])
def test_a_formula_under_a_known_name_is_refused(kind: type[Algorithm], arms: int) -> None:
    algorithm = kind(arms=arms)
    actions = [*range(arms), 0, 0, 0]
    for engine in ("ball", "float"):
        with pytest.raises(Unsupported, match=r"derives from|of its own"):
            likelihood(algorithm, actions, [0.5] * len(actions), engine=engine)
        with pytest.raises(Unsupported, match=r"derives from|of its own"):
            worst_loss(algorithm, 5)

"""Atoms of one's own prove themselves at every answer, or are refused by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import certified_engine as certified
import numpy as np
import pytest

from dpaudit.core.algorithm import Algorithm, Release
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.noise import Noise
from dpaudit.core.scores import Affine, KLBound, Score
from dpaudit.errors import Unsupported
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.enumerate import worst_pair


@dataclass(frozen=True)
class Tilted(Score):
    """2 x + shift: an affine score under another name."""

    shift: Any

    def value(self, x: Any) -> Any:
        return 2 * x + self.shift

    def inverse(self, v: Any) -> Any:
        return (v - self.shift) / 2

    def inverse_upper(self, v: Any) -> Any:
        return self.inverse(v)


@dataclass(frozen=True)
class Clipped(Tilted):
    """The mean clipped to [0, 1], plus shift: plateaus on both sides."""

    def value(self, x: Any) -> Any:
        return np.clip(x, 0, 1) + self.shift

    def inverse(self, v: Any) -> Any:
        x = np.asarray(v - self.shift, dtype=float)
        return np.where(x <= 0, -np.inf, np.where(x > 1, np.inf, x))

    def inverse_upper(self, v: Any) -> Any:
        x = np.asarray(v - self.shift, dtype=float)
        return np.where(x < 0, -np.inf, np.where(x >= 1, np.inf, x))

    def kinks(self) -> list[float]:
        return [0.0, 1.0]


class Ramp(Tilted):
    """x + shift clipped to [0, 1], which does not say where its plateaus begin."""

    def value(self, x: Any) -> Any:
        return np.clip(x + self.shift, 0, 1)

    def inverse(self, v: Any) -> Any:
        return np.where(v <= 0, -np.inf, np.where(v > 1, np.inf, v - self.shift))

    def inverse_upper(self, v: Any) -> Any:
        return np.where(v < 0, -np.inf, np.where(v >= 1, np.inf, v - self.shift))


class Uneven(AdapUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return Ramp(np.array([0.0, 0.25]))


class WrongInverse(Tilted):
    def inverse(self, v: Any) -> Any:
        return (v - self.shift) / 2 + 0.01


class WrongUpper(Clipped):
    def inverse_upper(self, v: Any) -> Any:
        return np.clip(self.inverse(v), 0, 1)


class WrongLower(WrongInverse):
    """The inverse from above is right."""

    def inverse_upper(self, v: Any) -> Any:
        return (v - self.shift) / 2


class Falling(Tilted):
    def value(self, x: Any) -> Any:
        return 2 * x + self.shift - 0.2 * (np.abs(x - 0.5) < 0.1)


class FallingFar(Tilted):
    """Falls where hardly any release lies."""

    def value(self, x: Any) -> Any:
        return 2 * x + self.shift + 300 * (np.asarray(x) < -50)


class Jumping(Tilted):
    """Jumps by 1 at 0.3; the inverses are right."""

    def value(self, x: Any) -> Any:
        return x + self.shift + (np.asarray(x) >= 0.3)

    def inverse(self, v: Any) -> Any:
        w = np.asarray(v - self.shift, dtype=float)
        return np.where(w <= 0.3, w, np.where(w <= 1.3, 0.3, w - 1))


class Blank(Tilted):
    def value(self, x: Any) -> Any:
        return np.where(np.asarray(x) > 2, np.nan, 2 * x + self.shift)


class Drawn(Tilted):
    def value(self, x: Any) -> Any:
        return 2 * x + self.shift + np.random.default_rng().random()


class Joint(Tilted):
    def value(self, x: Any) -> Any:
        return 2 * x + self.shift + (np.max(x) if np.ndim(x) > 1 else 0.0)


class Raising(Tilted):
    def inverse_upper(self, v: Any) -> Any:
        raise ZeroDivisionError("no upper end")


class LastWins(Tilted):
    def winner(self, x: Any, rng: Any) -> Any:
        return 1 - np.argmax(self.value(x)[..., ::-1], axis=-1)


@dataclass(frozen=True, kw_only=True)
class Custom(AdapUCB):
    """adap_ucb with another score."""

    score: Any = None

    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return self.score(super().rule(pulls, time, m).shift)


ACTIONS, STREAM = (0, 1, 0, 1, 1, 1), (1.0, 0.0, 0.5, 1.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Doubled(AdapUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return Affine(super().rule(pulls, time, m).shift, 2)


@pytest.mark.parametrize("actions", [ACTIONS, (0, 1, 1, 0, 0, 0)])
def test_a_right_score_of_ones_own_is_answered(actions: tuple[int, ...]) -> None:
    own = likelihood(Custom(arms=2, score=Tilted), actions, STREAM)
    same = likelihood(Doubled(arms=2), actions, STREAM)
    assert not own.certified
    assert own.log_lower <= same.log_lower and same.log_upper <= own.log_upper
    assert own.log_upper - own.log_lower < 1e-5


@pytest.mark.parametrize("algorithm", [Custom(arms=2, score=Clipped), Uneven(arms=2)])
def test_plateaus_of_ones_own_add_up_to_one(algorithm: Algorithm) -> None:
    parts = [
        likelihood(algorithm, (0, 1, arm, other), STREAM[:4]) for arm in (0, 1) for other in (0, 1)
    ]
    assert sum(part.lower for part in parts) <= 1 <= sum(part.upper for part in parts)


@pytest.mark.parametrize(
    "score",
    [
        *(WrongInverse, WrongUpper, WrongLower, Falling, FallingFar, Jumping, Blank),
        *(Drawn, Joint, Raising, LastWins),
    ],
)
@pytest.mark.parametrize("arms", [2, 3])
def test_a_wrong_score_is_refused_by_name(score: type[Score], arms: int) -> None:
    algorithm = Custom(arms=arms, score=score)
    actions = (*range(arms), 0, 1, 0)
    for engine in ("ball", "float"):
        with pytest.raises(Unsupported, match=score.__name__):
            likelihood(algorithm, actions, [0.5] * len(actions), engine=engine)
        with pytest.raises(Unsupported, match=score.__name__):
            worst_loss(algorithm, arms + 2)


class Spiky(Noise):
    log_concave = True
    full_support = True

    def sample(self, rng: Any) -> float:
        return 0.0

    def charge(self, sensitivity: Fraction) -> Fraction:
        return sensitivity

    def log_density(self, x: Any) -> Any:
        return -np.abs(x)

    def cdf(self, x: Any) -> Any:
        return 0.5


@dataclass(frozen=True, kw_only=True)
class SpikyUCB(AdapUCB):
    def release(self, rows: Any) -> Any:
        right = super().release(rows)
        return Release(right.register, rows, Spiky(), right.divisor)


@dataclass(frozen=True, kw_only=True)
class Odd(AdapUCB):
    """adap_ucb with a rule that is made by a function of the arithmetic."""

    made: Any = None

    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        return self.made(m)


@pytest.mark.parametrize(
    "algorithm, reason",
    [
        (SpikyUCB(arms=2), "Spiky noise"),
        (Odd(arms=2, made=lambda m: Affine(np.array([0.1, 0.2, 0.3]))), "shape"),
        (Odd(arms=2, made=lambda m: Affine(np.array([[0.1, 0.2]]))), "shape"),
        (Odd(arms=2, made=lambda m: Affine(np.array([0.1, None]))), "real numbers"),
        (Odd(arms=2, made=lambda m: Affine(np.array([0.1, 1j]))), "real numbers"),
        (Odd(arms=2, made=lambda m: Affine("0.1")), "real numbers"),
        (Odd(arms=2, made=lambda m: Affine(np.array([0.1, np.nan]))), "not a number"),
        (Odd(arms=2, made=lambda m: Affine(np.array([0.1, np.inf]))), "too large"),
        (Odd(arms=2, made=lambda m: KLBound(10**400)), "too large"),
        (Odd(arms=2, made=lambda m: 1 / 0), "ZeroDivisionError"),
        (Odd(arms=2, made=lambda m: 7), "not a Rule"),
    ],
)
def test_odd_atoms_are_refused_in_one_line(algorithm: Algorithm, reason: str) -> None:
    for engine in ("ball", "float"):
        with pytest.raises(Unsupported, match=reason) as one:
            likelihood(algorithm, ACTIONS, STREAM, engine=engine)
        with pytest.raises(Unsupported, match=reason):
            worst_loss(algorithm, 4)
        assert "\n" not in str(one.value)


def test_a_rule_that_differs_between_doubles_and_balls_is_not_certified() -> None:
    def made(m: Any) -> Any:
        return Affine(m.number(np.array([0.0, 0.5 if hasattr(m, "_functions") else 0.0])))

    assert not likelihood(Odd(arms=2, made=made), ACTIONS, STREAM).certified
    with pytest.raises(Unsupported, match=r"in doubles and .* in balls"):
        certified.worst_loss(Odd(arms=2, made=made), 4)


def test_single_precision_is_no_whole_number() -> None:
    """The ball of a NumPy float of single precision was that of its whole part."""
    levels = np.array([0.75, 0.25], dtype=np.float32)
    ball = likelihood(Odd(arms=2, made=lambda m: Affine(levels)), ACTIONS, STREAM)
    same = likelihood(Odd(arms=2, made=lambda m: Affine(m.number(levels))), ACTIONS, STREAM)
    assert ball == same
    assert ball.certified


def test_a_kl_bound_with_its_default_shift_is_certified() -> None:
    algorithm = Odd(arms=2, made=lambda m: KLBound(m.number(np.array([0.7, 0.4]))))
    ball = likelihood(algorithm, ACTIONS, STREAM)
    float_ = likelihood(algorithm, ACTIONS, STREAM, engine="float")
    assert ball.certified
    assert ball.log_lower <= float_.log_upper and float_.log_lower <= ball.log_upper


@dataclass(frozen=True)
class Renamed(Score):
    """The KL bound under another name, which says nothing of its plateaus."""

    level: Any
    shift: Any

    def value(self, x: Any) -> Any:
        return KLBound(self.level, self.shift).value(x)

    def inverse(self, v: Any) -> Any:
        return KLBound(self.level, self.shift).inverse(v)

    def inverse_upper(self, v: Any) -> Any:
        return KLBound(self.level, self.shift).inverse_upper(v)


@dataclass(frozen=True, kw_only=True)
class RenamedKLUCB(AdapKLUCB):
    def rule(self, pulls: Any, time: Any, m: Any) -> Any:
        right = super().rule(pulls, time, m)
        return Renamed(right.level, right.shift)


@pytest.mark.parametrize("actions", [ACTIONS, (0, 1, 1, 0, 0, 0)])
def test_a_shipped_score_under_another_name_encloses_what_is_certified(actions: Any) -> None:
    own = likelihood(RenamedKLUCB(arms=2), actions, STREAM)
    same = likelihood(AdapKLUCB(arms=2), actions, STREAM)
    assert same.certified and not own.certified
    assert own.log_lower <= same.log_lower and same.log_upper <= own.log_upper
    assert own.log_upper - own.log_lower < 1e-5


@dataclass(frozen=True, kw_only=True)
class Thirds(AdapKLUCB):
    """Centres that are no doubles: sums over three times as many pulls."""

    def release(self, rows: Any) -> Any:
        right = super().release(rows)
        return Release(right.register, rows, right.noise, 3 * right.divisor)


@pytest.mark.parametrize("streams", ["binary", "real"])
def test_centres_that_are_no_doubles_are_searched(streams: Any) -> None:
    found = certified.worst_loss(Thirds(arms=2), 5, streams)
    brute = worst_pair(Thirds(arms=2), 5, (0.0, 1.0) if streams == "binary" else (0.0, 0.5, 1.0))
    assert found.loss.certified and found.loss.width < 1e-6
    assert brute.loss <= found.loss.upper
    assert streams == "real" or found.loss.lower <= brute.most


class Squared(Clipped):
    """The clipped mean squared: doubles see a plateau that ends a little late."""

    def value(self, x: Any) -> Any:
        return np.clip(x, 0, 1) ** 2 + self.shift

    def inverse(self, v: Any) -> Any:
        x = np.asarray(super().inverse(v), dtype=float)
        return np.where(x < 0, x, np.sqrt(np.maximum(x, 0.0)))

    def inverse_upper(self, v: Any) -> Any:
        x = np.asarray(super().inverse_upper(v), dtype=float)
        return np.where(x < 0, x, np.sqrt(np.maximum(x, 0.0)))


@pytest.mark.parametrize("epsilon", [60.0, 6000.0])
def test_the_error_of_a_late_plateau_grows_with_the_rate(epsilon: float) -> None:
    """Both rewards 0: the first arm loses only where the other register is positive and larger."""
    found = likelihood(
        Odd(arms=2, epsilon=epsilon, made=lambda _: Squared(0.0)), [0, 1, 0], [0] * 3
    )
    assert found.lower <= 0.625 <= found.upper
    assert 1e-7 * epsilon / 20 < found.upper - found.lower < 1e-6 * epsilon

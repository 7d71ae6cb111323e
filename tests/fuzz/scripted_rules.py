"""Rules as plain data, shipped ones and a user's own, right and wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import Arithmetic
from dpaudit.core.scores import (
    Affine,
    BetaDraw,
    GaussianDraw,
    Imed,
    KLBound,
    PrivateKLBound,
    Rule,
    Score,
)

Numbers = Any  # a number, or one per arm


@dataclass(frozen=True)
class Index:
    """A rule by its kind and parameters; a tuple holds one number per arm.

    `bonus` adds bonus sqrt(log t / pulls) to the shift, or to the level of a KL bound.
    """

    kind: str
    shift: Numbers = 0
    scale: Numbers = 1
    level: Numbers = 1
    bonus: Any = 0


@dataclass(frozen=True)
class Ruled:
    """Builds the rule of an index for arms in this order."""

    index: Index
    arms: tuple[int, ...]
    pulls: tuple[int, ...]

    def __call__(self, m: Arithmetic) -> Rule:
        """Return the rule in an arithmetic."""
        index = self.index
        pulls = m.number(np.array([max(1, self.pulls[arm]) for arm in self.arms]))
        bonus: Any = 0
        if index.bonus:
            bonus = m.number(index.bonus) * m.sqrt(m.log(m.number(sum(self.pulls) + 1)) / pulls)

        def of(value: Numbers) -> Any:
            picked = [value[arm] for arm in self.arms] if isinstance(value, tuple) else value
            return m.number(np.array(picked, dtype=object) if isinstance(value, tuple) else value)

        shift, scale, level = of(index.shift), of(index.scale), of(index.level)
        match index.kind:
            case "affine":
                return Affine(shift + bonus, scale)
            case "kl":
                return KLBound(level + bonus, shift, scale)
            case "private kl":
                return PrivateKLBound(level + bonus, m.number(1), shift, scale)
            case "imed":
                return Imed(pulls, shift, scale)
            case "private imed":
                return Imed(pulls, shift, scale, m.number(1))
            case "beta":
                return BetaDraw(pulls, shift)
            case "gaussian":
                return GaussianDraw(level, shift)
        return OWN[index.kind](np.asarray(index_floats(index.shift, self.arms), dtype=float))


def index_floats(value: Numbers, arms: tuple[int, ...]) -> Any:
    """Return a parameter as doubles, for scores that know no other arithmetic."""
    return [float(value[arm]) for arm in arms] if isinstance(value, tuple) else float(value)


@dataclass(frozen=True)
class Kept:
    """Builds the width of an elimination."""

    width: float

    def __call__(self, m: Arithmetic) -> Any:
        """Return the width in an arithmetic."""
        return m.number(self.width)


@dataclass(frozen=True)
class Cubed(Score):
    """Right: (x + shift)^3."""

    shift: Any

    def value(self, x: Any) -> Any:
        """Return the score."""
        return (x + self.shift) ** 3

    def inverse(self, v: Any) -> Any:
        """Return the one x."""
        return np.cbrt(v) - self.shift

    def inverse_upper(self, v: Any) -> Any:
        """Return the one x."""
        return self.inverse(v)


@dataclass(frozen=True)
class Ramp(Score):
    """Right, with plateaus: x + shift clipped to [0, 1]."""

    shift: Any

    def value(self, x: Any) -> Any:
        """Return the score."""
        return np.clip(x + self.shift, 0.0, 1.0)

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        v = np.asarray(v, dtype=float)
        return np.where(v <= 0, -np.inf, np.where(v > 1, np.inf, v - self.shift))[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        v = np.asarray(v, dtype=float)
        return np.where(v < 0, -np.inf, np.where(v >= 1, np.inf, v - self.shift))[()]


@dataclass(frozen=True)
class Falling(Cubed):
    """Wrong: falls with its register."""

    def value(self, x: Any) -> Any:
        """Return the score."""
        return -x - self.shift

    def inverse(self, v: Any) -> Any:
        """Return the one x."""
        return -v - self.shift


@dataclass(frozen=True)
class Bent(Cubed):
    """Wrong: the inverse belongs to another function."""

    def inverse(self, v: Any) -> Any:
        """Return something else."""
        return np.cbrt(v) / 2 - self.shift


@dataclass(frozen=True)
class Wave(Cubed):
    """Wrong: neither rising nor falling."""

    def value(self, x: Any) -> Any:
        """Return the score."""
        return x + self.shift + 2 * np.sin(2 * x)

    def inverse(self, v: Any) -> Any:
        """Return the inverse of the trend."""
        return v - self.shift


@dataclass(frozen=True)
class Stair(Cubed):
    """Wrong: jumps."""

    def value(self, x: Any) -> Any:
        """Return the score."""
        return np.floor(x + self.shift)

    def inverse(self, v: Any) -> Any:
        """Return the edge of the step."""
        return np.ceil(v) - self.shift

    def inverse_upper(self, v: Any) -> Any:
        """Return the far edge of the step."""
        return np.floor(v) + 1 - self.shift


@dataclass(frozen=True)
class Undefined(Cubed):
    """Wrong: has no value above 1."""

    def value(self, x: Any) -> Any:
        """Return the score."""
        return np.where(x > 1, np.nan, x + self.shift)

    def inverse(self, v: Any) -> Any:
        """Return the inverse where there is one."""
        return v - self.shift


@dataclass(frozen=True)
class Smallest(Cubed):
    """A score whose own winner contradicts it."""

    def winner(self, x: Any, rng: Any) -> Any:
        """Return the position of the smallest score."""
        return np.argmin(self.value(x), axis=-1)


@dataclass(frozen=True)
class Steep(Affine):
    """Derives from a shipped score and is another."""

    def value(self, x: Any) -> Any:
        """Return the score."""
        return 3 * x + self.shift


OWN: dict[str, Any] = {
    kind.__name__.lower(): kind
    for kind in (Cubed, Ramp, Falling, Bent, Wave, Stair, Undefined, Smallest, Steep)
}

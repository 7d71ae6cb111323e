"""Scores of one's own: each answer that an engine uses is checked against the others.

The engines trust that a score is continuous and non-decreasing, and that its two inverses are those
of `value`. Shipped scores show it in tests; another class shows it here, at every point that is
asked for, and once on a wide grid. What is seen in finitely many doubles is no proof, so nothing
that uses such a score is certified, and its measured error is larger.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.scores import RULES, Rule, Score
from dpaudit.core.walk import FOREIGN, said
from dpaudit.errors import Unsupported

Array = NDArray[np.float64]

OWN_ERROR = 1e-6  # of a log-likelihood: kinks are not known, inverses are near by 1e-8 alone
_FAR = 1e6
_NEAR, _BESIDE = 1e-11, 1e-8  # of 1 + |x|: where a crossing and the end of a plateau must be
_ROUNDING = 1e-12  # of 1 + |v|
_JUMP = 1e-6
_GRID = np.unique(
    np.concatenate([np.linspace(-4.0, 5.0, 385), np.geomspace(5.0, 1e3, 64), -np.geomspace(4, 1e3)])
)
_MOST_KINKS = 64


def scores_of(rule: Score, arms: int) -> tuple[Score, ...]:
    """Return the scores of the arms; those of a class that is not shipped check themselves."""
    if type(rule) in RULES:
        return tuple(rule.at(position) for position in range(arms))
    kind = type(rule)
    own = [name for name in ("winner", "at") if name in vars(rule)]
    if kind.winner is not Score.winner or kind.at is not Rule.at or own or not is_dataclass(rule):
        raise Unsupported(f"{kind.__name__} is no dataclass that leaves `winner` and `at` alone.")
    try:
        found = tuple(Checked(rule.at(position)) for position in range(arms))
    except FOREIGN as error:
        raise Unsupported(f"{kind.__name__} has no score per arm: {said(error)}.") from None
    columns = [score.examined() for score in found]
    shown = Checked(rule).asked("value", np.stack([_GRID] * arms, axis=-1))
    if not np.allclose(shown, np.stack(columns, axis=-1), rtol=1e-9, atol=1e-9):
        found[0].refuse("value depends on more than the arm's own register")
    return found


@dataclass(frozen=True, eq=False)
class Checked(Score):
    """A score that raises `Unsupported` at the first answer that does not fit the others."""

    own: Any

    def refuse(self, rule: str) -> NoReturn:
        """Raise `Unsupported` with the name of the class."""
        raise Unsupported(f"{type(self.own).__name__}: {rule}.")

    def asked(self, name: str, at: Any) -> Array:
        """Return an answer that is real and the same twice."""
        points = np.asarray(at, dtype=float)
        try:
            with np.errstate(all="ignore"):
                one, two = (np.asarray(getattr(self.own, name)(points.copy())) for _ in range(2))
        except FOREIGN as error:
            self.refuse(f"{name} raised {said(error)}")
        if one.shape != points.shape or one.dtype.kind not in "iuf":
            self.refuse(f"{name} of {points.shape} doubles is {one.dtype} of shape {one.shape}")
        if np.isnan(one).any():
            self.refuse(f"{name}({points[np.isnan(one)].flat[0]}) is not a number")
        if not np.array_equal(one, two):
            self.refuse(f"{name} is not the same when asked twice")
        return one.astype(float)

    def value(self, x: Any) -> Any:
        """Return the score, non-decreasing over the points asked for."""
        found = self.asked("value", x)
        order = np.argsort(np.ravel(x), kind="stable")
        points, values = np.ravel(np.asarray(x, dtype=float))[order], found.ravel()[order]
        below = values[1:] < values[:-1] - _ROUNDING * (1 + np.abs(values[:-1]))
        if below.any():
            i = int(np.argmax(below))
            one, two = (f"value({points[k]}) = {values[k]}" for k in (i, i + 1))
            self.refuse(f"{one} but {two}: it must not fall")
        return found[()]

    def inverse(self, v: Any) -> Any:
        """Return the smallest x with value(x) >= v."""
        found = self.asked("inverse", v)
        self._crosses("inverse", found, np.asarray(v, dtype=float), side=-1)
        return found[()]

    def inverse_upper(self, v: Any) -> Any:
        """Return the largest x with value(x) <= v."""
        found = self.asked("inverse_upper", v)
        self._crosses("inverse_upper", found, np.asarray(v, dtype=float), side=1)
        return found[()]

    def kinks(self) -> list[float]:
        """Return where the score says that it is not smooth."""
        try:
            found = [float(x) for x in self.own.kinks()]
        except FOREIGN as error:
            self.refuse(f"kinks raised {said(error)}")
        if len(found) > _MOST_KINKS or not np.isfinite(found).all():
            self.refuse(f"kinks are not up to {_MOST_KINKS} finite numbers")
        return found

    def examined(self) -> Array:
        """Return the values on the grid, once inverses cross them and nothing jumps."""
        values = np.asarray(self.value(_GRID))
        with np.errstate(invalid="ignore"):
            steps = np.append(0.5 * (values[1:] + values[:-1]), values[np.isfinite(values)] + 1.0)
        levels = np.unique(steps[np.isfinite(steps)])
        self.inverse_upper(levels)
        x = np.asarray(self.inverse(levels))
        x = x[np.isfinite(x)]
        beside = _NEAR * (1 + np.abs(x))
        low, high = self.asked("value", x - beside), self.asked("value", x + beside)
        with np.errstate(invalid="ignore"):
            jump = high - low > _JUMP * (1 + np.abs(low))
        if jump.any():
            i = int(np.argmax(jump))
            self.refuse(f"value jumps from {low[i]} to {high[i]} at {x[i]}")
        return values

    def _crosses(self, name: str, x: Array, v: Array, side: int) -> None:
        """Raise unless `value` passes v at x, strictly on the given side of it.

        Where x is infinite, the far end must be on the side of v that this says.
        """
        inside = np.clip(x, -_FAR, _FAR)
        near, beside = _NEAR * (1 + np.abs(inside)), _BESIDE * (1 + np.abs(inside))
        low, high = self.asked("value", inside - near), self.asked("value", inside + near)
        strict = self.asked("value", inside + side * beside)
        with np.errstate(invalid="ignore"):
            slack = np.where(np.isfinite(v), _ROUNDING * (1 + np.abs(v)), 0.0)
            # x = -inf: all of it is above; x = inf: all of it is below
            under = (low <= v + slack) | (x < -_FAR)
            over = (high >= v - slack) | (x > _FAR)
            apart = strict < v if side < 0 else strict > v
        bad = ~(under & over & (apart | (np.abs(x) > _FAR)))
        # an infinite level has no crossing
        bad &= ~(np.isinf(v) & np.isinf(x))
        if bad.any():
            place = np.unravel_index(int(np.argmax(bad)), bad.shape)
            at, level = float(x[place]), float(v[place])
            seen = f"value is {low[place]} below and {high[place]} above"
            self.refuse(f"{name}({level}) = {at}, where {seen}")

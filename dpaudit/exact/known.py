"""What the exact engines know by its class: noises and rules whose formulas they compute with.

Noise is of one of the shipped laws: the engines integrate densities in closed form. A class derived
from a known one may draw or decide something else under the same name, so it is refused, too. A
rule is written once and evaluated in doubles and in balls: `require_alike` refuses one that is not
the same in both. Rules that are no scores have no region, and the engines say so.

The engines trust that a score is continuous and non-decreasing, and that its two inverses are those
of `value`. Shipped scores show it in tests; another class shows it here (`Checked`), at every point
that is asked for, and once on a wide grid. What is seen in finitely many doubles is no proof, so
nothing that uses such a score is certified, and its measured error is larger; a `Formula` is
certified by `balls/bounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.core import scores
from dpaudit.core.algorithm import Accumulate, Choose, Keep, Release
from dpaudit.core.arithmetic import BALL, FLOAT, Arithmetic, ball
from dpaudit.core.noise import NOISES
from dpaudit.core.scores import RULES, Formula, Rule, Score
from dpaudit.core.unchanged import unchanged
from dpaudit.core.walk import FOREIGN, said
from dpaudit.errors import Unsupported

_ALIKE = 1e-9  # between a parameter in doubles and its ball
_LARGEST = 1e100  # of a parameter; squares and ratios of these are doubles


def require_known(request: Release | Accumulate | Choose | Keep, weighted: bool = False) -> None:
    """Raise `Unsupported` if a noise or a rule is none that the engines know, or an odd one.

    So are the weights of an elimination, unless whoever asks minds them.
    """
    if isinstance(request, Release | Accumulate):
        _require_plain(request.noise, NOISES)
        if type(request.noise) not in NOISES:
            kind = type(request.noise).__name__
            raise Unsupported(f"{kind} noise has no formula in the exact engines.")
    elif isinstance(request, Choose):
        rule = rule_in(FLOAT, request)
        _require_plain(rule, RULES)
        if type(rule) in RULES:
            _require_sane(rule, len(request.arms))
        else:
            _require_separate(rule, len(request.arms))
    else:
        if request.weights is not None and not weighted:
            raise Unsupported("An elimination by weighted sums has no likelihood here.")
        for weights in request.weights or ():
            for weight in weights:
                _require_numbers(weight, "a weight", 1)
        width = _require_numbers(_built(request.width, FLOAT), "a width", len(request.arms))
        if not (width >= 0).all():
            raise Unsupported(f"A width is {width.min()}, which is not at least 0.")


def rule_in(arithmetic: Arithmetic, request: Choose) -> Rule:
    """Return the rule of a choice in an arithmetic; raise `Unsupported` where there is none."""
    rule = _built(request.rule, arithmetic)
    if not isinstance(rule, Rule):
        raise Unsupported(f"A rule is a {type(rule).__name__}, not a Rule.")
    return rule


def _built(formula: Callable[[Arithmetic], Any], arithmetic: Arithmetic) -> Any:
    try:
        with np.errstate(all="ignore"):
            return formula(arithmetic)
    except FOREIGN as error:
        where = "balls" if arithmetic is BALL else "doubles"
        raise Unsupported(f"A rule cannot be evaluated in {where}: {said(error)}.") from None


def _require_plain(value: object, known: tuple[type, ...]) -> None:
    kind = type(value)
    if kind in known:
        extra = set(vars(value)) - set(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        if extra:
            raise Unsupported(f"A {kind.__name__} carries {', '.join(sorted(extra))} of its own.")
    elif isinstance(value, known):
        base = next(base.__name__ for base in known if isinstance(value, base))
        raise Unsupported(
            f"{kind.__name__} derives from {base}, whose formula the exact engine would use; "
            "derive from its base class."
        )


def _require_sane(rule: scores.Rule, arms: int) -> None:
    """Raise unless scores rise with their register: a falling one is another comparison."""
    for name in type(rule).__dataclass_fields__:  # type: ignore[attr-defined]
        value = getattr(rule, name)
        if value is None and name == "epsilon":
            continue
        numbers = _require_numbers(value, f"{type(rule).__name__}'s {name}", arms)
        if name in ("scale", "n", "epsilon", "deviation") and not (numbers > 0).all():
            raise Unsupported(f"{type(rule).__name__} has a {name} that is not positive.")
        if name == "level" and not (numbers >= 0).all():
            raise Unsupported(f"{type(rule).__name__} has a negative level.")


def _require_separate(rule: Rule, arms: int) -> None:
    """Raise unless a run compares the value of each arm's register, by that arm's parameters alone.

    A joint value is found by asking for all arms at once, at registers that differ. What is not a
    number there is refused where it is met.
    """
    kind = type(rule).__name__
    if not isinstance(rule, Score):
        raise Unsupported(f"{kind} is no Score, and the exact engines know no region of its own.")
    whole = is_dataclass(rule) and unchanged(rule, Score, ("winner", "compared", "at"))
    if not whole:
        raise Unsupported(
            f"{kind} is no dataclass that leaves `winner`, `compared` and `at` alone."
        )
    x = np.random.default_rng(0).permuted(np.stack([GRID] * arms, axis=-1), axis=0)
    try:
        with np.errstate(all="ignore"):
            together = np.asarray(rule.value(x.copy()), dtype=float)
            one = np.asarray([rule.value(row.copy()) for row in x[:_ROWS]], dtype=float)
            apart = [np.asarray(rule.at(arm).value(x[:, arm].copy())) for arm in range(arms)]
            alone = np.stack([np.broadcast_to(column, len(x)) for column in apart], axis=-1)
    except FOREIGN as error:
        raise Unsupported(f"{kind} has no score per arm: {said(error)}.") from None
    for found, wanted in ((together, alone), (one, alone[:_ROWS])):
        if found.shape != wanted.shape:
            raise Unsupported(f"{kind}: value of {wanted.shape} doubles has shape {found.shape}.")
        if not np.allclose(found, wanted, rtol=_ALIKE, atol=_ALIKE, equal_nan=True):
            raise Unsupported(f"{kind}: value depends on more than the arm's own register.")


def _require_numbers(value: Any, what: str, arms: int) -> NDArray[np.float64]:
    """Return a parameter as doubles: one number, or one for each arm."""
    given = np.asarray(value)
    real = given.dtype.kind in "iuf" or (
        given.dtype.kind == "O" and all(isinstance(x, int | float | Fraction) for x in given.flat)
    )
    if not real:
        raise Unsupported(f"{what} is not made of real numbers.")
    if given.shape not in ((), (arms,)):
        raise Unsupported(f"{what} has the shape {given.shape}, not one number per arm ({arms}).")
    try:
        numbers = given.astype(float)
    except OverflowError:
        raise Unsupported(f"{what} is too large.") from None
    if np.isnan(numbers).any():
        raise Unsupported(f"{what} is not a number.")
    if not (np.abs(numbers) <= _LARGEST).all():
        raise Unsupported(f"{what} is too large.")
    return numbers


def require_alike(requests: Iterable[Choose | Keep]) -> None:
    """Raise `Unsupported` unless every rule is the same in doubles and in balls."""
    for request in {id(request): request for request in requests}.values():
        pairs = {}
        if isinstance(request, Keep):
            pairs["width"] = _built(request.width, FLOAT), _built(request.width, BALL)
        else:
            rules = rule_in(FLOAT, request), rule_in(BALL, request)
            kind = type(rules[0])
            if kind not in RULES and not isinstance(rules[0], Formula):
                continue
            if type(rules[1]) is not kind:
                raise Unsupported(f"A rule is a {kind.__name__} in doubles alone.")
            for name in kind.__dataclass_fields__:  # type: ignore[attr-defined]
                pairs[name] = getattr(rules[0], name), getattr(rules[1], name)
        for name, (plain, certain) in pairs.items():
            if plain is not None or certain is not None:
                for position in range(len(request.arms)):
                    _require_near(name, plain, certain, position)


def _require_near(name: str, plain: Any, certain: Any, position: int) -> None:
    """Raise unless a parameter's ball is at its double, as `Rule.at` picks them."""
    try:
        one, two = (value[position] if np.ndim(value) else value for value in (plain, certain))
        double, found = float(one), ball(two)
    except FOREIGN as error:
        raise Unsupported(f"A rule's {name} has no ball: {said(error)}.") from None
    gap = found - arb(double)
    if not abs(gap) <= _ALIKE * (1 + abs(double)):
        raise Unsupported(f"A rule's {name} is {double} in doubles and {found.str(6)} in balls.")


Array = NDArray[np.float64]

_ROWS = 8  # of registers, each asked for alone as a run does
# of a log-likelihood, beyond its enclosure, at rates up to OWN_RATE: ends of plateaus are near by
# 1e-7 alone. Shipped scores under another name left it nothing to cover: 118 random paths of up to
# 24 rounds, epsilon 0.3 to 16
OWN_ERROR, OWN_RATE = 1e-6, 10.0
_FAR = 1e6
NEAR, _BESIDE = 1e-11, 1e-7  # of 1 + |x|: where a crossing and the end of a plateau must be
_ROUNDING = 1e-12  # of 1 + |v|
_SEEN = 2.0**-49  # of 1 + |v|: what is more is no rounding of a double
_JUMP = 1e-6
GRID = np.unique(
    np.concatenate([np.linspace(-4.0, 5.0, 385), np.geomspace(5.0, 1e3, 64), -np.geomspace(4, 1e3)])
)
_MOST_KINKS = 64


def scores_of(rule: Score, arms: int) -> tuple[Score, ...]:
    """Return the scores of the arms; those of a class that is not shipped check themselves."""
    if type(rule) in RULES:
        return tuple(rule.at(position) for position in range(arms))
    found = tuple(Checked(rule.at(position)) for position in range(arms))
    for score in found:
        score.examined()
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
            self.refuse(f"{name} raised {said(error).rstrip('.')}")
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
        with np.errstate(invalid="ignore"):  # an infinite score may be followed by one more
            slack = np.where(np.isinf(values), 0.0, _ROUNDING * (1 + np.abs(values)))
        below = values[1:] < values[:-1] - slack[:-1]
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
        values = np.asarray(self.value(GRID))
        with np.errstate(invalid="ignore"):
            steps = np.append(0.5 * (values[1:] + values[:-1]), values[np.isfinite(values)] + 1.0)
        levels = np.unique(steps[np.isfinite(steps)])
        self.inverse_upper(levels)
        x = np.asarray(self.inverse(levels))
        x = x[np.isfinite(x)]
        beside = NEAR * (1 + np.abs(x))
        low, high = self.asked("value", x - beside), self.asked("value", x + beside)
        with np.errstate(invalid="ignore"):
            jump = high - low > _JUMP * (1 + np.abs(low))
        if jump.any():
            i = int(np.argmax(jump))
            self.refuse(f"value jumps from {low[i]} to {high[i]} at {x[i]}")
        return values

    def _crosses(self, name: str, x: Array, v: Array, side: int) -> None:
        """Raise unless `value` passes v at x, strictly on the given side of it.

        Where x is infinite, the far end must be on the side of v that this says. A score that
        leaves v too slowly for doubles, as x^4 does at 0, shows them plateaus that are none.
        """
        inside = np.clip(x, -_FAR, _FAR)
        near, beside = NEAR * (1 + np.abs(inside)), _BESIDE * (1 + np.abs(inside))
        low, high = self.asked("value", inside - near), self.asked("value", inside + near)
        below, above = self.asked("value", inside - beside), self.asked("value", inside + beside)
        with np.errstate(invalid="ignore"):
            slack, seen = (
                np.where(np.isfinite(v), part * (1 + np.abs(v)), 0.0) for part in (_ROUNDING, _SEEN)
            )
            # x = -inf: all of it is above; x = inf: all of it is below
            under = (low <= v + slack) | (x < -_FAR)
            over = (high >= v - slack) | (x > _FAR)
            apart = below < v if side < 0 else above > v
            told = (below < v - seen) | (above > v + seen)
        crossed = under & over & (apart | (np.abs(x) > _FAR))
        # an infinite level has no crossing
        bad = ~(crossed & (told | (np.abs(x) > _FAR))) & ~(np.isinf(v) & np.isinf(x))
        if bad.any():
            place = np.unravel_index(int(np.argmax(bad)), bad.shape)
            at, level = float(x[place]), float(v[place])
            if crossed[place]:
                self.refuse(f"doubles cannot tell where value is {level}: it is too flat at {at}")
            shown = f"value is {low[place]} below and {high[place]} above"
            self.refuse(f"{name}({level}) = {at}, where {shown}")

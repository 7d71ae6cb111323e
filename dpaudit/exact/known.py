"""What the exact engines know by its class: noises and rules whose formulas they compute with.

Noise is of one of the shipped laws, nothing else: the engines integrate densities in closed form. A
class derived from a known one may draw or decide something else under the same name, so it is
refused, too. A score of one's own derives from `Score` and is checked at every answer that is used
(`own_score.py`); rules of other kinds have no region, and the engines say so.

A rule is written once and evaluated in doubles and in balls: `require_alike` refuses one that is
not the same in both.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.core import scores
from dpaudit.core.algorithm import Accumulate, Choose, Keep, Release
from dpaudit.core.arithmetic import BALL, FLOAT, Arithmetic, ball
from dpaudit.core.noise import NOISES
from dpaudit.core.scores import RULES, Formula, Rule
from dpaudit.core.walk import FOREIGN, said
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path

_ALIKE = 1e-9  # between a parameter in doubles and its ball
_LARGEST = 1e100  # of a parameter; squares and ratios of these are doubles


def require_known(request: Release | Accumulate | Choose | Keep) -> None:
    """Raise `Unsupported` if a noise or a rule is none that the engines know, or an odd one."""
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
        width = _built(request.width, FLOAT)
        _require_numbers(width, "a width", 1)
        if width < 0:
            raise Unsupported(f"A width is {width}, which is not at least 0.")


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


def require_alike(path: Path, known: set[int]) -> None:
    """Raise `Unsupported` unless every rule of a path is the same in doubles and in balls.

    `known` are the identities of requests that were looked at before, which the caller keeps alive.
    """
    for event in path.events:
        if not isinstance(event, Decided) or id(event.request) in known:
            continue
        known.add(id(event.request))
        request = event.request
        if isinstance(request, Keep):
            _require_near("width", _built(request.width, FLOAT), _built(request.width, BALL))
            continue
        rules = rule_in(FLOAT, request), rule_in(BALL, request)
        if type(rules[0]) not in RULES and not isinstance(rules[0], Formula):
            continue
        if type(rules[1]) is not type(rules[0]):
            raise Unsupported(f"A rule is a {type(rules[0]).__name__} in doubles alone.")
        for name in type(rules[0]).__dataclass_fields__:  # type: ignore[attr-defined]
            plain, certain = (getattr(rule, name) for rule in rules)
            if plain is not None or certain is not None:
                for position in range(len(request.arms)):
                    _require_near(name, plain, certain, position)


def _require_near(name: str, plain: Any, certain: Any, position: int = 0) -> None:
    """Raise unless a parameter's ball is at its double, as `Rule.at` picks them."""
    try:
        one, two = (value[position] if np.ndim(value) else value for value in (plain, certain))
        double, found = float(one), ball(two)
    except FOREIGN as error:
        raise Unsupported(f"A rule's {name} has no ball: {said(error)}.") from None
    gap = found - arb(double)
    if not abs(gap) <= _ALIKE * (1 + abs(double)):
        raise Unsupported(f"A rule's {name} is {double} in doubles and {found.str(6)} in balls.")

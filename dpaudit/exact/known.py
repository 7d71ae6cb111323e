"""What the exact engines know by its class: noises and rules whose formulas they compute with.

A class derived from one of these may draw or decide something else under the same name, so it is
refused. Rules and scores of one's own derive from `Rule` or `Score`.
"""

from __future__ import annotations

import numpy as np

from dpaudit.core import scores
from dpaudit.core.algorithm import Accumulate, Choose, Keep, Release
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.noise import NOISES
from dpaudit.core.scores import RULES
from dpaudit.errors import Unsupported


def require_known(request: Release | Accumulate | Choose | Keep) -> None:
    """Raise `Unsupported` if a noise or a rule is derived from a known one, or has odd numbers."""
    if isinstance(request, Release | Accumulate):
        _require_own(request.noise, NOISES)
    elif isinstance(request, Choose):
        rule = request.rule(FLOAT)
        _require_own(rule, RULES)
        if type(rule) in RULES:
            _require_sane(rule)


def _require_own(value: object, known: tuple[type, ...]) -> None:
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


def _require_sane(rule: scores.Rule) -> None:
    """Raise unless scores rise with their register: a falling one is another comparison."""
    for name in type(rule).__dataclass_fields__:  # type: ignore[attr-defined]
        value = getattr(rule, name)
        if value is None:
            continue
        numbers = np.asarray(value, dtype=float)
        if np.isnan(numbers).any():
            raise Unsupported(f"{type(rule).__name__} has a {name} that is not a number.")
        if name in ("scale", "n", "epsilon") and not (numbers > 0).all():
            raise Unsupported(f"{type(rule).__name__} has a {name} that is not positive.")
        if name == "level" and not (numbers >= 0).all():
            raise Unsupported(f"{type(rule).__name__} has a negative level.")
